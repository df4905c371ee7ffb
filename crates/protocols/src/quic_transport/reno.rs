//! NewReno (RFC 9002 section 7) for QUIC: that of the engine, with hybrid slow start where a scenario
//! asks for it.

use std::any::Any;
use std::time::Instant;

use noq::congestion::{Controller, ControllerMetrics};
use noq_proto::RttEstimator;

use super::hystart::HyStart;
use super::tuning::{Tuning, of_a_window};

#[derive(Clone, Debug)]
pub(super) struct Reno {
    /// The size of a full datagram.
    datagram: u64,
    initial_window: u64,
    /// The share of the window kept after a loss.
    beta: f64,
    hystart: Option<HyStart>,
    window: u64,
    ssthresh: u64,
    /// Acknowledgments and losses of packets that were sent before this belong to a recovery.
    recovery_start: Instant,
    /// Bytes acknowledged in congestion avoidance, less those that have made the window grow.
    acknowledged: u64,
}

impl Reno {
    pub(super) fn new(tuning: &Tuning, now: Instant, mtu: u16) -> Reno {
        Reno {
            datagram: mtu.into(),
            initial_window: tuning.initial_window(mtu),
            beta: tuning.beta.unwrap_or(BETA),
            hystart: tuning.hystart.clone(),
            window: tuning.initial_window(mtu),
            ssthresh: u64::MAX,
            recovery_start: now,
            acknowledged: 0,
        }
    }

    /// RFC 9002 section 7.2.
    fn least_window(&self) -> u64 {
        2 * self.datagram
    }
}

impl Controller for Reno {
    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        _number: u64,
        app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_ack(sent);
        }
        if app_limited || sent <= self.recovery_start {
            return;
        }
        if self.window < self.ssthresh {
            let growth = self.hystart.as_mut().map_or(bytes, |hystart| hystart.growth(bytes));
            self.window += growth;
            // What is beyond the threshold counts for congestion avoidance.
            self.acknowledged = self.window.saturating_sub(self.ssthresh);
            return;
        }
        self.acknowledged += bytes;
        if self.acknowledged >= self.window {
            self.acknowledged -= self.window;
            self.window += self.datagram;
        }
    }

    fn on_end_acks(&mut self, now: Instant, _: u64, _: bool, _: Option<u64>) {
        if self.window < self.ssthresh
            && let Some(hystart) = &mut self.hystart
            && hystart.ends_slow_start(now, self.window, self.datagram)
        {
            self.ssthresh = self.window;
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        _ecn: bool,
        _lost_bytes: u64,
        _largest_lost: u64,
    ) {
        if sent > self.recovery_start {
            self.recovery_start = now;
            self.hystart.iter_mut().for_each(HyStart::on_congestion);
            self.window = ((self.window as f64 * self.beta) as u64).max(self.least_window());
            self.ssthresh = self.window;
        }
        // Within a recovery too (RFC 9002 section 7.6.2).
        if persistent {
            self.recovery_start = sent;
            self.window = self.least_window();
            self.hystart.iter_mut().for_each(HyStart::restart);
        }
    }

    of_a_window!();
}

/// RFC 9002 section 7.3.2 halves the window.
const BETA: f64 = 0.5;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn hybrid() -> HyStart {
        HyStart::of(Some("true")).unwrap()
    }

    fn start() -> Instant {
        trackbed_substrate::to_std_instant(trackbed_core::Time::ZERO)
    }

    /// quic-go of 2020: 32 packets of 1,252 bytes, and 0.7 of the window after each loss event.
    #[test]
    fn beta_and_the_initial_window_are_those_that_are_asked_for() {
        for (beta, after) in [(None, [20_032, 10_016]), (Some(0.7), [28_044, 19_630])] {
            let tuning = Tuning { initial_datagrams: Some(32), beta, ..Tuning::default() };
            let mut reno = Reno::new(&tuning, start(), 1_252);
            assert_eq!((reno.window(), reno.initial_window()), (40_064, 40_064));
            let sent = start() + RTT;
            reno.on_congestion_event(sent + RTT, sent, false, false, 1_252, 9);
            reno.on_congestion_event(sent + RTT, sent, false, false, 1_252, 10);
            assert_eq!(reno.window(), after[0]);
            let sent = sent + 2 * RTT;
            reno.on_congestion_event(sent + RTT, sent, false, false, 1_252, 50);
            assert_eq!(reno.window(), after[1]);
            let sent = sent + 2 * RTT;
            reno.on_congestion_event(sent + RTT, sent, false, false, 1_252, 90);
            reno.on_congestion_event(sent + RTT, sent, true, false, 1_252, 91);
            assert_eq!(reno.window(), 2 * 1_252);
        }
    }

    /// An eighth of 40 ms is 5 ms: with rounds of 44 ms slow start goes on, with 46 ms it ends after
    /// the eight samples that no decision is taken on.
    #[test]
    fn slow_start_ends_when_the_delay_rises() {
        for (rtt, ends) in [(44, None), (46, Some(9))] {
            let (mut hystart, rtt) = (hybrid(), Duration::from_millis(rtt));
            hystart.on_ack(start());
            assert!(!hystart.ends_slow_start(start() + RTT, 16 * 1_252, 1_252));
            let ended = (1..=20).find(|ack| {
                let sent = start() + RTT + *ack * Duration::from_millis(1);
                hystart.on_ack(sent);
                hystart.ends_slow_start(sent + rtt, 16 * 1_252, 1_252)
            });
            assert_eq!(ended, ends);
            // Chromium's: not below 16 packets.
            hystart.on_ack(start() + 2 * RTT);
            assert!(!hystart.ends_slow_start(start() + 3 * RTT, 15 * 1_252, 1_252));
        }
    }

    /// A path may have any delay: only a rise ends slow start, also after a restart.
    #[test]
    fn a_long_path_is_no_rise() {
        let mut hystart = hybrid();
        let rtt = Duration::from_millis(600);
        for packet in 0..200 {
            let sent = start() + packet * Duration::from_millis(50);
            hystart.on_ack(sent);
            assert!(!hystart.ends_slow_start(sent + rtt, 64 * 1_252, 1_252), "{packet}");
            if packet == 100 {
                hystart.restart();
            }
        }
    }
}
