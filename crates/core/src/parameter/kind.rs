//! The kinds of values, and how each is written.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::Value;
use crate::units::{QuantityError, parse_duration};

/// The kind of a parameter's value, and how it is written.
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
        /// The smallest valid value.
        min: u64,
    },
    /// A positive number, `1.5`.
    Number,
    /// `-5 dB` or `-5`
    Decibels {
        /// The smallest valid value.
        min: i32,
    },
    /// `10 /s` or `10 Hz`: events per second.
    Frequency,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words, the path of a JSON file, or a table, which becomes text.
    Described(&'static [&'static str]),
    /// `true` or `false`
    Flag,
    /// At least one whole number, as the text `3, 17`.
    Counts,
    /// At least one pair of times, as the text `0 s: 10 ms, 5 s: 50 ms`.
    Timetable,
    /// The path of a file, relative to the scenario file.
    File,
    /// The path of a folder, relative to the scenario file.
    Folder,
    /// Any text that is not empty.
    Text,
}

impl Kind {
    /// Reads a value as written in a scenario, without quotes.
    ///
    /// # Errors
    /// If the text is not of this kind; the message includes the remedy.
    pub fn parse(self, text: &str) -> Result<Value, QuantityError> {
        match self {
            Kind::Rate => text.parse().map(Value::Rate),
            Kind::Time => parse_duration(text).map(Value::Time),
            Kind::Share => text.parse().map(Value::Share),
            Kind::Size => text.parse().map(Value::Size),
            Kind::Count { min } => parse_count(text, min).map(Value::Count),
            Kind::Number => parse_number(text).map(Value::Number),
            Kind::Decibels { min } => parse_decibels(text, min).map(Value::Decibels),
            Kind::Frequency => parse_frequency(text).map(Value::Period),
            Kind::Choice(words) => parse_choice(text, words).map(Value::Choice),
            Kind::Described(words) => match text.trim() {
                file if file.ends_with(".json") => Ok(Value::File(PathBuf::from(file))),
                table if table.starts_with('{') => Ok(Value::Text(table.to_owned())),
                word => parse_choice(word, words).map(Value::Choice).map_err(|why| {
                    QuantityError(format!("{why}; or the name of a file that ends in .json"))
                }),
            },
            Kind::Flag => match text.trim() {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err(QuantityError(format!("\"{text}\" is neither true nor false"))),
            },
            Kind::Counts => self.parse_items(text, parse_item).map(Value::Counts),
            Kind::Timetable => self.parse_items(text, parse_row).map(Value::Timetable),
            Kind::File if text.trim().is_empty() => {
                Err(QuantityError("the path of a file is empty".to_owned()))
            }
            Kind::File => Ok(Value::File(PathBuf::from(text))),
            Kind::Folder if text.trim().is_empty() => {
                Err(QuantityError("the path of a folder is empty".to_owned()))
            }
            Kind::Folder => Ok(Value::Folder(PathBuf::from(text))),
            Kind::Text if text.trim().is_empty() => {
                Err(QuantityError(format!("the text is empty; write {}", self.example())))
            }
            Kind::Text => Ok(Value::Text(text.trim().to_owned())),
        }
    }

    /// Whether `value` is of this kind, and in its range.
    pub fn accepts(self, value: &Value) -> bool {
        match value {
            Value::File(_) | Value::Contents(_) | Value::Text(_)
                if matches!(self, Kind::Described(_)) =>
            {
                true
            }
            Value::Rate(_) => self == Kind::Rate,
            Value::Time(_) => self == Kind::Time,
            Value::Share(_) => self == Kind::Share,
            Value::Size(_) => self == Kind::Size,
            Value::Count(count) => matches!(self, Kind::Count { min } if *count >= min),
            Value::Number(number) => self == Kind::Number && is_positive(*number),
            Value::Decibels(db) => matches!(self, Kind::Decibels { min } if is_at_least(*db, min)),
            Value::Period(_) => self == Kind::Frequency,
            Value::Choice(word) => {
                matches!(self, Kind::Choice(words) | Kind::Described(words) if words.contains(word))
            }
            Value::Flag(_) => self == Kind::Flag,
            Value::Counts(counts) => self == Kind::Counts && !counts.is_empty(),
            Value::Timetable(rows) => self == Kind::Timetable && !rows.is_empty(),
            Value::File(_) | Value::Contents(_) => self == Kind::File,
            Value::Folder(_) => self == Kind::Folder,
            Value::Text(text) => self == Kind::Text && !text.is_empty(),
        }
    }

    /// Whether one value is a list, so that a list in a scenario is not a choice between values.
    pub const fn is_list(self) -> bool {
        matches!(self, Kind::Counts | Kind::Timetable)
    }

