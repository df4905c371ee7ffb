//! Shares of a whole, such as loss probabilities.

use std::fmt;
use std::str::FromStr;

use super::{QuantityError, decimal};

const WHOLE: u64 = 1_000_000_000;

/// A share between 0 and 1 in steps of 10^-9, so that `0.3 %` is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(u64);

impl Ratio {
    /// Never.
    pub const ZERO: Ratio = Ratio(0);
    /// Always.
    pub const ONE: Ratio = Ratio(WHOLE);

    /// `part` of `whole`, rounded to the nearest 10^-9.
    ///
    /// # Panics
    /// If `whole` is zero or `part` exceeds it.
    pub const fn from_parts(part: u64, whole: u64) -> Ratio {
        assert!(whole > 0 && part <= whole, "a ratio lies between 0 and 1");
        let scaled = part as u128 * WHOLE as u128 + whole as u128 / 2;
        Ratio((scaled / whole as u128) as u64)
    }

    /// A number between 0 and 1, rounded to the nearest 10^-9.
    ///
    /// # Errors
    /// If `value` is outside this range, or not a number.
    pub fn from_f64(value: f64) -> Result<Ratio, QuantityError> {
        if !(0.0..=1.0).contains(&value) {
            return Err(QuantityError(format!(
                "{value} is not between 0 and 1; write a share as \"0.3 %\" or 0.003"
            )));
        }
        Ok(Ratio((value * WHOLE as f64).round() as u64))
    }

    /// The share as a number in 0..=1, for reports.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / WHOLE as f64
    }

    /// Whether the share is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// True for exactly this share of all 64-bit numbers: the test behind [`crate::Rng::chance`].
    pub(crate) fn covers(self, draw: u64) -> bool {
        ((u128::from(draw) * u128::from(WHOLE)) >> 64) < u128::from(self.0)
    }
}

/// `0.3 %`, `0.3%`, or a bare number between 0 and 1 such as `0.003`.
impl FromStr for Ratio {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Ratio, QuantityError> {
        let trimmed = text.trim();
        let bare = !trimmed.is_empty() && trimmed.chars().all(|c| c.is_ascii_digit() || c == '.');
        let parts = if bare {
            decimal::scale(trimmed, u128::from(WHOLE)).map_err(|why| {
                QuantityError(format!("\"{trimmed}\" {why}; write a share as \"0.3 %\" or 0.003"))
            })?
        } else {
            let units: &decimal::Units = &[("%", u128::from(WHOLE) / 100)];
            decimal::parse(text, "a share", "0.3 %", units)?
        };
        if parts > WHOLE {
            return Err(QuantityError(format!(
                "\"{trimmed}\" is more than 100 %; a share is between 0 and 1 (0 % and 100 %)"
            )));
        }
        Ok(Ratio(parts))
    }
}

/// In percent, without trailing zeros.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / 10_000_000, self.0 % 10_000_000);
        let fraction = format!("{fraction:07}");
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{whole} %"),
            digits => write!(f, "{whole}.{digits} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_and_bare_numbers_mean_the_same() {
        assert_eq!("0.3 %".parse::<Ratio>().unwrap(), "0.003".parse().unwrap());
        assert_eq!("0.3 %".parse::<Ratio>().unwrap(), Ratio::from_parts(3, 1000));
        assert_eq!(Ratio::from_f64(0.003).unwrap(), Ratio::from_parts(3, 1000));
        assert_eq!("100%".parse::<Ratio>().unwrap(), Ratio::ONE);
        assert_eq!(Ratio::from_parts(3, 1000).to_string(), "0.3 %");
        assert_eq!("1".parse::<Ratio>().unwrap().to_string(), "100 %");
    }

    #[test]
    fn a_loss_of_one_and_a_half_is_refused() {
        for text in ["1.5", "150 %", "-1 %", "often", ""] {
            assert!(text.parse::<Ratio>().is_err(), "{text}");
        }
        assert!(Ratio::from_f64(1.5).is_err());
        assert!(Ratio::from_f64(f64::NAN).is_err());
    }

    #[test]
    fn the_ends_cover_nothing_and_everything() {
        assert!(!Ratio::ZERO.covers(0) && !Ratio::ZERO.covers(u64::MAX));
        assert!(Ratio::ONE.covers(0) && Ratio::ONE.covers(u64::MAX));
    }
}
