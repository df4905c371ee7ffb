//! Hybrid slow start for QUIC, by the delay alone, as Chromium and quic-go had it: slow start ends
//! when the round-trip time rises, and so before the queue of the path overflows.

use std::time::{Duration, Instant};

use trackbed_tcp::congestion::{DelayRise, LOW_WINDOW};

/// Looks for the rise.
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

    /// Slow start begins anew; the path is as long as before.
    pub(super) fn restart(&mut self) {
        *self = HyStart { least_rtt: self.least_rtt, ..HyStart::default() };
    }

    /// An ACK frame has ended. Says whether slow start ends with it.
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
