//! The client.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use futures_channel::oneshot;
use futures_core::future::LocalBoxFuture;
use hyper::client::conn::http2::{Builder, SendRequest};
use trackbed_connection::error::{Result, Step};
use trackbed_connection::{Connection, Dialer, Error, Request, Response, Security, TransportStats};

use super::profile::HTTP2;
use crate::http_messages::arriving::{Arriving, silent};
use crate::http_messages::runtime::{Clock, Detached, Io};
use crate::http_messages::{Outgoing, Target, drive, failed, http_request};
use crate::tcp_transport::{Stream, TcpDialer};

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
                // What is remembered of streams that were reset is timed by the system's clock.
                .max_concurrent_reset_streams(0)
                .initial_stream_window_size(self.window)
                .initial_connection_window_size(self.window)
                .handshake(Io(stream.clone()))
                .await
                .map_err(|error| failed(HTTP2, Step::Handshake, &error))?;
            Ok(Rc::new(Http2Connection {
                stream,
                sender: RefCell::new(Some(sender)),
                running: Rc::new(()),
                closed: Cell::new(Some(drive(connection))),
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
            let request = http_request(HTTP2, Target::Uri, request)?;
            let sender = self.sender.borrow().clone();
            let mut sender = sender.ok_or_else(|| {
                Error::transient(HTTP2.protocol, Step::Send, "the connection is closed")
            })?;
            let running = Rc::clone(&self.running);
            let mut watchdog = self.stream.progress().watchdog(self.idle_timeout);
            let answer = watchdog.guard(sender.send_request(request)).await;
            let answer = answer.ok_or_else(|| silent(HTTP2, self.idle_timeout))?;
            let answer = answer.map_err(|error| failed(HTTP2, Step::Receive, &error))?;
            let status = answer.status().as_u16();
            let (body, stream) = (answer.into_body(), self.stream.clone());
            let body = Arriving::new(HTTP2, body, stream, self.idle_timeout, running);
            Ok(Response { status, body: body.into_body() })
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
