//! Times in archives (ISO 8601, the profile of RFC 3339).

use chrono::{DateTime, FixedOffset};

/// The milliseconds from 1970 to `text`, for example `2024-05-01T10:00:00.250+02:00`; `None` if it
/// is malformed.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let time: DateTime<FixedOffset> = text.parse().ok()?;
    Some(time.timestamp() as f64 * 1e3 + f64::from(time.timestamp_subsec_nanos()) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected seconds are the output of `date -u -d TEXT +%s`.
    #[test]
    fn instants_are_those_of_the_calendar() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:00:00.5Z", 951_825_600_500.0),
            ("2024-03-01T00:00:00+00:00", 1_709_251_200_000.0),
            ("2024-05-01T12:00:00.250+02:00", 1_714_557_600_250.0),
            ("2023-12-31T20:30:00-0330", 1_704_067_200_000.0),
        ] {
            assert_eq!(milliseconds(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn nonsense_is_none() {
        for text in [
            "",
            "now",
            "2024-05-01",
            "2024-05-01T10:00:00",
            "2024-13-01T10:00:00Z",
            "2024-00-01T10:00:00Z",
            "2024-05-01T24:00:00Z",
            "2024-05-01T10:00Z",
            "2024-05-01T10:00:00.Z",
            "2024-05-01T10:00:00+2",
            "2024-05-01T10:00:-1Z",
            "\u{e4}T\u{e4}Z",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }
}
