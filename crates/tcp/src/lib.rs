//! A sans-IO TCP engine with real segments and Linux-grade loss recovery.
//!
//! # The call contract
//! A [`Connection`] is told of segments, timeouts and the wishes of its application, always with
//! the time. After **every** call that takes `&mut self`, the caller drains
//! [`Connection::poll_transmit`] until it returns `None`, sends the packets, and then arms its
//! timer with [`Connection::poll_timeout`], which any such call may have changed. When that time
//! has come it calls [`Connection::handle_timeout`].
#![forbid(unsafe_code)]

pub mod config;
pub mod congestion;
mod connection;
mod error;
mod receive;
mod recovery;
mod rtt;
pub mod segment;
mod sequence;
mod stats;
mod stream;
mod subflow;

pub use config::Config;
pub use congestion::{CongestionAlgorithm, algorithms};
pub use connection::Connection;
pub use error::TcpError;
pub use segment::{Flags, QuotedSegment, Segment, reset_reply};
pub use sequence::Seq;
pub use stats::Stats;
pub use subflow::State;
