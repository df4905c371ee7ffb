//! The values that a key of a scenario may have.

use std::str::FromStr;

use trackbed_stats::abc::Unknown;

use crate::number::short;

/// A key and the values to try: `radio.queue=5kB..300kB`, `sack=true,false`.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// The dotted path of the key.
    pub key: String,
    /// Its values as they were written.
    pub over: String,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    Numbers { low: f64, high: f64, unit: String, is_whole: bool },
    Names(Vec<String>),
}

impl FromStr for Space {
    type Err = String;

    fn from_str(text: &str) -> Result<Space, String> {
        let refuse = |why: &str| format!("\"{text}\" {why}; {HELP}");
        let (key, over) = text.split_once('=').ok_or_else(|| refuse("has no values"))?;
        let (key, over) = (key.trim().to_owned(), over.trim().to_owned());
        if key.is_empty() || over.is_empty() {
            return Err(refuse("has no values"));
        }
        let values = match over.split_once("..") {
            Some((low, high)) => numbers(low, high).map_err(|why| refuse(&why))?,
            None => Values::Names(names(&over)),
        };
        if matches!(&values, Values::Names(names) if names.len() < 2) {
            return Err(refuse("has one value only; set it with --set"));
        }
        Ok(Space { key, over, values })
    }
}

/// Names between commas. A name in quotes may have commas.
fn names(text: &str) -> Vec<String> {
    let mut is_quoted = false;
    let ends = |letter: char| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    };
    text.split(ends).map(|name| name.trim().to_owned()).collect()
}

/// A range between two numbers with one unit.
fn numbers(low: &str, high: &str) -> Result<Values, String> {
    let split = |text: &str| {
        let text = text.trim().to_owned();
        let end =
            text.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c))).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let value = number.replace('_', "").parse::<f64>().ok().filter(|value| value.is_finite());
        value.map(|value| (value, unit.trim().to_owned(), number.contains('.')))
    };
    let not = |text: &str| format!("has an end that is not a number: {:?}", text.trim());
    let (from, from_unit, from_is_broken) = split(low).ok_or_else(|| not(low))?;
    let (until, unit, until_is_broken) = split(high).ok_or_else(|| not(high))?;
    if !from_unit.is_empty() && from_unit != unit {
        return Err(format!("mixes the units {from_unit:?} and {unit:?}; write both ends in one"));
    }
    if from >= until {
        return Err("ends before it begins; write the smaller number first".to_owned());
    }
    let is_broken = from_is_broken || until_is_broken;
    let is_whole = !is_broken && (unit.is_empty() || unit == "B" || unit == "ns");
    Ok(Values::Numbers { low: from, high: until, unit, is_whole })
}

const HELP: &str = "write for example radio.queue=5kB..300kB or sack=true,false";

impl Space {
    /// What the search has to know of it.
    pub fn unknown(&self) -> Unknown {
        match &self.values {
            Values::Numbers { .. } => Unknown::Number,
            Values::Names(names) => Unknown::Name(names.len()),
        }
    }

    /// Coordinates at which the scenario must be valid: both ends of a range, and every name.
    pub fn places(&self) -> Vec<f64> {
        match &self.values {
            Values::Numbers { .. } => vec![0.0, 1.0],
            Values::Names(names) => (0..names.len()).map(|name| name as f64).collect(),
        }
    }

    /// The ends of a range, and their unit; none of names.
    pub fn range(&self) -> Option<([f64; 2], &str)> {
        match &self.values {
            Values::Numbers { low, high, unit, .. } => Some(([*low, *high], unit)),
            Values::Names(_) => None,
        }
    }

    /// The value at a coordinate of [`Space::unknown`], as it is written in a scenario.
    pub fn value(&self, at: f64) -> String {
        match &self.values {
            Values::Names(names) => names[(at.max(0.0) as usize).min(names.len() - 1)].clone(),
            Values::Numbers { unit, .. } => {
                // So many digits that simulated and printed settings are the same.
                let number = short(self.number(at).unwrap_or(f64::NAN));
                if unit.is_empty() { number } else { format!("{number} {unit}") }
            }
        }
    }

    /// The number there, in the unit of the range; none of names. Ranges that span a factor of ten or more are
    /// spread logarithmically.
    pub fn number(&self, at: f64) -> Option<f64> {
        let Values::Numbers { low, high, is_whole, .. } = self.values else { return None };
        let spread = |low: f64, high: f64| match low > 0.0 && high / low >= 10.0 {
            true => low * libm::pow(high / low, at),
            false => low + (high - low) * at,
        };
        Some(match is_whole {
            // A whole number has the strip around it.
            true => spread(low - 0.5, high + 0.5).round().clamp(low, high),
            false => spread(low, high),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_become_values_of_the_scenario() {
        let at = |text: &str, at: f64| text.parse::<Space>().unwrap().value(at);
        assert_eq!(at("link.delay=5 ms..25 ms", 0.25), "10 ms");
        assert_eq!(at("radio.queue=5..500kB", 0.5), "50 kB", "far ends are spread logarithmically");
        assert_eq!(at("link.loss=0%..3%", 0.5), "1.5 %");
        assert_eq!(at("runs=2..4", 0.0), "2");
        assert_eq!(at("runs=2..4", 0.99999), "4");
        assert_eq!(at("mss=500 B..1460 B", 0.30004), "788 B");
        assert_eq!(at("sack=true,false", 1.0), "false");
        assert_eq!(at("delays=\"1 ms, 2 ms\", \"3 ms\"", 0.0), "\"1 ms, 2 ms\"");
        assert_eq!(at("radio.delay=1 ms..3 ms", 1.0 / 3.0), "1.667 ms");
    }

    #[test]
    fn ranges_that_make_no_sense_say_what_to_write() {
        for (text, why) in [
            ("sack", "has no values"),
            ("sack=true", "one value only"),
            ("radio.queue=300kB..5kB", "the smaller number first"),
            ("radio.queue=5kB..1MB", "mixes the units"),
            ("radio.queue=a..b", "not a number: \"a\""),
            ("radio.queue=..", "not a number"),
        ] {
            let error = text.parse::<Space>().unwrap_err();
            assert!(error.contains(why) && error.contains("for example"), "{text}: {error}");
        }
    }
}
