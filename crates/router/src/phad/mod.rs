//! PHA-D (proactive handover-aware scheduling for the downlink) for a Linux router with several
//! cellular operators under the kernel's Multipath TCP.
//!
//! The daemon looks up the train's position in a handover table. Before an operator's handover it makes the
//! operator's endpoint a backup, so that the kernel tells the sender by MP_PRIO (RFC 8684 section 3.3.8) to
//! use the others. After the handover it clears the flag.
//!
//! [`trackbed_railway::phad`] decides, without clock or kernel. [`source`] and [`gpsd`] provide positions, [`route`] the
//! table, [`paths`] and [`interfaces`] the state of the kernel. [`flags`] sets flags and clears them in all
//! cases. [`Daemon`] joins them.
mod daemon;
mod figures;
pub mod flags;
pub mod gpsd;
pub mod interfaces;
pub mod paths;
pub mod route;
pub mod source;

pub use daemon::{Daemon, Message, Plan};
