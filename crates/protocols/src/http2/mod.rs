//! `http2`: HTTP/2 (RFC 9113) on TLS over TCP, by hyper.
//!
//! A request without a body is a GET, one with a body a POST; the authority is
//! [`SERVER_NAME`](crate::tls::SERVER_NAME). No other header fields are sent.

mod client;
mod runtime;
mod server;

use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use trackbed_substrate::Host;

use crate::body::Body;
use crate::config::{ClientConfig, ServerConfig};
use crate::error::{Error, Result, Step};
use crate::protocol::{Capabilities, Dialer, Protocol, ServerHandle, Service, Transport};
use crate::security::{Handshake, TlsVersion};
use crate::tcp_transport::{TcpDialer, serve_tls};
use crate::tls::Profile;

/// HTTP/2.
pub(crate) struct Http2;

const HTTP2: Profile = Profile {
    protocol: "http2",
    alpn: b"h2",
    versions: TlsVersion::ALL,
    early_data_max: crate::EARLY_DATA_MAX,
};

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
            handshakes: Handshake::ALL,
            multiplexed: true,
        }
    }

    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle> {
        let window = window(config.transport.window)?;
        serve_tls(HTTP2, &*host, listen, config, move |stream| {
            server::serve(stream, window, Rc::clone(&service))
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
            advice: "the window is at most 2,147,483,647 bytes: set a smaller one".to_owned(),
        }),
    }
}

/// A body on its way out.
struct Outgoing(Body);

impl http_body::Body for Outgoing {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        self.0.as_mut().poll_next(cx).map(|piece| Some(piece?.map(Frame::data)))
    }

    /// Known for bodies made in one piece, so that their last frame ends the stream too.
    fn is_end_stream(&self) -> bool {
        is_empty(&self.0)
    }

    fn size_hint(&self) -> SizeHint {
        if is_empty(&self.0) { SizeHint::with_exact(0) } else { SizeHint::default() }
    }
}

/// Whether it is known that nothing more comes.
pub(crate) fn is_empty(body: &Body) -> bool {
    body.size_hint().1 == Some(0)
}

/// Words a failure of hyper's.
fn failed(step: Step, error: &hyper::Error) -> Error {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<Error>() {
            // A body that failed, in the words of who made it.
            return error.clone();
        }
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    match error.is_parse() {
        true => Error::malformed(HTTP2.protocol, step, reason),
        false => Error::transient(HTTP2.protocol, step, reason),
    }
}
