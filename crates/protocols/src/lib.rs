//! http1, http2, http3, mpquic, mptcp, mqtt, quic, sctp, sctp+dtls, tcp and tcp+tls over the sockets of
//! a substrate.
//!
//! A [`Protocol`] offers request and response, with streamed bodies, over a connection that can
//! be opened in several ways. [`registry`] lists them. Who uses one needs to know no protocol:
//!
//! 1. [`Protocol::serve`] starts a [`Service`] on a host and returns a [`ServerHandle`].
//! 2. [`Protocol::dialer`] prepares connections from another host, which trust that server.
//! 3. [`Dialer::connect`] opens a [`Connection`], [`Connection::exchange`] sends a [`Request`].
//!
//! # Not supported
//!
//! - Header fields, trailers and server push of HTTP: an exchange is a path, a priority, a status
//!   and two bodies. Priorities do not change under way (PRIORITY_UPDATE of RFC 9218).
//! - Client certificates, and chains: a server signs its own P-256 certificate, so its first
//!   flight is shorter than that of a public web server, which may need a second round trip.
//! - Key exchange groups other than X25519, hence HelloRetryRequest.
//! - QUIC's datagrams, and address validation tokens for later connections (NEW_TOKEN).
//! - Seeding BBR version 3, see [`QuicCongestion::repeatable`].
#![forbid(unsafe_code)]

pub mod body;
mod coap;
pub mod config;
mod datagrams;
mod dtls_transport;
pub mod error;
mod framing;
mod guests;
mod http1;
mod http2;
mod http3;
mod http_messages;
mod ledger;
mod mpquic;
mod mptcp;
mod mqtt;
mod none;
mod nursery;
mod observer;
mod path_control;
mod priority;
mod protocol;
mod quic;
mod quic_transport;
mod sctp;
mod security;
mod stats;
mod tcp;
mod tcp_transport;
mod tls;

pub use body::Body;
pub use config::{
    ClientConfig, CoapParameters, Encapsulation, MqttAnswer, MqttParameters, MqttQos, MqttVersion,
    ServerConfig, ServerLimits, TlsParameters, TransportParameters,
};
pub use error::Error;
pub use ledger::{Ledger, LedgerTotals};
pub use none::NONE;
pub use observer::{Observer, Side, TcpTrace};
pub use path_control::PathControl;
pub use priority::Priority;
pub use protocol::{
    Capabilities, Connection, Dialer, Protocol, Request, Response, ServerHandle, Service, Transport,
};
pub use quic_transport::{QuicCongestion, QuicScheduler, quic_congestion, quic_schedulers};
pub use security::{CipherSuite, Handshake, KeyExchange, Security, TlsVersion};
pub use stats::TransportStats;
pub use tls::{SERVER_NAME, Trust};

/// Every protocol, in the order of lists. A new one is a file or folder of its own and a line
/// here.
pub fn registry() -> &'static [&'static dyn Protocol] {
    &[
        &coap::Coap,
        &coap::CoapDtls,
        &http1::Http1,
        &http2::Http2,
        &http3::Http3,
        &mpquic::Mpquic,
        &mptcp::Mptcp,
        &mqtt::Mqtt,
        &quic::Quic,
        &sctp::Sctp,
        &sctp::SctpDtls,
        &tcp::Tcp,
        &tcp::TcpTls,
    ]
}

/// The protocol called `name`.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    registry().iter().copied().find(|protocol| protocol.name() == name)
}

/// The longest path of a request in bytes.
pub const MAX_PATH_LEN: usize = 4_096;

/// How many exchanges may share a connection at once where they can; more wait.
const STREAMS_MAX: u32 = 1_024;

/// How much early data a server takes over TCP, in bytes. A first flight holds about 14,600
/// (RFC 6928), so it is never the limit.
const EARLY_DATA_MAX: u32 = 64 << 10;
