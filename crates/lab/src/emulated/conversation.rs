//! What the process of a run says to those of its ends, and they to it: a line of JSON each.

use serde::{Deserialize, Serialize};
use trackbed_core::event::Record;

use trackbed_archive::About;

/// What an end is to do: the first line that it is told. It makes itself ready, says
/// [`Report::Prepared`], and waits for [`Start`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// How to plan the cells.
    pub about: About,
    /// Which cell.
    pub cell: u32,
    /// Which run of it.
    pub run: u32,
    pub role: Role,
}

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    /// Serves until it is told to stop.
    Server,
    /// Does the workload.
    Clients,
}

/// The order to begin: the second and last line that an end is told. The end of its input is the
/// order to stop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// `CLOCK_MONOTONIC` in nanoseconds at the start of the run.
    pub origin: u64,
    /// For clients: the server's certificate in DER, if it has one.
    pub trust: Option<Vec<u8>>,
}

/// What an end tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// It can begin.
    Prepared,
    /// The server listens.
    Ready {
        /// Its certificate in DER, if it has one.
        trust: Option<Vec<u8>>,
    },
    /// It is at work. An end says so every second.
    Alive,
    /// It is done; these are its events, oldest first.
    Done(Vec<Record>),
    /// It could not do it.
    Failed(String),
}
