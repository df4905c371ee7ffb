//! The values that parameters take.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::kind::frequency;
use crate::units::{Bitrate, ByteSize, Ratio, format_duration};

/// A value of one of the kinds of parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A value of [`Kind::Rate`](super::Kind::Rate).
    Rate(Bitrate),
    /// A value of [`Kind::Time`](super::Kind::Time).
    Time(Duration),
    /// A value of [`Kind::Share`](super::Kind::Share).
    Share(Ratio),
    /// A value of [`Kind::Size`](super::Kind::Size).
    Size(ByteSize),
    /// A value of [`Kind::Count`](super::Kind::Count).
    Count(u64),
    /// A value of [`Kind::Number`](super::Kind::Number): positive and finite.
    Number(f64),
    /// A value of [`Kind::Decibels`](super::Kind::Decibels).
    Decibels(f64),
    /// A value of [`Kind::Frequency`](super::Kind::Frequency): the time from one event to the next.
    Period(Duration),
    /// A value of [`Kind::Choice`](super::Kind::Choice).
    Choice(&'static str),
    /// A value of [`Kind::Flag`](super::Kind::Flag).
    Flag(bool),
    /// A value of [`Kind::Counts`](super::Kind::Counts).
    Counts(Vec<u64>),
    /// A value of [`Kind::Timetable`](super::Kind::Timetable).
    Timetable(Vec<(Duration, Duration)>),
    /// The path of a [`Kind::File`](super::Kind::File), as written in a scenario.
    File(PathBuf),
    /// The contents of a [`Kind::File`](super::Kind::File). The code that reads files replaces the
    /// path with them before an entry that does no input or output sees the value.
    Contents(Arc<str>),
    /// The path of a [`Kind::Folder`](super::Kind::Folder), as written in a scenario.
    Folder(PathBuf),
    /// A value of [`Kind::Text`](super::Kind::Text).
    Text(String),
}

/// As written in a scenario, without quotes; equal values give equal texts. Contents of a file are
/// shown by their length.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Rate(rate) => rate.fmt(f),
            Value::Time(span) => f.write_str(&format_duration(*span)),
            Value::Share(ratio) => ratio.fmt(f),
            Value::Size(size) => size.fmt(f),
            Value::Count(count) => count.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Decibels(decibels) => write!(f, "{decibels} dB"),
            Value::Period(period) => write!(f, "{} /s", frequency(*period)),
            Value::Choice(word) => f.write_str(word),
            Value::Flag(flag) => flag.fmt(f),
            Value::Counts(counts) => {
                let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
                f.write_str(&counts.join(", "))
            }
            Value::Timetable(rows) => {
                let row = |(first, second): &(Duration, Duration)| {
                    format!("{}: {}", format_duration(*first), format_duration(*second))
                };
                f.write_str(&rows.iter().map(row).collect::<Vec<_>>().join(", "))
            }
            Value::File(path) | Value::Folder(path) => path.display().fmt(f),
            Value::Contents(text) => write!(f, "a file of {} B", text.len()),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// A type as which an entry reads its parameters.
pub trait FromValue: Sized {
    /// The value, if it is of this type.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! from_value {
    ($($($variant:ident)|+ => $type:ty),* $(,)?) => {$(
        impl FromValue for $type {
            fn from_value(value: &Value) -> Option<$type> {
                match value {
                    $(Value::$variant(value))|+ => Some(value.clone()),
                    _ => None,
                }
            }
        }
    )*};
}

from_value!(
    Rate => Bitrate, Share => Ratio, Size => ByteSize, Count => u64, Number | Decibels => f64,
    Choice => &'static str, Flag => bool, Counts => Vec<u64>,
    Timetable => Vec<(Duration, Duration)>, Contents => Arc<str>, Text => String,
    File | Folder => PathBuf, Time | Period => Duration,
);
