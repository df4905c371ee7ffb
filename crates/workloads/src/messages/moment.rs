//! The time of day in messages.

use trackbed_core::Time;
use trackbed_substrate::{clock::wall_clock, now};
use trackbed_v2x::ItsTime;

pub(super) fn time_of_day(time: Time) -> ItsTime {
    // One of these two spans is zero.
    let (ahead, ago) = (time - now(), now() - time);
    ItsTime::from_unix(wall_clock() + ahead - ago)
}
