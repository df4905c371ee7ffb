//! `tcp`, `mptcp` and `tcp+tls`: request and response in the frames of [`framing`](crate::framing),
//! one exchange after the other on a connection.

mod client;
mod server;
mod stream;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::error::Result;
use trackbed_connection::{Capabilities, Connection, Dialer, Service, TlsVersion, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::{Host, Multipath};

use crate::config::{ClientConfig, EARLY_DATA_MAX, ServerConfig, TransportParameters};
use crate::parameters::{SCHEDULER_OF_LINUX, over_mptcp, over_tcp, security};
use crate::protocol::{Protocol, ServerHandle};
use crate::tcp_transport::{TcpDialer, serve_bare, serve_tls};
use crate::tls::Profile;

pub(crate) struct Tcp {
    /// Whether on Multipath TCP (RFC 8684). The path settings of [`TransportParameters::tcp`] apply;
    /// default: the scheduler of Linux.
    pub(crate) is_multipath: bool,
}

impl Tcp {
    fn transport(&self, given: &TransportParameters) -> TransportParameters {
        let mut transport = given.clone();
        if self.is_multipath {
            let scheduler = SCHEDULER_OF_LINUX.to_owned();
            let paths = || Multipath { scheduler, ..Multipath::default() };
            transport.tcp.multipath.get_or_insert_with(paths);
        }
        transport
    }
}

impl Protocol for Tcp {
    fn name(&self) -> &'static str {
        if self.is_multipath { "mptcp" } else { "tcp" }
    }

    fn summary(&self) -> &'static str {
        match self.is_multipath {
            false => "length-prefixed frames on TCP, not encrypted, one exchange at a time",
            true => {
                "length-prefixed frames on Multipath TCP, over all paths of a host, not encrypted"
            }
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { multipath: self.is_multipath, ..Capabilities::plain(Transport::Tcp) }
    }

    fn parameters(&self) -> Vec<Parameter> {
        if self.is_multipath { over_mptcp() } else { over_tcp() }
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        let name = self.name();
        let config =
            ServerConfig { transport: self.transport(&config.transport), ..config.clone() };
        serve_bare(name, &*host, listen, &config, move |stream, standing| {
            server::serve(name, (stream, standing), Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        let tls = if self.is_multipath { "" } else { "`tcp+tls`, or " };
        config.require_new_handshake(self.name(), &format!("{tls}the handshake `new`"))?;
        let config =
            ClientConfig { transport: self.transport(&config.transport), ..config.clone() };
        Ok(Rc::new(FramedDialer(TcpDialer::bare(self.name(), host, &config))))
    }
}

pub(crate) struct TcpTls;

const TCP_TLS: Profile = Profile {
    protocol: "tcp+tls",
    alpn: b"trackbed-frames/1",
    versions: TlsVersion::ALL,
    early_data_max: EARLY_DATA_MAX,
};

impl Protocol for TcpTls {
    fn name(&self) -> &'static str {
        TCP_TLS.protocol
    }

    fn summary(&self) -> &'static str {
        "length-prefixed frames on TLS over TCP, one exchange at a time"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::encrypted(Transport::Tcp, TCP_TLS.versions)
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
        Ok(Rc::new(FramedDialer(TcpDialer::with_tls(TCP_TLS, host, config)?)))
    }
}

struct FramedDialer(TcpDialer);

impl Dialer for FramedDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.0.connect(remote).await?;
            let open = client::FramedConnection::new(&self.0, stream);
            Ok(Rc::new(open) as Rc<dyn Connection>)
        })
    }
}
