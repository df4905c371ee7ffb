//! What a client's machine and a server's say to one another: bodies in JSON, one exchange each.

use serde::{Deserialize, Serialize};
use trackbed_core::event::Record;

use trackbed_archive::About;

/// Asks for the server of one run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Open {
    /// Of the ticket.
    pub secret: String,
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

/// The run is over.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Close {
    /// Of the ticket.
    pub secret: String,
}

/// What the server has used and sent. Its times are on another clock, so nothing else is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Closed {
    pub records: Vec<Record>,
}

/// Where the words are sent.
pub(super) const OPEN: &str = "/trackbed/1/open";
pub(super) const CLOSE: &str = "/trackbed/1/close";

/// Of any body, in bytes.
pub(super) const BODY_MAX: usize = 1 << 20;
