//! `http1`: HTTP/1.1 (RFC 9112) on TLS over TCP, by hyper.
//!
//! A request without a body is a GET, one with a body a POST; the only header fields are `Host`
//! and those that frame the body. Connections persist (section 9.3); requests are not pipelined,
//! as browsers do not.

mod client;
mod profile;
mod server;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::error::Result;
use trackbed_connection::{Capabilities, Dialer, Handshake, Service, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use self::profile::HTTP1;
use crate::config::{ClientConfig, ServerConfig};
use crate::parameters::{over_tcp, security};
use crate::protocol::{Protocol, ServerHandle};
use crate::tcp_transport::{TcpDialer, serve_tls};

/// HTTP/1.1.
pub(crate) struct Http1;

impl Protocol for Http1 {
    fn name(&self) -> &'static str {
        HTTP1.protocol
    }

    fn summary(&self) -> &'static str {
        "HTTP/1.1 on TLS over TCP, one exchange at a time"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Tcp,
            tls: HTTP1.versions,
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
        serve_tls(HTTP1, &*host, listen, config, move |stream, standing| {
            server::serve(stream, standing, Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        Ok(Rc::new(client::Http1Dialer(TcpDialer::with_tls(HTTP1, host, config)?)))
    }
}
