//! Hybrid slow start for QUIC, by the delay alone, as in Chromium and quic-go: slow start ends when
//! the round-trip time rises, and so before the queue of the path overflows.

use std::time::{Duration, Instant};

use trackbed_tcp::congestion::{DelayRise, LOW_WINDOW};

#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    /// A packet that was sent at this time or later ends the round.
    round: Option<Instant>,
    rise: DelayRise,
    found: bool,
    /// When the newest packet was sent that the present ACK frame acknowledges.
    newest: Option<Instant>,
    /// The least round-trip time of the path so far.
    least_rtt: Option<Duration>,
}

impl HyStart {
    /// A packet that was sent at this time was acknowledged.
    pub(super) fn on_ack(&mut self, sent: Instant) {
        self.newest = self.newest.max(Some(sent));
    }

    /// Slow start restarts; the path's delay is unchanged.
    pub(super) fn restart(&mut self) {
        *self = HyStart { least_rtt: self.least_rtt, ..HyStart::default() };
    }

    /// Called at the end of an ACK frame. Returns whether slow start ends.
    pub(super) fn ends_slow_start(&mut self, now: Instant, window: u64, datagram: u64) -> bool {
        let Some(newest) = self.newest.take() else { return false };
        if self.round.is_none_or(|start| newest >= start) {
            self.round = Some(now);
            self.rise = DelayRise::default();
        }
        let rtt = now - newest;
        let least = self.least_rtt.map_or(rtt, |least| least.min(rtt));
        self.least_rtt = Some(least);
        self.found |= self.rise.sample(rtt, least);
        self.found && window >= u64::from(LOW_WINDOW) * datagram
    }
}
