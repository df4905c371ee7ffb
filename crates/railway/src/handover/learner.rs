//! Learns ranges from rides.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::motion::{Direction, Track};

use crate::handover::HandoverError;
use crate::handover::signal::Signal;
use crate::handover::table::{OperatorRanges, Range, Sighting, Table};

/// How ranges are computed from sightings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The margin added to a range on either side, in metres. It covers errors of positions in the learnt
    /// rides and in the look-up; 10 m is twice the standard deviation of a good receiver.
    pub margin_m: f64,
    /// Sightings whose midpoints are at most this far apart, in metres, belong to one range.
    pub join_m: f64,
    /// The share of a range's sightings that it covers, 0.5 to 1. The rest, in equal parts at both ends,
    /// counts as outliers. Of fewer than 2 / (1 - share) sightings, it covers all.
    pub coverage: f64,
    /// A range is dropped after more than this number of rides in its direction without a handover; `None`
    /// keeps all.
    pub max_age: Option<u32>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { margin_m: 10.0, join_m: 50.0, coverage: 0.95, max_age: None }
    }
}

/// The observations of one ride in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct RideRecord {
    direction: Direction,
    operators: Vec<String>,
    handovers: Vec<(String, f64, f64)>,
    signal: Vec<(String, f64, f64)>,
}

impl RideRecord {
    /// A ride without observations yet.
    pub fn new(direction: Direction) -> RideRecord {
        RideRecord { direction, operators: Vec::new(), handovers: Vec::new(), signal: Vec::new() }
    }

    /// The number of handovers.
    pub fn handovers(&self) -> usize {
        self.handovers.len()
    }

    /// Adds an operator, which may have no handovers.
    pub fn operator(&mut self, name: &str) {
        if !self.operators.iter().any(|known| known == name) {
            self.operators.push(name.to_owned());
        }
    }

    /// Adds a handover of an operator that disturbed the link between two chainages in metres, in any order.
    /// Chainages that are not finite are ignored.
    pub fn handover(&mut self, operator: &str, one_m: f64, other_m: f64) {
        self.operator(operator);
        if one_m.is_finite() && other_m.is_finite() {
            self.handovers.push((operator.to_owned(), one_m.min(other_m), one_m.max(other_m)));
        }
    }

    /// Adds the received power of an operator's serving cell, in dBm, at a chainage.
    pub fn received(&mut self, operator: &str, chainage_m: f64, rsrp_dbm: f64) {
        self.operator(operator);
        if chainage_m.is_finite() && rsrp_dbm.is_finite() {
            self.signal.push((operator.to_owned(), chainage_m, rsrp_dbm));
        }
    }
}

/// Learns a table from rides.
#[derive(Clone, Debug)]
pub struct Learner {
    track: Arc<Track>,
    settings: Settings,
    operators: BTreeMap<String, Seen>,
}

/// What was seen of an operator, forward and backward.
#[derive(Clone, Debug, Default)]
struct Seen {
    rides: [u32; 2],
    ways: [Way; 2],
    signal: Option<Signal>,
}

#[derive(Clone, Debug, Default)]
struct Way {
    sightings: Vec<Sighting>,
    /// For ranges with more rides than stored sightings: a chainage in the range, and the number of further
    /// rides.
    earlier: Vec<(f64, u32)>,
    /// Ranges that were drawn by hand.
    drawn: Vec<Range>,
}

impl Learner {
    /// A learner without rides.
    ///
    /// # Errors
    /// If a setting is invalid.
    pub fn new(track: Arc<Track>, settings: Settings) -> Result<Learner, HandoverError> {
        let Settings { margin_m, join_m, coverage, .. } = settings;
        for (place, value, low, high) in [
            ("margin_m", margin_m, 0.0, 10_000.0),
            ("join_m", join_m, 0.0, 100_000.0),
            ("coverage", coverage, 0.5, 1.0),
        ] {
            if !(low..=high).contains(&value) {
                let advice =
                    format!("{value} is out of range; write a number from {low} to {high}");
                return Err(HandoverError::invalid(place, advice));
            }
        }
        Ok(Learner { track, settings, operators: BTreeMap::new() })
    }

