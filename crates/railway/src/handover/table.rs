//! The handover table.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trackbed_outward::files::{Fresh, read_text};

use crate::motion::{Direction, Track};

use crate::handover::HandoverError;
use crate::handover::signal::Signal;

/// Where along a track handovers are expected. A table is always consistent: ranges are on the track, and the
/// ranges of one operator and direction are sorted and do not overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(crate) track: Arc<Track>,
    pub(crate) margin_m: f64,
    pub(crate) operators: BTreeMap<String, OperatorRanges>,
}

/// The data of an operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorRanges {
    /// The rides with a modem of this operator, forward and backward.
    pub(crate) rides: [u32; 2],
    /// The ranges, forward and backward, each by chainage.
    pub(crate) ranges: [Vec<Range>; 2],
    pub(crate) signal: Option<Signal>,
}

/// A piece of the track on which handovers of an operator happen when trains go in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The lower chainage, in metres; in either direction.
    pub from_m: f64,
    /// The higher chainage, in metres.
    pub until_m: f64,
    /// The number of rides with a handover here.
    pub rides: u32,
    /// The number of the last ride with a handover here, counted from 1 by direction.
    pub last_ride: u32,
    /// The latest sightings, from which the range was computed; a range drawn by hand has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sightings: Vec<Sighting>,
}

/// A handover observed on a ride.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(u32, f64, f64)", into = "(u32, f64, f64)")]
pub struct Sighting {
    /// The number of the ride, counted from 1 by direction.
    pub ride: u32,
    /// The lower chainage of the piece on which the link was disturbed, in metres.
    pub from_m: f64,
    /// The higher one.
    pub until_m: f64,
}

impl From<(u32, f64, f64)> for Sighting {
    fn from((ride, from_m, until_m): (u32, f64, f64)) -> Sighting {
        Sighting { ride, from_m, until_m }
    }
}

impl From<Sighting> for (u32, f64, f64) {
    fn from(Sighting { ride, from_m, until_m }: Sighting) -> (u32, f64, f64) {
        (ride, from_m, until_m)
    }
}

/// The number of latest rides that the share of a range refers to.
const LATEST_RIDES: u32 = 50;

impl Table {
    /// The track of the chainages.
    pub fn track(&self) -> &Arc<Track> {
        &self.track
    }

    /// The margin added to ranges on either side, in metres.
    pub fn margin_m(&self) -> f64 {
        self.margin_m
    }

    /// The number of rides in a direction, of the operator with the most.
    pub fn rides(&self, direction: Direction) -> u32 {
        let rides = self.operators.values().map(|operator| operator.rides[direction as usize]);
        rides.max().unwrap_or(0)
    }

    /// The names of the operators, in alphabetical order.
    pub fn operators(&self) -> impl Iterator<Item = &str> {
        self.operators.keys().map(String::as_str)
    }

    /// The ranges of an operator in a direction, by chainage.
    ///
    /// # Errors
    /// If the table has no such operator.
    pub fn ranges(&self, operator: &str, direction: Direction) -> Result<&[Range], HandoverError> {
        Ok(&self.operator(operator)?.ranges[direction as usize])
    }

    /// The received power of an operator along the track, if the table has it.
    ///
    /// # Errors
    /// If the table has no such operator.
    pub fn signal(&self, operator: &str) -> Result<Option<&Signal>, HandoverError> {
        Ok(self.operator(operator)?.signal.as_ref())
    }

    /// The share of the latest 50 rides of an operator in a direction that had a handover in a range; 1 for a
    /// range drawn by hand.
    pub fn share(&self, operator: &str, range: &Range, direction: Direction) -> f64 {
        let all = self.rides_of(operator, direction);
        let latest = all.min(LATEST_RIDES);
        let mut rides: Vec<u32> = range.sightings.iter().map(|sighting| sighting.ride).collect();
        rides.dedup();
        let seen = rides.iter().filter(|ride| **ride + latest > all).count();
        if rides.is_empty() || latest == 0 { 1.0 } else { seen as f64 / f64::from(latest) }
    }

    /// The number of rides of an operator since the last handover in a range.
    pub fn age(&self, operator: &str, range: &Range, direction: Direction) -> u32 {
        self.rides_of(operator, direction).saturating_sub(range.last_ride)
    }

