//! CUBIC (RFC 9438) for QUIC: in bytes, and by the engine's clock.
//!
//! The engine's own CUBIC follows RFC 8312, with deviations. TCP's CUBIC, in `trackbed-tcp`, uses
//! Linux's integer arithmetic, because its agreement with the kernel depends on the rounding; so
//! the two share no arithmetic.

use std::any::Any;
use std::time::{Duration, Instant};

use noq::congestion::{Controller, ControllerMetrics};
use noq_proto::RttEstimator;

use super::hystart::HyStart;
use super::tuning::{Tuning, of_a_window};

#[derive(Debug, Clone)]
pub(super) struct Cubic {
    /// The size of a full datagram.
    datagram: u64,
    initial_window: u64,
    beta: f64,
    hystart: Option<HyStart>,
    state: State,
    /// What there was before the last reduction, in case that turns out to be spurious.
    before: Option<State>,
}

#[derive(Debug, Clone, Default)]
struct State {
    window: u64,
    ssthresh: u64,
    /// Acknowledgments and losses of packets that were sent before this belong to a recovery.
    recovery_start: Option<Instant>,
    epoch: Option<Epoch>,
    /// W_max in bytes: the window at the last reduction, or less with fast convergence.
    w_max: f64,
    /// The window at the last reduction.
    cwnd_prior: f64,
    /// Bytes by which the window may grow, saved up to a full datagram.
    credit: u64,
}

/// A time in which the window follows one cubic function: it begins with a recovery, or with
/// congestion avoidance where slow start has ended without a loss.
#[derive(Debug, Clone)]
struct Epoch {
    start: Instant,
    /// Since when the window has been more than there is to send.
    limited: Option<Instant>,
    /// Seconds until the function reaches W_max.
    k: f64,
    /// W_est in bytes: the window that Reno would have.
    w_est: f64,
}

impl Cubic {
    pub(super) fn new(tuning: &Tuning, mtu: u16) -> Cubic {
        let initial_window = tuning.initial_window(mtu);
        let state = State { window: initial_window, ssthresh: u64::MAX, ..State::default() };
        Cubic {
            datagram: mtu.into(),
            initial_window,
            beta: tuning.beta.unwrap_or(BETA),
            hystart: tuning.hystart.clone(),
            state,
            before: None,
        }
    }

    /// RFC 9002 section 7.2.
    fn least_window(&self) -> u64 {
        2 * self.datagram
    }

    /// Sections 4.2 to 4.5: an acknowledgment in congestion avoidance.
    fn avoid_congestion(&mut self, now: Instant, bytes: u64, rtt: Duration) {
        let (datagram, alpha) = (self.datagram, alpha(self.beta));
        let State { window, epoch, w_max, cwnd_prior, credit, .. } = &mut self.state;
        let epoch = epoch.get_or_insert_with(|| {
            *w_max = *window as f64;
            Epoch { start: now, limited: None, k: 0.0, w_est: *window as f64 }
        });
        // Sections 4.2 and 5.8: the time in which the window was not needed does not count.
        epoch.start += epoch.limited.take().map_or(Duration::ZERO, |since| now - since);
        let since_start = now - epoch.start;
        // Section 4.3: W_est grows with what is acknowledged, as fast as Reno's window once it has
        // reached the window at the last reduction.
        let alpha = if epoch.w_est < *cwnd_prior { alpha } else { 1.0 };
        epoch.w_est += alpha * datagram as f64 * bytes as f64 / *window as f64;
        if epoch.w_cubic(since_start, *w_max, datagram) < epoch.w_est {
            // Reno-friendly region (section 4.3). Also if it is below the estimate, the window
            // grows by one datagram at a time.
            *window = (epoch.w_est as u64).clamp(*window, window.saturating_add(datagram));
            return;
        }
        let target = epoch.w_cubic(since_start + rtt, *w_max, datagram).min(*window as f64 * 1.5);
        if *window < target as u64 {
            let growth = (target - *window as f64) / *window as f64 * datagram as f64;
            // After hours without a loss, the function exceeds the range of the integers.
            *credit = credit.saturating_add((growth as u64).min(u64::MAX - *window));
        }
        // RFC 9002 section 7.3.3 lets the window grow by no more than it acknowledges.
        if *credit >= datagram {
            *window += datagram;
            *credit -= datagram;
        }
    }

    /// Sections 4.6 and 4.7: the beginning of a recovery.
    fn reduce(&mut self, now: Instant) {
        let least = self.least_window();
        let (datagram, beta) = (self.datagram, self.beta);
        let state = &mut self.state;
        let window = state.window as f64;
        let converges = window < state.w_max;
        state.w_max = if converges { window * (1.0 + beta) / 2.0 } else { window };
        state.cwnd_prior = window;
        state.ssthresh = ((window * beta) as u64).max(least);
        state.window = state.ssthresh;
        state.recovery_start = Some(now);
        let below = (state.w_max - state.window as f64).max(0.0) / datagram as f64;
        // `libm` gives the same last bit on every machine; the system's library does not.
        let k = libm::cbrt(below / C);
        state.epoch = Some(Epoch { start: now, limited: None, k, w_est: state.window as f64 });
        state.credit = (state.credit as f64 * beta) as u64;
    }

