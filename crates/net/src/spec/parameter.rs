//! The parameters of link models and queues, and how their values are read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::units::parse_duration;
use trackbed_core::{Bitrate, ByteSize, Ratio};

/// A parameter of a link model or queue, as the reference page shows it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name under which a scenario sets it.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What holds if it is not set.
    pub otherwise: Otherwise,
    /// What it does, in one sentence.
    pub summary: &'static str,
}

/// What holds if a parameter is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// It must be set.
    Required,
    /// This value.
    Default(&'static str),
    /// Nothing; the summary says what that means.
    Absent,
}

/// What the value of a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A rate, `50 Mbit/s`.
    Rate,
    /// A span of time, `10 ms`.
    Time,
    /// A share of a whole, `0.3 %` or `0.003`.
    Share,
    /// A number of bytes, `64 kB`.
    Size,
    /// A whole number that is not negative, `100`.
    Count,
    /// A positive number, `1.5`.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Whole numbers, `[3, 17]` or `3, 17`.
    Counts,
    /// Pairs of times, `[["0 s", "10 ms"], ["5 s", "50 ms"]]` or `0 s: 10 ms, 5 s: 50 ms`.
    Timetable,
    /// The name of a file in the scenario; whoever reads the scenario passes the file's contents.
    File,
}

/// A value as it stands in a scenario or on the command line. Text is accepted for every kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text; for [`Kind::File`] the contents of the file.
    Text(String),
    /// A whole number.
    Integer(u64),
    /// A number with a fraction.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// Several values.
    List(Vec<Value>),
}

/// The values of all parameters of one model, checked and complete.
#[derive(Clone, Debug)]
pub struct Arguments {
    values: BTreeMap<&'static str, Argument>,
}

/// Why a description of a link cannot be used, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(String);

impl SpecError {
    /// An error with this message, which says what is wrong and what to write instead.
    pub fn new(message: impl Into<String>) -> SpecError {
        SpecError(message.into())
    }

