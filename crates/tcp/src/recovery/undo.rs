//! Undoing a reduction when its retransmissions prove needless: by timestamps (Eifel, RFC 3522), by
//! DSACK (RFC 3708) and by F-RTO (RFC 5682).

use crate::sequence::Seq;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// The oldest unacknowledged byte when the reduction began; `None` if it cannot be undone.
    marker: Option<Seq>,
    /// Retransmissions that were not reported as duplicates; `None` before the first one.
    needed: Option<u32>,
    /// The threshold before the reduction; `None` if congestion was signalled explicitly.
    pub prior_ssthresh: Option<u32>,
    /// The timestamp of the first retransmission.
    pub first_retransmission: Option<u32>,
}

impl Undo {
    /// A reduction begins, with `retransmitted` segments in flight for the second time.
    pub(crate) fn begin(&mut self, una: Seq, retransmitted: u32) {
        self.marker = Some(una);
        self.needed = (retransmitted > 0).then_some(retransmitted);
    }

    pub(crate) fn settle(&mut self) {
        self.marker = None;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.marker.is_some()
    }

    /// A segment was retransmitted with timestamp `stamp`.
    pub(crate) fn retransmitted(&mut self, stamp: u32) {
        self.first_retransmission.get_or_insert(stamp);
        self.needed = Some(self.needed.unwrap_or(0) + 1);
    }

    /// The peer reported a duplicate of the segment that ends at `end`.
    pub(crate) fn duplicate(&mut self, end: Seq) {
        if self.marker.is_some_and(|marker| end.after(marker)) {
            self.needed = self.needed.map(|needed| needed.saturating_sub(1));
        }
    }

    /// True if every retransmission was reported as a duplicate.
    pub(crate) fn all_needless(&self) -> bool {
        self.is_open() && self.needed == Some(0)
    }

    /// True if what was just acknowledged answers the original transmission, not a
    /// retransmission: the echoed timestamp is older, or nothing was retransmitted at all.
    pub(crate) fn original_arrived(&self, echo: Option<u32>) -> bool {
        match (self.first_retransmission, echo) {
            (None, _) => true,
            (Some(first), Some(echo)) => (echo.wrapping_sub(first) as i32) < 0,
            (Some(_), None) => false,
        }
    }
}
