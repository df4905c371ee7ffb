//! The command line of `trackbed handover`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trackbed_railway::motion::Direction;
use trackbed_railway::motion::quantity::parse_length_m;

use crate::options::{Names, one_of};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: HandoverCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum HandoverCommand {
    /// Learn a table from simulated rides, or from logs of real drives
    #[command(after_long_help = include_str!("../../../help/handover-build.txt"))]
    Build(Box<BuildArguments>),
    /// Show the ranges of a table, and draw them along the track
    #[command(after_long_help = include_str!("../../../help/handover-show.txt"))]
    Show(ShowArguments),
    /// Merge several tables into one, and drop ranges without recent handovers
    #[command(after_long_help = include_str!("../../../help/handover-merge.txt"))]
    Merge(MergeArguments),
}

#[derive(Debug, Args)]
pub struct BuildArguments {
    /// Write the table to FILE [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Choose the profile of handover interruptions: ns3, 3gpp or hsr-measured [default: 3gpp]
    #[arg(long, value_name = "NAME", conflicts_with = "logs")]
    pub profile: Option<String>,
    /// Set the speed of the train, for example "300 km/h"
    #[arg(long, value_name = "SPEED", conflicts_with = "logs")]
    pub speed: Option<String>,
    /// Read the track from FILE: GPX, a table of latitude and longitude, or NMEA
    #[arg(long, value_name = "FILE")]
    pub track: Option<PathBuf>,
    /// Read the base stations from FILE: a table of operator, cell, and either chainage_m and offset_m or
    /// latitude and longitude
    #[arg(long, value_name = "FILE", conflicts_with = "logs")]
    pub stations: Option<PathBuf>,
    /// Set KEY of the model to VALUE; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "logs")]
    pub settings: Vec<String>,
    /// Simulate N rides in each direction
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000), conflicts_with = "logs")]
    pub rides: u32,
    /// Set the seed of the rides
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "logs")]
    pub seed: u64,
    /// Choose the direction of the rides
    #[arg(long, default_value = "both", value_parser = one_of(DIRECTIONS), conflicts_with = "logs")]
    pub direction: &'static [Direction],
    /// Write the timeline of the links and the received signal of each ride to DIR
    #[arg(long, value_name = "DIR", conflicts_with = "logs")]
    pub timelines: Option<PathBuf>,
    /// Learn from the log of a real drive in FILE; may be given several times, oldest first
    #[arg(long = "log", value_name = "FILE")]
    pub logs: Vec<PathBuf>,
    /// Read the column with this HEADING as NAME, for example rsrp:A=NR_ssRsrp; may be given several times
    #[arg(long = "column", value_name = "NAME=HEADING", value_parser = column, requires = "logs")]
    pub columns: Vec<(String, String)>,
    /// Assign the cells of logs without an operator's name to the operator NAME
    #[arg(long, value_name = "NAME", requires = "logs")]
    pub operator: Option<String>,
    /// Ignore positions in logs that are more than LENGTH beside the track
    #[arg(long, value_name = "LENGTH", default_value = "200 m", value_parser = length)]
    pub corridor: f64,
    #[command(flatten)]
    pub ranges: RangeArguments,
}

/// How ranges are computed from handovers.
#[derive(Debug, Args)]
pub struct RangeArguments {
    /// Extend each range by LENGTH on either side; twice the standard deviation of positions is a good
    /// value [default: 10 m, or the widest margin of the merged tables]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub margin: Option<f64>,
    /// Join handovers into one range if their midpoints are at most LENGTH apart
    #[arg(long, value_name = "LENGTH", default_value = "50 m", value_parser = length)]
    pub join: f64,
    /// Drop ranges without a handover in the last N rides [default: keep all]
    #[arg(long, value_name = "N")]
    pub max_age: Option<u32>,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The table to show
    pub table: PathBuf,
    /// Show only the operator NAME; may be given several times
    #[arg(long = "operator", value_name = "NAME")]
    pub operators: Vec<String>,
    /// Draw received power and ranges along the track, and write the picture to FILE (SVG)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The tables to merge, oldest first
    #[arg(required = true, num_args = 2..)]
    pub tables: Vec<PathBuf>,
    /// Write the merged table to FILE
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub ranges: RangeArguments,
}

const DIRECTIONS: &Names<&[Direction]> = &[
    ("forward", "Rising chainage", &[Direction::Forward]),
    ("backward", "Falling chainage", &[Direction::Backward]),
    ("both", "Both directions", &Direction::BOTH),
];

fn length(text: &str) -> Result<f64, String> {
    parse_length_m(text).map_err(|why| why.to_string())
}

/// The syntax of --column.
pub fn column(text: &str) -> Result<(String, String), String> {
    let (name, heading) = text.split_once('=').ok_or("no \"=\"; write NAME=HEADING")?;
    Ok((name.trim().to_owned(), heading.trim().to_owned()))
}
