//! Extracts rides from the logs of real drives.

use crate::motion::{Direction, DriveLog, Sample, Track};

use crate::handover::HandoverError;
use crate::handover::learner::RideRecord;

/// How logs are read.
#[derive(Clone, Debug, PartialEq)]
pub struct LogSettings {
    /// The operator of the cells in columns without an operator's name.
    pub operator: Option<String>,
    /// Positions farther than this from the track, in metres, are ignored.
    pub corridor_m: f64,
    /// A handover between two positions farther apart than this, in metres, is ignored, because its position
    /// is unknown.
    pub gap_max_m: f64,
}

impl Default for LogSettings {
    fn default() -> LogSettings {
        LogSettings { operator: None, corridor_m: 200.0, gap_max_m: 500.0 }
    }
}

/// The observations in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The rides; a new ride begins where the train reverses direction.
    pub rides: Vec<RideRecord>,
    /// The number of positions off the track.
    pub beside_track: usize,
    /// The number of handovers ignored because no position is near them.
    pub unplaced: usize,
}

/// Finds the handovers of a log: positions whose serving cell differs from that of the previous one. The
/// piece of track between the two counts as disturbed.
///
/// # Errors
/// If no position is on the track, or the log has no cells, or cells without an operator.
pub fn observe(
    log: &DriveLog,
    track: &Track,
    settings: &LogSettings,
) -> Result<Observed, HandoverError> {
    let places = place(log, track, settings);
    let beside_track = log.samples.len() - places.len();
    if places.len() < 2 {
        let advice = format!(
            "{} of {} positions are more than {} m beside the track; is it the right track?",
            beside_track,
            log.samples.len(),
            settings.corridor_m
        );
        return Err(HandoverError::invalid("log", advice));
    }
    if log.samples.iter().all(|sample| sample.cells.is_empty()) {
        let advice = "no serving cell; add a column cell:OPERATOR (GPX: an extension cell)";
        return Err(HandoverError::invalid("log", advice));
    }
    let mut observed = Observed { rides: Vec::new(), beside_track, unplaced: 0 };
    for leg in legs(&places) {
        let leg = &places[leg];
        let rising = leg[leg.len() - 1].0 > leg[0].0;
        let direction = if rising { Direction::Forward } else { Direction::Backward };
        let (record, unplaced) = ride(leg, direction, settings)?;
        observed.rides.push(record);
        observed.unplaced += unplaced;
    }
    if observed.rides.is_empty() {
        let advice = format!("no ride of {LEG_MIN_M} m or more in one direction");
        return Err(HandoverError::invalid("log", advice));
    }
    Ok(observed)
}

/// The chainages of all positions on the track, in order.
fn place<'a>(log: &'a DriveLog, track: &Track, settings: &LogSettings) -> Vec<(f64, &'a Sample)> {
    let mut places: Vec<(f64, &Sample)> = Vec::new();
    for sample in &log.samples {
        let near = places
            .last()
            .map(|(last_m, _)| track.project_near(sample.coordinates, *last_m, settings.gap_max_m));
        let near = near.filter(|found| found.distance_m <= settings.corridor_m);
        let found = near.unwrap_or_else(|| track.project(sample.coordinates));
        if found.distance_m <= settings.corridor_m {
            places.push((found.chainage_m, sample));
        }
    }
    places
}

/// The parts of a log in which the train moves in one direction, apart from errors of positions.
fn legs(places: &[(f64, &Sample)]) -> Vec<std::ops::Range<usize>> {
    let mut legs = Vec::new();
    let (mut start, mut extreme, mut sign) = (0, 0, 0.0f64);
    for (number, (chainage_m, _)) in places.iter().enumerate() {
        let way = chainage_m - places[extreme].0;
        if sign == 0.0 {
            // The direction is known once the train has left its starting point.
            if way.abs() > TURN_M {
                (sign, extreme) = (way.signum(), number);
            }
        } else if way * sign >= 0.0 {
            extreme = number;
        } else if way.abs() > TURN_M {
            legs.push(start..extreme + 1);
            (start, extreme, sign) = (extreme, number, -sign);
        }
    }
    legs.push(start..places.len());
    legs.retain(|leg| {
        let (first, last) = (places[leg.start].0, places[leg.end - 1].0);
        (last - first).abs() >= LEG_MIN_M
    });
    legs
}

fn ride(
    leg: &[(f64, &Sample)],
    direction: Direction,
    settings: &LogSettings,
) -> Result<(RideRecord, usize), HandoverError> {
    let mut record = RideRecord::new(direction);
    let mut unplaced = 0;
    let mut serving: Vec<(&str, &str, f64)> = Vec::new();
    for (chainage_m, sample) in leg {
        for (name, cell) in &sample.cells {
            let operator = named(name, sample, settings)?;
            record.operator(operator);
            let Some(known) = serving.iter_mut().find(|(known, ..)| *known == operator) else {
                serving.push((operator, cell, *chainage_m));
                continue;
            };
            let (_, before, last_m) = std::mem::replace(known, (operator, cell, *chainage_m));
            if before == cell {
                continue;
            }
            match (chainage_m - last_m).abs() <= settings.gap_max_m {
                true => record.handover(operator, last_m, *chainage_m),
                false => unplaced += 1,
            }
        }
        for (name, power) in &sample.rsrp_dbm {
            record.received(named(name, sample, settings)?, *chainage_m, *power);
        }
    }
    Ok((record, unplaced))
}

fn named<'a>(
    name: &'a str,
    sample: &Sample,
    settings: &'a LogSettings,
) -> Result<&'a str, HandoverError> {
    match (name, &settings.operator) {
        ("", Some(operator)) => Ok(operator),
        ("", None) => {
            let place = format!("line {}", sample.line);
            let advice =
                "a cell without an operator; use --operator, or name the column cell:OPERATOR";
            Err(HandoverError::invalid(place, advice))
        }
        _ => Ok(name),
    }
}

/// Moving back by this much is a reversal, not an error of positions, in metres.
const TURN_M: f64 = 300.0;
/// The minimum length of a ride, in metres.
const LEG_MIN_M: f64 = 500.0;
