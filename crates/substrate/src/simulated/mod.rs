//! The virtual substrate: a whole network in one thread, on a clock of its own.
//!
//! A [`Simulation`] runs one future against a [`Network`](trackbed_net::Network) and the sockets
//! at its ends. Time passes only between events, so nothing that the processor does is ever
//! measured, and the same seed gives the same run, byte for byte, on any machine.

mod egress;
mod error;
mod host;
mod listener;
mod options;
mod panic;
mod parallel;
mod ports;
mod reactor;
mod run;
mod stream;
mod tcp;
mod udp;
mod waiter;
mod world;

pub use error::RunError;
pub use host::Hosts;
pub use parallel::{Cancel, parallel};
pub use run::{Simulation, is_simulating};
