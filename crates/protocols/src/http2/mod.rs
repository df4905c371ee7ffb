//! `http2`: HTTP/2 (RFC 9113) on TLS over TCP, by hyper.
//!
//! A request without a body is a GET, one with a body a POST; the authority is
//! [`SERVER_NAME`](crate::tls::SERVER_NAME). No other header fields are sent.

mod client;
mod profile;
mod server;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::error::Result;
use trackbed_connection::{Capabilities, Dialer, Error, Handshake, Service, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use self::profile::HTTP2;
use crate::config::{ClientConfig, ServerConfig};
use crate::parameters::{self, over_tcp, security};
use crate::protocol::{Protocol, ServerHandle};
use crate::tcp_transport::{TcpDialer, serve_tls};

/// HTTP/2.
pub(crate) struct Http2;

impl Protocol for Http2 {
    fn name(&self) -> &'static str {
        HTTP2.protocol
    }

    fn summary(&self) -> &'static str {
        "HTTP/2 on TLS over TCP, exchanges multiplexed on one byte stream"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            transport: Transport::Tcp,
            tls: HTTP2.versions,
            handshakes: Handshake::OF_PROTOCOLS,
            multiplexed: true,
            migrates: false,
            multipath: false,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        [security(), over_tcp(), parameters::window()].concat()
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        let window = window(config.transport.window)?;
        serve_tls(HTTP2, &*host, listen, config, move |stream, standing| {
            server::serve((stream, standing), window, Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        let window = window(config.transport.window)?;
        let tcp = TcpDialer::with_tls(HTTP2, host, config)?;
        Ok(Rc::new(client::Http2Dialer { tcp, window }))
    }
}

/// RFC 9113 section 6.9.1: a window is at most 2^31 - 1 bytes.
fn window(bytes: u32) -> Result<u32> {
    match i32::try_from(bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(Error::Unsupported {
            protocol: HTTP2.protocol,
            advice: "the maximum window is 2,147,483,647 bytes: set a smaller one".to_owned(),
        }),
    }
}
