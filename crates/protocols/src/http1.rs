//! `http1`: HTTP/1.1 (RFC 9112) on TLS over TCP, by hyper.
//!
//! A request without a body is a GET, one with a body a POST; the only header fields are `Host`
//! and those that frame the body. Connections persist (section 9.3); requests are not pipelined,
//! as browsers do not.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use futures_util::lock::Mutex;
use hyper::client::conn::http1::SendRequest;
use hyper::{client, server};
use trackbed_connection::{
    Capabilities, Connection, Dialer, Request, Response, Result, Security, Service, Step,
    Transport, TransportStats,
};
use trackbed_core::Parameter;
use trackbed_substrate::{Host, Standing};

use crate::config::{ClientConfig, ListenAt, ServerConfig};
use crate::http_messages::arriving::{drained_stream, response};
use crate::http_messages::runtime::{Clock, Io};
use crate::http_messages::{Client, Outgoing, Target, answering, failed, http_request};
use crate::ledger::Tally;
use crate::parameters::{over_tcp, tls};
use crate::protocol::{Protocol, Served};
use crate::tcp_transport::{self, Open, Stream, TcpDialer};
use crate::tls::Profile;

pub(crate) struct Http1;

const HTTP1: Profile = Profile::over_tcp("http1", b"http/1.1");

impl Protocol for Http1 {
    fn name(&self) -> &'static str {
        HTTP1.protocol
    }

    fn summary(&self) -> &'static str {
        "HTTP/1.1 on TLS over TCP, one exchange at a time"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::encrypted(Transport::Tcp, HTTP1.versions)
    }

    fn parameters(&self) -> Vec<Parameter> {
        [tls(), over_tcp()].concat()
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        tcp_transport::serve(HTTP1, &at, config, move |stream, standing| {
            serve(stream, standing, Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        Ok(Rc::new(Http1Dialer(TcpDialer::new(HTTP1, host, config)?)))
    }
}

/// Answers the requests of a connection, one after the other, until the client closes it.
async fn serve(stream: Stream, standing: Standing, service: Rc<dyn Service>) {
    let client = Client { peer: stream.peer(), standing };
    let answering = answering(HTTP1.protocol, service, drained_stream, client);
    let connection = server::conn::http1::Builder::new()
        .timer(Clock)
        .auto_date_header(false)
        // The client closes idle connections, as with the other protocols; the transport limits the
        // time of the first request.
        .header_read_timeout(None)
        // What waits for a client that does not read: the default is 400 KiB.
        .max_buf_size(32 << 10)
        .serve_connection(Io::new(stream, usize::MAX), answering);
    // Hyper answers a client that breaks the protocol with a status of 400 before it ends.
    let _end = connection.await;
}

struct Http1Dialer(TcpDialer);

impl Dialer for Http1Dialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let stream = self.0.connect(remote).await?;
            let (sender, connection) =
                client::conn::http1::handshake(Io::new(stream.clone(), usize::MAX))
                    .await
                    .map_err(|error| failed(HTTP1.protocol, Step::Handshake, &error))?;
            let open = Open::new(&self.0, stream, Tally::default(), connection);
            let sender = Mutex::new(Some(sender));
            Ok(Rc::new(Http1Connection { open, sender }) as Rc<dyn Connection>)
        })
    }
}

struct Http1Connection {
    open: Open,
    /// Held by the exchange whose turn it is; `None` after the connection was closed.
    sender: Mutex<Option<SendRequest<Outgoing>>>,
}

impl Connection for Http1Connection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let request = http_request(HTTP1.protocol, Target::Path, request)?;
            let running = self.open.begin();
            let mut sender = self.sender.lock().await;
            let sender = sender.as_mut().ok_or_else(|| self.open.is_closed())?;
            // Ready once the response before it has been read to its end.
            sender.ready().await.map_err(|error| failed(HTTP1.protocol, Step::Send, &error))?;
            response(&self.open, sender.send_request(request), running).await
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async move {
            if !self.open.is_busy() {
                self.sender.lock().await.take();
            }
            self.open.close().await;
        })
    }

    answers! {
        is_open -> bool: open.is_open;
        security -> Option<Security>: open.stream.security;
        transport -> TransportStats: open.stream.stats;
    }
}
