//! The interface of protocols: the registry entry, and a running server.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::{Capabilities, Dialer, Error, Handshake, Service, TlsVersion, Transport};
use trackbed_core::Parameter;
use trackbed_substrate::{GuestCount, Host};

use crate::config::{ClientConfig, ListenAt, ServerConfig, TransportParameters, Trust};

/// A running server, or why there is none.
pub type Served = Result<ServerHandle, Error>;

/// A protocol: an entry of [`registry`](crate::registry()).
pub trait Protocol: Sync {
    /// The name that scenarios use, for example `http2`.
    fn name(&self) -> &'static str;

    /// One line for lists: its layers.
    fn summary(&self) -> &'static str;

    /// Its capabilities, so that a plan can refuse the rest.
    fn capabilities(&self) -> Capabilities;

    /// The keys of a scenario's ends that it supports: groups of
    /// [`parameters`](mod@crate::parameters), and its own keys, which it reads from
    /// [`TransportParameters::arguments`].
    fn parameters(&self) -> Vec<Parameter>;

    /// Round trips from the first packet of a connection until a request may leave: those of its
    /// transport and security, unless overridden.
    fn set_up_round_trips(
        &self,
        tls: Option<TlsVersion>,
        handshake: Handshake,
        _parameters: &TransportParameters,
    ) -> u32 {
        transport_round_trips(self.capabilities().transport) + tls_round_trips(tls, handshake)
    }

    /// Starts a server. It answers until the handle is dropped. Call it, and everything it returns, on
    /// the thread of the substrate's executor.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if `config` asks for what the protocol cannot do, otherwise a
    /// failure of [`Step::Listen`](trackbed_connection::Step::Listen).
    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served;

    /// Prepares connections from `host`. A dialer keeps the session tickets of its connections
    /// for later ones; nothing is sent before [`Dialer::connect`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] if `config` asks for what the protocol cannot do.
    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>, Error>;
}

/// TCP: one for the three-way handshake (RFC 9293 section 3.5). SCTP: one for INIT and INIT ACK; a
/// request leaves along with the COOKIE ECHO (RFC 9260 section 5.1). QUIC: none besides those of
/// TLS (RFC 9001 section 4). CoAP: none.
pub(crate) const fn transport_round_trips(transport: Transport) -> u32 {
    match transport {
        Transport::Tcp | Transport::Sctp => 1,
        Transport::Udp | Transport::Coap => 0,
    }
}

/// The round trips of the first connection's TLS handshake. TLS 1.3: one, none for early data (RFC 8446
/// sections 2 and 2.3). TLS 1.2: two, one if a session is resumed (RFC 5246 section 7.3).
pub(crate) fn tls_round_trips(tls: Option<TlsVersion>, handshake: Handshake) -> u32 {
    match (tls, handshake.first()) {
        (None, _) | (Some(TlsVersion::Tls13), Handshake::Early) => 0,
        (Some(TlsVersion::Tls13), _) => 1,
        (Some(TlsVersion::Tls12), Handshake::Resumed) => 1,
        (Some(TlsVersion::Tls12), _) => 2,
    }
}

/// A running server. Dropping it stops the server: it accepts nothing more, and its connections are
/// closed.
pub struct ServerHandle {
    local: SocketAddr,
    trust: Option<Trust>,
    guests: Option<GuestCount>,
    _running: Box<dyn Any>,
}

impl ServerHandle {
    /// A handle on the server at `local`, which runs until `running` is dropped.
    pub fn new(local: SocketAddr, trust: Option<Trust>, running: impl Any) -> ServerHandle {
        ServerHandle { local, trust, guests: None, _running: Box::new(running) }
    }

    /// The same for a server that reports its number of connections.
    pub(crate) fn counting(self, guests: GuestCount) -> ServerHandle {
        ServerHandle { guests: Some(guests), ..self }
    }

    /// Where the server listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The number of its connections, associations or peers, including unfinished handshakes; at
    /// most [`ServerLimits::connections`](crate::ServerLimits::connections).
    pub fn connections(&self) -> usize {
        self.guests.as_ref().map_or(0, GuestCount::get)
    }

    /// How often the machine had no descriptor or no memory for another TCP connection. New
    /// connections waited in the kernel's queue, or replaced others.
    pub fn exhausted(&self) -> u64 {
        self.guests.as_ref().map_or(0, GuestCount::exhausted)
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
