//! Exact decimal numbers followed by a unit, as in `0.3 %` or `50Mbit/s`.

use super::QuantityError;

/// A table of units: spelling (compared without regard to case) and factor to the base unit.
pub(super) type Units = [(&'static str, u128)];

/// Reads `text` as a number and one of `units`, and returns the value in the base unit.
///
/// `what` names the quantity and `example` shows one, for the error message.
pub(super) fn parse(
    text: &str,
    what: &str,
    example: &str,
    units: &Units,
) -> Result<u64, QuantityError> {
    let refuse = |why: String| QuantityError(format!("{why}; write {what} as \"{example}\""));
    let text = text.trim();
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..end].replace('_', ""), text[end..].trim());
    if text.starts_with('-') {
        return Err(refuse(format!("\"{text}\" is negative")));
    }
    if number.is_empty() {
        return Err(refuse(format!("\"{text}\" does not begin with a number")));
    }
    if unit.is_empty() {
        return Err(refuse(format!("\"{text}\" has no unit")));
    }
    let Some(&(_, factor)) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) else {
        let known: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        return Err(refuse(format!("\"{unit}\" is not a unit of {what} ({})", known.join(", "))));
    };
    scale(&number, factor).map_err(|why| refuse(format!("\"{text}\" {why}")))
}

/// Writes `value` in the largest of `units` in which it is whole, and otherwise in the first.
pub(super) fn format(value: u128, units: &Units) -> String {
    let is_whole = |unit: &&(&str, u128)| value >= unit.1 && value.is_multiple_of(unit.1);
    // The first of several spellings of one unit.
    let largest = units.iter().rev().filter(is_whole).max_by_key(|unit| unit.1);
    let (unit, factor) = largest.unwrap_or(&units[0]);
    format!("{} {unit}", value / factor)
}

/// `number` times `factor`; the product must be whole and fit 64 bits.
pub(super) fn scale(number: &str, factor: u128) -> Result<u64, &'static str> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() && number.is_empty() || number == "." || fraction.contains('.') {
        return Err("is not a number");
    }
    let digits = if digits.is_empty() { "0" } else { &digits };
    let value: u128 = digits.parse().map_err(|_| "has too many digits")?;
    let places = u32::try_from(fraction.len()).map_err(|_| "has too many decimals")?;
    let divisor = 10u128.checked_pow(places).ok_or("has too many decimals")?;
    let product = value.checked_mul(factor).ok_or("is too large")?;
    if product % divisor != 0 {
        return Err("is finer than the smallest step of its unit");
    }
    u64::try_from(product / divisor).map_err(|_| "is too large")
}