    fn is_in_recovery(&self, sent: Instant) -> bool {
        self.state.recovery_start.is_some_and(|start| sent <= start)
    }

    /// An acknowledgment came while there was less to send than the window.
    fn pause(&mut self, now: Instant) {
        if let Some(epoch) = &mut self.state.epoch {
            epoch.limited.get_or_insert(now);
        }
    }

    /// A packet was acknowledged, on a path with this smoothed round-trip time.
    fn acknowledged(&mut self, now: Instant, sent: Instant, bytes: u64, rtt: Duration) {
        if self.is_in_recovery(sent) {
            return;
        }
        match self.state.window < self.state.ssthresh {
            true => {
                let growth = self.hystart.as_mut().map_or(bytes, |hystart| hystart.growth(bytes));
                self.state.window += growth;
            }
            false => self.avoid_congestion(now, bytes, rtt),
        }
    }
}

impl Epoch {
    /// Section 4.2: C (t - K)^3 + W_max, in bytes.
    fn w_cubic(&self, t: Duration, w_max: f64, datagram: u64) -> f64 {
        let w_max = w_max / datagram as f64;
        (C * (t.as_secs_f64() - self.k).powi(3) + w_max) * datagram as f64
    }
}

impl Controller for Cubic {
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_ack(sent);
        }
        match app_limited {
            true => self.pause(now),
            false => self.acknowledged(now, sent, bytes, rtt.get()),
        }
    }

    fn on_end_acks(&mut self, now: Instant, _: u64, _: bool, _: Option<u64>) {
        let state = &mut self.state;
        if state.window < state.ssthresh
            && let Some(hystart) = &mut self.hystart
            && hystart.ends_slow_start(now, state.window, self.datagram)
        {
            state.ssthresh = state.window;
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        _lost_bytes: u64,
        _largest_lost: u64,
    ) {
        if !self.is_in_recovery(sent) {
            if !ecn {
                self.before = Some(self.state.clone());
            }
            self.hystart.iter_mut().for_each(HyStart::on_congestion);
            self.reduce(now);
        }
        // Within a recovery too, and without another reduction of ssthresh (RFC 9002 section 7.6.2,
        // section 4.8).
        if persistent {
            let least = self.least_window();
            let state = &mut self.state;
            state.recovery_start = None;
            state.epoch = None;
            state.w_max = state.window as f64;
            state.credit = 0;
            state.window = least;
            self.hystart.iter_mut().for_each(HyStart::restart);
        }
    }

    /// Section 4.9.
    fn on_spurious_congestion_event(&mut self) {
        if let Some(before) = self.before.take()
            && self.state.window < before.window
        {
            self.state = before;
        }
    }

    of_a_window!(state.);
}

