//! The clock tick of this machine's kernel, to which it rounds TCP's timers.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};
use trackbed_core::Seed;
use trackbed_substrate::simulated::Tick;
use trackbed_substrate::sleep;

/// The tick in a run with this seed: as long as this kernel's, at any moment; `None` if the kernel
/// does not tell.
pub(crate) fn of_run(seed: &Seed) -> Option<Tick> {
    let period = duration(clock_getres(ClockId::MonotonicCoarse));
    let nanos = u64::try_from(period.as_nanos()).ok().filter(|nanos| *nanos > 0)?;
    let phase = Duration::from_nanos(seed.stream("clock-tick").below(nanos));
    Some(Tick { period, phase })
}

/// Waits until the kernel's next tick is as far away as `tick` is from the start of a run, so that
/// timers of this run fire when they do in virtual time. Both ends are on this machine, and so have
/// the same ticks: at multiples of the period since the machine started, since Linux 6.4.
pub(crate) async fn align(tick: Tick) {
    let period = tick.period.as_nanos();
    let since_tick = duration(clock_gettime(ClockId::Monotonic)).as_nanos() % period;
    let wait = (2 * period - tick.phase.as_nanos() - since_tick) % period;
    sleep(Duration::from_nanos(u64::try_from(wait).unwrap_or(0))).await;
}

fn duration(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
