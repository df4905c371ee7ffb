//! The path manager of the Linux kernel's Multipath TCP: generic netlink family `mptcp_pm`, version 1
//! (include/uapi/linux/mptcp_pm.h, Documentation/netlink/specs/mptcp_pm.yaml).
//!
//! A [`PathManager`] speaks to the network namespace of the thread that opened it: addresses for
//! subflows ([`Endpoint`]), how many there may be ([`Limits`]), and which of them are backups. An
//! endpoint whose flag changes makes the kernel send MP_PRIO (RFC 8684 section 3.3.8) on the subflow
//! of every connection that uses it. [`Events`] tells of connections and subflows that come and go,
//! [`counters`] what happened so far.
#![forbid(unsafe_code)]

mod attributes;
mod counters;
mod endpoint;
mod error;
mod event;
mod manager;
mod request;

pub use counters::{Counters, counters};
pub use endpoint::{Endpoint, EndpointFlags, Limits};
pub use error::PathManagerError;
pub use event::{Event, Events, Subflow, Token};
pub use manager::{PathManager, is_enabled};
