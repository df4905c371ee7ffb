//! MQTT 3.1.1 and 5 without sockets: a [`broker`] and a [`client`] that are told of bytes and of the
//! time, and say what to send.
//!
//! Sections in comments are those of MQTT 5, which 3.1.1 mostly shares.
//!
//! # Not supported
//!
//! - MQTT 3.1, WebSockets, bridges, and what a broker keeps on disk: sessions end with it.
//! - Passwords and extended authentication: the broker takes everybody, and says so to those who ask
//!   for the latter (0x8c).
//! - Topic aliases that the broker or the client would use; the broker takes a client's.
//! - `$SYS` topics, and topics that begin with `$` altogether, which clients may not publish to.
//! - A message of QoS 2 is handed on when it comes, not when it is released (both are allowed, section
//!   4.3.3).
#![forbid(unsafe_code)]

pub mod broker;
pub mod client;
mod decode;
mod encode;
mod framing;
pub mod packet;
mod reason;
mod sending;
pub mod topic;
mod tree;
mod wire;

pub use packet::{Message, Payload, Properties, Qos, Subscription, Version, Will};
pub use reason::{Fault, Reason};
