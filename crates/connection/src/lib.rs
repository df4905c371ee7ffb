//! The interface between workloads and protocols: connections on which requests are answered.
//!
//! A client prepares a [`Dialer`], opens a [`Connection`] with it and exchanges a [`Request`] for a
//! [`Response`]; at the server a [`Service`] handles requests. Both bodies are streams ([`Body`]).
//! Protocols are implemented in `trackbed-protocols`.
#![forbid(unsafe_code)]

pub mod body;
mod capabilities;
mod connection;
pub mod error;
mod exchange;
mod priority;
mod security;
mod stats;

pub use body::Body;
pub use capabilities::{Capabilities, Transport};
pub use connection::{Connection, Dialer, Service};
pub use error::{Error, Result, Step};
pub use exchange::{MAX_PATH_LEN, Request, Response};
pub use priority::Priority;
pub use security::{CipherSuite, Handshake, KeyExchange, Security, TlsVersion};
pub use stats::TransportStats;
