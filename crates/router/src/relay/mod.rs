//! The relay of an on-train router: passengers speak plain TCP, the router speaks Multipath TCP to
//! the world over all its operators.
//!
//! Connections come in by a transparent front (TPROXY: the firewall leads them here, and nobody else
//! notices) or by SOCKS5 (RFC 1928). For each one the [`server`] dials its destination by an MPTCP
//! socket of the kernel and [`carry`](carry::carry)s bytes both ways: an end on one side becomes an
//! end on the other, an abort an abort, and who does not read is not read for.
pub mod carry;
mod destinations;
mod figures;
pub mod fronts;
mod names;
pub mod server;
pub mod sockets;
pub mod socks;

pub use destinations::Destinations;
pub use server::{Limits, Plan, Stop, run};
