//! The clock tick of Linux, to which its timers are rounded.

use std::time::Duration;

use trackbed_core::Time;

/// The clock by which Linux's timer wheel (`kernel/time/timer.c`) lets timers fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Between two ticks; more than zero: 4 ms at 250 Hz.
    pub period: Duration,
    /// A tick, less than `period` after time zero.
    pub phase: Duration,
}

impl Tick {
    /// When a timer fires that is set at `now` for `wait`.
    ///
    /// Linux counts whole ticks: those before `now`, and `wait` rounded up. The wheel adds one, so
    /// that no timer fires early, and looks at long timers less often: at every 8th tick from 63
    /// ticks on, at every 64th from 504 on, and so on.
    pub(crate) fn fires(self, now: Time, wait: Duration) -> Time {
        let period = nanos(self.period).max(1);
        // One period more, so that ticks before time zero count too.
        let start = now.as_nanos() + period - nanos(self.phase).min(period);
        let ticks = nanos(wait).div_ceil(period);
        let mut step = 0;
        while step < STEPS && ticks >= FIRST_STEP << (step * STEP_BITS) {
            step += 1;
        }
        let bits = step * STEP_BITS;
        let fires = (((start / period + ticks) >> bits) + 1) << bits;
        let since = fires.saturating_mul(period);
        Time::from_nanos((since + nanos(self.phase)).saturating_sub(period))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 4)
}

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

    /// Measured on Linux 6.18 at 250 Hz: an acknowledgment delayed by 40 ms left 43.97 ms after the
    /// data, at a tick; the tail loss probe of a flight with a smoothed round-trip time of 36.7 ms left
    /// 77.06 ms after it, at another tick.
    #[test]
    fn timers_fire_at_the_tick_after_their_time() {
        let tick = Tick { period: Duration::from_millis(4), phase: Duration::from_micros(70) };
        let delayed = tick.fires(micros(160_100), Duration::from_millis(40));
        assert_eq!(delayed, micros(204_070));
        let probe = tick.fires(micros(143_010), Duration::from_micros(2 * 36_700 + 2_000));
        assert_eq!(probe, micros(220_070));
        // On a tick, a whole number of ticks waits for the next one.
        assert_eq!(tick.fires(micros(4_070), Duration::from_millis(4)), micros(12_070));
        // Before the first tick.
        assert_eq!(tick.fires(Time::ZERO, Duration::from_millis(4)), micros(4_070));
    }

    #[test]
    fn long_timers_fire_at_rarer_ticks() {
        let tick = Tick { period: Duration::from_millis(4), phase: Duration::ZERO };
        // 62 ticks are exact; 63 end at a multiple of 8, 504 at one of 64. One tick is before time zero.
        let after = |ticks: u64| {
            let fires = tick.fires(Time::ZERO, Duration::from_millis(4 * ticks));
            fires.as_nanos() / 4_000_000
        };
        assert_eq!([62, 63, 503, 504].map(after), [63, 71, 511, 511]);
    }

    #[test]
    fn no_timer_fires_early_or_overflows() {
        let tick = Tick { period: Duration::from_millis(1), phase: Duration::from_micros(999) };
        for (now, wait) in [(0, 0), (1, 1), (998, 999), (123_456, 654_321), (5, 120_000_000)] {
            let fires = tick.fires(micros(now), Duration::from_micros(wait));
            assert!(fires > micros(now + wait), "{now} {wait} {fires:?}");
        }
        tick.fires(Time::from_nanos(u64::MAX / 4), Duration::MAX);
    }
}
