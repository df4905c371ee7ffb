//! Leaving slow start before a loss: HyStart as in Linux, and HyStart++ (RFC 9406).

use std::time::Duration;

use trackbed_core::{Time, named};

use super::{Acked, Window};
use crate::sequence::Seq;

named! {
    /// When CUBIC leaves slow start before a loss, as the key `hystart` says it.
    pub enum HyStart {
        /// As in Linux: a long train of acknowledgments, or a rise of the delay, ends slow start at
        /// once.
        Linux = "true",
        /// Slow start until a loss.
        Off = "false",
        /// HyStart++ (RFC 9406): a rise of the delay leads to conservative slow start first.
        Rfc9406 = "rfc9406",
    }
}

#[derive(Debug, Default)]
pub(super) enum HyStartState {
    Linux(Linux),
    Rfc9406 {
        state: PlusPlus,
        round_end: Option<Seq>,
    },
    #[default]
    Off,
}

impl HyStartState {
    pub(super) fn new(which: HyStart) -> HyStartState {
        match which {
            HyStart::Linux => HyStartState::Linux(Linux::default()),
            HyStart::Rfc9406 => {
                HyStartState::Rfc9406 { state: PlusPlus::default(), round_end: None }
            }
            HyStart::Off => HyStartState::Off,
        }
    }

    pub(super) fn on_rtt(
        &mut self,
        window: &mut Window,
        rtt: Duration,
        delay_min: Duration,
        acked: &Acked,
    ) {
        match self {
            HyStartState::Linux(state) => state.on_rtt(window, rtt, delay_min, acked),
            HyStartState::Rfc9406 { state, round_end } => {
                let new_round = round_end.is_none_or(|end| acked.una.after(end));
                if new_round {
                    *round_end = Some(acked.next);
                }
                if state.sample(rtt, new_round) {
                    window.ssthresh = window.cwnd;
                }
            }
            HyStartState::Off => {}
        }
    }

    /// Lets the window grow in slow start and returns the segments left over.
    pub(super) fn slow_start(&mut self, window: &mut Window, segments: u32) -> u32 {
        match self {
            HyStartState::Rfc9406 { state, .. } => {
                window.slow_start(state.growth(segments.into()) as u32)
            }
            HyStartState::Linux(_) | HyStartState::Off => window.slow_start(segments),
        }
    }

    pub(super) fn on_congestion(&mut self) {
        if let HyStartState::Rfc9406 { state, .. } = self {
            state.on_congestion();
        }
    }

    /// Slow start begins again, in Linux with a round that lasts until something sent after this is acknowledged.
    pub(super) fn on_timeout(&mut self, now: Time, next: Seq) {
        *self = match self {
            HyStartState::Linux(_) => {
                HyStartState::Linux(Linux { found: false, round: Some(Round::new(now, next)) })
            }
            HyStartState::Rfc9406 { .. } => {
                HyStartState::Rfc9406 { state: PlusPlus::default(), round_end: None }
            }
            HyStartState::Off => HyStartState::Off,
        };
    }
}

/// Linux: slow start ends at once, if the acknowledgments of a round form a train as long as half
/// the smallest round-trip time, or if the least delay of a round has risen by an eighth.
#[derive(Debug, Default)]
pub(super) struct Linux {
    found: bool,
    round: Option<Round>,
}

#[derive(Debug)]
struct Round {
    start: Time,
    last_ack: Time,
    end: Seq,
    rise: DelayRise,
}

impl Round {
    fn new(now: Time, end: Seq) -> Round {
        Round { start: now, last_ack: now, end, rise: DelayRise::default() }
    }
}

/// The second detector of Hybrid Slow Start (Ha and Rhee, 2011), with the thresholds of Linux and
/// Chromium: in a round, the minimum delay has risen by an eighth above the overall minimum.
#[derive(Clone, Debug, Default)]
pub struct DelayRise {
    least: Option<Duration>,
    samples: u32,
}

impl DelayRise {
    /// Takes a round-trip time of this round, on a path with the minimum `least_ever`. Returns
    /// whether the delay has risen.
    pub fn sample(&mut self, rtt: Duration, least_ever: Duration) -> bool {
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > least_ever + (least_ever / 8).clamp(MIN_RISE, MAX_RISE)
    }
}

