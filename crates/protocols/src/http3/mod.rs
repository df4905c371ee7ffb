//! `http3`: HTTP/3 (RFC 9114) on QUIC, by h3.
//!
//! Requests look like those of [`http2`](crate::http2). h3's GREASE is off: it draws its own
//! randomness.

mod adapter;
mod frames;

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use futures_core::future::LocalBoxFuture;
use futures_util::StreamExt as _;
use h3::client::SendRequest;
use h3::error::{Code, ConnectionError, StreamError};
use h3::{ConnectionState as _, client, server};
use http::header::{CONTENT_LENGTH, HeaderMap, TE};
use trackbed_connection::{
    Body, Capabilities, Connection, Dialer, Error, Request, Response, Result, Security, Service,
    Step, TlsVersion, Transport, TransportStats, body,
};
use trackbed_core::Parameter;
use trackbed_substrate::{Host, Standing, spawn};

use crate::config::{ClientConfig, ListenAt, ServerConfig};
use crate::framing::while_sending;
use crate::http_messages::{Target, answer_head, content, read_head, request_head};
use crate::nursery::Nursery;
use crate::parameters::over_quic;
use crate::protocol::{Protocol, Served};
use crate::quic_transport::{self, EARLY_DATA_MAX, QuicConnection, QuicDialer};
use crate::tls::Profile;
use adapter::{Hints, Opener, RecvStream, SendStream};
use frames::FIELDS_MAX;

pub(crate) struct Http3;

const HTTP3: Profile = Profile {
    protocol: "http3",
    alpn: b"h3",
    versions: &[TlsVersion::Tls13],
    early_data_max: EARLY_DATA_MAX,
};

impl Protocol for Http3 {
    fn name(&self) -> &'static str {
        HTTP3.protocol
    }

    fn summary(&self) -> &'static str {
        "HTTP/3 on QUIC, exchanges multiplexed on independent streams"
    }

    fn capabilities(&self) -> Capabilities {
        let encrypted = Capabilities::encrypted(Transport::Udp, HTTP3.versions);
        Capabilities { multiplexed: true, migrates: true, ..encrypted }
    }

    fn parameters(&self) -> Vec<Parameter> {
        over_quic()
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        quic_transport::serve(HTTP3, &at, config, None, move |connection, standing| {
            serve(connection, standing, Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        Ok(Rc::new(Http3Dialer(QuicDialer::new(HTTP3, host, config, None)?)))
    }
}

struct Http3Dialer(QuicDialer);

impl Dialer for Http3Dialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let quic = self.0.connect(remote).await?;
            let adapter = adapter::Connection::new(quic.connection.clone());
            let hints = adapter.hints();
            let (mut driver, sender) = client::builder()
                .send_grease(false)
                .max_field_section_size(FIELDS_MAX)
                .build(adapter)
                .await
                .map_err(|error| connection_failed(Step::Handshake, &error))?;
            let drive = async move {
                // How it ended is seen by the exchanges.
                let _end = driver.wait_idle().await;
            };
            spawn(drive).detach();
            Ok(Rc::new(Http3Connection { quic, sender, hints }) as Rc<dyn Connection>)
        })
    }

    fn host_has_moved(&self) -> Result<()> {
        self.0.host_has_moved()
    }
}

struct Http3Connection {
    quic: QuicConnection,
    sender: SendRequest<Opener, Bytes>,
    hints: Hints,
}

impl Connection for Http3Connection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let (head, body) = request_head(HTTP3.protocol, Target::Uri, request)?;
            let mut sender = self.sender.clone();
            let opened = sender.send_request(head).await;
            let (sending, receiving) = opened.map_err(|it| stream_failed(Step::Send, &it))?.split();
            let mut receiving = Unfinished(receiving);
            let send = send_request_body(sending, body, self.hints.clone());
            let status = async move {
                let answer = receiving.0.recv_response().await;
                let answer = answer.map_err(|error| stream_failed(Step::Receive, &error))?;
                Ok((answer.status().as_u16(), receiving))
            };
            let ((status, receiving), beside) = while_sending(send, status).await?;
            // The last sender to go closes the connection, so the body keeps its own.
            let state = (receiving, beside, sender);
            let body = body::unfold(state, async |(receiving, ..)| {
                let piece = receiving.0.recv_data().await;
                let piece = piece.map_err(|error| stream_failed(Step::Receive, &error))?;
                Ok(piece.map(|mut piece| piece.copy_to_bytes(piece.remaining())))
            });
            Ok(Response { status, body })
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.quic.close(NO_ERROR))
    }

    fn is_open(&self) -> bool {
        // The server may have announced its end (GOAWAY) while it still answers.
        self.quic.connection.close_reason().is_none() && !self.sender.is_closing()
    }

    answers! {
        follows_its_host -> bool: quic.can_migrate;
        security -> Option<Security>: quic.security;
        transport -> TransportStats: quic.stats;
    }
}

async fn send_request_body(
    mut sending: client::RequestStream<SendStream<Bytes>, Bytes>,
    mut body: Body,
    hints: Hints,
) -> Result<()> {
    while let Some(piece) = body.next().await.transpose()? {
        hints.share(&piece);
        match sending.send_data(piece).await {
            Ok(()) => {}
            // The server answers without the rest (RFC 9114 section 4.1).
            Err(StreamError::RemoteTerminate { code, .. }) if code == Code::H3_NO_ERROR => {
                return Ok(());
            }
            Err(error) => return Err(stream_failed(Step::Send, &error)),
        }
    }
    sending.finish().await.map_err(|error| stream_failed(Step::Send, &error))
}

