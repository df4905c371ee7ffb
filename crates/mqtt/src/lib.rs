//! MQTT 3.1.1 and 5 without sockets.
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

pub use packet::{Message, Payload, Properties, Qos, Subscription, Version, Will};
pub use reason::{Fault, Reason};
