//! The time of day, for what messages say of it.

use trackbed_core::Time;
use trackbed_substrate::{clock::wall_clock, now};
use trackbed_v2x::ItsTime;

/// The time of day at `time`, which may be past or yet to come.
pub(super) fn time_of_day(time: Time) -> ItsTime {
    // Of these two spans one is zero.
    let (ahead, ago) = (time - now(), now() - time);
    ItsTime::from_unix(wall_clock() + ahead - ago)
}
