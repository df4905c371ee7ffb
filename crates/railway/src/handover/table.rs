//! The table itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::motion::{Direction, Track};

use crate::handover::error::HandoverError;
use crate::handover::signal::Signal;

/// Where along a track handovers are to be expected. A table is always sound: ranges lie on the
/// track, and those of one operator and direction neither overlap nor are out of order.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(crate) track: Arc<Track>,
    /// How much wider than what was seen ranges are, on either side, in metres.
    pub(crate) margin_m: f64,
    /// How many rides it knows of, forward and backward.
    pub(crate) rides: [u32; 2],
    pub(crate) operators: BTreeMap<String, OperatorRanges>,
}

/// What a table knows of an operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorRanges {
    /// The ranges, forward and backward, each by chainage.
    pub(crate) ranges: [Vec<Range>; 2],
    /// What was received along the track.
    pub(crate) signal: Option<Signal>,
}

/// A piece of the track on which handovers of an operator happen when trains go in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The lower chainage, in metres; in either direction.
    pub from_m: f64,
    /// The higher chainage, in metres.
    pub until_m: f64,
    /// In how many rides a handover was seen here.
    pub rides: u32,
    /// The number of the last ride in which one was seen here, counted from 1 by direction.
    pub last_ride: u32,
    /// The latest sightings, from which the range was made; a range that was drawn by hand has none.
    pub sightings: Vec<Sighting>,
}

/// A handover that was seen on a ride.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// The number of the ride, counted from 1 by direction.
    pub ride: u32,
    /// The lower chainage of the piece on which the link was disturbed, in metres.
    pub from_m: f64,
    /// The higher one.
    pub until_m: f64,
}

pub(crate) const fn index(direction: Direction) -> usize {
    match direction {
        Direction::Forward => 0,
        Direction::Backward => 1,
    }
}

/// The latest rides by which the share of a range is judged.
const LATEST_RIDES: u32 = 50;

impl Table {
    /// The track to which its chainages belong.
    pub fn track(&self) -> &Arc<Track> {
        &self.track
    }

    /// How much wider than what was seen ranges are, on either side, in metres.
    pub fn margin_m(&self) -> f64 {
        self.margin_m
    }

    /// How many rides in a direction it knows of.
    pub fn rides(&self, direction: Direction) -> u32 {
        self.rides[index(direction)]
    }

    /// The names of its operators, in the order of the alphabet.
    pub fn operators(&self) -> impl Iterator<Item = &str> {
        self.operators.keys().map(String::as_str)
    }

    /// The ranges of an operator in a direction, by chainage.
    ///
    /// # Errors
    /// If the table has no such operator.
    pub fn ranges(&self, operator: &str, direction: Direction) -> Result<&[Range], HandoverError> {
        Ok(&self.operator(operator)?.ranges[index(direction)])
    }

    /// What was received of an operator along the track, if the table knows.
    ///
    /// # Errors
    /// If the table has no such operator.
    pub fn signal(&self, operator: &str) -> Result<Option<&Signal>, HandoverError> {
        Ok(self.operator(operator)?.signal.as_ref())
    }

    /// The share of the latest 50 rides in a direction in which a handover was seen in a range; 1 for
    /// a range that was drawn by hand.
    pub fn share(&self, range: &Range, direction: Direction) -> f64 {
        let all = self.rides(direction);
        let latest = all.min(LATEST_RIDES);
        let mut rides: Vec<u32> = range.sightings.iter().map(|sighting| sighting.ride).collect();
        rides.dedup();
        let seen = rides.iter().filter(|ride| **ride + latest > all).count();
        match rides.is_empty() || latest == 0 {
            true => 1.0,
            false => seen as f64 / f64::from(latest),
        }
    }

    /// In how many rides since the last handover in it none was seen there.
    pub fn age(&self, range: &Range, direction: Direction) -> u32 {
        self.rides(direction).saturating_sub(range.last_ride)
    }

    fn operator(&self, name: &str) -> Result<&OperatorRanges, HandoverError> {
        self.operators.get(name).ok_or_else(|| HandoverError::UnknownOperator {
            name: name.to_owned(),
            known: self.operators.keys().cloned().collect(),
        })
    }

    /// Whether ranges are sound.
    pub(crate) fn check(self) -> Result<Table, HandoverError> {
        if !(0.0..=MARGIN_MAX_M).contains(&self.margin_m) {
            let advice = format!("{} is no margin; write metres from 0 to 10,000", self.margin_m);
            return Err(HandoverError::invalid("margin_m", advice));
        }
        for (name, operator) in &self.operators {
            for direction in Direction::BOTH {
                for pair in operator.ranges[index(direction)].windows(2) {
                    if pair[1].from_m < pair[0].until_m {
                        let place = format!("operator {name}, {direction}");
                        let advice = format!(
                            "the range from {} m to {} m overlaps the one from {} m to {} m; make \
                             one of them, or draw them apart",
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
    /// Whether it makes sense on a track of this length, on which so many rides have been.
    pub(crate) fn check(&self, length_m: f64, rides: u32) -> Result<(), String> {
        let Range { from_m, until_m, .. } = *self;
        piece(from_m, until_m, length_m)?;
        if self.rides == 0 || self.rides > self.last_ride || self.last_ride > rides {
            return Err(format!(
                "seen in {} rides, last in number {}, of {rides} in all; 1 <= rides <= last_ride <= \
                 all",
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
        return Err(format!("{from_m} to {until_m} are no chainages; write metres"));
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

const MARGIN_MAX_M: f64 = 10_000.0;
/// By how much ranges may leave the track at its ends: rounding.
const SLACK_M: f64 = 1.0;
