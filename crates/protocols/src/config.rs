//! How a client and a server are set up.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use trackbed_connection::{CipherSuite, Error, Handshake, KeyExchange, TlsVersion};
use trackbed_core::{Arguments, named};
pub use trackbed_mqtt::{Qos as MqttQos, Version as MqttVersion};
use trackbed_substrate::{Host, TcpOptions};

pub use crate::certificates::{Chain, KeyKind, OwnCertificate};
use crate::ledger::Ledger;
use crate::observer::Observer;
use crate::path_control::PathControl;

/// How a dialer connects.
#[derive(Clone, Debug, Default)]
pub struct ClientConfig {
    /// The server's certificate, see [`ServerHandle::trust`](crate::ServerHandle::trust). Every
    /// encrypted protocol needs it.
    pub trust: Option<Trust>,
    /// The versions and ciphers to offer; to pin one, offer only that.
    pub tls: TlsParameters,
    /// The handshake of connections.
    pub handshake: Handshake,
    /// The address to connect from; default: the host's first one of the server's IP version.
    pub local: Option<IpAddr>,
    /// The settings below TLS.
    pub transport: TransportParameters,
    /// The path control of its multipath connections.
    pub paths: PathControl,
}

impl ClientConfig {
    /// The server's certificate, which an encrypted protocol needs.
    pub(crate) fn required_trust(&self, protocol: &'static str) -> Result<&Trust, Error> {
        let advice = "it is encrypted: set `trust` to what the server's handle returns";
        self.trust.as_ref().ok_or_else(|| Error::unsupported(protocol, advice))
    }

    /// Refuses every handshake but `new`, and names what to use `instead`.
    pub(crate) fn require_new_handshake(
        &self,
        protocol: &'static str,
        instead: &str,
    ) -> Result<(), Error> {
        if self.handshake == Handshake::New {
            return Ok(());
        }
        let advice = format!("it does not support session resumption: use {instead}");
        Err(Error::unsupported(protocol, advice))
    }
}

/// What a client needs to authenticate a server: the server's self-signed certificate. It is not
/// secret and may be copied to another machine.
#[derive(Clone, PartialEq, Eq)]
pub struct Trust(pub(crate) CertificateDer<'static>);

impl Trust {
    /// From a certificate in DER (X.509), as [`Trust::as_der`] returned it.
    pub fn from_der(der: Vec<u8>) -> Trust {
        Trust(der.into())
    }

    /// The certificate in DER (X.509).
    pub fn as_der(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trust({} B)", self.0.len())
    }
}

/// Where a server listens: a host, and an address of it; port 0 takes a free one.
pub type ListenAt = (Arc<dyn Host>, SocketAddr);

/// How a server answers.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// What to accept.
    pub tls: TlsParameters,
    /// Whether clients may resume earlier sessions, and send early data when they do.
    pub sessions: bool,
    /// The settings below TLS.
    pub transport: TransportParameters,
    /// Limits on unknown clients.
    pub limits: ServerLimits,
    /// The path control of its multipath connections.
    pub paths: PathControl,
}

/// Limits on what a server accepts from unknown clients. Its protocol limits a single connection:
/// windows, and the lengths of heads and packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The maximum number of connections, associations or peers, at least 1. A new one above it
    /// replaces one of the lowest [standing](trackbed_substrate::Standing).
    pub connections: usize,
    /// The maximum number of parallel QUIC handshakes of clients with unproved addresses. Further
    /// clients must prove theirs first, which takes a round trip (Retry, RFC 9000 section 8.1.2).
    /// DTLS has separate limits: a cookie (RFC 9147 section 5.1) from 64 handshakes on.
    pub handshakes: usize,
    /// How long a client over TCP may take for the handshake of TLS, and from its first byte inside
    /// to the end of its first request's head; then it is reset. A connection without a started
    /// request may stay silent without limit.
    pub opening: Duration,
    /// How long a client over TCP may take no byte of what waits for it; then it is reset. `None`: any.
    pub writing: Option<Duration>,
    /// The maximum memory of QUIC's data that waits to be read, of what waits to be acknowledged (SCTP,
    /// too), and of MQTT's messages to clients, in all connections. One that takes more than is left is closed, or
    /// sends no faster. `None`: any.
    pub buffered: Option<usize>,
}

/// More connections than a run has clients, and the time that web servers give (nginx:
/// `client_header_timeout`).
impl Default for ServerLimits {
    fn default() -> ServerLimits {
        let opening = Duration::from_secs(60);
        let (writing, buffered) = (None, None);
        ServerLimits { connections: 16_384, handshakes: 1_024, opening, writing, buffered }
    }
}

