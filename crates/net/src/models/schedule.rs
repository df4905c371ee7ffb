//! Scheduled changes of a link, and their text format.

use std::collections::VecDeque;
use std::fmt;

use trackbed_core::text::{Column, Table, TextError, decimal, lines};
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

/// Reads lines of a time and a value with a comma or a semicolon between them, such as `5 s, 10 Mbit/s`, or,
/// if numbers may be without a `unit`, with a space. A table with a heading may have numbers alone, if the
/// heading of the value has their unit.
pub(super) fn parse_rows<T>(
    text: &str,
    example: &str,
    unit: Option<&str>,
    parse: impl Fn(&str) -> Result<T, QuantityError>,
) -> Result<Vec<(Time, T)>, SpecError> {
    let is_row = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let is_heading = |line: &str| !line.split([',', ';', '\t']).map(str::trim).any(is_row);
    if lines(text).next().is_some_and(|(_, first)| is_heading(first)) {
        return parse_table(text, parse).map_err(|why| SpecError::new(why.to_string()));
    }
    let row = |(number, line): (u64, &str)| {
        let refuse = |why: &dyn fmt::Display| {
            let expected = format!("expected a line such as \"{example}\", or {HEADING} above all");
            SpecError::new(format!("line {number}: {why}; {expected}"))
        };
        let spaced = || unit.and(line.split_once(char::is_whitespace));
        let pair = line.split_once([',', ';']).or_else(spaced);
        let (at, value) = pair.ok_or_else(|| refuse(&"not a time and a value"))?;
        let whole = |text: &str| match unit.filter(|_| decimal(text.trim()).is_some()) {
            Some(unit) => format!("{text} {unit}"),
            None => text.to_owned(),
        };
        let at = parse_duration(&whole(at)).map_err(|why| refuse(&why))?;
        let value = parse(&whole(value)).map_err(|why| refuse(&why))?;
        Ok((Time::ZERO + at, value))
    };
    lines(text).map(row).collect()
}

/// Reads a table with a column of times, in the unit of its heading or by their length, and one with a unit of the
/// values. Its first line is the start; where the value is unknown, the last one holds, and of lines with
/// one time the last.
fn parse_table<T>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, QuantityError>,
) -> Result<Vec<(Time, T)>, TextError> {
    let table = Table::parse(text)?;
    let columns = table.columns_after("");
    let is_time = |(_, title): &&(Column, &str)| title.to_lowercase().starts_with("time");
    let (time, title) = columns.iter().find(is_time).unwrap_or(&columns[0]);
    let second =
        unit_in(title, parse_duration).and_then(|unit| parse_duration(&format!("1{unit}")).ok());
    // Since 1970 there are milliseconds under a heading of seconds, too.
    let second = second.map(|unit| unit.as_secs_f64()).filter(|unit| *unit != 1.0);
    let values = columns.iter().filter(|(column, _)| column != time);
    let values =
        values.filter_map(|(column, title)| Some((*column, unit_in(title, &parse)?, title)));
    let values: Vec<(Column, String, &&str)> = values.collect();
    let [(value, unit, _)] = &values[..] else {
        let why = match &values[..] {
            [(.., one), (.., other), ..] => {
                format!("the columns {one} and {other} both have such values; remove one of them")
            }
            _ if columns.iter().any(|(_, title)| title.ends_with("Bps")) => {
                format!("Bps are bytes, and a rate is in bits: 8 times as many, as below {HEADING}")
            }
            _ => format!("no column has a unit in its heading; write it there: {HEADING}"),
        };
        return Err(TextError::new(why).in_line(1));
    };
    let (mut rows, mut start, mut last) = (Vec::new(), None, 0.0);
    for row in table.rows().filter(|row| row.text(*value).is_some()) {
        let (at, number) = (row.seconds(*time, second)?, row.number(*value)?);
        let since = at - *start.get_or_insert(at);
        if since < last {
            let why = "is earlier than the line before; give the times in order";
            return Err(TextError::new(why).in_line(row.line()));
        }
        if since == last {
            rows.pop();
        }
        last = since;
        // A computed number may have more decimals than its unit.
        let rounded = [9, 6, 3, 0].map(|places| parse(&format!("{number:.places$}{unit}")));
        let read = rounded.into_iter().reduce(Result::or).expect("four of them");
        let read = read.map_err(|why| TextError::new(why.to_string()).in_line(row.line()))?;
        rows.push((Time::from_micros((since * 1e6).round() as u64), read));
    }
    Ok(rows)
}

/// A heading that has the units.
const HEADING: &str = "a heading such as time_s,rate_Mbit/s";

/// The last word of a heading that is a unit.
fn unit_in<T>(title: &str, parse: impl Fn(&str) -> Result<T, QuantityError>) -> Option<String> {
    let words = title.rsplit(|c: char| !(c.is_alphanumeric() || "/%".contains(c)));
    words.map(|word| format!(" {word}")).find(|unit| parse(&format!("1{unit}")).is_ok())
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
