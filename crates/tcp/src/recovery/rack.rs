//! Loss detection by time: RACK (RFC 8985 section 6).

use std::time::Duration;

use trackbed_core::Time;

use super::scoreboard::{Scoreboard, Sent};
use crate::sequence::Seq;

#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the segment sent last among those delivered.
    latest: Option<(Time, Seq)>,
    /// RACK.rtt.
    rtt: Duration,
    /// Something was delivered since losses were looked for.
    advanced: bool,
    /// RACK.reo_wnd_mult.
    window_steps: u32,
    /// RACK.reo_wnd_persist: recoveries without a duplicate until the window shrinks again.
    persist: u32,
    duplicate_seen: bool,
    /// The segments delivered when the window was widened last.
    widened_at: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Reordering {
    /// Reordering was observed on this connection.
    pub seen: bool,
    /// A recovery is under way, or three segments overtook a missing one.
    pub urgent: bool,
    /// The smallest round-trip time.
    pub min_rtt: Duration,
    /// The smoothed round-trip time.
    pub srtt: Duration,
}

impl Rack {
    pub(crate) fn new() -> Rack {
        Rack { window_steps: 1, ..Rack::default() }
    }

    /// RFC 8985 section 6.2 step 2: a segment was delivered. A retransmission that would be
    /// answered sooner than any round trip before is left out, for its original was delivered.
    pub(crate) fn delivered(&mut self, sent: &Sent, now: Time, min_rtt: Duration) {
        let rtt = now - sent.sent_at;
        if sent.ever_retransmitted && rtt < min_rtt {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        let later = self.latest.is_none_or(|(at, end)| {
            sent.sent_at > at || (sent.sent_at == at && sent.end().after(end))
        });
        if later {
            self.latest = Some((sent.sent_at, sent.end()));
        }
    }

    /// RFC 8985 section 6.2 step 5: marks what was sent long enough before the latest delivery,
    /// and returns when the last suspect would be so. Nothing is looked at unless something was
    /// delivered or `anyway`.
    pub(crate) fn detect(
        &mut self,
        board: &mut Scoreboard,
        reordering: Reordering,
        now: Time,
        anyway: bool,
    ) -> Option<Time> {
        if !std::mem::take(&mut self.advanced) && !anyway {
            return None;
        }
        let (latest_at, latest_end) = self.latest?;
        let allowance = self.rtt + self.window(reordering);
        let mut last_deadline = None;
        let mut next = board.oldest_sent();
        while let Some(id) = next {
            next = board.sent_after(id);
            let sent = board.get(id)?;
            let sent_before = sent.sent_at < latest_at
                || (sent.sent_at == latest_at && latest_end.after(sent.end()));
            if !sent_before {
                break;
            }
            let deadline = sent.sent_at + allowance;
            if deadline <= now {
                board.mark_overtaken(id);
            } else {
                last_deadline = last_deadline.max(Some(deadline));
            }
        }
        last_deadline
    }

    /// True if a segment was sent at least a round trip ago, so that it is lost after a timeout.
    pub(crate) fn is_overdue(&self, sent_at: Time, now: Time) -> bool {
        sent_at + self.rtt <= now
    }

    /// Check for losses at the next acknowledgment in any case.
    pub(crate) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// RFC 8985 section 6.2 step 4: the reordering window.
    fn window(&self, reordering: Reordering) -> Duration {
        if !reordering.seen && reordering.urgent {
            return Duration::ZERO;
        }
        (reordering.min_rtt / 4 * self.window_steps).min(reordering.srtt)
    }

    /// A DSACK reported a needless retransmission.
    pub(crate) fn duplicate_reported(&mut self) {
        self.duplicate_seen = true;
    }

    /// Widens the window once a round trip while duplicates are reported. `delivered_at_send`
    /// belongs to the latest segment that was acknowledged.
    pub(crate) fn adapt(&mut self, delivered_at_send: u64, delivered: u64) {
        if delivered_at_send < self.widened_at {
            self.duplicate_seen = false;
        }
        if std::mem::take(&mut self.duplicate_seen) {
            self.window_steps = (self.window_steps + 1).min(255);
            self.widened_at = delivered;
            self.persist = PERSIST_RECOVERIES;
        } else if self.persist == 0 {
            self.window_steps = 1;
        }
    }

    /// A recovery ended and none of its retransmissions was shown to be needless.
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone because of duplicates: the window stays wide for longer.
    pub(crate) fn undone(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST_RECOVERIES);
    }
}

/// RFC 8985 section 6.2 step 4: how long a widened window persists.
const PERSIST_RECOVERIES: u32 = 16;
