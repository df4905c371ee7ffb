//! `quic` and `mpquic`: each exchange on a separate bidirectional stream, in the frames of
//! [`framing`](crate::framing).

use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use noq::{ReadError, RecvStream, SendStream, VarInt, WriteError};
use trackbed_connection::{
    Body, Capabilities, Connection, Dialer, Error, Priority, Request, Response, Result, Security,
    Service, Step, TlsVersion, Transport, TransportStats,
};
use trackbed_core::Parameter;
use trackbed_substrate::{Host, Standing};

use crate::config::{ClientConfig, ListenAt, ServerConfig, TransportParameters};
use crate::framing::{
    Delimiter, Input, Output, Reader, check_path, exchange, request_head, response_head,
    send_message,
};
use crate::nursery::Nursery;
use crate::parameters::{over_quic, quic_scheduler};
use crate::path_control::PathControl;
use crate::protocol::{Protocol, Served};
use crate::quic_transport::{
    self, EARLY_DATA_MAX, QuicConnection, QuicDialer, Several, connection_failed, see_off,
};
use crate::tls::Profile;

pub(crate) struct Quic {
    /// Whether packets take all paths of a host at once (draft-ietf-quic-multipath). The path
    /// settings of [`TransportParameters::tcp`] apply, except those that exist only in MPTCP. Either
    /// end interoperates with one of a single path.
    pub(crate) is_multipath: bool,
}

impl Quic {
    fn profile(&self) -> Profile {
        Profile {
            protocol: self.name(),
            alpn: b"trackbed-streams/1",
            versions: &[TlsVersion::Tls13],
            early_data_max: EARLY_DATA_MAX,
        }
    }

    fn several(&self, of: &TransportParameters, paths: &PathControl) -> Result<Option<Several>> {
        self.is_multipath.then(|| Several::new(self.name(), of, paths)).transpose()
    }
}

impl Protocol for Quic {
    fn name(&self) -> &'static str {
        if self.is_multipath { "mpquic" } else { "quic" }
    }

    fn summary(&self) -> &'static str {
        match self.is_multipath {
            false => "frames on QUIC, one bidirectional stream per exchange",
            true => "frames on Multipath QUIC, over all paths of a host, one stream per exchange",
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            multiplexed: true,
            migrates: !self.is_multipath,
            multipath: self.is_multipath,
            ..Capabilities::encrypted(Transport::Udp, self.profile().versions)
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        if self.is_multipath { [over_quic(), quic_scheduler()].concat() } else { over_quic() }
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        let (profile, name) = (self.profile(), self.name());
        let several = self.several(&config.transport, &config.paths)?;
        quic_transport::serve(profile, &at, config, several, move |quic, standing| {
            serve(name, (quic, standing), Rc::clone(&service))
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        let several = self.several(&config.transport, &config.paths)?;
        Ok(Rc::new(StreamDialer(QuicDialer::new(self.profile(), host, config, several)?)))
    }
}

struct StreamDialer(QuicDialer);

impl Dialer for StreamDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>>> {
        Box::pin(async move {
            let (protocol, quic) = (self.0.protocol, self.0.connect(remote).await?);
            Ok(Rc::new(StreamConnection { protocol, quic }) as Rc<dyn Connection>)
        })
    }

    fn host_has_moved(&self) -> Result<()> {
        self.0.host_has_moved()
    }
}

struct StreamConnection {
    protocol: &'static str,
    quic: QuicConnection,
}

impl Connection for StreamConnection {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response>> {
        Box::pin(async move {
            let protocol = self.protocol;
            check_path(protocol, &request.path)?;
            let opened = self.quic.connection.open_bi().await;
            let (sending, receiving) =
                opened.map_err(|error| connection_failed(protocol, Step::Send, &error))?;
            let reader = Reader::new(protocol, Receiving { protocol, stream: receiving });
            let head = request_head(&request.path, request.priority);
            let message = Sending::new(protocol, sending).message(head, request.body);
            exchange(reader, async { message.await.map(drop) }).await
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.quic.close(NO_ERROR))
    }

    fn is_open(&self) -> bool {
        self.quic.connection.close_reason().is_none()
    }

