//! What a search tries, and where.

use trackbed_net::models::Fault;
use trackbed_substrate::Cancel;

use crate::emulated::Emulated;

/// What is tried.
#[derive(Clone, Debug)]
pub struct Question {
    /// What happens to the chosen packets.
    pub fault: Fault,
    /// Whether pairs are tried too.
    pub pairs: bool,
    /// At most this many packets of a run are chosen, from its beginning.
    pub packets: usize,
    /// Run number, which selects the random numbers.
    pub run: u32,
    /// Only the patterns with this text, if any.
    pub only: Option<String>,
    /// How many runs at a time, in virtual time.
    pub jobs: usize,
    /// Ends the search early.
    pub cancel: Cancel,
}

/// Where runs execute.
#[derive(Clone, Copy, Debug)]
pub enum Ground<'a> {
    /// In virtual time, where each run can be repeated.
    Virtual,
    /// On the kernel.
    Emulated(&'a Emulated),
}
