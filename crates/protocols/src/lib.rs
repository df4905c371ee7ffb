//! http1, http2, http3, mpquic, mptcp, mqtt, quic, sctp, sctp+dtls, tcp and tcp+tls over the sockets of
//! a substrate.
//!
//! A [`Protocol`] offers request and response, with streamed bodies, over a connection that can be
//! opened in several ways. [`registry()`] lists them. Callers need no knowledge of the protocol:
//!
//! 1. [`Protocol::serve`] starts a [`Service`](trackbed_connection::Service) on a host and returns a [`ServerHandle`].
//! 2. [`Protocol::dialer`] prepares connections from another host, which trust that server.
//! 3. `Dialer::connect` opens a `Connection`, `Connection::exchange` sends a `Request`, see
//!    [`trackbed_connection`].
//!
//! # Not supported
//!
//! - Header fields, trailers and server push of HTTP: an exchange is a path, a priority, a status
//!   and two bodies. Priorities do not change later (PRIORITY_UPDATE of RFC 9218).
//! - Client certificates, and chains: a server signs its own P-256 certificate, so its first
//!   flight is shorter than that of a public web server, which may need a second round trip.
//! - Key exchange groups other than X25519, hence HelloRetryRequest.
//! - QUIC's datagrams, and address validation tokens for later connections (NEW_TOKEN).
//! - Seeding BBR version 3, see [`Congestion::repeatable`].
#![forbid(unsafe_code)]

/// Methods of a connection that pass the call on to a part of it.
macro_rules! answers {
    ($($name:ident -> $Answer:ty: $($part:ident).+;)+) => {
        $(fn $name(&self) -> $Answer {
            self.$($part).+()
        })+
    };
}

mod alarm;
pub mod certificates;
mod coap;
mod config;
mod congestion;
mod datagrams;
mod dtls_transport;
mod framing;
mod http1;
mod http2;
mod http3;
mod http_messages;
pub mod intruder;
mod ledger;
mod mqtt;
mod none;
mod nursery;
mod observer;
pub mod parameters;
mod path_control;
mod pieces;
mod presets;
mod protocol;
mod quic;
mod quic_transport;
mod registry;
mod sctp;
mod tcp;
mod tcp_transport;
mod tls;
mod tls_settings;

pub use coap::WHOLE_MAX;
pub use config::{
    Chain, ClientConfig, CoapParameters, Encapsulation, KeyKind, ListenAt, MqttAnswer,
    MqttParameters, MqttQos, MqttVersion, OwnCertificate, SctpParameters, ServerConfig,
    ServerLimits, TlsParameters, TlsSettings, TransportParameters, Trust,
};
pub use congestion::{Congestion, CongestionOf, KERNEL_CONGESTION, congestion};
pub use ledger::{Ledger, LedgerTotals};
pub use none::NONE;
pub use observer::{Observer, Side, TcpTrace};
pub use parameters::{ParameterError, SCHEDULER_OF_LINUX};
pub use path_control::PathControl;
pub use presets::{Preset, presets, presets_by_protocol};
pub use protocol::{Protocol, Served, ServerHandle};
pub use quic_transport::{QuicScheduler, quic_schedulers};
pub use registry::{find, parameters, registry};
pub use tls::{SERVER_NAME, client_trust};
