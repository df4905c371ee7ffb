//! The client.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use futures_channel::oneshot;
use futures_core::future::LocalBoxFuture;
use futures_util::lock::Mutex;
use hyper::client::conn::http1::{Builder, SendRequest};
use trackbed_connection::error::{Result, Step};
use trackbed_connection::{Connection, Dialer, Error, Request, Response, Security, TransportStats};

use super::profile::HTTP1;
use crate::http_messages::arriving::{Arriving, silent};
use crate::http_messages::runtime::Io;
use crate::http_messages::{Outgoing, Target, drive, failed, http_request};
use crate::tcp_transport::{Stream, TcpDialer};

pub(super) struct Http1Dialer(pub(super) TcpDialer);

impl Dialer for Http1Dialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.0.connect(remote).await?;
            let (sender, connection) = Builder::new()
                .handshake(Io(stream.clone()))
                .await
                .map_err(|error| failed(HTTP1, Step::Handshake, &error))?;
            Ok(Rc::new(Http1Connection {
                stream,
                sender: Mutex::new(Some(sender)),
                running: Rc::new(()),
                closed: Cell::new(Some(drive(connection))),
                idle_timeout: self.0.idle_timeout,
            }) as Rc<dyn Connection>)
        })
    }
}

struct Http1Connection {
    stream: Stream,
    /// Held by the exchange whose turn it is; `None` after the connection was closed.
    sender: Mutex<Option<SendRequest<Outgoing>>>,
    /// Shared with every exchange that is under way or waits.
    running: Rc<()>,
    closed: Cell<Option<oneshot::Receiver<()>>>,
    idle_timeout: Duration,
}

impl Http1Connection {
    /// Sends the request once the response before it has been read to its end, and waits for the
    /// head of the answer.
    async fn send(
        &self,
        sender: &mut SendRequest<Outgoing>,
        request: http::Request<Outgoing>,
    ) -> Result<http::Response<hyper::body::Incoming>> {
        let ready = sender.ready().await;
        ready.map_err(|error| failed(HTTP1, Step::Send, &error))?;
        let mut watchdog = self.stream.progress().watchdog(self.idle_timeout);
        let answer = watchdog.guard(sender.send_request(request)).await;
        let answer = answer.ok_or_else(|| silent(HTTP1, self.idle_timeout))?;
        answer.map_err(|error| failed(HTTP1, Step::Receive, &error))
    }
}

impl Connection for Http1Connection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let request = http_request(HTTP1, Target::Path, request)?;
            let running = Rc::clone(&self.running);
            let mut sender = self.sender.lock().await;
            let sender = sender.as_mut().ok_or_else(|| {
                Error::transient(HTTP1.protocol, Step::Send, "the connection is closed")
            })?;
            let answer = self.send(sender, request).await?;
            let status = answer.status().as_u16();
            let (body, stream) = (answer.into_body(), self.stream.clone());
            let body = Arriving::new(HTTP1, body, stream, self.idle_timeout, running);
            Ok(Response { status, body: body.into_body() })
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            if Rc::strong_count(&self.running) > 1 {
                return self.stream.abort();
            }
            self.sender.lock().await.take();
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
