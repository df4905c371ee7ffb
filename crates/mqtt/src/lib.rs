//! MQTT 3.1.1 and 5 without sockets: a [`broker`] and a [`client`] that take bytes and the time,
//! and return what to send.
//!
//! Sections in comments are those of MQTT 5, which 3.1.1 mostly shares.
//!
//! # Not supported
//!
//! - MQTT 3.1, WebSockets, bridges and persistence: sessions end with the broker.
//! - Passwords and extended authentication: the broker accepts every client, and rejects a request
//!   for the latter (0x8c).
//! - Topic aliases in packets that the broker or the client sends; the broker accepts a client's.
//! - `$SYS` topics, and topics that begin with `$` altogether, which clients may not publish to.
//! - A message of QoS 2 is forwarded on arrival, not on release (both are allowed, section 4.3.3).
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

pub use packet::{Message, Properties, Qos, Subscription, Version, Will};
pub use reason::{Fault, Reason};
