//! The arguments of `trackbed phad`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Command, FromArgMatches as _};
use toml::Value;
use trackbed_core::units::parse_duration;
use trackbed_outward::files::read_bounded;
use trackbed_outward::{Format, Log};
use trackbed_router::phad::paths::Operator;

use crate::options::{Names, one_of};
use crate::output;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../../help/phad.txt"))]
pub struct Arguments {
    /// Read options from FILE (TOML)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read the handover table from FILE
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Ignore a table that is older than TIME, for example "720 h" [default: use tables of any age; ranges
    /// age by rides, see `trackbed handover`]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub table_age_max: Option<Duration>,
    /// Map the operator NAME of the table to INTERFACE: an interface, an address or an endpoint
    /// (id:NUMBER); give one option for each operator
    #[arg(long = "operator", value_name = "NAME=INTERFACE")]
    pub operators: Vec<Operator>,
    /// Read positions from gpsd at HOST:PORT [default: 127.0.0.1:2947]
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "nmea")]
    pub gpsd: Option<String>,
    /// Read positions from a receiver that speaks NMEA 0183 at DEVICE, instead of gpsd
    #[arg(long, value_name = "DEVICE")]
    pub nmea: Option<PathBuf>,
    /// Assume that positions are TIME old on arrival [default: 0 ms]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub position_age: Option<Duration>,
    /// Make an operator a backup TIME before its range: a round trip plus the time that data in flight
    /// needs to arrive; measured: 100 to 276 ms [default: 300 ms]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub lead: Option<Duration>,
    /// Clear the backup flag TIME before the end of a range [default: 0 ms]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub release_lead: Option<Duration>,
    /// Extrapolate a position by its speed for TIME, then clear all flags [default: 3 s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub fix_timeout: Option<Duration>,
    /// Treat positions more than METRES beside the track as off the track [default: 200]
    #[arg(long, value_name = "METRES", value_parser = metres)]
    pub off_track: Option<f64>,
    /// Keep an operator a backup for at most TIME at a stretch [default: 30 s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub hold_max: Option<Duration>,
    /// Record the flags that are set in FILE [default: /run/trackbed/phad.json]
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Serve Prometheus metrics at http://ADDRESS:PORT/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// Write log events as text to standard error, or as JSON lines to standard output [default: text]
    #[arg(long, value_parser = one_of(LOG_FORMATS))]
    pub log: Option<Format>,
    /// Log what phad would do, and change nothing in the kernel
    #[arg(long)]
    pub dry_run: bool,
    /// Check the table, kernel, permissions and endpoints, print the result, and exit
    #[arg(long, conflicts_with_all = ["once", "restore"])]
    pub check: bool,
    /// Wait for a position, print where the train is and which ranges are ahead, and exit
    #[arg(long, conflicts_with = "restore")]
    pub once: bool,
    /// Clear the flags that a killed daemon left behind, and exit
    #[arg(long)]
    pub restore: bool,
}

impl Arguments {
    /// The options in the file of `--config`; none without one.
    pub fn of_file(&self) -> anyhow::Result<Arguments> {
        let read = || {
            let text = self.config.as_ref().map(|path| read_bounded(path, CONFIG_BYTES_MAX));
            let text = String::from_utf8(text.transpose()?.unwrap_or_default())?;
            let mut words = Vec::new();
            for (key, value) in text.parse::<toml::Table>()? {
                match value {
                    Value::String(text) if key != "config" => words.push(format!("--{key}={text}")),
                    Value::Table(all) if key == "operators" => {
                        words.extend(all.iter().map(|(name, at)| {
                            format!("--operator={name}={}", at.as_str().unwrap_or_default())
                        }))
                    }
                    _ => bail!("{key} is no key with a text, such as lead = \"300 ms\""),
                }
            }
            let command = Arguments::augment_args(Command::new("phad").no_binary_name(true));
            Ok(Arguments::from_arg_matches(&command.try_get_matches_from(words)?)?)
        };
        let file = self.config.iter().map(|path| path.display().to_string());
        read().with_context(|| file.collect::<String>())
    }
}

/// A file is written by hand.
const CONFIG_BYTES_MAX: u64 = 1_000_000;

/// Formats of the log.
pub const LOG_FORMATS: &Names<Format> =
    &[("text", "Text for people", Format::Text), ("json", "JSON lines for programs", Format::Json)];

/// The log of the service with this name; `--quiet` applies.
pub fn log(service: &'static str, format: Format) -> Log {
    Log::new(service, format).quiet(output::is_quiet())
}

/// Parses a time with its unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|why| why.to_string())
}

/// Parses a length in metres; the unit is optional.
pub(super) fn metres(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('m').trim().parse().ok();
    let number = number.filter(|metres: &f64| metres.is_finite() && *metres > 0.0);
    number.ok_or_else(|| format!("\"{text}\" is not a length; write metres, for example 200"))
}

#[cfg(test)]
#[test]
fn a_file_says_what_the_command_line_can_say_in_its_order() {
    let file = tempfile::NamedTempFile::with_suffix("phad.toml").unwrap();
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let words = [format!("--config={}", file.path().display())];
        let command = Arguments::augment_args(Command::new("phad").no_binary_name(true));
        Arguments::from_arg_matches(&command.get_matches_from(words)).unwrap().of_file()
    };
    let found = read("lead = \"250 ms\"\n[operators]\nB = \"wwan1\"\nA = \"id:3\"\n").unwrap();
    let names: Vec<&str> = found.operators.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, found.lead), (vec!["B", "A"], Some(Duration::from_millis(250))));
    for (text, part) in [
        ("leed = \"250 ms\"\n", "'--lead'"),
        ("lead = \"250\"\n", "has no unit"),
        ("lead = 3\n", "300 ms"),
        ("lead\n", "line 1"),
        ("[operators]\nA = 3\n", "'--operator"),
        ("config = \"other.toml\"\n", "config is no key"),
    ] {
        let why = format!("{:#}", read(text).unwrap_err());
        assert!(why.contains("phad.toml: ") && why.contains(part), "{why}");
    }
}