    /// An example of a value in a scenario, for messages and help.
    pub fn example(self) -> String {
        match self {
            Kind::Rate => "\"50 Mbit/s\"".to_owned(),
            Kind::Time => "\"10 ms\"".to_owned(),
            Kind::Share => "\"0.3 %\"".to_owned(),
            Kind::Size => "\"355 B\"".to_owned(),
            Kind::Count { min } => min.max(10).to_string(),
            Kind::Number => "1.5".to_owned(),
            Kind::Decibels { .. } => "\"3 dB\"".to_owned(),
            Kind::Frequency => "\"10 /s\"".to_owned(),
            Kind::Choice(words) | Kind::Described(words) => {
                let quoted = |word: &&str| match *word {
                    "true" | "false" => (*word).to_owned(),
                    word => format!("\"{word}\""),
                };
                words.iter().map(quoted).collect::<Vec<_>>().join(" or ")
            }
            Kind::Flag => "true or false".to_owned(),
            Kind::Counts => "[3, 17]".to_owned(),
            Kind::Timetable => "[[\"0 s\", \"10 ms\"], [\"5 s\", \"50 ms\"]]".to_owned(),
            Kind::File => "\"some/file\"".to_owned(),
            Kind::Folder => "\"media\"".to_owned(),
            Kind::Text => "\"some words\"".to_owned(),
        }
    }

    /// The items of a list in text, separated by commas.
    fn parse_items<T>(
        self,
        text: &str,
        parse: impl Fn(&str) -> Result<T, QuantityError>,
    ) -> Result<Vec<T>, QuantityError> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let items: Vec<T> = items
            .map(|item| parse(item).map_err(|why| QuantityError(format!("{why}; write {self}"))))
            .collect::<Result<_, _>>()?;
        match items.is_empty() {
            true => Err(QuantityError(format!("the list is empty; write {self}"))),
            false => Ok(items),
        }
    }
}

/// What to write, with an example.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let example = self.example();
        match self {
            Kind::Rate => write!(f, "a rate such as {example}"),
            Kind::Time => write!(f, "a time such as {example}"),
            Kind::Share => write!(f, "a share such as {example} or 0.003"),
            Kind::Size => write!(f, "a size such as {example}"),
            Kind::Count { .. } => write!(f, "a whole number such as {example}"),
            Kind::Number => write!(f, "a positive number such as {example}"),
            Kind::Decibels { min } => write!(f, "at least {min} dB, such as {example}"),
            Kind::Frequency => write!(f, "a frequency such as {example}"),
            Kind::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Described(words) => {
                write!(f, "one of {}, the name of a JSON file, or a table", words.join(", "))
            }
            Kind::Flag => f.write_str(&example),
            Kind::Counts => write!(f, "whole numbers such as {example}"),
            Kind::Timetable => write!(f, "pairs of times such as {example}"),
            Kind::File => f.write_str("the name of a file"),
            Kind::Folder => f.write_str("the name of a folder"),
            Kind::Text => write!(f, "a text such as {example}"),
        }
    }
}

fn parse_count(text: &str, min: u64) -> Result<u64, QuantityError> {
    let count: u64 = text.trim().replace('_', "").parse().map_err(|_| {
        QuantityError(format!("\"{text}\" is not a whole number of at least {min}"))
    })?;
    if count < min {
        return Err(QuantityError(format!("{count} is too small; write at least {min}")));
    }
    Ok(count)
}

fn parse_number(text: &str) -> Result<f64, QuantityError> {
    let number = text.trim().parse().ok().filter(|number| is_positive(*number));
    number.ok_or_else(|| {
        let example = Kind::Number.example();
        QuantityError(format!("\"{text}\" is not a positive number; write one such as {example}"))
    })
}

fn is_positive(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

fn parse_decibels(text: &str, min: i32) -> Result<f64, QuantityError> {
    let number = text.trim().strip_suffix("dB").unwrap_or(text).trim().parse().ok();
    let number = number.filter(|number| is_at_least(*number, min));
    number.ok_or_else(|| {
        let kind = Kind::Decibels { min };
        QuantityError(format!("\"{text}\" is not a valid number of decibels; write {kind}"))
    })
}

fn is_at_least(number: f64, min: i32) -> bool {
    number.is_finite() && number >= min.into()
}

/// `10 /s`, `10/s`, `10 Hz`, `1 /min`, `4 /h`; the period is rounded to the nanosecond.
fn parse_frequency(text: &str) -> Result<Duration, QuantityError> {
    let refuse = |why: &str| {
        QuantityError(format!(
            "\"{text}\" {why}; write a frequency as \"10 /s\", \"10 Hz\" or \"1 /min\""
        ))
    };
    let trimmed = text.trim();
    let found = [("/s", 1.0), ("Hz", 1.0), ("hz", 1.0), ("/min", 60.0), ("/h", 3_600.0)]
        .iter()
        .find_map(|(unit, seconds)| Some((trimmed.strip_suffix(unit)?.trim(), seconds)));
    let (number, seconds) = found.ok_or_else(|| refuse("has no unit"))?;
    let number: f64 = number.parse().map_err(|_| refuse("does not begin with a number"))?;
    if !(1e-9..=1e9).contains(&(number / seconds)) {
        return Err(refuse("is not between 10^-9 and 10^9 per second"));
    }
    Ok(Duration::from_nanos((1e9 * seconds / number).round() as u64))
}

/// The shortest number that [`Kind::Frequency`] reads as this period, per second.
pub fn frequency(period: Duration) -> f64 {
    let exact = 1.0 / period.as_secs_f64();
    let short = (0..16).filter_map(|digits| format!("{exact:.digits$e}").parse::<f64>().ok());
    let mut same = short.filter(|hertz| (1e9 / hertz).round() as u128 == period.as_nanos());
    same.next().unwrap_or(exact)
}

fn parse_choice(text: &str, words: &'static [&'static str]) -> Result<&'static str, QuantityError> {
    words.iter().copied().find(|word| *word == text.trim()).ok_or_else(|| {
        let example = Kind::Choice(words).example();
        QuantityError(format!("unknown value \"{text}\"; write {example}"))
    })
}

