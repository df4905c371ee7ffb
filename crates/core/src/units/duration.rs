//! Durations as people write them.

use std::time::Duration;

use super::{QuantityError, decimal};

/// Reads `10 ms`, `1.5s`, `250 us`, `2 min`.
///
/// # Errors
/// If the number or the unit is missing, unknown or negative; the message includes the remedy.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    decimal::parse(text, "a time", "10 ms", UNITS).map(Duration::from_nanos)
}

/// Writes a duration in the largest unit up to a second in which it is whole, as
/// [`parse_duration`] reads it.
pub fn format_duration(span: Duration) -> String {
    match span.as_nanos() {
        0 => "0 ms".to_owned(),
        nanos => decimal::format(nanos, &UNITS[..5]),
    }
}

const UNITS: &decimal::Units = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for nanos in [0, 1, 1_500, 10_000_000, 1_500_000_000, 60_000_000_000] {
            let span = Duration::from_nanos(nanos);
            assert_eq!(parse_duration(&format_duration(span)).unwrap(), span);
        }
        assert_eq!(parse_duration("0.5ms").unwrap(), Duration::from_micros(500));
        assert!(parse_duration("10").unwrap_err().to_string().contains("10 ms"));
    }
}
