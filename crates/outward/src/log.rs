//! The log of a service: a line for each event.

use std::io::{self, Write as _};
use std::time::Duration;

use crate::printable::{printable, printable_line};
use chrono::{DateTime, SecondsFormat};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value};

/// The formats of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text for people, on standard error. The system's journal adds the time.
    #[default]
    Text,
    /// JSON for programs, on standard output: one object per line, with the time.
    Json,
}

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    /// Normal operation.
    Info,
    /// A problem; the service continues.
    Warning,
    /// An action failed.
    Error,
}

/// Writes events.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    service: &'static str,
    format: Format,
    quiet: bool,
}

impl Log {
    /// A log for the service of this name.
    pub fn new(service: &'static str, format: Format) -> Log {
        Log { service, format, quiet: false }
    }

    /// Omits informational events from text; JSON still contains all events.
    pub fn quiet(self, quiet: bool) -> Log {
        Log { quiet, ..self }
    }

    /// Writes an event: its name (one word, the same for all events of a kind), the message for people, and
    /// additional fields for programs. Write errors are ignored.
    pub fn write(&self, level: Level, event: &str, message: &str, fields: &[(&str, Value)]) {
        match self.format {
            Format::Text if self.quiet && level == Level::Info => {}
            Format::Text => {
                let _ = writeln!(io::stderr().lock(), "{}", text(self.service, level, message));
            }
            Format::Json => {
                let line = line(time_of_day(), level, event, message, fields);
                let _ = writeln!(io::stdout().lock(), "{}", printable(&line.to_string()));
            }
        }
    }

    /// Writes an event of normal operation.
    pub fn info(&self, event: &str, message: &str, fields: &[(&str, Value)]) {
        self.write(Level::Info, event, message, fields);
    }

    /// Writes a warning.
    pub fn warn(&self, event: &str, message: &str, fields: &[(&str, Value)]) {
        self.write(Level::Warning, event, message, fields);
    }

    /// Writes an error.
    pub fn error(&self, event: &str, message: &str, fields: &[(&str, Value)]) {
        self.write(Level::Error, event, message, fields);
    }
}

/// The system's time of day, since 1970-01-01T00:00:00Z.
pub fn time_of_day() -> Duration {
    // The system clock is never before 1970.
    clock_gettime(ClockId::Realtime).try_into().unwrap_or_default()
}

/// Formats an event as exactly one line; messages may contain untrusted text.
fn text(service: &str, level: Level, message: &str) -> String {
    let level = if level == Level::Info { String::new() } else { format!("{level}: ") };
    format!("{service}: {level}{}", printable_line(message))
}

fn line(
    now: Duration,
    level: Level,
    event: &str,
    message: &str,
    fields: &[(&str, Value)],
) -> Value {
    let mut line = Map::new();
    line.insert("time".to_owned(), rfc3339(now).into());
    line.insert("level".to_owned(), level.to_string().into());
    line.insert("event".to_owned(), event.into());
    line.insert("message".to_owned(), message.into());
    line.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Value::Object(line)
}

/// A time of day in UTC to the millisecond.
fn rfc3339(now: Duration) -> String {
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let time =
        DateTime::from_timestamp(seconds, now.subsec_nanos()).unwrap_or(DateTime::UNIX_EPOCH);
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From date(1), `date -u -d @SECONDS`.
    #[test]
    fn times_are_dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_735_689_600, "2025-01-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(Duration::new(seconds, 999_999)), expected);
        }
    }

    /// A receiver of positions, or a peer, controls a part of the message.
    #[test]
    fn no_message_makes_a_second_line_or_controls_a_terminal() {
        let message = "gpsd says: x\ntrackbed phad: stopped\u{1b}[2J\u{202e}";
        let expected = "trackbed phad: warning: \
                        gpsd says: x\\ntrackbed phad: stopped\\u001b[2J\\u202e";
        assert_eq!(text("trackbed phad", Level::Warning, message), expected);
    }

    #[test]
    fn a_line_is_an_object_with_the_fields_of_the_event() {
        let fields = [("operator", "A".into()), ("chainage_m", 12.5.into())];
        let line = line(Duration::from_millis(5), Level::Warning, "flag", "a \"flag\"", &fields)
            .to_string();
        let expected = "{\"time\":\"1970-01-01T00:00:00.005Z\",\"level\":\"warning\",\"event\":\
                        \"flag\",\"message\":\"a \\\"flag\\\"\",\"operator\":\"A\",\
                        \"chainage_m\":12.5}";
        assert_eq!(line, expected);
    }
}
