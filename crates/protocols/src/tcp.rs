//! `tcp` and `tcp+tls`: request and response in the frames of [`framing`](crate::framing), one
//! exchange after the other on a connection.

mod client;
mod server;
mod stream;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::error::Result;
use trackbed_connection::{
    Capabilities, Connection, Dialer, Error, Handshake, Service, TlsVersion, Transport,
};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use crate::config::{ClientConfig, ServerConfig};
use crate::parameters::{over_tcp, security};
use crate::protocol::{Protocol, ServerHandle};
use crate::tcp_transport::{TcpDialer, serve_bare, serve_tls};
use crate::tls::Profile;

/// Frames on bare TCP.
pub(crate) struct Tcp;

impl Protocol for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn summary(&self) -> &'static str {
        "length-prefixed frames on TCP, not encrypted, one exchange at a time"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Tcp,
            tls: &[],
            handshakes: &[Handshake::New],
            multiplexed: false,
            migrates: false,
            multipath: false,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        over_tcp()
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        serve_frames(self.name(), &*host, listen, config, service)
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        if config.handshake != Handshake::New {
            let advice =
                "it does not support session resumption: use `tcp+tls`, or the handshake `new`";
            return Err(Error::Unsupported { protocol: self.name(), advice: advice.to_owned() });
        }
        let tcp = TcpDialer::bare(self.name(), host, config);
        Ok(Rc::new(FramedDialer { protocol: self.name(), tcp }))
    }
}

/// Frames on TCP inside TLS.
pub(crate) struct TcpTls;

const TCP_TLS: Profile = Profile {
    protocol: "tcp+tls",
    alpn: b"trackbed-frames/1",
    versions: TlsVersion::ALL,
    early_data_max: crate::config::EARLY_DATA_MAX,
};

impl Protocol for TcpTls {
    fn name(&self) -> &'static str {
        TCP_TLS.protocol
    }

    fn summary(&self) -> &'static str {
        "length-prefixed frames on TLS over TCP, one exchange at a time"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Tcp,
            tls: TCP_TLS.versions,
            handshakes: Handshake::OF_PROTOCOLS,
            multiplexed: false,
            migrates: false,
            multipath: false,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        [security(), over_tcp()].concat()
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        serve_tls(TCP_TLS, &*host, listen, config, move |stream, standing| {
            server::serve(TCP_TLS.protocol, (stream, standing), Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        let tcp = TcpDialer::with_tls(TCP_TLS, host, config)?;
        Ok(Rc::new(FramedDialer { protocol: self.name(), tcp }))
    }
}

/// Serves frames on bare connections.
pub(crate) fn serve_frames(
    name: &'static str,
    host: &dyn Host,
    listen: SocketAddr,
    config: &ServerConfig,
    service: Rc<dyn Service>,
) -> Result<ServerHandle> {
    serve_bare(name, host, listen, config, move |stream, standing| {
        server::serve(name, (stream, standing), Rc::clone(&service))
    })
}

pub(crate) struct FramedDialer {
    pub protocol: &'static str,
    pub tcp: TcpDialer,
}

impl Dialer for FramedDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.tcp.connect(remote).await?;
            let open = client::FramedConnection::new(self.protocol, stream, self.tcp.idle_timeout);
            Ok(Rc::new(open) as Rc<dyn Connection>)
        })
    }
}
