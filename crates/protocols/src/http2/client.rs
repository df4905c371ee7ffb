//! The client.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_channel::oneshot;
use futures_core::future::LocalBoxFuture;
use futures_util::stream;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use trackbed_substrate::spawn;

use super::runtime::{Clock, Detached, Io};
use super::{HTTP2, Outgoing, failed, is_empty};
use crate::error::{Error, Result, Step};
use crate::framing::check_path;
use crate::protocol::{Connection, Dialer, Request, Response};
use crate::security::Security;
use crate::stats::TransportStats;
use crate::tcp_transport::{Stream, TcpDialer, Watchdog};
use crate::tls::SERVER_NAME;

pub(super) struct Http2Dialer {
    pub(super) tcp: TcpDialer,
    pub(super) window: u32,
}

impl Dialer for Http2Dialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.tcp.connect(remote).await?;
            let (sender, connection) = Builder::new(Detached)
                .timer(Clock)
                .initial_stream_window_size(self.window)
                .initial_connection_window_size(self.window)
                .handshake(Io(stream.clone()))
                .await
                .map_err(|error| failed(Step::Handshake, &error))?;
            let (done, closed) = oneshot::channel();
            let drive = async move {
                // How it ended is seen by the exchanges.
                let _end = connection.await;
                let _unless_nobody_waits = done.send(());
            };
            spawn(drive).detach();
            Ok(Rc::new(Http2Connection {
                stream,
                sender: RefCell::new(Some(sender)),
                running: Rc::new(()),
                closed: Cell::new(Some(closed)),
                idle_timeout: self.tcp.idle_timeout,
            }) as Rc<dyn Connection>)
        })
    }
}

struct Http2Connection {
    stream: Stream,
    /// `None` after the connection was closed.
    sender: RefCell<Option<SendRequest<Outgoing>>>,
    /// Shared with every exchange that is under way.
    running: Rc<()>,
    closed: Cell<Option<oneshot::Receiver<()>>>,
    idle_timeout: Duration,
}

impl Connection for Http2Connection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let request = http_request(request)?;
            let sender = self.sender.borrow().clone();
            let mut sender = sender.ok_or_else(|| {
                Error::transient(HTTP2.protocol, Step::Send, "the connection is closed")
            })?;
            let running = Rc::clone(&self.running);
            let mut watchdog = self.stream.progress().watchdog(self.idle_timeout);
            let answer = watchdog.guard(sender.send_request(request)).await;
            let answer = answer.ok_or_else(|| silent(self.idle_timeout))?;
            let answer = answer.map_err(|error| failed(Step::Receive, &error))?;
            let status = answer.status().as_u16();
            let arriving = Arriving {
                body: answer.into_body(),
                stream: self.stream.clone(),
                watchdog: None,
                idle_timeout: self.idle_timeout,
                _running: running,
            };
            Ok(Response { status, body: Box::pin(stream::try_unfold(arriving, Arriving::next)) })
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            self.sender.take();
            if Rc::strong_count(&self.running) > 1 {
                return self.stream.abort();
            }
            if let Some(closed) = self.closed.take() {
                let _either_way = closed.await;
            }
        })
    }

    fn security(&self) -> Option<Security> {
        self.stream.security()
    }

    fn transport(&self) -> TransportStats {
        self.stream.stats()
    }
}

/// The body of a response on its way in.
struct Arriving {
    body: Incoming,
    stream: Stream,
    /// Runs while the body keeps its reader waiting.
    watchdog: Option<Watchdog>,
    idle_timeout: Duration,
    _running: Rc<()>,
}

impl Arriving {
    async fn next(mut self) -> Result<Option<(Bytes, Arriving)>> {
        let piece = poll_fn(|cx| self.poll_piece(cx)).await?;
        Ok(piece.map(|piece| (piece, self)))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        while let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.watchdog = None;
            let Some(frame) = frame else { return Poll::Ready(Ok(None)) };
            let frame = frame.map_err(|error| failed(Step::Receive, &error))?;
            // Trailers say nothing to anyone here.
            if let Ok(piece) = frame.into_data() {
                return Poll::Ready(Ok(Some(piece)));
            }
        }
        let fresh = || self.stream.progress().watchdog(self.idle_timeout);
        let watchdog = self.watchdog.get_or_insert_with(fresh);
        watchdog.poll_bark(cx).map(|()| Err(silent(self.idle_timeout)))
    }
}

fn http_request(request: Request) -> Result<http::Request<Outgoing>> {
    check_path(HTTP2.protocol, &request.path)?;
    let method = if is_empty(&request.body) { http::Method::GET } else { http::Method::POST };
    http::Request::builder()
        .method(method)
        .uri(format!("https://{SERVER_NAME}{}", request.path))
        .body(Outgoing(request.body))
        .map_err(|error| Error::Unsupported {
            protocol: HTTP2.protocol,
            advice: format!("the path cannot be sent: {error}"),
        })
}

fn silent(idle_timeout: Duration) -> Error {
    let reason = format!("nothing moved for {idle_timeout:?}");
    Error::transient(HTTP2.protocol, Step::Receive, reason)
}
