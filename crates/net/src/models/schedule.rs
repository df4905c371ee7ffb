//! Scheduled changes of a link, and their text format.

use std::collections::VecDeque;
use std::fmt;

use trackbed_core::units::{QuantityError, parse_duration};
use trackbed_core::{Bitrate, ByteSize, Packet, Time};

use crate::link::{Change, Link, Outlet, Waiting};
use crate::spec::SpecError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Rate(Bitrate),
    Flush(ByteSize),
}

#[derive(Debug)]
struct Scheduled {
    /// The remaining changes, in order of time.
    ahead: VecDeque<(Time, Act)>,
    inner: Box<dyn Link>,
}

pub(super) fn scheduled(
    acts: impl IntoIterator<Item = (Time, Act)>,
    inner: Box<dyn Link>,
) -> Box<dyn Link> {
    Box::new(Scheduled { ahead: acts.into_iter().collect(), inner })
}

impl Scheduled {
    /// Applies the changes due by `now`, each after everything due inside before it.
    fn act(&mut self, now: Time, out: &mut dyn Outlet) {
        while let Some((at, act)) = self.ahead.front().copied().filter(|(at, _)| *at <= now) {
            self.ahead.pop_front();
            self.inner.advance(at, out);
            match act {
                Act::Rate(rate) => self.inner.change(at, &Change::Rate(rate)),
                Act::Flush(bytes) => self.inner.flush(at, Waiting::Longest(bytes), out),
            };
        }
    }
}

impl Link for Scheduled {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.act(now, out);
        self.inner.push(now, packet, out);
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.act(now, out);
        self.inner.advance(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        // While the link is empty, changes have no visible effect and can be applied later.
        let act = self.ahead.front().map(|(at, _)| *at).filter(|_| self.held() > 0);
        [act, self.inner.next_wake()].into_iter().flatten().min()
    }

    fn held(&self) -> usize {
        self.inner.held()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        self.inner.change(now, change)
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.inner.flush(now, which, out)
    }
}

/// Reads lines of a time and a value with a comma between them, such as `5 s, 10 Mbit/s`. Empty
/// lines and lines that begin with `#` are skipped.
pub(super) fn parse_rows<T>(
    text: &str,
    example: &str,
    parse: impl Fn(&str) -> Result<T, QuantityError>,
) -> Result<Vec<(Time, T)>, SpecError> {
    let refuse = |line: usize, why: &dyn fmt::Display| {
        SpecError::new(format!("line {line}: {why}; expected a line such as \"{example}\""))
    };
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut rows = Vec::new();
    for (line, text) in lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
        let pair = text.split_once(',');
        let (at, value) = pair.ok_or_else(|| refuse(line, &"not a time and a value"))?;
        let at = parse_duration(at).map_err(|why| refuse(line, &why))?;
        let value = parse(value).map_err(|why| refuse(line, &why))?;
        rows.push((Time::ZERO + at, value));
    }
    Ok(rows)
}

/// Refuses rows whose times do not rise, and, where one row must hold from the start on, those
/// whose first time is later.
pub(super) fn check_rows<T>(
    rows: &[(Time, T)],
    what: &str,
    from_start: bool,
) -> Result<(), SpecError> {
    match rows.first() {
        None if from_start => {
            return Err(SpecError::new(format!("the list has no {what}; give one, from 0 s on")));
        }
        Some((first, _)) if from_start && *first > Time::ZERO => {
            return Err(SpecError::new(format!(
                "the first {what} starts at {first}; start it at 0 s"
            )));
        }
        _ => {}
    }
    match rows.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        Some(pair) => Err(SpecError::new(format!(
            "the {what} at {} is listed after the one at {}; give them in order of time",
            pair[1].0, pair[0].0
        ))),
        None => Ok(()),
    }
}
