//! The machine's clock, by which a monitor wakes up.

use rustix::time::{ClockId, clock_gettime};

/// A reading of `CLOCK_MONOTONIC`, in nanoseconds.
pub(crate) fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let nanos = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    u64::try_from(nanos).unwrap_or(0)
}