/// Everything that is implemented is accepted.
impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            tls: TlsParameters::default(),
            sessions: true,
            transport: TransportParameters::default(),
            limits: ServerLimits::default(),
            paths: PathControl::default(),
        }
    }
}

/// The TLS versions and ciphers that one side allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsParameters {
    /// The versions, at least one.
    pub versions: Vec<TlsVersion>,
    /// The ciphers in the order of preference, at least one.
    pub ciphers: Vec<CipherSuite>,
    /// The groups of the key exchange in the order of preference, at least one. The first one's
    /// share goes out with the hello (RFC 8446 section 4.2.8).
    pub key_exchanges: Vec<KeyExchange>,
    /// The certificates.
    pub chain: Chain,
}

impl TlsParameters {
    /// One version and one cipher: what is negotiated can only be this.
    pub fn only(version: TlsVersion, cipher: CipherSuite) -> TlsParameters {
        TlsParameters { versions: vec![version], ciphers: vec![cipher], ..TlsParameters::default() }
    }
}

/// Every version and cipher that is implemented, and X25519.
impl Default for TlsParameters {
    fn default() -> TlsParameters {
        TlsParameters {
            versions: TlsVersion::ALL.to_vec(),
            ciphers: CipherSuite::ALL.to_vec(),
            key_exchanges: vec![KeyExchange::default()],
            chain: Chain::default(),
        }
    }
}

/// What a scenario sets about TLS besides version and cipher. `None` is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// The groups that the client offers, in its order.
    pub key_exchange: Option<Vec<KeyExchange>>,
    /// The groups that the server accepts.
    pub server_key_exchange: Option<Vec<KeyExchange>>,
    /// The certificates, except for the user's own.
    pub chain: Chain,
    /// The file with the user's own.
    pub certificate: Option<PathBuf>,
}

named! {
    /// What carries the packets of SCTP.
    #[derive(Default)]
    pub enum Encapsulation {
        /// UDP datagrams (RFC 6951), which pass networks that do not support SCTP.
        #[default]
        Udp = "udp",
        /// None: native packets of IP protocol 132. Virtual substrate only.
        None = "none",
    }
}

/// How SCTP sends and acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SctpParameters {
    /// The retransmission timeout before the first round-trip time sample, and that of INIT and
    /// COOKIE ECHO (RTO.Initial); between `rto_min` and `rto_max`.
    pub rto_initial: Duration,
    /// The minimum retransmission timeout (RTO.Min), at least a millisecond.
    pub rto_min: Duration,
    /// The maximum retransmission timeout (RTO.Max).
    pub rto_max: Duration,
    /// The maximum number of packets sent in response to an acknowledgment, a timeout or a message
    /// (Max.Burst), at least 1.
    pub max_burst: u32,
    /// The initial congestion window in packets, at least 1.
    pub initial_window: u32,
    /// How long an acknowledgment may be delayed, at least a millisecond.
    pub sack_delay: Duration,
    /// Whether data asks for an acknowledgment without delay while the congestion window is below ten
    /// packets (RFC 7053).
    pub immediate_sack: bool,
}

/// The recommendations of RFC 9260 section 16, except the initial window, which is TCP's (RFC
/// 6928).
impl Default for SctpParameters {
    fn default() -> SctpParameters {
        SctpParameters {
            rto_initial: Duration::from_secs(1),
            rto_min: Duration::from_secs(1),
            rto_max: Duration::from_secs(60),
            max_burst: 4,
            initial_window: 10,
            sack_delay: Duration::from_millis(200),
            immediate_sack: true,
        }
    }
}

/// The settings of MQTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MqttParameters {
    /// The version that a client speaks. Our broker takes both.
    pub version: MqttVersion,
    /// The QoS of requests, and of a client's subscription to its responses.
    pub qos: MqttQos,
    /// What responds to requests.
    pub answer: MqttAnswer,
}

named! {
    /// What responds to requests over MQTT.
    #[derive(Default)]
    pub enum MqttAnswer {
        /// The service behind the broker, as with ours.
        #[default]
        Service = "service",
        /// The client itself: it subscribes to its own messages, and each request is also its
        /// response. This measures a round trip through any broker.
        Echo = "echo",
    }
}

