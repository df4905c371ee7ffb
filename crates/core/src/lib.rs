//! The vocabulary shared by all Trackbed crates: a point in time, a seed, quantities with units,
//! and IP packets. It does no input or output and reads no clock.
#![forbid(unsafe_code)]

pub mod event;
mod named;
pub mod packet;
pub mod parameter;
pub mod seed;
pub mod text;
pub mod time;
pub mod units;

pub use event::{Event, EventLog};
pub use packet::Packet;
pub use parameter::{Arguments, Parameter};
pub use seed::{Rng, Seed};
pub use time::Time;
pub use units::{Bitrate, ByteSize, Ratio};
