//! CUBIC (RFC 9438), with the integer arithmetic and the choices of Linux.

use std::time::Duration;

use trackbed_core::Time;

use super::hystart::HyStartState;
use super::{Acked, CongestionAlgorithm, CongestionControl, Window};
use crate::sequence::Seq;

pub(crate) static ENTRY: CongestionAlgorithm = CongestionAlgorithm {
    name: "cubic",
    summary: "the window is a cubic function of the time since the last loss (RFC 9438); the \
              default of Linux",
    is_coupled: false,
    build: |hystart, _| {
        Box::new(Controller { hystart: HyStartState::new(hystart), ..Controller::default() })
    },
};

#[derive(Debug, Default)]
struct Controller {
    hystart: HyStartState,
    /// W_max: the window before the last reduction; 0 before the first one.
    max_cwnd: u32,
    /// The smallest round-trip time since the last timeout.
    delay_min: Option<Duration>,
    epoch: Option<Epoch>,
    /// When the rate of growth was computed last, and for which window.
    last_update: Option<(Time, u32)>,
    /// Acknowledged segments that make the window grow by one.
    per: u32,
}

/// The time since the last reduction, in which the window follows one cubic function.
#[derive(Debug)]
struct Epoch {
    start: Time,
    /// The plateau of the function in segments.
    origin: u32,
    /// K: when the plateau is reached after the start, in 1/1024 s.
    k: u64,
    /// W_est: where Reno's window would be (RFC 9438 section 4.3).
    reno_cwnd: u32,
    /// Segments acknowledged that have not yet raised `reno_cwnd`.
    reno_acked: u32,
}

impl CongestionControl for Controller {
    fn on_rtt(&mut self, window: &mut Window, rtt: Duration, acked: &Acked) {
        // Samples right after a recovery still carry the full queue.
        if self.epoch.as_ref().is_some_and(|epoch| acked.now - epoch.start < SETTLING) {
            return;
        }
        let delay_min = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(delay_min);
        if window.in_slow_start() {
            self.hystart.on_rtt(window, rtt, delay_min, acked);
        }
    }

    fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        let mut segments = acked.segments;
        if window.in_slow_start() {
            segments = self.hystart.slow_start(window, segments);
            if segments == 0 {
                return;
            }
        }
        self.update(window.cwnd, segments, acked.now);
        window.grow(self.per, segments);
    }

    /// RFC 9438 sections 4.6 and 4.7.
    fn on_congestion(&mut self, window: &Window, _now: Time) -> u32 {
        self.epoch = None;
        self.last_update = None;
        self.hystart.on_congestion();
        let cwnd = u64::from(window.cwnd);
        self.max_cwnd = if window.cwnd < self.max_cwnd {
            (cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)) as u32
        } else {
            window.cwnd
        };
        ((cwnd * BETA / BETA_SCALE) as u32).max(2)
    }

    fn on_timeout(&mut self, now: Time, next: Seq) {
        self.hystart.on_timeout(now, next);
        self.max_cwnd = 0;
        self.delay_min = None;
        self.epoch = None;
        self.last_update = None;
        self.per = 0;
    }

    /// The pause does not count as time since the loss (RFC 9438 section 5.8).
    fn on_restart(&mut self, idle_since: Time, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + now.since(idle_since)).min(now);
        }
    }
}

impl Controller {
    fn update(&mut self, cwnd: u32, acked: u32, now: Time) {
        let (max_cwnd, delay_min) = (self.max_cwnd, self.delay_min.unwrap_or_default());
        let unchanged = self
            .last_update
            .is_some_and(|(at, last_cwnd)| last_cwnd == cwnd && now - at <= UPDATE_INTERVAL);
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_acked += acked;
        }
        if unchanged {
            return;
        }
        self.last_update = Some((now, cwnd));
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, cwnd, max_cwnd, acked));
        let target = epoch.target(now + delay_min);
        self.per = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        // Before the first loss the plateau is unknown: at least 5 % a round trip.
        if max_cwnd == 0 {
            self.per = self.per.min(20);
        }
        if let Some(per) = epoch.reno_friendly(cwnd) {
            self.per = self.per.min(per);
        }
        self.per = self.per.max(2);
    }
}

