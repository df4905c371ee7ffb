//! The time of day, for what messages say of it.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_substrate::{clock::wall_clock, now};

/// Unix time at `time`, which may be past or yet to come.
pub(super) fn unix_time_at(time: Time) -> Duration {
    // Of these two spans one is zero.
    let (ahead, ago) = (time - now(), now() - time);
    wall_clock() + ahead - ago
}