    answers! {
        follows_its_host -> bool: quic.can_migrate;
        security -> Option<Security>: quic.security;
        transport -> TransportStats: quic.stats;
    }
}

/// Answers the streams of a connection until it ends.
async fn serve(
    protocol: &'static str,
    (connection, standing): (noq::Connection, Standing),
    service: Rc<dyn Service>,
) {
    let exchanges = Nursery::default();
    while let Ok((sending, receiving)) = connection.accept_bi().await {
        let (service, standing) = (Rc::clone(&service), standing.clone());
        exchanges.spawn(async move {
            // A client that breaks the protocol gets a reset stream; see `Sending`.
            let receiving = Receiving { protocol, stream: receiving };
            let sending = Sending::new(protocol, sending);
            let _outcome = answer((sending, receiving), &standing, &*service).await;
        });
    }
}

async fn answer(
    (sending, receiving): (Sending, Receiving),
    standing: &Standing,
    service: &dyn Service,
) -> Result<()> {
    let mut reader = Reader::new(receiving.protocol, receiving);
    let Some((path, priority)) = reader.request().await? else { return Ok(()) };
    standing.asked();
    if let Some(priority) = priority {
        sending.rank(priority);
    }
    let request = Request { priority, ..Request::new(path, reader.into_body(None)) };
    let response = service.call(request).await;
    let mut sent = sending.message(response_head(response.status), response.body).await?;
    see_off(&mut sent.stream).await;
    Ok(())
}

/// The receiving half of a stream. Dropping it early asks the peer to stop (RFC 9000 section 3.5).
struct Receiving {
    protocol: &'static str,
    stream: RecvStream,
}

impl Input for Receiving {
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        let read = pin!(self.stream.read_chunk(PIECE_MAX)).poll(cx);
        read.map_err(|error| read_failed(self.protocol, &error))
    }
}

/// The sending half of a stream. Dropping it before the message is complete resets it, so that the
/// peer does not take a part for the whole.
struct Sending {
    protocol: &'static str,
    stream: SendStream,
    complete: bool,
    stopped: bool,
}

impl Sending {
    fn new(protocol: &'static str, stream: SendStream) -> Sending {
        Sending { protocol, stream, complete: false, stopped: false }
    }

    /// Ranks the message among those on other streams.
    fn rank(&self, priority: Priority) {
        // It fails only for a stream that has ended, on which nothing waits for its turn.
        let _ended = self.stream.set_priority(priority.rank(self.stream.id().index()));
    }

    /// Sends a whole message. A peer that responds without the rest does not need it.
    async fn message(mut self, head: Bytes, body: Body) -> Result<Sending> {
        match send_message(&mut self, Delimiter::EndOfStream, head, body).await {
            Err(_) if self.stopped => return Ok(self),
            outcome => outcome?,
        }
        self.complete = true;
        // It fails only if the peer requested a stop, and then needs no end.
        let _stopped = self.stream.finish();
        Ok(self)
    }
}

impl Output for Sending {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.stream.write_chunk(bytes).await.map_err(|error| {
            self.stopped = matches!(error, WriteError::Stopped(_));
            write_failed(self.protocol, &error)
        })
    }

    /// The engine sends what it has as soon as this task waits.
    async fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if !self.complete {
            // It fails only if the stream is closed already.
            let _closed = self.stream.reset(VarInt::from_u32(INCOMPLETE));
        }
    }
}

fn read_failed(protocol: &'static str, error: &ReadError) -> Error {
    match error {
        ReadError::ConnectionLost(error) => connection_failed(protocol, Step::Receive, error),
        _ => Error::transient(protocol, Step::Receive, error),
    }
}

fn write_failed(protocol: &'static str, error: &WriteError) -> Error {
    match error {
        WriteError::ConnectionLost(error) => connection_failed(protocol, Step::Send, error),
        _ => Error::transient(protocol, Step::Send, error),
    }
}

/// Application error codes (RFC 9000 section 20.2).
const NO_ERROR: u32 = 0;
const INCOMPLETE: u32 = 1;

/// The maximum piece taken from the engine at once.
const PIECE_MAX: usize = 1 << 20;
