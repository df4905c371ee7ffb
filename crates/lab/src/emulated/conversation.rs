//! Messages between the process of a run and its ends, one line of JSON each.

use std::net::IpAddr;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use trackbed_core::Time;
use trackbed_core::event::{Record, Role};

use trackbed_archive::About;

use crate::windows::Connection;

/// An end's task: the first line it receives. It prepares, sends [`Report::Prepared`], and waits
/// for [`Start`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// How to plan the cells.
    pub about: About,
    /// The cell.
    pub cell: u32,
    /// The run.
    pub run: u32,
    pub role: Role,
    /// The phones that these clients are, by number.
    pub phones: Range<u32>,
    /// Whether to report TLS secrets.
    pub is_watched: bool,
    /// And congestion windows.
    pub notes_windows: bool,
}

/// The order to begin: the second line that an end receives. The end of its input tells it to stop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// `CLOCK_MONOTONIC` in nanoseconds at the start of the run.
    pub origin: u64,
    /// For clients: the certificate in DER of each member's server, if it has one.
    pub trusts: Vec<Option<Vec<u8>>>,
}

/// The third and last line, if the clients are several processes: all are ready.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Go {
    /// When they begin.
    pub at: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    Prepared,
    /// The server listens, or the clients in one of several processes wait for [`Go`].
    Ready {
        /// The certificate in DER of each member's server, if it has one.
        trusts: Vec<Option<Vec<u8>>>,
    },
    /// It is working. An end sends this every second.
    Alive,
    /// A phone gives up these addresses: it moves on to another network.
    Left(Vec<IpAddr>),
    /// It has finished.
    Done {
        /// The events of each member, oldest first.
        records: Vec<Vec<Record>>,
        /// Its TLS secrets, if it was asked for them: lines of the NSS key log format.
        keys: String,
        /// The congestion windows of its first TCP connection, if it was asked for them.
        windows: Option<Connection>,
    },
    Failed(String),
}
