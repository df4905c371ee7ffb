//! http2, http3, quic, tcp and tcp+tls over the sockets of a substrate.
//!
//! A [`Protocol`] offers request and response, with streamed bodies, over a connection that can
//! be opened in several ways. [`registry`] lists them. Who uses one needs to know no protocol:
//!
//! 1. [`Protocol::serve`] starts a [`Service`] on a host and returns a [`ServerHandle`].
//! 2. [`Protocol::dialer`] prepares connections from another host, which trust that server.
//! 3. [`Dialer::connect`] opens a [`Connection`], [`Connection::exchange`] sends a [`Request`].
#![forbid(unsafe_code)]

pub mod body;
pub mod config;
pub mod error;
mod observer;
mod protocol;
mod security;
mod stats;
mod tls;

pub use body::Body;
pub use config::{ClientConfig, ServerConfig, TlsParameters, TransportParameters};
pub use error::Error;
pub use observer::{Observer, Side};
pub use protocol::{
    Capabilities, Connection, Dialer, Protocol, Request, Response, ServerHandle, Service, Transport,
};
pub use security::{CipherSuite, Handshake, Security, TlsVersion};
pub use stats::TransportStats;
pub use tls::Trust;

/// Every protocol, in the order of lists. A new one is a file or folder of its own and a line
/// here.
pub fn registry() -> &'static [&'static dyn Protocol] {
    &[]
}

/// The protocol called `name`.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    registry().iter().copied().find(|protocol| protocol.name() == name)
}

/// The congestion control algorithms that the QUIC engine offers: the values of
/// [`TransportParameters::congestion`] for `quic` and `http3`.
pub fn quic_congestion() -> &'static [&'static str] {
    &["cubic", "reno", "bbr3"]
}

/// The longest path of a request in bytes.
pub const MAX_PATH_LEN: usize = 4_096;
