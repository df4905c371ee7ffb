//! Ranges of quantities, and the cross product of all axes.

use std::time::Duration;
use trackbed_core::parameter::Value;
use trackbed_core::{Bitrate, ByteSize, Ratio};

/// How a range is divided.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Division {
    /// By the distance between values.
    Step(Value),
    /// By the number of values, both ends included.
    Points(u64),
}

/// The values from `from` up to `to`.
pub(crate) fn range(from: &Value, to: &Value, division: &Division) -> Result<Vec<Value>, String> {
    let unit = |value: &Value| {
        number(value).ok_or_else(|| "only quantities can form a range; list the values".to_owned())
    };
    if std::mem::discriminant(from) != std::mem::discriminant(to) {
        return Err("from and to are of different kinds".to_owned());
    }
    let (low, high) = (unit(from)?, unit(to)?);
    if low > high {
        return Err(format!("from ({from}) is larger than to ({to}); swap the two"));
    }
    let numbers: Vec<i128> = match division {
        Division::Points(points) => {
            if !(2..=CELLS_MAX).contains(points) {
                return Err(format!("{points} points; write between 2 and {CELLS_MAX}"));
            }
            let (width, gaps) = (high - low, i128::from(points - 1));
            (0..=gaps).map(|i| low + (width * i + gaps / 2) / gaps).collect()
        }
        Division::Step(step) => {
            if std::mem::discriminant(from) != std::mem::discriminant(step) {
                return Err("from and step are of different kinds".to_owned());
            }
            let by = unit(step)?;
            if by <= 0 {
                return Err(format!("a step of {step} never reaches the end; write a larger one"));
            }
            if (high - low) / by >= CELLS_MAX.into() {
                return Err(format!(
                    "{} values; write a larger step: a sweep has at most {CELLS_MAX} values",
                    (high - low) / by + 1
                ));
            }
            (low..=high).step_by(usize::try_from(by).unwrap_or(usize::MAX)).collect()
        }
    };
    if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("more points than distinct values; write fewer points".to_owned());
    }
    Ok(numbers.into_iter().filter_map(|number| like(from, number)).collect())
}

/// Every combination of one index per axis, the last axis varying fastest; `None` if there are more
/// than [`CELLS_MAX`].
pub(crate) fn combinations(lengths: &[usize]) -> Option<Vec<Vec<usize>>> {
    let total = lengths.iter().try_fold(1u64, |total, length| total.checked_mul(*length as u64))?;
    if total > CELLS_MAX {
        return None;
    }
    let mut all = vec![Vec::with_capacity(lengths.len())];
    for length in lengths {
        all = all
            .into_iter()
            .flat_map(|chosen| {
                (0..*length).map(move |index| {
                    let mut longer = chosen.clone();
                    longer.push(index);
                    longer
                })
            })
            .collect();
    }
    Some(all)
}

/// The maximum number of cells.
pub const CELLS_MAX: u64 = 10_000;

/// The value as a whole number of its smallest unit, where it is a quantity.
fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Rate(rate) => Some(rate.as_bps().into()),
        Value::Time(span) => i128::try_from(span.as_nanos()).ok(),
        Value::Share(share) => Some((share.as_f64() * PARTS as f64).round() as i128),
        Value::Decibels(decibels) => Some((decibels * PARTS as f64).round() as i64 as i128),
        Value::Size(size) => Some(size.as_bytes().into()),
        Value::Count(count) => Some((*count).into()),
        _ => None,
    }
}

/// The inverse of [`number`], of the same kind as `model`.
fn like(model: &Value, number: i128) -> Option<Value> {
    if let Value::Decibels(_) = model {
        return Some(Value::Decibels(number as f64 / PARTS as f64));
    }
    let number = u64::try_from(number).ok()?;
    match model {
        Value::Rate(_) => Some(Value::Rate(Bitrate::from_bps(number))),
        Value::Time(_) => Some(Value::Time(Duration::from_nanos(number))),
        Value::Share(_) => Some(Value::Share(Ratio::from_parts(number, PARTS))),
        Value::Size(_) => Some(Value::Size(ByteSize::from_bytes(number))),
        Value::Count(_) => Some(Value::Count(number)),
        _ => None,
    }
}

/// Shares and decibels count in steps of 10^-9.
const PARTS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use trackbed_core::parameter::Kind;

    use super::*;

    fn texts(kind: Kind, from: &str, to: &str, division: &Division) -> Result<Vec<String>, String> {
        let (from, to) = (kind.parse(from).unwrap(), kind.parse(to).unwrap());
        Ok(range(&from, &to, division)?.iter().map(Value::to_string).collect())
    }

    fn step(kind: Kind, text: &str) -> Division {
        Division::Step(kind.parse(text).unwrap())
    }

    #[test]
    fn steps_stop_at_the_end_and_points_include_both() {
        let by = step(Kind::Time, "4 ms");
        assert_eq!(texts(Kind::Time, "1 ms", "10 ms", &by).unwrap(), ["1 ms", "5 ms", "9 ms"]);
        let shares = texts(Kind::Share, "0 %", "1 %", &Division::Points(3)).unwrap();
        assert_eq!(shares, ["0 %", "0.5 %", "1 %"]);
        let decibels =
            texts(Kind::Decibels { min: -9 }, "-3", "0.3 dB", &Division::Points(4)).unwrap();
        assert_eq!(decibels, ["-3 dB", "-1.9 dB", "-0.8 dB", "0.3 dB"]);
        let rates = texts(Kind::Rate, "10 Mbit/s", "30 Mbit/s", &Division::Points(2)).unwrap();
        assert_eq!(rates, ["10 Mbit/s", "30 Mbit/s"]);
    }

    #[test]
    fn ranges_without_end_or_sense_are_refused() {
        let count = Kind::Count { min: 0 };
        for (from, to, division, part) in [
            ("1", "1000000000", step(count, "1"), "1000000000 values"),
            ("0", "18446744073709551615", step(count, "1"), "at most 10000"),
            ("1", "10", step(count, "0"), "never reaches the end"),
            ("10", "1", step(count, "1"), "is larger than to"),
            ("1", "10", Division::Points(1), "between 2 and 10000"),
            ("1", "10", Division::Points(u64::MAX), "between 2 and 10000"),
            ("1", "3", Division::Points(9), "fewer points"),
            ("1", "10", step(Kind::Time, "1 ms"), "different kinds"),
        ] {
            let error = texts(count, from, to, &division).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(texts(Kind::Choice(&["a", "b"]), "a", "b", &Division::Points(2)).is_err());
    }

    #[test]
    fn the_last_axis_turns_fastest() {
        assert_eq!(combinations(&[2, 2]).unwrap(), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(combinations(&[]).unwrap(), [Vec::<usize>::new()]);
        assert!(combinations(&[1_000, 1_000]).is_none());
        assert!(combinations(&[usize::MAX; 9]).is_none());
    }
}
