//! The clock tick of this machine's kernel, to which it rounds TCP's timers.

use std::hint;
use std::time::Duration;

use rustix::time::{ClockId, clock_getres, clock_gettime};
use trackbed_core::Seed;
use trackbed_substrate::simulated::Tick;
use trackbed_substrate::{sleep, yield_now};

/// The tick of a run: this kernel's period, with a phase drawn from the seed. `None` if the period is
/// unknown.
pub(crate) fn of_run(seed: &Seed) -> Option<Tick> {
    let period = clock_getres(ClockId::MonotonicCoarse).try_into().ok()?;
    Tick::new(period, phase(seed, period))
}

fn phase(seed: &Seed, period: Duration) -> Duration {
    let round = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).saturating_mul(Tick::ROUND);
    Duration::from_nanos(seed.stream("clock-tick").below(round.max(1)))
}

/// Waits until the kernel's next tick is as far away as the first one of a run with this seed in
/// virtual time. Both ends are on this machine, and so have the same ticks: at multiples of the period
/// since the machine started, since Linux 6.4. Which of them long timers end at cannot be chosen, so
/// these do not pair.
pub(crate) async fn align(seed: &Seed) {
    let Some(tick) = of_run(seed) else { return };
    let now = || Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default();
    let start = now();
    let wait = wait(start, tick);
    sleep(wait.saturating_sub(WAKE_UP)).await;
    // A sleeping thread wakes up late.
    while now() < start + wait {
        hint::spin_loop();
    }
    // The clock of a run stands still until a task waits.
    yield_now().await;
}

/// The shortest time from `now` to a moment that is the phase before a tick.
fn wait(now: Duration, tick: Tick) -> Duration {
    let [now, period, phase] = [now, tick.period(), tick.phase()].map(|time| time.as_nanos());
    let wait = (2 * period - phase % period - now % period) % period;
    Duration::from_nanos(u64::try_from(wait).unwrap_or(0))
}

/// How late a thread may wake up.
const WAKE_UP: Duration = Duration::from_micros(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_wait_a_tick_is_as_far_away_as_the_phase_says() {
        let us = Duration::from_micros;
        for now in [0, 1, 3_999, 4_000, 123_456] {
            for phase in [0, 1, 70, 3_999, 4_001, 2_047_999] {
                let wait = wait(us(now), Tick::new(us(4_000), us(phase)).unwrap());
                assert!(wait < us(4_000));
                assert_eq!((us(now) + wait + us(phase)).as_micros() % 4_000, 0, "{now} {phase}");
            }
        }
    }

    /// Runs with other seeds have ticks at other moments.
    #[test]
    fn the_phase_follows_from_the_seed() {
        let period = Duration::from_millis(4);
        let of = |run| phase(&Seed::of_run(1, run), period);
        assert_eq!(of(0), of(0));
        assert_ne!(of(0), of(1));
        let round = period * u32::try_from(Tick::ROUND).unwrap();
        assert!((0..100).all(|run| of(run) < round));
        assert!((0..100).any(|run| of(run) > round / 2));
    }
}
