//! Sizes in bytes.

use std::fmt;
use std::str::FromStr;

use super::{QuantityError, decimal};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// `bytes` bytes.
    pub const fn from_bytes(bytes: u64) -> ByteSize {
        ByteSize(bytes)
    }

    /// The number of bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

/// `355 B`, `64 kB`, `1 GB` (powers of ten), `64 KiB`, `1 MiB` (powers of two).
impl FromStr for ByteSize {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<ByteSize, QuantityError> {
        let unit = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        if unit.len() > 1 && unit.starts_with(char::is_uppercase) && unit.ends_with('b') {
            let why = "are bits, and a size is in bytes; write a size as";
            return Err(QuantityError(format!("\"{unit}\" {why} \"355 B\"")));
        }
        decimal::parse(text, "a size", "355 B", UNITS).map(ByteSize)
    }
}

/// In the largest power of ten in which the value is whole.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal::format(self.0.into(), &UNITS[..4]))
    }
}

const UNITS: &decimal::Units = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("bytes", 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units_differ() {
        assert_eq!("1 MB".parse::<ByteSize>().unwrap().as_bytes(), 1_000_000);
        assert_eq!("1 MiB".parse::<ByteSize>().unwrap().as_bytes(), 1 << 20);
        assert_eq!("1.5kB".parse::<ByteSize>().unwrap().as_bytes(), 1_500);
        assert_eq!(ByteSize::from_bytes(1_000_000_000).to_string(), "1 GB");
        assert!(["0.5 B", "1Mb", "1 Kb"].iter().all(|text| text.parse::<ByteSize>().is_err()));
    }
}
