//! Multipath TCP, version 1 (RFC 8684): one byte stream over several subflows.
//!
//! # The call contract
//! As for a [`Connection`](crate::Connection): call, drain [`MultipathConnection::poll_transmit`],
//! arm the timer with [`MultipathConnection::poll_timeout`]. Packets carry the addresses of their
//! subflow, so the caller sends them like those of any connection. It also drains
//! [`MultipathConnection::poll_join`] after every call: subflows that the connection wants to open,
//! for each of which the caller chooses a port, a sequence number and a nonce, and calls
//! [`MultipathConnection::join`].
//!
//! # The listener's part
//! A SYN without MP_JOIN opens a connection ([`MultipathConnection::accept`]), whose key the caller
//! draws until its [`Key::token`] differs from those of its other connections. A SYN with MP_JOIN
//! ([`join_token`]) belongs to the connection whose [`MultipathConnection::token`] it names, and is
//! passed to [`MultipathConnection::accept_join`]; if there is none, answer it with
//! [`refuse_join`]. From then on the subflow's segments are that connection's.
//!
//! # How it is built
//! The stream is separate from its paths: `send` and `receive` count bytes from its start, and only
//! `shared` knows data sequence numbers. A path is a `Subflow` with a `link`: its outgoing data
//! (`outgoing`), its incoming data (`incoming`), and the state of its handshake. For the subflow
//! both together are its streams (`carrier`, `options`). The connection itself assigns data to
//! paths (`transmit`, with a [`Scheduler`]), opens and abandons paths (`paths`, `manager`), and
//! closes (`settle`).
//!
//! # As Linux, and not
//! Numbers have 64 bits, DATA_FIN goes on acknowledgments of its own and with the last data, an
//! abort is a reset with MP_FASTCLOSE on every subflow, the window is shared by the tuner of
//! `crate::receive`. Each segment has its own mapping. Data without a mapping is ignored and sent
//! again after the data-level timeout, where Linux resets the subflow.

mod carrier;
mod config;
mod connection;
mod incoming;
mod join;
mod keys;
mod link;
mod manager;
mod options;
mod outgoing;
mod paths;
mod receive;
mod send;
mod settle;
mod shared;
mod timers;
mod transmit;

use trackbed_core::Time;

pub use crate::schedulers::Reinjection;
pub use config::{Endpoint, MultipathConfig};
pub use connection::MultipathConnection;
pub use join::{JoinError, join_token, refuse_join};
pub use keys::Key;
pub use manager::JoinRequest;
pub use paths::PathInfo;
pub use shared::MultipathStats;

use crate::schedulers::Scheduler;
use crate::subflow::Subflow;
use carrier::Carrier;
use link::Link;
use shared::Shared;

#[derive(Debug)]
struct Path {
    subflow: Subflow,
    link: Link,
    /// It has nothing to send until an event.
    quiet: bool,
    /// It makes no progress: it gets no new data, and its data is given to others.
    stale: bool,
    /// Path control asks not to use it.
    blocked: bool,
    /// Timeouts without progress when this was looked at last.
    timeouts: u32,
    /// Segments that the peer had then, for the scheduler, and at the last data-level timeout.
    delivered: u64,
    delivered_before: u64,
    /// Data-level timeouts since it last delivered something, see [`Reinjection::Stale`].
    idle_rounds: u32,
}

impl Path {
    fn new(subflow: Subflow, link: Link) -> Path {
        Path {
            subflow,
            link,
            quiet: false,
            stale: false,
            blocked: false,
            timeouts: 0,
            delivered: 0,
            delivered_before: 0,
            idle_rounds: 0,
        }
    }

    fn is_ready(&self) -> bool {
        self.link.is_ready() && self.subflow.is_synchronized()
    }

    fn with<T>(
        &mut self,
        shared: &mut Shared,
        act: impl FnOnce(&mut Subflow, &mut Carrier<'_>) -> T,
    ) -> T {
        self.quiet = false;
        act(&mut self.subflow, &mut Carrier { link: &mut self.link, shared })
    }

    fn abort(&mut self, _now: Time) {
        self.quiet = false;
        self.subflow.abort();
    }
}