    pub(crate) fn of(owner: &str, message: impl fmt::Display) -> SpecError {
        SpecError(format!("{owner}: {message}"))
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

impl Parameter {
    pub(crate) const fn required(
        name: &'static str,
        kind: Kind,
        summary: &'static str,
    ) -> Parameter {
        Parameter { name, kind, otherwise: Otherwise::Required, summary }
    }

    pub(crate) const fn optional(
        name: &'static str,
        kind: Kind,
        summary: &'static str,
    ) -> Parameter {
        Parameter { name, kind, otherwise: Otherwise::Absent, summary }
    }

    pub(crate) const fn with_default(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        summary: &'static str,
    ) -> Parameter {
        Parameter { name, kind, otherwise: Otherwise::Default(default), summary }
    }
}

impl Arguments {
    /// Reads the values `given` for the `parameters` of the model or queue called `owner`.
    ///
    /// # Errors
    /// If a name is unknown or given twice, a value does not fit its kind, or a required one is
    /// missing.
    pub(crate) fn read(
        owner: &str,
        parameters: &[&'static Parameter],
        given: &[(String, Value)],
    ) -> Result<Arguments, SpecError> {
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let Some(parameter) = parameters.iter().find(|p| p.name == name) else {
                return Err(SpecError::of(owner, unknown(name, parameters)));
            };
            let argument = parameter.kind.read(value);
            let argument =
                argument.map_err(|why| SpecError::of(owner, format_args!("{name}: {why}")))?;
            if values.insert(parameter.name, argument).is_some() {
                return Err(SpecError::of(owner, format_args!("{name} is given twice; keep one")));
            }
        }
        for parameter in parameters.iter().filter(|p| !given.iter().any(|(name, _)| p.name == name))
        {
            match parameter.otherwise {
                Otherwise::Absent => {}
                Otherwise::Default(text) => {
                    let argument = parameter.kind.read(&Value::Text(text.into()));
                    values.insert(parameter.name, argument.expect("a default fits its kind"));
                }
                Otherwise::Required => {
                    let why = format!("{} is missing; write {}", parameter.name, parameter.kind);
                    return Err(SpecError::of(owner, why));
                }
            }
        }
        Ok(Arguments { values })
    }

    /// The value of a parameter that is declared as required or with a default.
    ///
    /// # Panics
    /// If it is declared as optional, or of another kind.
    pub fn need<T: FromArgument>(&self, name: &str) -> T {
        self.get(name).expect("a parameter without a value is read as an optional one")
    }

    /// The value of a parameter that may be absent.
    ///
    /// # Panics
    /// If the parameter is declared of another kind.
    pub fn get<T: FromArgument>(&self, name: &str) -> Option<T> {
        let argument = self.values.get(name)?;
        Some(T::from_argument(argument).expect("a parameter is read as the kind it is declared"))
    }
}

fn unknown(name: &str, parameters: &[&Parameter]) -> String {
    let known: Vec<&str> = parameters.iter().map(|p| p.name).collect();
    match known.is_empty() {
        true => format!("\"{name}\" is not a parameter; this model has none"),
        false => format!("\"{name}\" is not a parameter; there are {}", known.join(", ")),
    }
}

/// A value of the kind that its parameter asks for.
#[derive(Clone, Debug)]
pub enum Argument {
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
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::Choice`].
    Choice(&'static str),
    /// Of [`Kind::Counts`].
    Counts(Vec<u64>),
    /// Of [`Kind::Timetable`].
    Timetable(Vec<(Duration, Duration)>),
    /// Of [`Kind::File`].
    File(Arc<str>),
}

/// A type in which a model reads its parameters.
pub trait FromArgument: Sized {
    /// The value, if it is of this type.
    fn from_argument(argument: &Argument) -> Option<Self>;
}

macro_rules! from_argument {
    ($($kind:ident => $type:ty),* $(,)?) => {$(
        impl FromArgument for $type {
            fn from_argument(argument: &Argument) -> Option<$type> {
                match argument {
                    Argument::$kind(value) => Some(value.clone()),
                    _ => None,
                }
            }
        }
    )*};
}

from_argument!(
    Rate => Bitrate, Time => Duration, Share => Ratio, Size => ByteSize, Count => u64,
    Number => f64, Flag => bool, Choice => &'static str, Counts => Vec<u64>,
    Timetable => Vec<(Duration, Duration)>, File => Arc<str>,
);

impl Kind {
    fn read(self, value: &Value) -> Result<Argument, String> {
        match (self, value) {
            (Kind::Count, Value::Integer(n)) => Ok(Argument::Count(*n)),
            (Kind::Number, Value::Integer(n)) => self.positive(*n as f64),
            (Kind::Number, Value::Number(x)) => self.positive(*x),
            (Kind::Share, Value::Integer(n)) => Kind::Share.read_text(&n.to_string()),
            (Kind::Share, Value::Number(x)) => {
                Ratio::from_f64(*x).map(Argument::Share).map_err(|e| e.to_string())
            }
            (Kind::Flag, Value::Flag(flag)) => Ok(Argument::Flag(*flag)),
            (Kind::Counts, Value::List(list)) => {
                let counts: Result<_, _> = list.iter().map(|value| self.count(value)).collect();
                counts.map(Argument::Counts)
            }
            (Kind::Timetable, Value::List(list)) => {
                let rows: Result<_, _> = list.iter().map(|value| self.row(value)).collect();
                rows.map(Argument::Timetable)
            }
            (_, Value::Text(text)) => self.read_text(text),
            (_, Value::Integer(n)) => Err(self.refuse(n)),
            (_, Value::Number(x)) => Err(self.refuse(x)),
            (_, Value::Flag(flag)) => Err(self.refuse(flag)),
            (_, Value::List(_)) => Err(self.refuse("a list")),
        }
    }

    fn read_text(self, text: &str) -> Result<Argument, String> {
        let text = if self == Kind::File { text } else { text.trim() };
        match self {
            Kind::Rate => text.parse().map(Argument::Rate).map_err(|e| format!("{e}")),
            Kind::Time => parse_duration(text).map(Argument::Time).map_err(|e| e.to_string()),
            Kind::Share => text.parse().map(Argument::Share).map_err(|e| format!("{e}")),
            Kind::Size => text.parse().map(Argument::Size).map_err(|e| format!("{e}")),
            Kind::Count => text.parse().map(Argument::Count).map_err(|_| self.refuse(text)),
            Kind::Number => match text.parse() {
                Ok(number) => self.positive(number),
                Err(_) => Err(self.refuse(text)),
            },
            Kind::Flag => text.parse().map(Argument::Flag).map_err(|_| self.refuse(text)),
            Kind::Choice(words) => match words.iter().find(|word| **word == text) {
                Some(word) => Ok(Argument::Choice(word)),
                None => Err(self.refuse(text)),
            },
            Kind::Counts => {
                let counts = items(text).map(|n| n.parse().map_err(|_| self.refuse(n)));
                counts.collect::<Result<_, _>>().map(Argument::Counts)
            }
            Kind::Timetable => {
                let row = |row: &str| match row.split_once(':') {
                    Some((first, second)) => self.pair(first, second),
                    None => Err(self.refuse(row)),
                };
                items(text).map(row).collect::<Result<_, _>>().map(Argument::Timetable)
            }
            Kind::File => Ok(Argument::File(text.into())),
        }
    }

    fn positive(self, number: f64) -> Result<Argument, String> {
        match number.is_finite() && number > 0.0 {
            true => Ok(Argument::Number(number)),
            false => Err(self.refuse(number)),
        }
    }

    fn count(self, value: &Value) -> Result<u64, String> {
        match Kind::Count.read(value)? {
            Argument::Count(count) => Ok(count),
            _ => Err(self.refuse("something else")),
        }
    }

    fn row(self, value: &Value) -> Result<(Duration, Duration), String> {
        match value {
            Value::List(pair) => match &pair[..] {
                [Value::Text(first), Value::Text(second)] => self.pair(first, second),
                _ => Err(self.refuse("a row that is not two times")),
            },
            _ => Err(self.refuse("a row that is not two times")),
        }
    }

    fn pair(self, first: &str, second: &str) -> Result<(Duration, Duration), String> {
        let time = |text| parse_duration(text).map_err(|e| e.to_string());
        Ok((time(first)?, time(second)?))
    }

    fn refuse(self, found: impl fmt::Display) -> String {
        format!("{found} does not fit; write {self}")
    }
}

/// The items of a list in text, with commas between them.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// What to write, with an example.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Rate => f.write_str("a rate such as \"50 Mbit/s\""),
            Kind::Time => f.write_str("a time such as \"10 ms\""),
            Kind::Share => f.write_str("a share such as \"0.3 %\" or 0.003"),
            Kind::Size => f.write_str("a size such as \"64 kB\""),
            Kind::Count => f.write_str("a whole number such as 100"),
            Kind::Number => f.write_str("a positive number such as 1.5"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Counts => f.write_str("whole numbers such as [3, 17]"),
            Kind::Timetable => {
                f.write_str("pairs of times such as [[\"0 s\", \"10 ms\"], [\"5 s\", \"50 ms\"]]")
            }
            Kind::File => f.write_str("the name of a file"),
        }
    }
}
