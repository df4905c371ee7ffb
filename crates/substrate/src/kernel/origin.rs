//! The clock of a real run.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};
use trackbed_core::Time;

/// The reading of the machine's monotonic clock that counts as [`Time::ZERO`].
///
/// Every process of a machine reads the same clock (`CLOCK_MONOTONIC`, clock_gettime(2)), so runs
/// that share an origin share their time to the nanosecond. It may lie in the future: until then
/// the clock of the run stands at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin(u64);

impl Origin {
    /// The present.
    pub fn now() -> Origin {
        Origin(monotonic_nanos())
    }

    /// The origin at a reading of the monotonic clock, as [`Origin::as_nanos`] returned it.
    pub const fn from_nanos(nanos: u64) -> Origin {
        Origin(nanos)
    }

    /// The reading of the monotonic clock in nanoseconds, to hand to another process.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time that has passed since the origin.
    pub fn elapsed(self) -> Time {
        Time::from_nanos(monotonic_nanos().saturating_sub(self.0))
    }

    /// The reading of the monotonic clock at `time`.
    pub(super) fn reading_at(self, time: Time) -> Timespec {
        let reading = Duration::from_nanos(self.0.saturating_add(time.as_nanos()));
        // 584 years fit in any clock.
        Timespec { tv_sec: reading.as_secs() as i64, tv_nsec: reading.subsec_nanos().into() }
    }
}

pub(crate) fn time_of_day() -> Duration {
    duration(clock_gettime(ClockId::Realtime))
}

fn monotonic_nanos() -> u64 {
    duration(clock_gettime(ClockId::Monotonic)).as_nanos() as u64
}

/// Neither clock is ever negative.
fn duration(reading: Timespec) -> Duration {
    Duration::new(reading.tv_sec as u64, reading.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_begins_at_the_origin_and_not_before() {
        let origin = Origin::now();
        let (first, second) = (origin.elapsed(), origin.elapsed());
        assert!(first <= second);
        assert_eq!(Origin::from_nanos(origin.as_nanos()), origin);
        let future = Origin::from_nanos(origin.as_nanos() + 3_600_000_000_000);
        assert_eq!(future.elapsed(), Time::ZERO);
    }

    #[test]
    fn a_time_and_its_reading_are_the_same_point() {
        let origin = Origin::from_nanos(1_500_000_000);
        let reading = origin.reading_at(Time::from_nanos(700_000_001));
        assert_eq!((reading.tv_sec, reading.tv_nsec), (2, 200_000_001));
        assert!(origin.reading_at(Time::MAX).tv_sec > 1 << 33);
    }
}
