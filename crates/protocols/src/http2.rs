//! `http2`: HTTP/2 (RFC 9113) on TLS over TCP, by hyper.
//!
//! A request without a body is a GET, one with a body a POST; the authority is
//! [`SERVER_NAME`](crate::tls::SERVER_NAME). No other header fields are sent.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use hyper::client::conn::http2::SendRequest;
use hyper::{client, server};
use trackbed_connection::{
    Capabilities, Connection, Dialer, Error, Request, Response, Result, Security, Service, Step,
    Transport, TransportStats,
};
use trackbed_core::Parameter;
use trackbed_substrate::{Host, Standing};

use crate::config::{ClientConfig, ListenAt, STREAMS_MAX, ServerConfig};
use crate::http_messages::arriving::{self, response};
use crate::http_messages::runtime::{Clock, Io, Tasks};
use crate::http_messages::{Client, Outgoing, Target, answering, failed, http_request};
use crate::ledger::Tally;
use crate::nursery::Nursery;
use crate::parameters::{self, over_tcp, tls};
use crate::protocol::{Protocol, Served};
use crate::tcp_transport::{self, Open, Stream, TcpDialer};
use crate::tls::Profile;

pub(crate) struct Http2;

const HTTP2: Profile = Profile::over_tcp("http2", b"h2");

impl Protocol for Http2 {
    fn name(&self) -> &'static str {
        HTTP2.protocol
    }

    fn summary(&self) -> &'static str {
        "HTTP/2 on TLS over TCP, exchanges multiplexed on one byte stream"
    }

    fn capabilities(&self) -> Capabilities {
        let encrypted = Capabilities::encrypted(Transport::Tcp, HTTP2.versions);
        Capabilities { multiplexed: true, ..encrypted }
    }

    fn parameters(&self) -> Vec<Parameter> {
        [tls(), over_tcp(), parameters::window()].concat()
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        let window = window(config.transport.window)?;
        tcp_transport::serve(HTTP2, &at, config, move |stream, standing| {
            serve((stream, standing), window, Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        let window = window(config.transport.window)?;
        let tcp = TcpDialer::new(HTTP2, host, config)?;
        Ok(Rc::new(Http2Dialer { tcp, window }))
    }
}

/// RFC 9113 section 6.9.1: a window is at most 2^31 - 1 bytes.
fn window(bytes: u32) -> Result<u32> {
    let advice = "the maximum window is 2,147,483,647 bytes: set a smaller one";
    let fits = i32::try_from(bytes).is_ok();
    if fits { Ok(bytes) } else { Err(Error::unsupported(HTTP2.protocol, advice)) }
}

/// h2 ends a connection when the small frames that wait for readers have cost half of the window, or 25,600
/// bytes: 255 at most for 10 on the way. A sender with many streams and little window makes hundreds of
/// them, so readers get their turn before that.
fn turn(window: u32) -> usize {
    (window as usize / 2).max(25_600) / 26
}

/// Answers the requests of a connection until the client closes it.
async fn serve((stream, standing): (Stream, Standing), window: u32, service: Rc<dyn Service>) {
    let client = Client { peer: stream.peer(), standing };
    let answering = answering(HTTP2.protocol, service, arriving::stream, client);
    let connection = server::conn::http2::Builder::new(Tasks(Some(Nursery::default())))
        .timer(Clock)
        .auto_date_header(false)
        .initial_stream_window_size(window)
        .initial_connection_window_size(window)
        .max_concurrent_streams(STREAMS_MAX)
        // A client may give up all its exchanges at once.
        .max_pending_accept_reset_streams(STREAMS_MAX as usize)
        .serve_connection(Io::new(stream, turn(window)), answering);
    // Hyper answers a client that breaks the protocol (RFC 9113 section 5.4) before it ends.
    let _end = connection.await;
}

struct Http2Dialer {
    tcp: TcpDialer,
    window: u32,
}

impl Dialer for Http2Dialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.tcp.connect(remote).await?;
            let (sender, connection) = client::conn::http2::Builder::new(Tasks(None))
                .timer(Clock)
                // What is remembered of streams that were reset is timed by the system's clock.
                .max_concurrent_reset_streams(0)
                // What arrives late on such streams is no fault of the server.
                .max_local_error_reset_streams(None)
                .initial_stream_window_size(self.window)
                .initial_connection_window_size(self.window)
                .handshake(Io::new(stream.clone(), turn(self.window)))
                .await
                .map_err(|error| failed(HTTP2.protocol, Step::Handshake, &error))?;
            let open = Open::new(&self.tcp, stream, Tally::default(), connection);
            let sender = RefCell::new(Some(sender));
            Ok(Rc::new(Http2Connection { open, sender }) as Rc<dyn Connection>)
        })
    }
}

struct Http2Connection {
    open: Open,
    /// `None` after the connection was closed.
    sender: RefCell<Option<SendRequest<Outgoing>>>,
}

impl Connection for Http2Connection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let request = http_request(HTTP2.protocol, Target::Uri, request)?;
            let sender = self.sender.borrow().clone();
            let mut sender = sender.ok_or_else(|| self.open.is_closed())?;
            response(&self.open, sender.send_request(request), self.open.begin()).await
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            self.sender.take();
            self.open.close().await;
        })
    }

    fn is_open(&self) -> bool {
        // The server may have announced its end (GOAWAY) while it still answers.
        let sender = self.sender.borrow();
        self.open.is_open() && sender.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    answers! {
        security -> Option<Security>: open.stream.security;
        transport -> TransportStats: open.stream.stats;
    }
}
