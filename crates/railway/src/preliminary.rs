//! Preliminary rides: a handover table learnt from a radio model, before anything is measured.

use std::collections::{BTreeMap, BTreeSet};

use crate::handover::{HandoverError, Learner, RideRecord, Settings, Table};
use crate::motion::{Direction, GpsReceiver};
use crate::radio::{RadioTimeline, Railway};
use trackbed_core::{Seed, Time};

/// Learns a table from `rides` rides over the whole track in each of `directions`.
///
/// Ride k draws from a part of `Seed::of_run(root, k)` that nothing else uses, so a table is never learnt from
/// the ride that is measured with it.
///
/// # Errors
/// If a setting is invalid.
pub fn learn(
    railway: &Railway,
    directions: &[Direction],
    rides: u32,
    root: u64,
    settings: Settings,
) -> Result<Table, HandoverError> {
    let mut learner = Learner::new(railway.track().clone(), settings)?;
    for number in 0..rides {
        for &direction in directions {
            learner.ride(&ride(railway, direction, number, root).0);
        }
    }
    Ok(learner.table())
}

/// Preliminary ride `number` in a direction: its handovers at the positions reported by the train's receiver,
/// and the true timelines.
pub fn ride(
    railway: &Railway,
    direction: Direction,
    number: u32,
    root: u64,
) -> (RideRecord, Vec<RadioTimeline>) {
    let seed = Seed::of_run(root, u64::from(number)).child("preliminary").child(direction.name());
    let ride = railway.ride(direction);
    // A train that never reaches the end of its track is followed for a day.
    let timelines = railway.drive(&ride, ride.end().unwrap_or(LONGEST).min(LONGEST), &seed);
    let mut record = RideRecord::new(direction);
    for timeline in &timelines {
        record.operator(&timeline.operator);
        for sample in timeline.signal.iter().filter(|sample| sample.rsrp_dbm.is_finite()) {
            record.received(&timeline.operator, sample.chainage_m, sample.rsrp_dbm);
        }
    }
    let handovers = timelines.iter().flat_map(|timeline| {
        timeline.handovers.iter().map(move |handover| (&timeline.operator, handover.disturbed))
    });
    let handovers: Vec<(&String, (Time, Time))> = handovers.collect();
    // The receiver must be queried in order of time.
    let times: BTreeSet<Time> =
        handovers.iter().flat_map(|(_, (from, until))| [*from, *until]).collect();
    let mut gps = GpsReceiver::new(railway.gps(), &seed);
    let lag = railway.gps().lag;
    // The position of a time is reported a lag later.
    let places: BTreeMap<Time, f64> =
        times.into_iter().map(|at| (at, gps.fix(at + lag, &ride).chainage_m)).collect();
    for (operator, (from, until)) in handovers {
        record.handover(operator, places[&from], places[&until]);
    }
    (record, timelines)
}

const LONGEST: Time = Time::from_millis(86_400_000);

#[cfg(test)]
mod tests {
    use crate::handover::Lookup;
    use crate::radio::PARAMETERS;
    use trackbed_core::parameter::{Arguments, Kind};

    use super::*;

    fn railway(profile: &str) -> Railway {
        let profile = Kind::Choice(&["ns3", "3gpp", "hsr-measured"]).parse(profile).unwrap();
        Railway::read(&Arguments::read(PARAMETERS, &[("profile", profile)]).unwrap()).unwrap()
    }

    /// The share of handovers, on rides that the table was not learnt from, that are inside a range if the
    /// position of the train is exact.
    fn coverage(railway: &Railway, table: &Table, direction: Direction) -> (f64, u32) {
        let (mut inside, mut all) = (0u32, 0u32);
        for number in 1_000..1_020 {
            for timeline in ride(railway, direction, number, 1).1 {
                let lookup = Lookup::new(table, &timeline.operator, direction).unwrap();
                for handover in &timeline.handovers {
                    all += 1;
                    inside += u32::from(lookup.at(handover.chainage_m, 0.0).is_some());
                }
            }
        }
        (f64::from(inside) / f64::from(all), all)
    }

    /// A range covers 95 % of the sightings of 50 rides, and its margin covers errors of positions. Nine in ten
    /// new handovers are inside a range; the others are where handovers are rare.
    #[test]
    fn a_table_foresees_the_handovers_of_rides_that_it_has_not_seen() {
        for profile in ["ns3", "3gpp", "hsr-measured"] {
            let railway = railway(profile);
            let table = learn(&railway, &Direction::BOTH, 50, 1, Settings::default()).unwrap();
            for direction in Direction::BOTH {
                let (share, all) = coverage(&railway, &table, direction);
                assert!(all > 400 && share > 0.9, "{profile} {direction}: {share} of {all}");
            }
            // Still, most of the track is outside all ranges.
            for operator in ["A", "B"] {
                let lookup = Lookup::new(&table, operator, Direction::Forward).unwrap();
                let ranges = lookup.ranges().iter();
                let blocked: f64 = ranges.map(|range| range.until_m - range.from_m).sum();
                let most = if profile == "hsr-measured" { 0.35 } else { 0.15 };
                assert!(blocked < most * railway.track().length_m(), "{profile}: {blocked}");
            }
        }
    }

    #[test]
    fn the_seed_alone_decides_and_more_rides_keep_those_there_were() {
        let railway = railway("3gpp");
        let learn = |rides, root| {
            learn(&railway, &Direction::BOTH, rides, root, Settings::default()).unwrap()
        };
        assert_eq!(learn(5, 1).to_text(), learn(5, 1).to_text());
        assert_ne!(learn(5, 1), learn(5, 2));
        let seen = |table: &Table, ride| {
            let ranges = table.ranges("A", Direction::Forward).unwrap().iter();
            let mut seen: Vec<f64> = ranges
                .flat_map(|range| &range.sightings)
                .filter(|sighting| sighting.ride == ride)
                .map(|sighting| sighting.from_m)
                .collect();
            seen.sort_by(f64::total_cmp);
            seen
        };
        let (few, many) = (learn(3, 1), learn(6, 1));
        assert!((1..=3).all(|ride| seen(&few, ride) == seen(&many, ride)));
    }
}
