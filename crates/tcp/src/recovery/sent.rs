//! One segment in flight.

use bytes::Bytes;
use trackbed_core::Time;

use crate::sequence::Seq;

pub(crate) type Id = u64;

#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// The first sequence number.
    pub start: Seq,
    /// The data.
    pub payload: Bytes,
    /// A FIN follows the data.
    pub fin: bool,
    /// When it was sent last.
    pub sent_at: Time,
    /// How many segments had been delivered then.
    pub delivered: u64,
    /// The peer has it (SACK).
    pub sacked: bool,
    /// It is deemed lost.
    pub lost: bool,
    /// It was deemed lost because later ones had arrived, and was not sent again since.
    pub(super) overtaken: bool,
    /// It was sent again, and that transmission is deemed to be in flight.
    pub retransmitted: bool,
    /// It was sent more than once.
    pub ever_retransmitted: bool,
    /// The segments sent before and after it, of those whose fate is open.
    pub(super) previous: Id,
    pub(super) next: Id,
    /// It is one of them.
    pub(super) listed: bool,
}

impl Sent {
    /// A segment that is about to be sent for the first time.
    pub(crate) fn new(start: Seq, payload: Bytes, fin: bool) -> Sent {
        Sent { start, payload, fin, ..Sent::default() }
    }

    pub(crate) fn end(&self) -> Seq {
        self.start + self.payload.len() as u32 + u32::from(self.fin)
    }
}

/// No segment: the end of a list.
pub(super) const NONE: Id = Id::MAX;
