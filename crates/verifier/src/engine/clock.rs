//! The machine's clocks, by which workers measure themselves.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A reading of `CLOCK_MONOTONIC`, in nanoseconds.
#[must_use]
pub fn monotonic_nanos() -> u64 {
    nanos(ClockId::Monotonic)
}

/// Processor time that the calling thread has taken, in nanoseconds.
#[must_use]
pub fn thread_cpu_nanos() -> u64 {
    nanos(ClockId::ThreadCPUTime)
}

pub(super) fn rest(nanos: u64) {
    #[expect(clippy::disallowed_methods, reason = "a worker's own time, on no substrate")]
    std::thread::sleep(Duration::from_nanos(nanos));
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let nanos = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    u64::try_from(nanos).unwrap_or(0)
}
