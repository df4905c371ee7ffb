//! Parses lengths and speeds with units.

use crate::motion::MotionError;

/// Parses a length such as `1340 m` or `1.34 km` to metres.
///
/// # Errors
/// If the number or the unit is missing or unknown, or the number is not finite.
pub fn parse_length_m(text: &str) -> Result<f64, MotionError> {
    parse(text, "a length", "1340 m", &[("m", 1.0), ("km", 1_000.0)])
}

/// Parses a speed such as `300 km/h` or `83.3 m/s` to metres per second.
///
/// # Errors
/// If the number or the unit is missing or unknown, or the number is not finite.
pub fn parse_speed_m_s(text: &str) -> Result<f64, MotionError> {
    parse(text, "a speed", "300 km/h", &[("m/s", 1.0), ("km/h", 1.0 / 3.6)])
}

/// Parses a number with one of `units`, each with its factor.
///
/// # Errors
/// If one is missing or unknown; the message names `what` and shows the `example`.
pub fn parse(
    text: &str,
    what: &str,
    example: &str,
    units: &[(&str, f64)],
) -> Result<f64, MotionError> {
    let refuse = |why: &str| {
        MotionError::new(format!("\"{}\" {why}; write {what} as \"{example}\"", text.trim()))
    };
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c)));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 =
        number.replace('_', "").parse().map_err(|_| refuse("does not begin with a number"))?;
    if unit.trim().is_empty() {
        return Err(refuse("has no unit"));
    }
    let known = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    let (_, factor) = known.ok_or_else(|| refuse("has an unknown unit"))?;
    Some(number * factor).filter(|value| value.is_finite()).ok_or_else(|| refuse("is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_converted_and_nonsense_refused() {
        assert_eq!(parse_length_m("1.34 km").unwrap(), 1340.0);
        assert_eq!(parse_length_m("-670m").unwrap(), -670.0);
        assert!((parse_speed_m_s("300 km/h").unwrap() - 83.333_333_333).abs() < 1e-6);
        for text in ["", "fast", "300", "300 knots", "1.2.3 m/s", "NaN m/s"] {
            let error = parse_speed_m_s(text).unwrap_err().to_string();
            assert!(error.contains("write a speed as \"300 km/h\""), "{error}");
        }
    }
}
