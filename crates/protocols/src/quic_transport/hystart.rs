//! Leaving slow start before a loss, for QUIC: by the delay alone, so before the queue of the path overflows.

use std::time::{Duration, Instant};

use trackbed_tcp::config;
use trackbed_tcp::congestion::{DelayRise, LOW_WINDOW, PlusPlus};

#[derive(Clone, Debug)]
pub(super) struct HyStart {
    detector: Detector,
    /// A packet that was sent at this time or later ends the round.
    round: Option<Instant>,
    /// When the newest packet was sent that the present ACK frame acknowledges.
    newest: Option<Instant>,
}

#[derive(Clone, Debug)]
enum Detector {
    /// Hybrid slow start as in Chromium and quic-go: slow start ends at once when the delay rises.
    Hybrid {
        rise: DelayRise,
        found: bool,
        /// The least round-trip time of the path so far.
        least_rtt: Option<Duration>,
    },
    PlusPlus(PlusPlus),
}

impl HyStart {
    /// What is asked for; nothing over QUIC where nothing is said.
    pub(super) fn of(asked: Option<&str>) -> Option<HyStart> {
        let detector = match config::HyStart::from_name(asked?)? {
            config::HyStart::Off => return None,
            config::HyStart::Linux => {
                Detector::Hybrid { rise: DelayRise::default(), found: false, least_rtt: None }
            }
            config::HyStart::Rfc9406 => Detector::PlusPlus(PlusPlus::default()),
        };
        Some(HyStart { detector, round: None, newest: None })
    }

    /// A packet that was sent at this time was acknowledged.
    pub(super) fn on_ack(&mut self, sent: Instant) {
        self.newest = self.newest.max(Some(sent));
    }

    /// By how many bytes the window grows in slow start, where this many were acknowledged.
    pub(super) fn growth(&mut self, acknowledged: u64) -> u64 {
        match &mut self.detector {
            Detector::Hybrid { .. } => acknowledged,
            Detector::PlusPlus(state) => state.growth(acknowledged),
        }
    }

    pub(super) fn on_congestion(&mut self) {
        if let Detector::PlusPlus(state) = &mut self.detector {
            state.on_congestion();
        }
    }

    /// Slow start restarts; the path's delay is unchanged.
    pub(super) fn restart(&mut self) {
        (self.round, self.newest) = (None, None);
        match &mut self.detector {
            Detector::Hybrid { rise, found, .. } => (*rise, *found) = (DelayRise::default(), false),
            Detector::PlusPlus(state) => *state = PlusPlus::default(),
        }
    }

    /// Called at the end of an ACK frame. Returns whether slow start ends.
    pub(super) fn ends_slow_start(&mut self, now: Instant, window: u64, datagram: u64) -> bool {
        let Some(newest) = self.newest.take() else { return false };
        let begins = self.round.is_none_or(|start| newest >= start);
        if begins {
            self.round = Some(now);
        }
        let rtt = now - newest;
        let (rise, found, least_rtt) = match &mut self.detector {
            Detector::Hybrid { rise, found, least_rtt } => (rise, found, least_rtt),
            Detector::PlusPlus(state) => return state.sample(rtt, begins),
        };
        if begins {
            *rise = DelayRise::default();
        }
        let least = least_rtt.map_or(rtt, |least| least.min(rtt));
        *least_rtt = Some(least);
        *found |= rise.sample(rtt, least);
        *found && window >= u64::from(LOW_WINDOW) * datagram
    }
}
