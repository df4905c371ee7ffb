//! The clock tick of Linux, to which its timers are rounded.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::time::nanos;

/// The clock by which Linux's timer wheel (`kernel/time/timer.c`) lets timers fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Between two ticks, in nanoseconds: 4 ms at 250 Hz.
    period: u64,
    /// From time zero to a tick at which timers of up to 32,255 ticks may fire.
    phase: u64,
}

impl Tick {
    /// Ticks of this period, and the time from the start to a tick at which long timers may fire: less
    /// than [`Tick::ROUND`] periods. `None` if the period is not that of a kernel, 0.5 to 20 ms.
    pub fn new(period: Duration, phase: Duration) -> Option<Tick> {
        if !(SHORTEST..=LONGEST).contains(&period) {
            return None;
        }
        let period = nanos(period);
        Some(Tick { period, phase: nanos(phase) % (Tick::ROUND * period) })
    }

    /// The number of ticks after which the pattern repeats, for timers of up to 32,255 ticks.
    pub const ROUND: u64 = 512;

    /// The time between two ticks.
    pub fn period(self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// The time from the start to a tick at which long timers may fire.
    pub fn phase(self) -> Duration {
        Duration::from_nanos(self.phase)
    }

    /// When a timer fires that is set at `now` for `wait`.
    ///
    /// Linux counts whole ticks: those before `now`, and `wait` rounded up. The wheel adds one, so
    /// that no timer fires early, and looks at long timers less often: at every 8th tick from 63
    /// ticks on, at every 64th from 504 on, and so on.
    pub(crate) fn fires(self, now: Time, wait: Duration) -> Time {
        // A round more, so that ticks before time zero count too.
        let before = Tick::ROUND * self.period - self.phase;
        let ticks = nanos(wait).div_ceil(self.period);
        let mut step = 0;
        while step < STEPS && ticks >= FIRST_STEP << (step * STEP_BITS) {
            step += 1;
        }
        let bits = step * STEP_BITS;
        let start = now.as_nanos().saturating_add(before) / self.period;
        let fires = (((start + ticks) >> bits) + 1) << bits;
        Time::from_nanos(fires.saturating_mul(self.period).saturating_sub(before))
    }

    pub(crate) fn rounded_up(self, wait: Duration) -> Duration {
        Duration::from_nanos(nanos(wait).div_ceil(self.period).saturating_mul(self.period))
    }

    pub(crate) fn rounded_down(self, wait: Duration) -> Duration {
        Duration::from_nanos(nanos(wait) / self.period * self.period)
    }
}

const SHORTEST: Duration = Duration::from_micros(500);
const LONGEST: Duration = Duration::from_millis(20);
/// Timers of fewer ticks are as exact as the tick.
const FIRST_STEP: u64 = 63;
/// Each step is eight times as coarse.
const STEP_BITS: u32 = 3;
/// The wheel has nine levels.
const STEPS: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(time: u64) -> Time {
        Time::from_nanos(time * 1_000)
    }

    fn tick(period_us: u64, phase_us: u64) -> Tick {
        Tick::new(Duration::from_micros(period_us), Duration::from_micros(phase_us)).unwrap()
    }

    /// Measured on Linux 6.18 at 250 Hz: an acknowledgment delayed by 40 ms left 43.97 ms after the
    /// data, at a tick; the tail loss probe of a flight with a smoothed round-trip time of 36.7 ms left
    /// 77.06 ms after it, at another tick.
    #[test]
    fn timers_fire_at_the_tick_after_their_time() {
        let tick = tick(4_000, 70);
        assert_eq!(tick.fires(micros(160_100), Duration::from_millis(40)), micros(204_070));
        let probe = tick.fires(micros(143_010), Duration::from_micros(2 * 36_700 + 2_000));
        assert_eq!(probe, micros(220_070));
        // On a tick, a whole number of ticks waits for the next one.
        assert_eq!(tick.fires(micros(4_070), Duration::from_millis(4)), micros(12_070));
        // Before the first tick.
        assert_eq!(tick.fires(Time::ZERO, Duration::from_millis(4)), micros(4_070));
    }

    #[test]
    fn long_timers_fire_at_rarer_ticks() {
        let after = |ticks: u64, phase: u64| {
            let wait = Duration::from_millis(4 * ticks);
            tick(4_000, 4_000 * phase).fires(Time::ZERO, wait).as_nanos() / 4_000_000
        };
        // 62 ticks are exact; 63 end at the next multiple of 8 ticks, and 504 at one of 64.
        assert_eq!([62, 63, 503, 504, 600].map(|ticks| after(ticks, 0)), [63, 64, 504, 512, 640]);
        // Multiples count from the phase.
        assert_eq!([62, 63, 503, 504, 600].map(|ticks| after(ticks, 5)), [63, 69, 509, 517, 645]);
        assert_eq!([62, 63, 503, 504, 600].map(|ticks| after(ticks, 511)), [63, 71, 511, 511, 639]);
    }

    #[test]
    fn no_timer_fires_early_or_overflows() {
        let tick = tick(1_000, 511_999);
        for (now, wait) in [(0, 0), (1, 1), (998, 999), (123_456, 654_321), (5, 120_000_000)] {
            let fires = tick.fires(micros(now), Duration::from_micros(wait));
            assert!(fires > micros(now + wait), "{now} {wait} {fires:?}");
        }
        let late = tick.fires(Time::from_nanos(u64::MAX - 1), Duration::from_nanos(u64::MAX - 1));
        assert!(late > micros(1 << 50), "{late:?}");
    }

    #[test]
    fn a_period_that_no_kernel_has_is_none() {
        let period = |micros| Tick::new(Duration::from_micros(micros), Duration::ZERO);
        assert_eq!([0, 1, 499, 20_001].map(period), [None; 4]);
        assert!([1_000, 4_000, 10_000].map(period).iter().all(Option::is_some));
    }
}
