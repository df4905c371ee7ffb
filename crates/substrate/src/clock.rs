//! The time of the run on this thread, and its image in the types of the standard library.

use std::cell::Cell;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use trackbed_core::Time;

/// The time of the run that this thread executes. It stands still while a task is polled, and
/// after the run it stays at its end.
pub fn now() -> Time {
    NOW.get()
}

/// The point `time` as an [`Instant`], for libraries that require one.
///
/// The image is exact to the nanosecond and the same on every thread of the process. It has
/// nothing to do with what `Instant::now` returns.
pub fn to_std_instant(time: Time) -> Instant {
    *BASE + Duration::from_nanos(time.as_nanos())
}

/// The inverse of [`to_std_instant`]; the start of the run for an instant before it.
pub fn from_std_instant(instant: Instant) -> Time {
    Time::ZERO + instant.saturating_duration_since(*BASE)
}

/// The time of day in the run, since 1970-01-01T00:00:00Z, for example for the validity of
/// certificates: the system's on the kernel's sockets; a simulated run begins with the year 2026.
pub fn wall_clock() -> Duration {
    TIME_OF_DAY.get()()
}

fn simulated_time_of_day() -> Duration {
    RUN_BEGINS + Duration::from_nanos(now().as_nanos())
}

/// Makes [`wall_clock`] read `source` on this thread, until the guard is dropped.
#[cfg(target_os = "linux")]
pub(crate) fn ask_time_of_day(source: fn() -> Duration) -> TimeOfDay {
    TIME_OF_DAY.set(source);
    TimeOfDay(())
}

#[cfg(target_os = "linux")]
pub(crate) struct TimeOfDay(());

#[cfg(target_os = "linux")]
impl Drop for TimeOfDay {
    fn drop(&mut self) {
        TIME_OF_DAY.set(simulated_time_of_day);
    }
}

pub(crate) fn set(time: Time) {
    NOW.set(time);
}

thread_local! {
    static NOW: Cell<Time> = const { Cell::new(Time::ZERO) };
    static TIME_OF_DAY: Cell<fn() -> Duration> = const { Cell::new(simulated_time_of_day) };
}

/// 2026-01-01T00:00:00Z, when simulated runs begin.
const RUN_BEGINS: Duration = Duration::from_secs(1_767_225_600);

/// The instant of the start of every run. An `Instant` cannot be constructed from a number, and its
/// value is never visible: only differences are.
static BASE: LazyLock<Instant> = LazyLock::new(read_base);

#[expect(clippy::disallowed_methods, reason = "the one origin that instants are counted from")]
fn read_base() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_times_are_images_of_each_other() {
        for nanos in [0, 1, 999_999_999, 1_000_000_001, u64::MAX / 2] {
            let time = Time::from_nanos(nanos);
            assert_eq!(from_std_instant(to_std_instant(time)), time);
        }
        let gap = to_std_instant(Time::from_nanos(7)) - to_std_instant(Time::from_nanos(5));
        assert_eq!(gap, Duration::from_nanos(2));
    }

    #[test]
    fn an_instant_before_the_run_is_its_start() {
        let before = to_std_instant(Time::ZERO) - Duration::from_secs(1);
        assert_eq!(from_std_instant(before), Time::ZERO);
    }
}
