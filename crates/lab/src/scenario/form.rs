//! How values are written: quantities, numbers, lists and texts behind one front.

use std::fmt;

use trackbed_core::parameter::{Kind, Value};
use trackbed_core::units::{format_duration, parse_duration};
use trackbed_net::spec as net;

use super::plan::Factor;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A quantity, a choice, a flag or a file of the common vocabulary.
    Kind(Kind),
    /// A positive number.
    Number,
    /// Several values that belong together; they are no axis. An example shows them.
    List(&'static str),
    /// Any text that is not empty.
    Text,
}

/// A value that was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum {
    Value(Value),
    Number(f64),
    /// A text, or a list as text.
    Text(String),
}

impl Form {
    /// Reads a value; the error says what to write.
    pub fn parse(self, text: &str) -> Result<Datum, String> {
        match self {
            Form::Kind(kind) => kind.parse(text).map(Datum::Value).map_err(|why| why.to_string()),
            Form::Number => match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() && number > 0.0 => Ok(Datum::Number(number)),
                _ => Err(format!("\"{text}\" is not a positive number; write one such as 1.5")),
            },
            Form::List(_) | Form::Text if text.trim().is_empty() => {
                Err(format!("an empty text; write {}", self.example()))
            }
            Form::List(_) => Ok(Datum::Text(tidy(text))),
            Form::Text => Ok(Datum::Text(text.trim().to_owned())),
        }
    }

    /// How a value is written, for messages and help.
    pub fn example(self) -> String {
        match self {
            Form::Kind(kind) => kind.example(),
            Form::Number => "1.5".to_owned(),
            Form::List(example) => example.to_owned(),
            Form::Text => "\"some words\"".to_owned(),
        }
    }

    /// What the name of a factor ends in, so that it tells the unit.
    pub fn suffix(self) -> &'static str {
        match self {
            Form::Kind(Kind::Rate) => "_mbps",
            Form::Kind(Kind::Time) => "_ms",
            Form::Kind(Kind::Size) => "_bytes",
            Form::Kind(Kind::Frequency) => "_hz",
            Form::Kind(
                Kind::Share | Kind::Count { .. } | Kind::Choice(_) | Kind::Flag | Kind::File,
            )
            | Form::Number
            | Form::List(_)
            | Form::Text => "",
        }
    }
}

/// Rows with a comma between them, pairs with a colon: the same list always as the same text.
fn tidy(list: &str) -> String {
    let value = |text: &str| match parse_duration(text) {
        Ok(span) => format_duration(span),
        Err(_) => text.trim().to_owned(),
    };
    let row = |row: &str| row.split(':').map(value).collect::<Vec<_>>().join(": ");
    list.split(',').map(row).collect::<Vec<_>>().join(", ")
}

/// How the link models' own vocabulary is written.
impl From<net::Kind> for Form {
    fn from(kind: net::Kind) -> Form {
        match kind {
            net::Kind::Rate => Form::Kind(Kind::Rate),
            net::Kind::Time => Form::Kind(Kind::Time),
            net::Kind::Share => Form::Kind(Kind::Share),
            net::Kind::Size => Form::Kind(Kind::Size),
            net::Kind::Count => Form::Kind(Kind::Count { min: 0 }),
            net::Kind::Number => Form::Number,
            net::Kind::Flag => Form::Kind(Kind::Flag),
            net::Kind::Choice(words) => Form::Kind(Kind::Choice(words)),
            net::Kind::Counts => Form::List("[3, 17]"),
            net::Kind::Timetable => Form::List("[[\"0 s\", \"10 ms\"], [\"5 s\", \"50 ms\"]]"),
            net::Kind::File => Form::Kind(Kind::File),
            // A kind that is not known here is handed on as it was written.
            _ => Form::Text,
        }
    }
}

impl Datum {
    /// The value as a factor: a number in the unit of [`Form::suffix`] where it is a quantity.
    pub fn factor(&self) -> Factor {
        match self {
            Datum::Value(Value::Rate(rate)) => Factor::Number(rate.as_bps() as f64 / 1e6),
            Datum::Value(Value::Time(span)) => Factor::Number(span.as_nanos() as f64 / 1e6),
            Datum::Value(Value::Share(share)) => Factor::Number(share.as_f64()),
            Datum::Value(Value::Size(size)) => Factor::Number(size.as_bytes() as f64),
            Datum::Value(Value::Count(count)) => Factor::Number(*count as f64),
            Datum::Value(Value::Period(period)) => Factor::Number(1.0 / period.as_secs_f64()),
            Datum::Number(number) => Factor::Number(*number),
            Datum::Value(Value::Choice(_) | Value::Flag(_) | Value::File(_)) | Datum::Text(_) => {
                Factor::Text(self.to_string())
            }
        }
    }
}

/// As a scenario writes it, without quotes; equal values give equal texts.
impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Value(Value::Period(period)) => write!(f, "{} ns", period.as_nanos()),
            Datum::Value(value) => value.fmt(f),
            Datum::Number(number) => number.fmt(f),
            Datum::Text(text) => f.write_str(text),
        }
    }
}