/// beta_cubic and C (RFC 9438 sections 4.6 and 5).
const BETA: f64 = 0.7;
const C: f64 = 0.4;
/// alpha_cubic (section 4.3): with the smaller decrease, as much as Reno in the mean.
fn alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATAGRAM: u64 = 1_200;
    const RTT: Duration = Duration::from_millis(10);

    /// A controller with a window of this many datagrams, and a time.
    fn cubic(window: u64) -> (Cubic, Instant) {
        let mut cubic = Cubic::new(&Tuning::default(), DATAGRAM as u16);
        cubic.state.window = window * DATAGRAM;
        (cubic, trackbed_substrate::to_std_instant(trackbed_core::Time::ZERO))
    }

    fn datagrams(bytes: u64) -> f64 {
        bytes as f64 / DATAGRAM as f64
    }

    /// Acknowledges a window, half a datagram at a time, and returns by how many datagrams it grew.
    fn round_trip(cubic: &mut Cubic, now: Instant) -> f64 {
        let before = cubic.state.window;
        for _ in 0..before.div_ceil(DATAGRAM / 2) {
            cubic.acknowledged(now, now, DATAGRAM / 2, RTT);
        }
        datagrams(cubic.state.window - before)
    }

    /// Sections 4.2 and 4.7: W_max is 0.85 of a window that was smaller than the last one, and K
    /// counts from the window that there is.
    #[test]
    fn k_is_the_time_from_the_window_to_w_max() {
        let (mut cubic, now) = cubic(100);
        cubic.state.w_max = (120 * DATAGRAM) as f64;
        cubic.on_congestion_event(now, now, false, false, 0, 100);
        // W_max 85, window 70: cbrt(15 / 0.4) seconds.
        let State { epoch, w_max, .. } = &cubic.state;
        let epoch = epoch.as_ref().unwrap();
        let w = |t| epoch.w_cubic(t, *w_max, DATAGRAM) / DATAGRAM as f64;
        assert!((epoch.k - 3.347).abs() < 1e-3, "{}", epoch.k);
        assert!((w(Duration::ZERO) - 70.0).abs() < 1e-3);
        assert!((w(Duration::from_millis(3_347)) - 85.0).abs() < 1e-3);
        assert!((w(Duration::from_millis(2 * 3_347)) - 100.0).abs() < 1e-2);
    }

    /// Section 4.4: with many datagrams, the window is the value of the function one round trip
    /// ahead.
    #[test]
    fn large_windows_follow_the_cubic_function() {
        let (mut cubic, mut now) = cubic(1_000);
        cubic.on_congestion_event(now, now, false, false, 0, 100);
        // K = cbrt(300 / 0.4) = 9.086 s.
        for (rounds, expected) in [(30, 909.8), (60, 1_000.0), (30, 1_009.9)] {
            for _ in 0..rounds {
                now += 10 * RTT;
                round_trip(&mut cubic, now);
            }
            let window = datagrams(cubic.state.window);
            assert!((window / expected - 1.0).abs() < 0.01, "{window} and {expected}");
        }
    }

    /// Sections 4.2 and 5.8: after a pause the function goes on where it was, and far below it the window grows by
    /// half in a round trip.
    #[test]
    fn a_pause_does_not_count_and_growth_has_a_limit() {
        let windows = [(0, true), (20, true), (20, false)].map(|(seconds, pauses)| {
            let (mut cubic, now) = cubic(1_000);
            cubic.on_congestion_event(now, now, false, false, 0, 100);
            let now = now + RTT;
            (0..2).filter(|_| pauses).for_each(|_| cubic.pause(now));
            let now = now + Duration::from_secs(seconds);
            (0..700).for_each(|_| cubic.acknowledged(now, now, DATAGRAM, RTT));
            datagrams(cubic.state.window)
        });
        let [at_once, paused, slow] = windows;
        assert!(at_once == paused && at_once < 710.0, "{windows:?}");
        assert!((slow / 1_050.0 - 1.0).abs() < 0.005, "{windows:?}");
    }

    /// Section 4.3: by 9/17 of a datagram in a round trip up to the window before the loss, then by
    /// a whole one.
    #[test]
    fn small_windows_grow_as_reno_does_in_the_mean() {
        let (mut cubic, mut now) = cubic(20);
        cubic.on_congestion_event(now, now, false, false, 0, 100);
        assert_eq!(cubic.state.window, 14 * DATAGRAM);
        let mut growth = Vec::new();
        for _ in 0..14 {
            now += RTT;
            growth.push(round_trip(&mut cubic, now));
        }
        // The window grows while its acknowledgments come, so a round trip brings a little less.
        assert!(growth[..10].iter().all(|grown| (0.48..0.56).contains(grown)), "{growth:?}");
        assert!(growth[12..].iter().all(|grown| (0.94..1.06).contains(grown)), "{growth:?}");
    }

    /// RFC 9002 section 7.6.2 and section 4.8: within a recovery too, and ssthresh is lowered once.
    #[test]
    fn persistent_congestion_leaves_the_least_window() {
        let (mut cubic, now) = cubic(100);
        let later = now + 10 * RTT;
        cubic.on_congestion_event(later, now, false, false, 0, 100);
        cubic.on_congestion_event(later, now, true, false, 0, 101);
        assert_eq!(cubic.state.window, 2 * DATAGRAM);
        assert_eq!(cubic.state.ssthresh, 70 * DATAGRAM);
        // A loss is handled if slow start has ended without one before.
        for _ in 0..10 {
            round_trip(&mut cubic, later + RTT);
        }
        let before = cubic.state.window;
        assert!(before > 70 * DATAGRAM);
        cubic.on_congestion_event(later + 2 * RTT, later + RTT, false, false, 0, 102);
        assert_eq!(cubic.state.window, (before as f64 * BETA) as u64);
    }

    #[test]
    fn one_recovery_reduces_once_and_a_spurious_one_is_undone() {
        let (mut cubic, now) = cubic(100);
        cubic.on_congestion_event(now + RTT, now, false, false, 0, 100);
        cubic.on_congestion_event(now + RTT, now, false, false, 0, 101);
        cubic.acknowledged(now + RTT, now, DATAGRAM, RTT);
        assert_eq!(cubic.state.window, 70 * DATAGRAM);
        cubic.on_spurious_congestion_event();
        assert_eq!(cubic.state.window, 100 * DATAGRAM);
        // A mark is never spurious.
        cubic.on_congestion_event(now + RTT, now, false, true, 0, 102);
        cubic.on_spurious_congestion_event();
        assert_eq!(cubic.state.window, 70 * DATAGRAM);
    }

    /// RFC 9002 section 7.3.3, also after a time in which the function has exceeded the range of
    /// the integers.
    #[test]
    fn an_acknowledgement_brings_one_datagram_at_most() {
        for age in [RTT, Duration::from_secs(10 * 86_400)] {
            let (mut cubic, now) = cubic(1_000);
            cubic.on_congestion_event(now, now, false, false, 0, 100);
            cubic.state.credit = 10 * DATAGRAM;
            let before = cubic.state.window;
            cubic.acknowledged(now + age, now + age, DATAGRAM, RTT);
            assert_eq!(cubic.state.window, before + DATAGRAM);
        }
    }
}
