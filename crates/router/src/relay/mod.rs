//! The relay of an on-train router: passengers use plain TCP, and the router uses Multipath TCP over all its
//! operators.
//!
//! Connections arrive at a transparent front (TPROXY: the firewall redirects them, and clients do not
//! notice) or by SOCKS5 (RFC 1928). For each one, the [`server`] connects to its destination with an MPTCP
//! socket of the kernel and [`carry`](carry::carry)s bytes in both directions. An end on one side becomes an
//! end on the other, and an abort an abort. A side that does not read stops the reading from the other side.
pub mod carry;
mod destinations;
mod figures;
pub mod fronts;
mod names;
pub mod server;
pub mod sockets;
pub mod socks;

pub use destinations::Destinations;
pub use server::{Limits, Plan, run};