/// How CoAP sends its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoapParameters {
    /// Whether a client's requests are confirmable: retransmitted until they are acknowledged (RFC
    /// 7252 section 4.2). Otherwise lost ones are not repeated.
    pub confirmable: bool,
    /// The maximum block size of a body (RFC 7959): 16, 32, 64, 128, 256, 512 or 1,024.
    pub block_size: u16,
    /// Whether a client sends the body of a request in blocks if it is longer than one (RFC 7959).
    /// Otherwise it goes in one message, whatever RFC 7252 section 4.6 advises: its datagram leaves in
    /// IP fragments, and bodies of more than [`WHOLE_MAX`](crate::WHOLE_MAX) bytes are refused.
    pub block_wise: bool,
    /// The maximum number of outstanding requests of a client, neither acknowledged nor answered,
    /// at least 1 (NSTART, RFC 7252 section 4.7). Use more than 1 only in networks that can carry
    /// it: there is no other congestion control.
    pub outstanding_max: u32,
    /// Whether a server asks every client for a cookie over DTLS 1.3 too, a round trip more
    /// (HelloRetryRequest, RFC 9147 section 5.1). Otherwise it does while many are in the middle of a
    /// handshake. Over DTLS 1.2 it always does.
    pub cookie: bool,
}

/// Confirmable, in the largest blocks, one at a time (RFC 7252 section 4.8).
impl Default for CoapParameters {
    fn default() -> CoapParameters {
        CoapParameters {
            confirmable: true,
            block_size: 1_024,
            block_wise: true,
            outstanding_max: 1,
            cookie: false,
        }
    }
}

/// What both sides set below TLS.
#[derive(Clone, Debug)]
pub struct TransportParameters {
    /// The congestion controller, one of [`congestion`](crate::congestion()). Over TCP it is passed
    /// to the stack in place of [`TcpOptions::congestion`], so the kernel's are possible too.
    pub congestion: String,
    /// The options of the TCP stack. Nagle's algorithm is always off: the protocols gather their
    /// own writes, and each message leaves at once. Its multipath settings also apply to `mpquic`
    /// too.
    pub tcp: TcpOptions,
    /// The flow control window of HTTP/2 and QUIC in bytes, for each stream and each connection,
    /// and the most that a QUIC sender buffers; the receiver window of an SCTP association. The default of 64 MiB carries 890 Mbit/s at a
    /// round-trip time of 600 ms, so that the congestion controller is the limit and not this.
    pub window: u32,
    /// What carries the packets of SCTP.
    pub encapsulation: Encapsulation,
    /// How SCTP sends and acknowledges.
    pub sctp: SctpParameters,
    /// The settings of MQTT.
    pub mqtt: MqttParameters,
    /// The maximum packet size of SCTP or DTLS, IP header included; 1,280..=9,000. They do not
    /// discover the path MTU: larger packets are always lost.
    pub packet_len_max: usize,
    /// How CoAP sends.
    pub coap: CoapParameters,
    /// The idle timeout of a connection: how long nothing may arrive or leave. QUIC applies it to
    /// the connection (RFC 9000 section 10.1), by default after 30 s. The others apply it while an
    /// exchange is under way, and by default wait as long as the transport does.
    pub idle_timeout: Option<Duration>,
    /// The values of the protocol's [`parameters`](crate::Protocol::parameters) that have no field
    /// above.
    pub arguments: Arguments,
    /// The observer of keys and traces.
    pub observer: Option<Arc<dyn Observer>>,
    /// The ledger in which closed connections record what they sent and lost.
    pub ledger: Option<Ledger>,
}

impl TransportParameters {
    /// The TCP options with what this configuration imposes on them.
    pub(crate) fn tcp_options(&self) -> TcpOptions {
        TcpOptions { congestion: self.congestion.clone(), nodelay: true, ..self.tcp.clone() }
    }
}

impl Default for TransportParameters {
    fn default() -> TransportParameters {
        TransportParameters {
            congestion: "cubic".to_owned(),
            tcp: TcpOptions::default(),
            window: 64 << 20,
            encapsulation: Encapsulation::default(),
            sctp: SctpParameters::default(),
            mqtt: MqttParameters::default(),
            packet_len_max: 1_500,
            coap: CoapParameters::default(),
            idle_timeout: None,
            arguments: Arguments::default(),
            observer: None,
            ledger: None,
        }
    }
}

/// The maximum number of parallel exchanges on a connection, if the protocol multiplexes; more
/// wait.
pub(crate) const STREAMS_MAX: u32 = 1_024;

/// How much early data a server takes over TCP, in bytes. A first flight holds about 14,600
/// (RFC 6928), so it is never the limit.
pub(crate) const EARLY_DATA_MAX: u32 = 64 << 10;
