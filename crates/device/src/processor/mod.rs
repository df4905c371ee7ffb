//! A model of a host's processor: packets and inference share its cores in virtual time.
//!
//! In virtual time computing costs nothing, which is right for protocols but ignores the subject of
//! a study of inference beside communication. Here a host has [`sharing::Cores`], which all
//! runnable threads share evenly; [`competitor::Inference`] uses them for frames whose durations
//! were measured on a real machine ([`durations`]); a table has the costs of packets and messages
//! ([`costs`]); and a [`host::Host`] holds packets back until its network thread has handled them.
//! Everything is sans-IO, and its results are those of a model: they show how scheduling affects
//! round-trip times and frame rates, not how fast a certain device is.
use std::ops::RangeInclusive;

pub mod competitor;
pub mod costs;
pub mod durations;
pub mod host;
pub mod sharing;

/// Why a text is not a table of costs, or not a measurement of durations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TextError {
    /// From 1 on.
    pub line: usize,
    /// What is wrong, and the remedy.
    pub why: String,
}

fn error(line: usize, why: impl Into<String>) -> TextError {
    TextError { line, why: why.into() }
}

/// The words of each line after the first one, which must be `magic`, with the line's number; empty
/// lines and those that begin with `#` are left out.
fn lines<'a>(
    text: &'a str,
    magic: &str,
) -> Result<impl Iterator<Item = (usize, Vec<&'a str>)>, TextError> {
    let mut lines = (1_usize..).zip(text.lines());
    if lines.next().is_none_or(|(_, first)| first.trim_end() != magic) {
        return Err(error(1, format!("the first line must be \"{magic}\"")));
    }
    let lines = lines.map(|(line, text)| (line, text.split_whitespace().collect::<Vec<_>>()));
    Ok(lines.filter(|(_, words)| words.first().is_some_and(|first| !first.starts_with('#'))))
}

/// A number in `range`; `what` it is, for the error.
fn number(text: &str, range: RangeInclusive<u64>, what: &str) -> Result<u64, String> {
    let found = text.parse().ok().filter(|value| range.contains(value));
    let (least, most) = (range.start(), range.end());
    found.ok_or_else(|| format!("\"{text}\" is not a {what} from {least} to {most}"))
}
