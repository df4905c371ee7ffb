//! The command line of `trackbed handover`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use trackbed_railway::motion::Direction;
use trackbed_railway::motion::quantity::parse_length_m;

/// What to do with tables.
#[derive(Debug, Args)]
pub struct HandoverArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: HandoverCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum HandoverCommand {
    /// Learn a table from rides through a model of the radio, or from logs of real drives
    #[command(after_long_help = BUILD_EXAMPLES)]
    Build(BuildArguments),
    /// Show a table: its ranges, and a picture of them along the track
    #[command(after_long_help = SHOW_EXAMPLES)]
    Show(ShowArguments),
    /// Make one table of several, and forget what has not been seen for long
    #[command(after_long_help = MERGE_EXAMPLES)]
    Merge(MergeArguments),
}

const BUILD_EXAMPLES: &str = "\
Examples:
  trackbed handover build -o table.geojson          50 rides each way, two operators, 3GPP's figures
  trackbed handover build --profile ns3 --speed '300 km/h' --rides 50 --seed 1 -o table.geojson
  trackbed handover build --track line.gpx --stations stations.csv --set hysteresis='2 dB' -o t.geojson
  trackbed handover build --track line.gpx --log monday.csv --log tuesday.nmea -o table.geojson

Without --log, a train rides through a model of the radio. What can be set of it (--set KEY=VALUE):
  profile, track, length, speed, speed-profile, stations, spacing, distance, shift, rate, delays,
  path-loss, power, shadowing, variation, shadow-distance, interference, measurement-period, filter,
  a3-offset, hysteresis, time-to-trigger, forwarding, landscape, gps-error, gps-correlation, gps-lag
An unknown or wrong one is refused with what to write instead. Where shadows lie belongs to the place
(landscape), what differs from ride to ride to the seed.

With --log, a handover is where the serving cell of one position is not that of the last. Logs are
  .csv          latitude, longitude; time, speed_m_s if known; cell:NAME and rsrp:NAME by operator
  .gpx          points with extensions <cell operator=\"NAME\">17</cell>, <rsrp operator=\"NAME\">-93</rsrp>
  .nmea, .log   RMC and GGA sentences, and $PTRKC,NAME,CELL,RSRP*hh before them
Where a log turns round, another ride begins. Without --track, the first log is the track.

A table is GeoJSON: any map tool shows it. Its schema is docs/handover-table.schema.json.";

const SHOW_EXAMPLES: &str = "\
Examples:
  trackbed handover show table.geojson
  trackbed handover show table.geojson --operator A --svg table.svg

The curve is the mean power (RSRP) of the serving cell along the track, where the table knows it.
> and < are the ranges of trains that go forward (chainages rise) and backward. The age of a range is
the number of rides since a handover was last seen there. Ranges in which fewer than a tenth of the
latest 50 rides saw one are not used.";

const MERGE_EXAMPLES: &str = "\
Examples:
  trackbed handover merge table.geojson today.geojson -o table.geojson
  trackbed handover merge a.geojson b.geojson c.geojson -o all.geojson --max-age 200

Give the oldest table first: rides are counted on from one to the next. All must be for one track.
The file that is written may be one of those that are read; it is replaced in one piece.";

/// What to learn from.
#[derive(Debug, Args)]
pub struct BuildArguments {
    /// Where the table goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What handovers cost: ns3, 3gpp or hsr-measured [default: 3gpp]
    #[arg(long, value_name = "NAME", conflicts_with = "logs")]
    pub profile: Option<String>,
    /// The speed of the train, for example "300 km/h"
    #[arg(long, value_name = "SPEED", conflicts_with = "logs")]
    pub speed: Option<String>,
    /// The track: GPX, a table of latitude and longitude, or NMEA
    #[arg(long, value_name = "FILE")]
    pub track: Option<PathBuf>,
    /// The base stations: a table of operator, cell, and chainage_m and offset_m or latitude and
    /// longitude
    #[arg(long, value_name = "FILE", conflicts_with = "logs")]
    pub stations: Option<PathBuf>,
    /// Set anything else of the model; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "logs")]
    pub settings: Vec<String>,
    /// How many rides in each direction
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000), conflicts_with = "logs")]
    pub rides: u32,
    /// Where the randomness of the rides comes from
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "logs")]
    pub seed: u64,
    /// Which way the rides go
    #[arg(long, value_enum, default_value = "both", conflicts_with = "logs")]
    pub direction: Directions,
    /// Write what happens to the links on each ride, and what is received, to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "logs")]
    pub timelines: Option<PathBuf>,
    /// Learn from the log of a real drive; may be given several times, the oldest first
    #[arg(long = "log", value_name = "FILE")]
    pub logs: Vec<PathBuf>,
    /// Whose cells stand in a log without an operator's name
    #[arg(long, value_name = "NAME", requires = "logs")]
    pub operator: Option<String>,
    /// Positions of logs further beside the track are left out
    #[arg(long, value_name = "LENGTH", default_value = "200 m", value_parser = length)]
    pub corridor: f64,
    #[command(flatten)]
    /// How ranges are made.
    pub ranges: RangeArguments,
}

/// How ranges are made from what was seen.
#[derive(Debug, Args)]
pub struct RangeArguments {
    /// How much wider than what was seen ranges are, on either side; twice the standard deviation of
    /// positions is a good one [default: 10 m, or the widest of the tables that are merged]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub margin: Option<f64>,
    /// Handovers whose middles are no further apart belong to one range
    #[arg(long, value_name = "LENGTH", default_value = "50 m", value_parser = length)]
    pub join: f64,
    /// Forget ranges in which no handover was seen in more rides than this [default: keep all]
    #[arg(long, value_name = "N")]
    pub max_age: Option<u32>,
}

/// Which table to show.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The table
    pub table: PathBuf,
    /// One operator only; may be given several times
    #[arg(long = "operator", value_name = "NAME")]
    pub operators: Vec<String>,
    /// Write a picture too
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// How many columns the picture has
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(30..=1_000))]
    pub width: u16,
}

/// Which tables to merge.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The tables, the oldest first
    #[arg(required = true, num_args = 2..)]
    pub tables: Vec<PathBuf>,
    /// Where the table goes
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    /// How ranges are made.
    pub ranges: RangeArguments,
}

/// Which ways trains go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Directions {
    /// Chainages rise
    Forward,
    /// Chainages fall
    Backward,
    /// Either way
    Both,
}

impl Directions {
    /// These.
    pub fn list(self) -> &'static [Direction] {
        match self {
            Directions::Forward => &[Direction::Forward],
            Directions::Backward => &[Direction::Backward],
            Directions::Both => &Direction::BOTH,
        }
    }
}

fn length(text: &str) -> Result<f64, String> {
    parse_length_m(text).map_err(|why| why.to_string())
}