fn parse_item(text: &str) -> Result<u64, QuantityError> {
    text.parse().map_err(|_| QuantityError(format!("\"{text}\" is not a whole number")))
}

/// `0 s: 10 ms`
fn parse_row(text: &str) -> Result<(Duration, Duration), QuantityError> {
    let pair = text.split_once(':');
    let (first, second) =
        pair.ok_or_else(|| QuantityError(format!("\"{text}\" is not a pair of times")))?;
    Ok((parse_duration(first)?, parse_duration(second)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind, with a written value, and an out-of-range value if there is one.
    const KINDS: &[(Kind, &str, Option<Value>)] = &[
        (Kind::Rate, "50 Mbit/s", None),
        (Kind::Time, "10 ms", None),
        (Kind::Share, "0.3 %", None),
        (Kind::Size, "355 B", None),
        (Kind::Count { min: 1 }, "10", Some(Value::Count(0))),
        (Kind::Number, "1.5", Some(Value::Number(-1.0))),
        (Kind::Decibels { min: -7 }, "-6.5 dB", Some(Value::Decibels(-7.5))),
        (Kind::Frequency, "10 /s", None),
        (Kind::Choice(&["one", "each"]), "each", Some(Value::Choice("none"))),
        (Kind::Flag, "true", None),
        (Kind::Counts, "3, 17", Some(Value::Counts(Vec::new()))),
        (Kind::Timetable, "0 ms: 10 ms, 5 s: 50 ms", Some(Value::Timetable(Vec::new()))),
        (Kind::File, "some/file", None),
        (Kind::Folder, "media", None),
        (Kind::Text, "some words", None),
    ];

    #[test]
    fn every_kind_reads_what_its_values_are_written_as() {
        for (kind, text, beyond) in KINDS {
            let value = kind.parse(text).unwrap();
            assert_eq!(value.to_string(), *text);
            assert!(beyond.iter().all(|beyond| !kind.accepts(beyond)), "{kind:?}");
            let accepting = KINDS.iter().filter(|(other, ..)| other.accepts(&value));
            assert_eq!(accepting.count(), 1, "{value:?}");
            assert!(kind.accepts(&value));
        }
        let parse = |text: &str| Kind::Frequency.parse(text).unwrap();
        assert_eq!([parse("6 /min"), parse("360/h")], [parse("0.1 Hz"), parse("0.1 /s")]);
        for text in ["7 /s", "30 /s", "60 /s", "0.3 /s", "1000000000 /s", "123.456 /s"] {
            assert_eq!(parse(text).to_string(), text);
        }
    }

    #[test]
    fn every_kind_refuses_nonsense_with_advice() {
        for (kind, ..) in KINDS {
            assert!(kind.parse(" ").is_err(), "{kind:?}");
            let takes_any_text = matches!(kind, Kind::File | Kind::Folder | Kind::Text);
            assert_eq!(kind.parse("nonsense").is_err(), !takes_any_text, "{kind:?}");
            assert!(!kind.to_string().is_empty() && !kind.example().is_empty());
        }
        for (kind, text, message) in [
            (Kind::Count { min: 1 }, "0", "0 is too small; write at least 1"),
            (Kind::Number, "-1", "\"-1\" is not a positive number; write one such as 1.5"),
            (Kind::Number, "inf", "\"inf\" is not a positive number; write one such as 1.5"),
            (
                Kind::Decibels { min: 0 },
                "-1 dB",
                "\"-1 dB\" is not a valid number of decibels; write at least 0 dB, such as \"3 dB\"",
            ),
            (
                Kind::Choice(&["one", "each"]),
                "two",
                "unknown value \"two\"; write \"one\" or \"each\"",
            ),
            (
                Kind::Counts,
                "3, x",
                "\"x\" is not a whole number; write whole numbers such as [3, 17]",
            ),
            (Kind::Counts, ",", "the list is empty; write whole numbers such as [3, 17]"),
            (
                Kind::Timetable,
                "5 s",
                "\"5 s\" is not a pair of times; write pairs of times such as \
                 [[\"0 s\", \"10 ms\"], [\"5 s\", \"50 ms\"]]",
            ),
        ] {
            assert_eq!(kind.parse(text).unwrap_err().to_string(), message);
        }
    }
}
