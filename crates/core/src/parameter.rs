//! Parameters that registry entries declare: one description drives the scenario parser, the
//! command line's lists and the reference page.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::units::{Bitrate, ByteSize, QuantityError, Ratio, format_duration, parse_duration};

/// A parameter that a scenario may set.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in the scenario file, in kebab-case where it has several words.
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: Kind,
    /// The value where the scenario says nothing, written as in a scenario; `None` if the
    /// parameter then simply does not apply.
    pub default: Option<&'static str>,
    /// One line for help texts: what it means, and its range.
    pub help: &'static str,
}

/// The kind of value that a parameter takes, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `50 Mbit/s`
    Rate,
    /// `10 ms`
    Time,
    /// `0.3 %` or `0.003`
    Share,
    /// `355 B`
    Size,
    /// A whole number of at least this.
    Count {
        /// The smallest value that makes sense.
        min: u64,
    },
    /// `10 /s` or `10 Hz`: how often something happens.
    Frequency,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`
    Flag,
    /// The path of a file, relative to the scenario file.
    File,
}

/// A value of one of the [`Kind`]s.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Rate`].
    Rate(Bitrate),
    /// Of [`Kind::Time`].
    Time(Duration),
    /// Of [`Kind::Share`].
    Share(Ratio),
    /// Of [`Kind::Size`].
    Size(ByteSize),
    /// Of [`Kind::Count`].
    Count(u64),
    /// Of [`Kind::Frequency`]: the time from one event to the next.
    Period(Duration),
    /// Of [`Kind::Choice`].
    Choice(&'static str),
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::File`].
    File(PathBuf),
}

impl Kind {
    /// Reads a value as a scenario writes it.
    ///
    /// # Errors
    /// If the text is not of this kind; the message says what to write.
    pub fn parse(self, text: &str) -> Result<Value, QuantityError> {
        match self {
            Kind::Rate => text.parse().map(Value::Rate),
            Kind::Time => parse_duration(text).map(Value::Time),
            Kind::Share => text.parse().map(Value::Share),
            Kind::Size => text.parse().map(Value::Size),
            Kind::Count { min } => parse_count(text, min).map(Value::Count),
            Kind::Frequency => parse_frequency(text).map(Value::Period),
            Kind::Choice(words) => parse_choice(text, words).map(Value::Choice),
            Kind::Flag => match text.trim() {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err(QuantityError(format!("\"{text}\" is neither true nor false"))),
            },
            Kind::File if text.trim().is_empty() => {
                Err(QuantityError("an empty path names no file".to_owned()))
            }
            Kind::File => Ok(Value::File(PathBuf::from(text))),
        }
    }

    /// An example of how a value is written, for messages and help.
    pub fn example(self) -> String {
        match self {
            Kind::Rate => "\"50 Mbit/s\"".to_owned(),
            Kind::Time => "\"10 ms\"".to_owned(),
            Kind::Share => "\"0.3 %\"".to_owned(),
            Kind::Size => "\"355 B\"".to_owned(),
            Kind::Count { min } => min.max(10).to_string(),
            Kind::Frequency => "\"10 /s\"".to_owned(),
            Kind::Choice(words) => {
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
            }
            Kind::Flag => "true or false".to_owned(),
            Kind::File => "\"message.json\"".to_owned(),
        }
    }
}

/// As a scenario writes it, without quotes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Rate(rate) => rate.fmt(f),
            Value::Time(span) => f.write_str(&format_duration(*span)),
            Value::Share(ratio) => ratio.fmt(f),
            Value::Size(size) => size.fmt(f),
            Value::Count(count) => count.fmt(f),
            Value::Period(period) => write!(f, "{} /s", 1.0 / period.as_secs_f64()),
            Value::Choice(word) => f.write_str(word),
            Value::Flag(flag) => flag.fmt(f),
            Value::File(path) => path.display().fmt(f),
        }
    }
}

/// The values of an entry's parameters in one cell, defaults filled in.
///
/// The getters panic when asked for a parameter that the entry did not declare, or by the wrong
/// kind: that is a mistake in the entry, not in a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments(BTreeMap<&'static str, Value>);

impl Arguments {
    /// The defaults of `parameters`.
    ///
    /// # Panics
    /// If a declared default does not parse.
    pub fn defaults(parameters: &[Parameter]) -> Arguments {
        let default = |p: &Parameter| {
            let text = p.default?;
            let value = p.kind.parse(text);
            Some((p.name, value.unwrap_or_else(|why| panic!("default of {}: {why}", p.name))))
        };
        Arguments(parameters.iter().filter_map(default).collect())
    }

    /// Sets `name` to `value`, in place of its default.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.0.insert(name, value);
    }

    /// The value of `name`, if it has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A whole number that has a default.
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Count(count)) => *count,
            other => undeclared(name, "a count", other),
        }
    }

    /// A word that has a default.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.get(name) {
            Some(Value::Choice(word)) => word,
            other => undeclared(name, "a choice", other),
        }
    }

    /// A size, or nothing where the scenario and the entry say nothing.
    pub fn size(&self, name: &str) -> Option<ByteSize> {
        match self.get(name) {
            None => None,
            Some(Value::Size(size)) => Some(*size),
            other => undeclared(name, "a size", other),
        }
    }

    /// A span of time, or nothing where the scenario and the entry say nothing.
    pub fn time(&self, name: &str) -> Option<Duration> {
        match self.get(name) {
            None => None,
            Some(Value::Time(span)) => Some(*span),
            other => undeclared(name, "a time", other),
        }
    }

    /// The time between events of a frequency, or nothing where none is said.
    pub fn period(&self, name: &str) -> Option<Duration> {
        match self.get(name) {
            None => None,
            Some(Value::Period(period)) => Some(*period),
            other => undeclared(name, "a frequency", other),
        }
    }

    /// The path of a file, or nothing where none is said.
    pub fn file(&self, name: &str) -> Option<&PathBuf> {
        match self.get(name) {
            None => None,
            Some(Value::File(path)) => Some(path),
            other => undeclared(name, "a file", other),
        }
    }
}

fn undeclared(name: &str, kind: &str, found: Option<&Value>) -> ! {
    panic!("parameter {name} was asked for as {kind}, but is declared as {found:?}")
}

fn parse_count(text: &str, min: u64) -> Result<u64, QuantityError> {
    let count: u64 = text.trim().replace('_', "").parse().map_err(|_| {
        QuantityError(format!("\"{text}\" is not a whole number of at least {min}"))
    })?;
    if count < min {
        return Err(QuantityError(format!("{count} is too few; write at least {min}")));
    }
    Ok(count)
}

/// `10 /s`, `10/s`, `10 Hz`, `0.5 Hz`; the period is rounded to the nanosecond.
fn parse_frequency(text: &str) -> Result<Duration, QuantityError> {
    let refuse = |why: &str| {
        QuantityError(format!("\"{text}\" {why}; write a frequency as \"10 /s\" or \"10 Hz\""))
    };
    let trimmed = text.trim();
    let number = ["/s", "Hz", "hz"].iter().find_map(|unit| trimmed.strip_suffix(unit));
    let number = number.ok_or_else(|| refuse("has no unit"))?.trim();
    let hertz: f64 = number.parse().map_err(|_| refuse("does not begin with a number"))?;
    if !(1e-9..=1e9).contains(&hertz) {
        return Err(refuse("is not between 10^-9 and 10^9 times a second"));
    }
    Ok(Duration::from_nanos((1e9 / hertz).round() as u64))
}

fn parse_choice(text: &str, words: &'static [&'static str]) -> Result<&'static str, QuantityError> {
    words.iter().copied().find(|word| *word == text.trim()).ok_or_else(|| {
        QuantityError(format!(
            "\"{text}\" is not known here; write {}",
            Kind::Choice(words).example()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter { name: "count", kind: Kind::Count { min: 1 }, default: Some("10"), help: "" },
        Parameter { name: "deadline", kind: Kind::Time, default: None, help: "" },
    ];

    #[test]
    fn defaults_stand_until_set() {
        let mut arguments = Arguments::defaults(PARAMETERS);
        assert_eq!((arguments.count("count"), arguments.time("deadline")), (10, None));
        arguments.set("deadline", Kind::Time.parse("100 ms").unwrap());
        assert_eq!(arguments.time("deadline"), Some(Duration::from_millis(100)));
    }

    #[test]
    fn every_kind_refuses_nonsense_with_advice() {
        for kind in [
            Kind::Rate,
            Kind::Time,
            Kind::Share,
            Kind::Size,
            Kind::Count { min: 1 },
            Kind::Frequency,
            Kind::Choice(&["one", "each"]),
            Kind::Flag,
        ] {
            assert!(kind.parse("nonsense").is_err(), "{kind:?}");
            assert!(kind.parse("").is_err(), "{kind:?}");
        }
        assert_eq!(
            Kind::Count { min: 1 }.parse("0").unwrap_err().0,
            "0 is too few; write at least 1"
        );
        assert_eq!(Kind::Frequency.parse("10 /s").unwrap().to_string(), "10 /s");
    }
}