    /// A learner that continues from a table.
    ///
    /// # Errors
    /// If a setting is invalid.
    pub fn continuing(table: &Table, settings: Settings) -> Result<Learner, HandoverError> {
        let mut learner = Learner::new(Arc::clone(&table.track), settings)?;
        learner.add(table);
        Ok(learner)
    }

    /// Adds all rides of a table, as if they followed the present ones.
    ///
    /// # Errors
    /// If the table is for another track: its length differs by more than a thousandth, or its ends are
    /// elsewhere.
    pub fn merge(&mut self, later: &Table) -> Result<(), HandoverError> {
        let (here, there) = (&self.track, &later.track);
        let apart = (here.length_m() - there.length_m()).abs() > here.length_m() / 1_000.0;
        let ends = [0.0, 1.0].map(|share| {
            let place = there.coordinates_at(share * there.length_m());
            here.coordinates_at(share * here.length_m()).plane_distance_m(place)
        });
        if apart || ends.iter().any(|distance| *distance > SAME_PLACE_M) {
            let advice = format!(
                "the tables are for different tracks, of {:.0} m and {:.0} m; their chainages are not \
                 comparable",
                here.length_m(),
                there.length_m()
            );
            return Err(HandoverError::invalid("track", advice));
        }
        self.add(later);
        Ok(())
    }

    fn add(&mut self, later: &Table) {
        let length_m = self.track.length_m();
        for (name, operator) in &later.operators {
            let seen = self.seen(name);
            let before = seen.rides;
            seen.rides = [0, 1].map(|way| before[way].saturating_add(operator.rides[way]));
            for ((way, ranges), before) in seen.ways.iter_mut().zip(&operator.ranges).zip(before) {
                for range in ranges {
                    let shifted = |sighting: &Sighting| Sighting {
                        ride: sighting.ride.saturating_add(before),
                        ..*sighting
                    };
                    way.sightings.extend(range.sightings.iter().map(shifted));
                    if range.sightings.is_empty() {
                        let last_ride = range.last_ride.saturating_add(before);
                        way.drawn.push(Range { last_ride, ..range.clone() });
                    } else {
                        let more = range.rides.saturating_sub(distinct(&range.sightings));
                        way.earlier.push(((range.from_m + range.until_m) / 2.0, more));
                    }
                }
            }
            if let Some(signal) = &operator.signal {
                seen.signal.get_or_insert_with(|| Signal::new(length_m)).merge(signal);
            }
        }
    }

    /// Adds a ride.
    pub fn ride(&mut self, record: &RideRecord) {
        let (way, length_m) = (record.direction as usize, self.track.length_m());
        for operator in &record.operators {
            let rides = &mut self.seen(operator).rides[way];
            *rides = rides.saturating_add(1);
        }
        for (operator, from_m, until_m) in &record.handovers {
            let on_track = |chainage_m: &f64| rounded(chainage_m.clamp(0.0, length_m));
            let ride = self.seen(operator).rides[way];
            let sighting = Sighting { ride, from_m: on_track(from_m), until_m: on_track(until_m) };
            self.seen(operator).ways[way].sightings.push(sighting);
        }
        for (operator, chainage_m, rsrp_dbm) in &record.signal {
            let signal = self.seen(operator).signal.get_or_insert_with(|| Signal::new(length_m));
            signal.take(*chainage_m, *rsrp_dbm);
        }
    }

    fn seen(&mut self, operator: &str) -> &mut Seen {
        self.operators.entry(operator.to_owned()).or_default()
    }

    /// The table of all rides.
    pub fn table(&self) -> Table {
        let ranges = |(name, seen): (&String, &Seen)| {
            let ranges = [0, 1].map(|way| self.ranges(&seen.ways[way], seen.rides[way]));
            let signal = seen.signal.as_ref().map(Signal::rounded);
            (name.clone(), OperatorRanges { rides: seen.rides, ranges, signal })
        };
        Table {
            track: Arc::clone(&self.track),
            margin_m: self.settings.margin_m,
            operators: self.operators.iter().map(ranges).collect(),
        }
    }