impl Linux {
    fn on_rtt(&mut self, window: &mut Window, rtt: Duration, delay_min: Duration, acked: &Acked) {
        if self.found {
            return;
        }
        let Acked { now, una, next, .. } = *acked;
        let round = match &mut self.round {
            Some(round) if !una.after(round.end) => round,
            stale => stale.insert(Round::new(now, next)),
        };
        if window.cwnd < LOW_WINDOW {
            return;
        }
        if now - round.last_ack <= TRAIN_GAP {
            round.last_ack = now;
            self.found |= now - round.start > (delay_min + TRAIN_ALLOWANCE) / 2;
        }
        self.found |= round.rise.sample(rtt, delay_min);
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }
}

/// HyStart++ (RFC 9406 section 4) without the count of rounds, which each transport has its own way for.
#[derive(Clone, Debug, Default)]
pub struct PlusPlus {
    done: bool,
    least: Option<Duration>,
    last_least: Option<Duration>,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start (RFC 9406 section 4.2).
#[derive(Clone, Debug)]
struct Conservative {
    baseline: Duration,
    rounds_left: u32,
    credit: u64,
}

impl PlusPlus {
    /// Takes the round-trip time of an acknowledgment, with which a round begins or not. Returns whether slow
    /// start ends.
    pub fn sample(&mut self, rtt: Duration, new_round: bool) -> bool {
        if self.done {
            return false;
        }
        if new_round {
            self.start_round();
        }
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        self.samples += 1;
        if self.samples < MIN_SAMPLES {
            return self.done;
        }
        if let Some(conservative) = &self.conservative {
            // The delay fell below where the rise began: it was a false alarm.
            if least < conservative.baseline {
                self.conservative = None;
            }
        } else if let Some(last) = self.last_least {
            let rise = (last / 8).clamp(MIN_RISE, MAX_RISE);
            if least >= last + rise {
                self.conservative =
                    Some(Conservative { baseline: least, rounds_left: CSS_ROUNDS - 1, credit: 0 });
            }
        }
        self.done
    }

    fn start_round(&mut self) {
        self.last_least = self.least.take();
        self.samples = 0;
        if let Some(conservative) = &mut self.conservative {
            self.done = conservative.rounds_left == 0;
            conservative.rounds_left = conservative.rounds_left.saturating_sub(1);
        }
    }

    /// By how much the window grows in slow start, where this much was acknowledged, in the same unit.
    pub fn growth(&mut self, acknowledged: u64) -> u64 {
        let Some(conservative) = &mut self.conservative else { return acknowledged };
        conservative.credit += acknowledged;
        let growth = conservative.credit / CSS_GROWTH_DIVISOR;
        conservative.credit -= growth * CSS_GROWTH_DIVISOR;
        growth
    }

    /// The window is reduced: RFC 9406 section 4.2 ends conservative slow start then.
    pub fn on_congestion(&mut self) {
        self.conservative = None;
    }
}

/// Below this window, in segments, neither detector of Linux is active.
pub const LOW_WINDOW: u32 = 16;
/// Acknowledgments closer together than this belong to one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Part of a train that may come from batching in the sender, not from the path.
const TRAIN_ALLOWANCE: Duration = Duration::from_millis(1);
/// RFC 9406 section 4.2: N_RTT_SAMPLE, MIN_RTT_THRESH, MAX_RTT_THRESH, CSS_GROWTH_DIVISOR and
/// CSS_ROUNDS; Linux has the same samples and thresholds.
const MIN_SAMPLES: u32 = 8;
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conservative_slow_start_lasts_five_rounds_with_that_in_which_it_begins() {
        let mut state = PlusPlus::default();
        let mut round = |ms| (0..8).any(|n| state.sample(Duration::from_millis(ms), n == 0));
        assert!(!round(50));
        assert_eq!((1..=9).find(|_| round(60)), Some(6));
    }

    /// Linux: `bictcp_hystart_reset` begins a round at a timeout, which ends when something sent after it is
    /// acknowledged. Trains that begin later than 2 ms after it are not seen.
    #[test]
    fn the_round_after_a_timeout_lasts_until_something_sent_after_it_is_acknowledged() {
        let mut state = HyStartState::new(HyStart::Linux);
        let mut window = Window::new(20);
        let mut train = |state: &mut HyStartState, from_ms: u64, una: u32| {
            for at in (from_ms..from_ms + 60).map(Time::from_millis) {
                let (una, next) = (Seq(una), Seq(90_000));
                let acked = Acked { now: at, segments: 1, una, next, ..Acked::default() };
                let rtt = Duration::from_millis(100);
                state.on_rtt(&mut window, rtt, rtt, &acked);
            }
            window.ssthresh
        };
        state.on_timeout(Time::from_millis(1), Seq(50_000));
        assert_eq!(train(&mut state, 200, 50_000), u32::MAX);
        assert_eq!(train(&mut state, 300, 50_001), 20);
    }
}
