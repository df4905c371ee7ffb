//! What every protocol of the track offers: a server, a dialer, connections, exchanges.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_substrate::Host;

use crate::body::Body;
use crate::config::{ClientConfig, ServerConfig};
use crate::error::Error;
use crate::guests::GuestCount;
use crate::priority::Priority;
use crate::security::{Handshake, Security, TlsVersion};
use crate::stats::TransportStats;
use crate::tls::Trust;

/// A protocol: an entry of [`registry`](crate::registry).
pub trait Protocol: Sync {
    /// The name that scenarios use, for example `http2`.
    fn name(&self) -> &'static str;

    /// One line for lists: what it is made of.
    fn summary(&self) -> &'static str;

    /// What it can do, so that a plan can refuse what it cannot.
    fn capabilities(&self) -> Capabilities;

    /// Starts a server on `listen`; port 0 takes a free one. It answers until the handle is
    /// dropped. Call it, and everything it returns, on the thread of the substrate's executor.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if `config` asks for what the protocol cannot do, otherwise a
    /// failure of [`Step::Listen`](crate::error::Step::Listen).
    fn serve(
        &self,
        host: Arc<dyn Host>,
        listen: SocketAddr,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Result<ServerHandle, Error>;

    /// Prepares connections from `host`. A dialer keeps the session tickets of its connections
    /// for later ones; nothing is sent before [`Dialer::connect`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] if `config` asks for what the protocol cannot do.
    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>, Error>;
}

/// Opens connections of one protocol with one configuration.
pub trait Dialer {
    /// Connects to a server and resolves as soon as a request may be sent: after the handshake,
    /// or before it where early data is possible.
    ///
    /// # Errors
    /// If the server cannot be reached or trusted, or does not speak the protocol.
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>>;

    /// To be told at once when the host has [moved on](Host::move_on), as a phone's system tells
    /// its programs. Connections that can, go on from the new address
    /// ([`Connection::follows_its_host`]); the others are dead. Later ones are opened from there
    /// anyway.
    ///
    /// # Errors
    /// If there is no socket to be had at the new address; then no connection goes on.
    fn host_has_moved(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A connection to a server. Dropping the last handle closes it.
pub trait Connection {
    /// Sends a request and resolves with the head of the response; its body may still be on the
    /// way, and so may the body of the request. Several exchanges may run at once: they share the
    /// connection where the protocol multiplexes, and wait for each other where it does not.
    ///
    /// Where it does not, a response holds the connection until its body is read to the end.
    ///
    /// # Errors
    /// If the connection fails or the peer breaks the protocol. [`Error::is_retryable`] says
    /// whether a new connection may help.
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>>;

    /// Closes the connection in an orderly way; resolves when the peer has been told. Exchanges
    /// that still run may fail.
    fn close(&self) -> LocalBoxFuture<'_, ()>;

    /// Whether the connection outlives a change of its host's address that the dialer is
    /// [told](Dialer::host_has_moved) of; see [`Capabilities::migrates`].
    fn follows_its_host(&self) -> bool {
        false
    }

    /// What the handshake negotiated; `None` where nothing is encrypted or, with early data, as
    /// long as the server has not answered.
    fn security(&self) -> Option<Security>;

    /// What the transport below has done so far.
    fn transport(&self) -> TransportStats;
}

/// The application behind a server.
pub trait Service {
    /// Answers one request. The request's body arrives while it is read, the response's is sent
    /// while it is produced.
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response>;
}

/// Any function from a request to a future of a response is a service.
impl<F, T> Service for F
where
    F: Fn(Request) -> T,
    T: Future<Output = Response> + 'static,
{
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        Box::pin(self(request))
    }
}

/// What a client asks.
pub struct Request {
    /// An absolute path with or without a query (RFC 3986 sections 3.3 and 3.4), for example
    /// `/rpc?n=1`, of at most [`MAX_PATH_LEN`](crate::MAX_PATH_LEN) bytes.
    pub path: String,
    /// How urgent the response is, if the client says so. A server is told what its client said.
    pub priority: Option<Priority>,
    /// The body, sent while it is produced.
    pub body: Body,
    /// At a server, who asks, where the protocol tells: those over HTTP/1.1 and HTTP/2 do.
    pub peer: Option<SocketAddr>,
}

impl Request {
    /// A request for `path` with `body` and without a priority.
    pub fn new(path: impl Into<String>, body: Body) -> Request {
        Request { path: path.into(), priority: None, body, peer: None }
    }
}

/// What a server answers.
pub struct Response {
    /// An HTTP status code, 200 to 999 (100 to 199 would announce a response, not be one).
    pub status: u16,
    /// The body, which arrives while it is read.
    pub body: Body,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("path", &self.path).finish_non_exhaustive()
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.status).finish_non_exhaustive()
    }
}

/// What a protocol can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The transport below it.
    pub transport: Transport,
    /// The TLS versions it can run over; none if it is not encrypted.
    pub tls: &'static [TlsVersion],
    /// The handshakes it can do over TLS 1.3. [`Handshake::Early`] needs TLS 1.3 everywhere.
    pub handshakes: &'static [Handshake],
    /// Whether several exchanges share a connection at once.
    pub multiplexed: bool,
    /// Whether a connection goes on when the client's address changes, from the end of the
    /// handshake on (RFC 9000 section 9).
    pub migrates: bool,
    /// Whether a connection uses all paths between the hosts at once (RFC 8684,
    /// draft-ietf-quic-multipath).
    pub multipath: bool,
}

/// The transport protocol whose packets carry everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP: retransmission and congestion control are the stack's.
    Tcp,
    /// UDP: both are the protocol's own.
    Udp,
    /// UDP with what CoAP has in their place: one message after the other, sent again by its own
    /// timer (RFC 7252 sections 4.2 and 4.7), and no congestion window.
    Coap,
    /// SCTP (RFC 9260): both are the protocol's own, and there is one congestion control.
    Sctp,
}

/// A running server. Dropping it stops the server: it accepts nothing more, and the connections
/// it has are closed.
pub struct ServerHandle {
    local: SocketAddr,
    trust: Option<Trust>,
    guests: Option<GuestCount>,
    _running: Box<dyn Any>,
}

impl ServerHandle {
    /// A handle on the server at `local`, which runs until `running` is dropped.
    pub(crate) fn new(local: SocketAddr, trust: Option<Trust>, running: impl Any) -> ServerHandle {
        ServerHandle { local, trust, guests: None, _running: Box::new(running) }
    }

    /// The same for a server that attends to so many.
    pub(crate) fn counting(self, guests: GuestCount) -> ServerHandle {
        ServerHandle { guests: Some(guests), ..self }
    }

    /// Where the server listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// How many connections, associations or peers it attends to, those in the middle of a handshake
    /// included; at most [`ServerLimits::connections`](crate::ServerLimits::connections).
    pub fn connections(&self) -> usize {
        self.guests.as_ref().map_or(0, GuestCount::get)
    }

    /// What a client needs to authenticate this server; `None` where nothing is encrypted.
    pub fn trust(&self) -> Option<&Trust> {
        self.trust.as_ref()
    }
}

impl fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandle").field("local", &self.local).finish_non_exhaustive()
    }
}
