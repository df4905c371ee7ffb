//! Numbers with as many digits as a reader can use.

/// Four significant digits, no exponent for everyday magnitudes: `131.2`, `0.2213`, `12380`.
pub(crate) fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    let exponent = magnitude.log10().floor() as i32;
    let decimals = (3 - exponent).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') && magnitude.fract() == 0.0 && magnitude < 1e4 {
        return format!("{value:.0}");
    }
    text
}

/// As [`significant`], with a sign also before a positive number.
pub(crate) fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", significant(value)) } else { significant(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_kept() {
        assert_eq!(significant(131.2345), "131.2");
        assert_eq!(significant(0.221_349), "0.2213");
        assert_eq!(significant(12_380.4), "12380");
        assert_eq!(significant(10.0), "10");
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(f64::NAN), "-");
        assert_eq!(signed(-1.5), "-1.500");
        assert_eq!(signed(1.5), "+1.500");
    }
}
