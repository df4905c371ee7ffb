//! The real clock, counted from the start of an emulation.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use trackbed_core::Time;
use trackbed_core::time::nanos;

/// The monotonic clock of this machine, counted from an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    origin: u64,
}

impl Clock {
    /// A clock that shows [`Time::ZERO`] now.
    pub fn start() -> Clock {
        Clock { origin: nanos(now(ClockId::Monotonic)) }
    }

    /// A clock that showed [`Time::ZERO`] at this reading of `CLOCK_MONOTONIC`, which all
    /// processes of a machine share.
    pub fn since(nanos: u64) -> Clock {
        Clock { origin: nanos }
    }

    /// The reading of `CLOCK_MONOTONIC` at [`Time::ZERO`], in nanoseconds.
    pub fn origin(self) -> u64 {
        self.origin
    }

    /// The time now.
    pub fn now(self) -> Time {
        let monotonic = nanos(now(ClockId::Monotonic));
        Time::from_nanos(monotonic.saturating_sub(self.origin))
    }

    /// Converts readings of the time of day to this clock. It is valid until the time of day is
    /// set, so call it again for each batch of readings.
    pub fn calendar(self) -> Calendar {
        let monotonic = nanos(now(ClockId::Monotonic));
        let real = nanos(now(ClockId::Realtime));
        // The calendar time at our origin.
        Calendar { origin: real.saturating_sub(monotonic) + self.origin }
    }
}

/// See [`Clock::calendar`].
#[derive(Clone, Copy, Debug)]
pub struct Calendar {
    origin: u64,
}

impl Calendar {
    /// The time at which the calendar time was `since_epoch` after 1970-01-01T00:00:00Z.
    pub fn time(self, since_epoch: Duration) -> Time {
        Time::from_nanos(nanos(since_epoch).saturating_sub(self.origin))
    }

    /// The calendar time at [`Time::ZERO`], since 1970-01-01T00:00:00Z.
    pub fn epoch(self) -> Duration {
        Duration::from_nanos(self.origin)
    }
}

/// The reading of a clock of this machine.
pub(crate) fn now(clock: ClockId) -> Duration {
    // No reading is negative.
    clock_gettime(clock).try_into().unwrap_or_default()
}
