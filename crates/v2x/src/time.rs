//! The time of IEEE 1609.2: international atomic time since the beginning of 2004.

use std::fmt;
use std::time::Duration;

use crate::asn1::Value;

/// A point in time: microseconds of atomic time since 2004-01-01 00:00:00 UTC, as `Time64` has them
/// (IEEE 1609.2 section 6.3.12). Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItsTime(u64);

/// 2004-01-01 00:00:00 UTC in Unix time.
const EPOCH_UNIX_S: u64 = 1_072_915_200;

/// When UTC got the leap seconds that atomic time does not know, in Unix time (IERS Bulletin C). None
/// has come since 2017, and none is announced.
const LEAP_SECONDS_UNIX_S: [u64; 5] =
    [1_136_073_600, 1_230_768_000, 1_341_100_800, 1_435_708_800, 1_483_228_800];

impl ItsTime {
    /// The point this many microseconds after the epoch.
    pub const fn from_micros(micros: u64) -> ItsTime {
        ItsTime(micros)
    }

    /// The point this many seconds after the epoch, as in `Time32`.
    pub const fn from_secs(secs: u32) -> ItsTime {
        ItsTime(secs as u64 * 1_000_000)
    }

    /// The point at this Unix time. Times before 2004 become the epoch.
    pub fn from_unix(unix: Duration) -> ItsTime {
        let leaps = LEAP_SECONDS_UNIX_S.iter().filter(|at| unix.as_secs() >= **at).count() as u64;
        let since = unix.saturating_sub(Duration::from_secs(EPOCH_UNIX_S));
        ItsTime(micros(since + Duration::from_secs(leaps)))
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Milliseconds since the epoch: ETSI's `TimestampIts` (TS 102 894-2).
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole seconds since the epoch; at most the last of `Time32` (2140).
    pub fn as_secs(self) -> u32 {
        u32::try_from(self.0 / 1_000_000).unwrap_or(u32::MAX)
    }

    /// The point `span` later.
    pub fn after(self, span: Duration) -> ItsTime {
        ItsTime(self.0.saturating_add(micros(span)))
    }

    /// The point `span` earlier; the epoch if that was before it.
    pub fn before(self, span: Duration) -> ItsTime {
        ItsTime(self.0.saturating_sub(micros(span)))
    }

    /// The span since `earlier`; zero if that is in fact later.
    pub fn since(self, earlier: ItsTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for ItsTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// When a certificate is valid: from `start` until before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first moment.
    pub start: ItsTime,
    /// The first moment at which it no longer is.
    pub end: ItsTime,
}

impl Validity {
    /// Whether all of `inner` lies in this one.
    pub fn contains(&self, inner: &Validity) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// That of a `ValidityPeriod`.
    pub(crate) fn of(period: &Value) -> Validity {
        let start = u32::try_from(period.integer("start").unwrap_or_default()).unwrap_or_default();
        let start = ItsTime::from_secs(start);
        let duration = period.at("duration").map_or(Duration::ZERO, duration);
        Validity { start, end: start.after(duration) }
    }
}

/// IEEE 1609.2 section 6.4.15; a year is 31,556,952 s.
fn duration(duration: &Value) -> Duration {
    let (unit, count) = duration.chosen();
    let Value::Integer(count) = count else { return Duration::ZERO };
    let micros = match unit {
        "microseconds" => 1,
        "milliseconds" => 1_000,
        "seconds" => 1_000_000,
        "minutes" => 60_000_000,
        "hours" => 3_600_000_000,
        "sixtyHours" => 216_000_000_000,
        _ => 31_556_952_000_000,
    };
    Duration::from_micros(count.unsigned_abs() * micros)
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_time_runs_ahead_of_utc_by_the_leap_seconds() {
        let unix = |seconds| ItsTime::from_unix(Duration::from_secs(seconds)).as_micros();
        assert_eq!(unix(EPOCH_UNIX_S), 0);
        assert_eq!(unix(1_136_073_599), 63_158_399_000_000);
        assert_eq!(unix(1_136_073_600), 63_158_401_000_000);
        // ETSI TS 102 894-2 gives this one: 2007-01-01 00:00:00 UTC is 94,694,401,000 ms.
        assert_eq!(unix(1_167_609_600), 94_694_401_000_000);
        // 2026-01-01 00:00:00 UTC, five leap seconds on.
        assert_eq!(unix(1_767_225_600), (1_767_225_600 - EPOCH_UNIX_S + 5) * 1_000_000);
    }

    #[test]
    fn durations_are_those_of_the_standard() {
        let period = |unit, count| {
            let duration = Value::Fields(vec![(unit, Value::Integer(count))]);
            let period = [("start", Value::Integer(100)), ("duration", duration)];
            let validity = Validity::of(&Value::Fields(period.into()));
            assert_eq!(validity.start, ItsTime::from_secs(100));
            validity.end.since(validity.start)
        };
        assert_eq!(period("sixtyHours", 2), Duration::from_secs(432_000));
        assert_eq!(period("years", 1), Duration::from_secs(31_556_952));
        assert_eq!(period("microseconds", 7), Duration::from_micros(7));
        assert_eq!(period("minutes", 5), Duration::from_secs(300));
    }
}
