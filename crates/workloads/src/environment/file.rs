//! Timelines as text.
//!
//! ```text
//! at,change,value
//! 0 ms,delay,98.412 ms
//! 7 s,seek,37.5 %
//! 12 s,reconnect,
//! ```
//!
//! Empty lines, and those that begin with `#`, are ignored.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use trackbed_core::text::lines_below;
use trackbed_core::units::{format_duration, parse_duration};

use crate::environment::timeline::{Change, Moment, Timeline};

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADING}")?;
        for Moment { at, change } in self.moments() {
            let at = format_duration(*at);
            match change {
                Change::Delay(delay) => writeln!(f, "{at},delay,{}", format_duration(*delay))?,
                Change::Reconnect => writeln!(f, "{at},reconnect,")?,
                Change::Seek(place) => writeln!(f, "{at},seek,{place}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Timeline {
    type Err = String;

    fn from_str(text: &str) -> Result<Timeline, String> {
        let lines = lines_below(text, HEADING).map_err(|why| why.to_string())?;
        let mut places: Vec<(u64, Moment)> = Vec::new();
        for (number, line) in lines {
            let moment = moment(line).map_err(|why| format!("line {number}: {why}"))?;
            if let Some((_, before)) = places.last().filter(|(_, before)| before.at > moment.at) {
                let before = format_duration(before.at);
                return Err(format!(
                    "line {number}: earlier than the line before, at {before}; sort the lines by \
                     time"
                ));
            }
            places.push((number, moment));
        }
        Timeline::new(places.iter().map(|(_, moment)| *moment).collect()).map_err(|why| {
            let number = places.iter().find(|(_, moment)| moment.at == why.at);
            let number = number.map_or(1, |(number, _)| *number);
            format!("line {number}: {}", why.what)
        })
    }
}

fn moment(line: &str) -> Result<Moment, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [at, change, value] = fields[..] else {
        let example = "0 s,delay,100 ms";
        return Err(format!("\"{line}\" does not have three fields; write a line like {example}"));
    };
    let time =
        |text| -> Result<Duration, String> { parse_duration(text).map_err(|why| why.to_string()) };
    let change = match change {
        "delay" => Change::Delay(time(value)?),
        "reconnect" if value.is_empty() => Change::Reconnect,
        "reconnect" => {
            return Err(
                "a reconnect takes no value; write nothing after the second comma".to_owned()
            );
        }
        "seek" => {
            let place: Result<_, trackbed_core::units::QuantityError> = value.parse();
            Change::Seek(place.map_err(|why| why.to_string())?)
        }
        _ => return Err(format!("unknown change \"{change}\"; write delay, reconnect or seek")),
    };
    Ok(Moment { at: time(at)?, change })
}

const HEADING: &str = "at,change,value";
