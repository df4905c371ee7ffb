//! `tcp`, `mptcp` and `tcp+tls`: request and response in the frames of [`framing`](crate::framing),
//! one exchange after the other on a connection.

mod client;
mod server;
mod stream;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{
    Capabilities, Connection, Dialer, Result, Service, TlsVersion, Transport,
};
use trackbed_core::Parameter;
use trackbed_substrate::{Host, Multipath};

use crate::config::{ClientConfig, ListenAt, ServerConfig, TransportParameters};
use crate::parameters::{SCHEDULER_OF_LINUX, over_mptcp, over_tcp, tls};
use crate::protocol::{Protocol, Served};
use crate::tcp_transport::{self, TcpDialer};
use crate::tls::Profile;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tcp {
    Bare,
    /// Multipath TCP (RFC 8684). The path settings of [`TransportParameters::tcp`] apply; default:
    /// the scheduler of Linux.
    Multipath,
    Tls,
}

impl Tcp {
    fn profile(self) -> Profile {
        match self {
            Tcp::Bare => Profile::bare("tcp"),
            Tcp::Multipath => Profile::bare("mptcp"),
            Tcp::Tls => Profile::over_tcp("tcp+tls", b"trackbed-frames/1"),
        }
    }

    fn transport(self, given: &TransportParameters) -> TransportParameters {
        let mut transport = given.clone();
        if self == Tcp::Multipath {
            let scheduler = SCHEDULER_OF_LINUX.to_owned();
            let paths = || Multipath { scheduler, ..Multipath::default() };
            transport.tcp.multipath.get_or_insert_with(paths);
        }
        transport
    }
}

impl Protocol for Tcp {
    fn name(&self) -> &'static str {
        self.profile().protocol
    }

    fn summary(&self) -> &'static str {
        match self {
            Tcp::Bare => "length-prefixed frames on TCP, not encrypted, one exchange at a time",
            Tcp::Multipath => {
                "length-prefixed frames on Multipath TCP, not encrypted, one exchange at a time, over all paths"
            }
            Tcp::Tls => "length-prefixed frames on TLS over TCP, one exchange at a time",
        }
    }

    fn capabilities(&self) -> Capabilities {
        let plain = Capabilities::plain(Transport::Tcp);
        match self {
            Tcp::Bare => plain,
            Tcp::Multipath => Capabilities { multipath: true, ..plain },
            Tcp::Tls => Capabilities::encrypted(Transport::Tcp, TlsVersion::ALL),
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        match self {
            Tcp::Bare => over_tcp(),
            Tcp::Multipath => over_mptcp(),
            Tcp::Tls => [tls(), over_tcp()].concat(),
        }
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        let (profile, transport) = (self.profile(), self.transport(&config.transport));
        let config = ServerConfig { transport, ..config.clone() };
        tcp_transport::serve(profile, &at, &config, move |stream, standing| {
            server::serve(profile.protocol, (stream, standing), Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        let require_new = |instead| config.require_new_handshake(self.name(), instead);
        match self {
            Tcp::Bare => require_new("`tcp+tls`, or the handshake `new`")?,
            Tcp::Multipath => require_new("the handshake `new`")?,
            Tcp::Tls => {}
        }
        let transport = self.transport(&config.transport);
        let config = ClientConfig { transport, ..config.clone() };
        Ok(Rc::new(FramedDialer(TcpDialer::new(self.profile(), host, &config)?)))
    }
}

struct FramedDialer(TcpDialer);

impl Dialer for FramedDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.0.connect(remote).await?;
            Ok(Rc::new(client::FramedConnection::new(&self.0, stream)) as Rc<dyn Connection>)
        })
    }
}