    /// The number of rides of an operator: a modem is not on every ride.
    pub(crate) fn rides_of(&self, operator: &str, direction: Direction) -> u32 {
        self.operators.get(operator).map_or(0, |operator| operator.rides[direction as usize])
    }

    pub(crate) fn operator(&self, name: &str) -> Result<&OperatorRanges, HandoverError> {
        self.operators.get(name).ok_or_else(|| HandoverError::UnknownOperator {
            name: name.to_owned(),
            known: self.operators.keys().cloned().collect(),
        })
    }

    pub(crate) fn check(self) -> Result<Table, HandoverError> {
        if !(0.0..=MARGIN_MAX_M).contains(&self.margin_m) {
            let advice =
                format!("{} is not a valid margin; write metres from 0 to 10,000", self.margin_m);
            return Err(HandoverError::invalid("margin_m", advice));
        }
        for (name, operator) in &self.operators {
            for direction in Direction::BOTH {
                for pair in operator.ranges[direction as usize].windows(2) {
                    if pair[1].from_m < pair[0].until_m {
                        let place = format!("operator {name}, {direction}");
                        let advice = format!(
                            "the range from {} m to {} m overlaps the one from {} m to {} m; join \
                             them, or move them apart",
                            pair[0].from_m, pair[0].until_m, pair[1].from_m, pair[1].until_m
                        );
                        return Err(HandoverError::invalid(place, advice));
                    }
                }
            }
        }
        Ok(self)
    }
}

impl Range {
    /// Checks the range against the length of the track and the number of rides.
    pub(crate) fn check(&self, length_m: f64, rides: u32) -> Result<(), String> {
        let Range { from_m, until_m, .. } = *self;
        piece(from_m, until_m, length_m)?;
        if self.rides == 0 || self.rides > self.last_ride || self.last_ride > rides {
            return Err(format!(
                "seen in {} rides, last in ride {}, of {rides} in all; required: 1 <= rides <= \
                 last_ride <= all",
                self.rides, self.last_ride
            ));
        }
        for sighting in &self.sightings {
            piece(sighting.from_m, sighting.until_m, length_m)
                .map_err(|why| format!("a sighting of ride {}: {why}", sighting.ride))?;
        }
        let numbers = self.sightings.iter().map(|sighting| sighting.ride);
        if !numbers.clone().is_sorted() || numbers.clone().any(|n| n == 0 || n > self.last_ride) {
            return Err(
                "sightings are not in the order of rides, or after last_ride; sort them".to_owned()
            );
        }
        Ok(())
    }
}

fn piece(from_m: f64, until_m: f64, length_m: f64) -> Result<(), String> {
    if !(from_m.is_finite() && until_m.is_finite()) {
        return Err(format!("{from_m} to {until_m} are not chainages; write metres"));
    }
    if from_m > until_m {
        return Err(format!(
            "{from_m} m to {until_m} m is inverted; write the lower chainage first"
        ));
    }
    if from_m < -SLACK_M || until_m > length_m + SLACK_M {
        return Err(format!(
            "{from_m} m to {until_m} m leaves the track, which is {length_m:.0} m long; is it the \
             right one?"
        ));
    }
    Ok(())
}

/// Tables of long lines are a few MB.
const BYTES_MAX: u64 = 256_000_000;
const MARGIN_MAX_M: f64 = 10_000.0;
/// The tolerance for ranges at the ends of the track, because of rounding.
const SLACK_M: f64 = 1.0;

impl Table {
    /// Reads the table in a file.
    ///
    /// # Errors
    /// If it cannot be read, or does not contain a table.
    pub fn load(path: &Path) -> Result<Table, HandoverError> {
        let text = read_text(path, BYTES_MAX).map_err(|why| file_error(path, &why))?;
        Table::parse(&text).map_err(|why| file_error(path, &why))
    }

    /// Writes the table to a file atomically: concurrent readers, and readers after a crash, see the old table
    /// or the new one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), HandoverError> {
        let whole = Fresh::begin(path).and_then(|mut file| {
            file.write_all(self.to_text().as_bytes())?;
            file.keep()
        });
        whole.map_err(|why| file_error(path, &why))
    }
}

fn file_error(path: &Path, why: &dyn std::fmt::Display) -> HandoverError {
    HandoverError::File { path: path.display().to_string(), why: why.to_string() }
}
