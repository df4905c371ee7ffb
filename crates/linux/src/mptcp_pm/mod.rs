//! The path manager of the Linux kernel's Multipath TCP: generic netlink family `mptcp_pm`, version 1
//! (include/uapi/linux/mptcp_pm.h, Documentation/netlink/specs/mptcp_pm.yaml).
//!
//! A [`PathManager`] controls the network namespace of the thread that opened it: addresses for
//! subflows ([`Endpoint`]), their limits ([`Limits`]), and which of them are backups. If an
//! endpoint's flag changes, the kernel sends MP_PRIO (RFC 8684 section 3.3.8) on the subflow of
//! every connection that uses it. [`counters`] tells the totals so far.
#![forbid(unsafe_code)]

mod attributes;
mod counters;
mod endpoint;
mod error;
mod manager;
mod request;

pub use counters::{Counters, counters};
pub use endpoint::{Endpoint, EndpointFlags, Limits};
pub use error::PathManagerError;
pub use manager::{PathManager, is_enabled};
