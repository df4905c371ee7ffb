//! Bits per second.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{QuantityError, decimal};

/// A rate in bits per second; zero means that nothing passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bitrate(u64);

impl Bitrate {
    /// `bits` bits per second.
    pub const fn from_bps(bits: u64) -> Bitrate {
        Bitrate(bits)
    }

    /// `megabits` times 10^6 bits per second.
    pub const fn from_mbps(megabits: u64) -> Bitrate {
        Bitrate(megabits * 1_000_000)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// How long `bytes` bytes take at this rate, rounded up to a nanosecond;
    /// [`Duration::MAX`] at rate zero.
    pub fn serialization(self, bytes: usize) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let bits = bytes as u128 * 8;
        let nanos = (bits * 1_000_000_000).div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The number of whole bytes that pass in `span`: the bandwidth-delay product if `span` is an
    /// RTT.
    pub fn bytes_in(self, span: Duration) -> u64 {
        let bytes = u128::from(self.0) * span.as_nanos() / 8_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// `50 Mbit/s`, `50mbit`, `50 Mbps`, `1.5 Gbit/s`, `9600 bit/s`.
impl FromStr for Bitrate {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Bitrate, QuantityError> {
        let unit = text.trim_start_matches(|c: char| !c.is_alphabetic()).trim_end();
        if unit.ends_with("Bps") {
            let why = "are bytes, and a rate is in bits: 8 times as many; write a rate as";
            return Err(QuantityError(format!("\"{unit}\" {why} \"50 Mbit/s\"")));
        }
        decimal::parse(text, "a rate", "50 Mbit/s", UNITS).map(Bitrate)
    }
}

/// In the largest unit in which the value is whole.
impl fmt::Display for Bitrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal::format(self.0.into(), &UNITS[..4]))
    }
}

const UNITS: &decimal::Units = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("bit", 1),
    ("kbit", 1_000),
    ("Mbit", 1_000_000),
    ("Gbit", 1_000_000_000),
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_what_people_write() {
        for text in ["50 Mbit/s", "50mbit", "50 Mbps", "50000 kbit/s", "0.05Gbit/s"] {
            assert_eq!(text.parse::<Bitrate>().unwrap(), Bitrate::from_mbps(50), "{text}");
        }
        assert_eq!(Bitrate::from_mbps(50).to_string(), "50 Mbit/s");
        assert_eq!("1.5 Gbit/s".parse::<Bitrate>().unwrap().to_string(), "1500 Mbit/s");
    }

    #[test]
    fn refusals_say_what_to_write() {
        for (text, part) in [
            ("50", "has no unit"),
            ("-3 Mbit/s", "is negative"),
            ("fast", "does not begin with a number"),
            ("5 ms", "\"ms\" is not a unit of a rate"),
            ("0.1 bit/s", "finer than"),
            ("1.2.3 Mbit/s", "not a number"),
        ] {
            let error = text.parse::<Bitrate>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
            assert!(error.contains("50 Mbit/s"), "{error}");
        }
    }

    #[test]
    fn a_packet_of_1500_bytes_takes_240_microseconds_at_50_mbit() {
        assert_eq!(Bitrate::from_mbps(50).serialization(1500), Duration::from_micros(240));
        assert_eq!(Bitrate::from_mbps(50).bytes_in(Duration::from_millis(20)), 125_000);
        assert_eq!(Bitrate::from_bps(0).serialization(1), Duration::MAX);
    }
}
