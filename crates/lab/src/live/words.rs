//! Messages between a client's machine and a server: JSON bodies, one exchange each.

use serde::{Deserialize, Serialize};
use trackbed_core::event::{Event, Record, Role};

use trackbed_archive::About;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Open {
    /// How to plan the cells.
    pub about: About,
    /// [`Plan::hash_of_ends`](trackbed_scenario::Plan), by which both check that they mean the
    /// same.
    pub ends: String,
    /// The cell.
    pub cell: u32,
    /// The run.
    pub run: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Opened {
    /// Its port, on the address of the request.
    pub port: u16,
    /// Its certificate in DER, if it has one.
    pub trust: Option<Vec<u8>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Closed {
    pub records: Vec<Record>,
}

/// Whether the server reports an event. Its times are on another clock, so it reports nothing else,
/// and the client ignores anything else.
pub(super) fn is_told(record: &Record) -> bool {
    matches!(record.event, Event::Transport { role, .. } | Event::Used { role, .. } if role == Role::Server)
}

/// The paths of requests; the ticket's secret follows, so that a server can decide from a request's
/// head whether to read on.
pub(super) const OPEN: &str = "/trackbed/2/open/";
pub(super) const CLOSE: &str = "/trackbed/2/close/";

pub(super) const BODY_MAX: usize = 1 << 20;