/// Answers the requests of a connection until it ends.
async fn serve(connection: noq::Connection, standing: Standing, service: Rc<dyn Service>) {
    let exchanges = Nursery::default();
    let adapter = adapter::Connection::new(connection);
    let hints = adapter.hints();
    let mut opening = server::builder();
    let opened = opening.send_grease(false).max_field_section_size(FIELDS_MAX).build(adapter).await;
    let Ok(mut requests) = opened else { return };
    // h3 answers a client that breaks the protocol (RFC 9114 section 8) before it reports it.
    while let Ok(Some(request)) = requests.accept().await {
        let (service, hints) = (Rc::clone(&service), hints.clone());
        let standing = standing.clone();
        exchanges.spawn(async move {
            let _outcome = answer(request, &standing, &*service, &hints).await;
        });
    }
}

async fn answer(
    request: server::RequestResolver<adapter::Connection, Bytes>,
    standing: &Standing,
    service: &dyn Service,
    hints: &Hints,
) -> Result<()> {
    let resolved = request.resolve_request().await;
    let (head, stream) = resolved.map_err(|error| stream_failed(Step::Receive, &error))?;
    let (mut sending, mut receiving) = stream.split();
    let malformed = Rc::new(Cell::new(is_malformed(head.headers())));
    let refuse = |mut sending: server::RequestStream<SendStream<Bytes>, Bytes>| {
        sending.stop_stream(Code::H3_MESSAGE_ERROR);
        Error::malformed(HTTP3.protocol, Step::Receive, "the request is malformed (RFC 9114)")
    };
    if malformed.get() {
        receiving.stop_sending(Code::H3_MESSAGE_ERROR);
        return Err(refuse(sending));
    }
    standing.asked();
    let length = head.headers().get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    let (path, method, priority) = read_head(&head);
    if let Some(priority) = priority {
        hints.rank(sending.send_id(), priority);
    }
    let request =
        Request { priority, ..Request::new(path, request_body(receiving, length, &malformed)) };
    let response = service.call(request).await;
    if malformed.get() {
        return Err(refuse(sending));
    }
    let failed = |error: StreamError| stream_failed(Step::Send, &error);
    sending.send_response(answer_head(response.status)).await.map_err(failed)?;
    let mut body = content(&method, response.body);
    while let Some(piece) = body.next().await.transpose()? {
        hints.share(&piece);
        sending.send_data(piece).await.map_err(failed)?;
    }
    sending.finish().await.map_err(failed)
}

/// Whether it has fields of HTTP/1.1's connections (RFC 9114 section 4.2).
fn is_malformed(fields: &HeaderMap) -> bool {
    let forbidden =
        ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];
    forbidden.iter().any(|name| fields.contains_key(*name))
        || fields.get(TE).is_some_and(|value| value != "trailers")
}

/// The body of a request. A service that drops it unread asks the client to stop. If it has another length than
/// announced, the request is `malformed` (RFC 9114 section 4.1.2).
fn request_body(
    receiving: server::RequestStream<RecvStream, Bytes>,
    length: Option<u64>,
    malformed: &Rc<Cell<bool>>,
) -> Body {
    let state = (Unread(receiving), length, Rc::clone(malformed));
    body::unfold(state, async |(receiving, left, malformed)| {
        let piece = receiving.0.recv_data().await;
        let piece = piece.map_err(|error| stream_failed(Step::Receive, &error))?;
        let len = piece.as_ref().map_or(0, |piece| piece.remaining() as u64);
        let is_wrong = match (&left, &piece) {
            (Some(left), Some(_)) => *left < len,
            (Some(left), None) => *left > 0,
            (None, _) => false,
        };
        if is_wrong {
            malformed.set(true);
            let why = "the body is longer or shorter than its content-length";
            return Err(Error::malformed(HTTP3.protocol, Step::Receive, why));
        }
        if piece.is_none() {
            // What follows the trailers breaks the protocol, and h3 looks for it only here.
            let trailers = receiving.0.recv_trailers().await;
            trailers.map_err(|error| stream_failed(Step::Receive, &error))?;
        }
        *left = left.map(|left| left - len);
        Ok(piece.map(|mut piece| piece.copy_to_bytes(piece.remaining())))
    })
}

/// The response to a request. Dropped before its end it is cancelled (RFC 9114 section 4.1.1): the
/// server stops sending it.
struct Unfinished(client::RequestStream<RecvStream, Bytes>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.stop_sending(Code::H3_REQUEST_CANCELLED);
    }
}

/// RFC 9114 section 4.1: a server that needs no more of a request stops it with H3_NO_ERROR.
struct Unread(server::RequestStream<RecvStream, Bytes>);

impl Drop for Unread {
    fn drop(&mut self) {
        self.0.stop_sending(Code::H3_NO_ERROR);
    }
}

fn stream_failed(step: Step, error: &StreamError) -> Error {
    match error {
        StreamError::ConnectionError { 0: error, .. } => connection_failed(step, error),
        StreamError::StreamError { .. } | StreamError::HeaderTooBig { .. } => {
            Error::malformed(HTTP3.protocol, step, error)
        }
        _ => Error::transient(HTTP3.protocol, step, error),
    }
}

fn connection_failed(step: Step, error: &ConnectionError) -> Error {
    match error {
        ConnectionError::Local { error: h3::error::LocalError::Application { .. }, .. } => {
            Error::malformed(HTTP3.protocol, step, error)
        }
        _ => Error::transient(HTTP3.protocol, step, error),
    }
}

/// H3_NO_ERROR (RFC 9114 section 8.1).
const NO_ERROR: u32 = 0x100;
