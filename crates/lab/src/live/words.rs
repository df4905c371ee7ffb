//! What a client's machine and a server's say to one another: bodies in JSON, one exchange each.

use serde::{Deserialize, Serialize};
use trackbed_core::event::{Event, Record, Role};

use trackbed_archive::About;

/// Asks for the server of one run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Open {
    /// How to plan the cells.
    pub about: About,
    /// [`Plan::hash_of_ends`](trackbed_scenario::Plan), by which both know that they mean the same.
    pub ends: String,
    /// Which cell.
    pub cell: u32,
    /// Which run of it.
    pub run: u32,
}

/// The server is there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Opened {
    /// Where it listens, on the address that was asked.
    pub port: u16,
    /// Its certificate in DER, if it has one.
    pub trust: Option<Vec<u8>>,
}

/// What the server has used and sent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Closed {
    pub records: Vec<Record>,
}

/// Whether the server tells of an event: its times are on another clock, so nothing else is told, and whatever
/// else it told would not be believed.
pub(super) fn is_told(record: &Record) -> bool {
    matches!(record.event, Event::Transport { role, .. } | Event::Used { role, .. } if role == Role::Server)
}

/// Where the words are sent; the ticket's secret follows, so that a server knows from a request's head whether
/// to read on.
pub(super) const OPEN: &str = "/trackbed/2/open/";
pub(super) const CLOSE: &str = "/trackbed/2/close/";

/// Of any body, in bytes.
pub(super) const BODY_MAX: usize = 1 << 20;