impl Epoch {
    fn new(start: Time, cwnd: u32, max_cwnd: u32, acked: u32) -> Epoch {
        let below = u64::from(max_cwnd.saturating_sub(cwnd));
        Epoch {
            start,
            origin: max_cwnd.max(cwnd),
            k: cube_root(CUBE_FACTOR * below),
            reno_cwnd: cwnd,
            reno_acked: acked,
        }
    }

    /// RFC 9438 equation 1: C (t - K)^3 + W_max at `at`.
    fn target(&self, at: Time) -> u32 {
        let t = (u128::from((at - self.start).as_nanos() as u64) * 1024 / 1_000_000_000) as u64;
        // Beyond 2^18 ticks (four minutes) the function exceeds every window anyway.
        let offset = u128::from(t.abs_diff(self.k).min(1 << 18));
        let delta = CUBE_RTT_SCALE * offset * offset * offset;
        // Rounded to the nearest segment. Linux rounds towards the plateau, which lets the window
        // reach it early, and makes windows up to 25 % above that of equation 5 an equilibrium, so
        // that the mean depends on how the flow began.
        let delta = ((delta + (1 << 39)) >> 40) as u32;
        if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    /// RFC 9438 section 4.3: how fast the window must grow not to fall behind Reno.
    fn reno_friendly(&mut self, cwnd: u32) -> Option<u32> {
        let per = ((u64::from(cwnd) * RENO_SCALE) >> 3).max(1) as u32;
        let steps = self.reno_acked.saturating_sub(1) / per;
        self.reno_acked -= steps * per;
        self.reno_cwnd += steps;
        (self.reno_cwnd > cwnd).then(|| cwnd / (self.reno_cwnd - cwnd))
    }
}

/// Integer cube root, rounded down.
fn cube_root(value: u64) -> u64 {
    let (mut low, mut high) = (0u64, 2_642_246);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if u128::from(middle).pow(3) <= u128::from(value) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// beta_cubic = 717/1024, about 0.7 (RFC 9438 section 4.6).
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// C = 410/1024, about 0.4 (RFC 9438 section 5), in units in which time counts 1/1024 s.
const CUBE_RTT_SCALE: u128 = 410;
/// 1/C in the same units: K = cbrt((W_max - cwnd) / C).
const CUBE_FACTOR: u64 = (1 << 40) / 410;
/// Reno with beta_cubic grows by one segment for each `RENO_SCALE`/8 windows:
/// (1 + beta) / (3 (1 - beta)), as Linux rounds it.
const RENO_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// For an unchanged window the growth is computed at most this often.
const UPDATE_INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 32);
/// How long after the start of an epoch round-trip times are ignored.
const SETTLING: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_exact() {
        for root in [0u64, 1, 2, 100, 2_642_245] {
            assert_eq!(cube_root(root.pow(3)), root);
        }
        assert_eq!(cube_root(26), 2);
    }

    #[test]
    fn the_plateau_is_reached_after_k_and_left_again() {
        // W_max 1000, window 700: K = cbrt(300/0.4) = 9.085 s.
        let mut epoch = Epoch::new(Time::ZERO, 700, 1000, 0);
        assert_eq!(epoch.k / 1024, 9);
        assert!(epoch.target(Time::ZERO).abs_diff(700) <= 1);
        assert!(epoch.target(Time::from_millis(9_085)).abs_diff(1000) <= 1);
        assert!(epoch.target(Time::from_millis(2 * 9_085)).abs_diff(1300) <= 2);
        // Reno's pace: 0.53 segments each round trip (RFC 9438 equation 4).
        epoch.reno_acked = 70_000;
        epoch.reno_friendly(700);
        assert!(epoch.reno_cwnd.abs_diff(753) <= 2, "{}", epoch.reno_cwnd);
    }
}