    fn ranges(&self, way: &Way, rides: u32) -> Vec<Range> {
        let mut ranges = way.drawn.clone();
        ranges.extend(self.clusters(&way.sightings).into_iter().map(|cluster| self.range(cluster)));
        ranges.sort_by(|one, other| one.from_m.total_cmp(&other.from_m));
        let mut apart: Vec<Range> = Vec::new();
        for range in ranges {
            match apart.last_mut().filter(|last| range.from_m <= last.until_m) {
                Some(last) => join(last, range),
                None => apart.push(range),
            }
        }
        let oldest = self.settings.max_age.map(|age| rides.saturating_sub(age));
        apart.retain(|range| oldest.is_none_or(|oldest| range.last_ride >= oldest));
        credit(&mut apart, &way.earlier);
        apart
    }

    /// Groups sightings with neighbouring midpoints, each group in the order of rides.
    fn clusters(&self, sightings: &[Sighting]) -> Vec<Vec<Sighting>> {
        let middle = |sighting: &Sighting| (sighting.from_m + sighting.until_m) / 2.0;
        let mut sorted = sightings.to_vec();
        sorted.sort_by(|one, other| middle(one).total_cmp(&middle(other)));
        let near =
            |one: &Sighting, other: &Sighting| middle(other) - middle(one) <= self.settings.join_m;
        let mut clusters: Vec<Vec<Sighting>> = sorted.chunk_by(near).map(<[_]>::to_vec).collect();
        clusters.iter_mut().for_each(|cluster| cluster.sort_by_key(|sighting| sighting.ride));
        clusters
    }

    fn range(&self, mut cluster: Vec<Sighting>) -> Range {
        let rides = distinct(&cluster);
        let last_ride = cluster.last().map_or(0, |sighting| sighting.ride);
        cluster.drain(..cluster.len().saturating_sub(SIGHTINGS_KEPT));
        let sorted = |of: fn(&Sighting) -> f64| {
            let mut values: Vec<f64> = cluster.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (lower, upper) = (sorted(|s| s.from_m), sorted(|s| s.until_m));
        let outliers = ((1.0 - self.settings.coverage) / 2.0 * cluster.len() as f64) as usize;
        let (from_m, until_m) = (lower[outliers], upper[cluster.len() - 1 - outliers]);
        let (margin_m, length_m) = (self.settings.margin_m, self.track.length_m());
        Range {
            from_m: rounded((from_m - margin_m).max(0.0)),
            until_m: rounded((until_m + margin_m).min(length_m)),
            rides,
            last_ride,
            sightings: cluster,
        }
    }
}

/// Counts rides whose sightings are no longer stored.
fn credit(ranges: &mut [Range], earlier: &[(f64, u32)]) {
    for (chainage_m, more) in earlier {
        let holds =
            |range: &&mut Range| range.from_m <= *chainage_m && *chainage_m <= range.until_m;
        if let Some(range) = ranges.iter_mut().find(holds) {
            range.rides = range.rides.saturating_add(*more).min(range.last_ride);
        }
    }
}

fn join(one: &mut Range, other: Range) {
    one.until_m = one.until_m.max(other.until_m);
    one.last_ride = one.last_ride.max(other.last_ride);
    // Each stores only its latest sightings; the older ones may be from the same rides.
    let older = one.rides.max(other.rides);
    one.sightings.extend(other.sightings);
    one.sightings.sort_by_key(|sighting| sighting.ride);
    one.rides = older.max(distinct(&one.sightings)).min(one.last_ride);
}

fn distinct(sightings: &[Sighting]) -> u32 {
    let groups = sightings.chunk_by(|one, other| one.ride == other.ride).count();
    u32::try_from(groups).unwrap_or(u32::MAX)
}

/// Rounds to a decimetre, which is finer than any receiver.
fn rounded(metres: f64) -> f64 {
    (metres * 10.0).round() / 10.0
}

/// The number of sightings that a range stores: the latest ones.
const SIGHTINGS_KEPT: usize = 100;
/// Ends of tracks that are closer than this count as equal, in metres.
const SAME_PLACE_M: f64 = 100.0;
