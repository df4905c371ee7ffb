//! PHA-D (proactive handover-aware scheduling for the downlink) for a Linux router with several
//! cellular operators under the kernel's Multipath TCP.
//!
//! The train's position is looked up in a handover table. Before an operator's handover the daemon
//! makes its endpoint a backup, so that the kernel tells the sender by MP_PRIO (RFC 8684 section
//! 3.3.8) to use the others; after it, it takes that back.
//!
//! [`controller`] decides, and knows neither clock nor kernel; [`source`] and [`gpsd`] bring
//! positions, [`route`] the table, [`paths`] and [`interfaces`] what the kernel has, [`flags`] sets
//! flags and takes them back whatever happens. [`Daemon`] joins them.
pub mod config;
pub mod controller;
mod daemon;
mod figures;
pub mod flags;
pub mod gpsd;
pub mod interfaces;
pub mod paths;
pub mod route;
pub mod source;

pub use daemon::{Daemon, Message, Plan};
