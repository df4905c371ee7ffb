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

use trackbed_core::text::{TextError, lines_below};

pub mod competitor;
pub mod costs;
pub mod durations;
pub mod host;
pub mod sharing;

fn error(line: u64, why: impl Into<String>) -> TextError {
    TextError::new(why).in_line(line)
}

/// The words of each line after the first one, which must be `magic`, with the line's number.
fn words<'a>(
    text: &'a str,
    magic: &str,
) -> Result<impl Iterator<Item = (u64, Vec<&'a str>)>, TextError> {
    Ok(lines_below(text, magic)?.map(|(line, text)| (line, text.split_whitespace().collect())))
}

/// A number in `range`; `what` it is, for the error.
fn number(text: &str, range: RangeInclusive<u64>, what: &str) -> Result<u64, String> {
    let found = text.parse().ok().filter(|value| range.contains(value));
    let (least, most) = (range.start(), range.end());
    found.ok_or_else(|| format!("\"{text}\" is not a {what} from {least} to {most}"))
}
