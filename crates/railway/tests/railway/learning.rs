//! Learning ranges from rides, and looking up ranges by position.

use std::sync::Arc;

use trackbed_core::Seed;
use trackbed_railway::handover::{
    Learner, LogSettings, Lookup, RideRecord, Settings, Table, observe,
};
use trackbed_railway::motion::{Direction, DriveLog, Track};

use crate::assert_told;

fn learner(settings: Settings) -> Learner {
    Learner::new(Arc::new(Track::straight(10_000.0).unwrap()), settings).unwrap()
}

fn record(direction: Direction, handovers: &[(&str, f64, f64)]) -> RideRecord {
    let mut record = RideRecord::new(direction);
    for (operator, from, until) in handovers {
        record.handover(operator, *from, *until);
    }
    record
}

fn forward(handovers: &[(&str, f64, f64)]) -> RideRecord {
    record(Direction::Forward, handovers)
}

fn ends(table: &Table, operator: &str, direction: Direction) -> Vec<(f64, f64)> {
    let ranges = table.ranges(operator, direction).unwrap();
    ranges.iter().map(|range| (range.from_m, range.until_m)).collect()
}

#[test]
fn a_range_covers_what_was_seen_and_a_margin() {
    let mut learner = learner(Settings { margin_m: 12.0, ..Settings::default() });
    for place in [1_500.0, 1_520.0, 1_495.0, 3_000.0] {
        learner.ride(&forward(&[("A", place, place + 4.0)]));
    }
    let table = learner.table();
    assert_eq!(ends(&table, "A", Direction::Forward), [(1_483.0, 1_536.0), (2_988.0, 3_016.0)]);
    assert!(ends(&table, "A", Direction::Backward).is_empty());
    let range = &table.ranges("A", Direction::Forward).unwrap()[0];
    assert_eq!((range.rides, range.last_ride, table.rides(Direction::Forward)), (3, 3, 4));
    assert_eq!(
        (table.age("A", range, Direction::Forward), table.share("A", range, Direction::Forward)),
        (1, 0.75)
    );
}

/// With 200 sightings at 0, 1, ..., 199 m and a coverage of 95 %, the lowest and the highest 2.5 % of the stored
/// sightings are outliers. The latest hundred are stored.
#[test]
fn outliers_do_not_widen_a_range() {
    let mut learner = learner(Settings { margin_m: 0.0, ..Settings::default() });
    for ride in 0..200 {
        let place = 1_000.0 + f64::from(ride * 7 % 100);
        learner.ride(&forward(&[("A", place, place)]));
    }
    assert_eq!(ends(&learner.table(), "A", Direction::Forward), [(1_002.0, 1_097.0)]);
    let range = &learner.table().ranges("A", Direction::Forward).unwrap()[0].clone();
    assert_eq!((range.rides, range.sightings.len()), (200, 100));
}

/// Positions with a standard deviation of 5 m, and a margin of 10 m: a range learnt from 50 rides covers at least
/// 95 % of new rides. (Less than 2.3 % of a normal distribution exceeds each end, even if all learnt positions
/// were exact.)
#[test]
fn ranges_are_wide_enough_for_errors_of_positions() {
    let mut rng = Seed::of_run(4, 0).stream("test");
    let mut stray = |true_m: f64| true_m + 5.0 * rng.normal();
    let mut learner = learner(Settings::default());
    for _ in 0..50 {
        learner.ride(&forward(&[("A", stray(5_000.0), stray(5_004.0))]));
    }
    let lookup = Lookup::new(&learner.table(), "A", Direction::Forward).unwrap();
    let inside = (0..2_000).filter(|_| lookup.at(stray(5_002.0), 0.0).is_some()).count();
    assert!(inside > 1_900, "{inside}");
    let range = &lookup.ranges()[0];
    assert!(range.until_m - range.from_m < 4.0 + 2.0 * 10.0 + 6.0 * 5.0, "{range:?}");
}

#[test]
fn directions_and_operators_are_kept_apart() {
    let mut learner = learner(Settings { margin_m: 0.0, ..Settings::default() });
    learner.ride(&forward(&[("A", 1_500.0, 1_510.0), ("B", 1_505.0, 1_515.0)]));
    learner.ride(&record(Direction::Backward, &[("A", 1_400.0, 1_380.0)]));
    let table = learner.table();
    assert_eq!(ends(&table, "A", Direction::Forward), [(1_500.0, 1_510.0)]);
    assert_eq!(ends(&table, "A", Direction::Backward), [(1_380.0, 1_400.0)]);
    assert_eq!(ends(&table, "B", Direction::Forward), [(1_505.0, 1_515.0)]);
    let error = table.ranges("a1", Direction::Forward).unwrap_err();
    assert_told(error, &["no operator \"a1\"", "A, B"]);
}

#[test]
fn look_ups_begin_earlier_by_the_lead_and_end_where_the_range_does() {
    let mut learner = learner(Settings { margin_m: 0.0, ..Settings::default() });
    for direction in Direction::BOTH {
        learner.ride(&record(direction, &[("A", 1_500.0, 1_510.0), ("A", 3_000.0, 3_010.0)]));
    }
    let table = learner.table();
    let forward = Lookup::new(&table, "A", Direction::Forward).unwrap();
    let backward = Lookup::new(&table, "A", Direction::Backward).unwrap();
    for (at, lead, ahead, behind) in [
        (1_499.9, 0.0, false, false),
        (1_500.0, 0.0, true, true),
        (1_510.0, 0.0, true, true),
        (1_510.1, 0.0, false, false),
        (1_475.0, 25.0, true, false),
        (1_474.9, 25.0, false, false),
        (1_510.1, 25.0, false, true),
        (1_535.0, 25.0, false, true),
        (1_535.1, 25.0, false, false),
        (0.0, 1e9, true, false),
        (9_000.0, 1e9, false, true),
        (1_499.9, -5.0, false, false),
    ] {
        assert_eq!(forward.at(at, lead).is_some(), ahead, "forward at {at}");
        assert_eq!(backward.at(at, lead).is_some(), behind, "backward at {at}");
    }
    assert_eq!(forward.next(1_600.0).unwrap().from_m, 3_000.0);
    assert_eq!(backward.next(1_600.0).unwrap().from_m, 1_500.0);
    assert!(forward.next(3_011.0).is_none() && backward.next(1_400.0).is_none());
}

#[test]
fn what_was_seen_once_in_fifty_rides_blocks_nothing() {
    let mut learner = learner(Settings::default());
    for ride in 0..50 {
        let mut places = vec![("A", 1_500.0, 1_504.0)];
        places.extend((ride == 30).then_some(("A", 2_500.0, 2_504.0)));
        learner.ride(&forward(&places));
    }
    let table = learner.table();
    assert_eq!(table.ranges("A", Direction::Forward).unwrap().len(), 2);
    let usual = Lookup::new(&table, "A", Direction::Forward).unwrap();
    assert!(usual.at(1_502.0, 0.0).is_some() && usual.at(2_502.0, 0.0).is_none());
    let all = Lookup::with_share(&table, "A", Direction::Forward, 0.0).unwrap();
    assert!(all.at(2_502.0, 0.0).is_some());
}

/// A station was built: handovers are at one place for 60 rides, and at another for 60 more. The new place counts
/// from the fifth ride, and the old one is dropped after 40 rides without a handover.
#[test]
fn a_table_follows_a_network_that_changes() {
    let settings = Settings { max_age: Some(40), ..Settings::default() };
    let mut table = learner(settings).table();
    let mut blocked = Vec::new();
    for ride in 1..=120u32 {
        let place = if ride <= 60 { 1_500.0 } else { 2_000.0 };
        let mut learner = Learner::continuing(&table, settings).unwrap();
        learner.ride(&forward(&[("A", place, place + 4.0)]));
        table = Table::parse(&learner.table().to_text()).unwrap();
        let lookup = Lookup::new(&table, "A", Direction::Forward).unwrap();
        let at = |chainage| lookup.at(chainage, 0.0).is_some();
        blocked.push((at(1_502.0), at(2_002.0)));
        assert_eq!(table.rides(Direction::Forward), ride);
    }
    assert_eq!(blocked[59], (true, false));
    assert_eq!(blocked[63], (true, false), "four of fifty are not a tenth");
    assert_eq!(blocked[64], (true, true));
    assert_eq!(blocked[99], (true, true), "not seen for forty rides: ten of fifty are left");
    assert_eq!(blocked[100], (false, true));
    let ranges = table.ranges("A", Direction::Forward).unwrap();
    assert_eq!(ranges.len(), 1);
    assert_eq!((ranges[0].rides, ranges[0].last_ride), (60, 120));
}

#[test]
fn merging_is_as_if_all_rides_had_been_seen_by_one() {
    let place = |ride: u64| 1_500.0 + (ride * 13 % 40) as f64;
    let ride = |ride: u64| {
        let mut seen = forward(&[("A", place(ride), place(ride) + 4.0)]);
        if ride.is_multiple_of(3) {
            seen.handover("B", 4_000.0 + place(ride), 4_003.0 + place(ride));
        }
        seen.received("A", place(ride), -80.0 - (ride % 7) as f64);
        seen
    };
    let (mut all, mut first, mut second) =
        (learner(Settings::default()), learner(Settings::default()), learner(Settings::default()));
    for number in 0..150 {
        all.ride(&ride(number));
        if number < 70 { first.ride(&ride(number)) } else { second.ride(&ride(number)) }
    }
    first.merge(&second.table()).unwrap();
    let (all, merged) = (all.table(), first.table());
    for operator in ["A", "B"] {
        let of = |table: &Table| table.ranges(operator, Direction::Forward).unwrap().to_vec();
        assert_eq!(of(&all), of(&merged));
    }
    let powers =
        |table: &Table| table.signal("A").unwrap().unwrap().rsrp_dbm().flatten().sum::<f64>();
    assert!((powers(&all) - powers(&merged)).abs() < 0.05);
    // Counts are kept although only the latest sightings are stored.
    let mut third = Learner::continuing(&merged, Settings::default()).unwrap();
    third.ride(&ride(150));
    let range = third.table().ranges("A", Direction::Forward).unwrap()[0].clone();
    assert_eq!((range.rides, range.last_ride, range.sightings.len()), (151, 151, 100));
}

#[test]
fn tables_of_different_tracks_do_not_mix() {
    let other = Learner::new(Arc::new(Track::straight(12_000.0).unwrap()), Settings::default());
    let error = learner(Settings::default()).merge(&other.unwrap().table()).unwrap_err();
    assert_told(error, &["different tracks, of 10000 m and 12000 m"]);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (settings, part) in [
        (Settings { margin_m: -1.0, ..Settings::default() }, "margin_m: -1"),
        (Settings { join_m: f64::NAN, ..Settings::default() }, "join_m: NaN"),
        (Settings { coverage: 0.2, ..Settings::default() }, "coverage: 0.2"),
    ] {
        let track = Arc::new(Track::straight(1_000.0).unwrap());
        assert_told(Learner::new(track, settings).unwrap_err(), &[part]);
    }
}

/// A drive to 5 km and back, a position every 50 m: cells change at 1,500 m on the way out, and at
/// 1,400 m on the way back.
fn drive() -> String {
    let mut text = "latitude,longitude,cell:A,rsrp:A,cell\n".to_owned();
    let track = Track::straight(10_000.0).unwrap();
    let way: Vec<f64> = (0..=100).chain((0..100).rev()).map(|it| 50.0 * f64::from(it)).collect();
    for (number, chainage) in way.iter().enumerate() {
        let place = track.beside(*chainage, 15.0);
        let limit = if number <= 100 { 1_525.0 } else { 1_425.0 };
        let cell = if *chainage < limit { 1 } else { 2 };
        let (latitude, longitude) = (place.latitude_deg(), place.longitude_deg());
        text += &format!("{latitude},{longitude},{cell},-90,7\n");
    }
    text
}

#[test]
fn logs_of_real_drives_are_cut_into_rides_where_cells_change() {
    let track = Track::straight(10_000.0).unwrap();
    let log = DriveLog::parse(&drive(), &[]).unwrap();
    let error = observe(&log, &track, &LogSettings::default()).unwrap_err();
    assert_told(error, &["line 2", "without an operator"]);
    let settings = LogSettings { operator: Some("K".to_owned()), ..LogSettings::default() };
    let observed = observe(&log, &track, &settings).unwrap();
    assert_eq!((observed.beside_track, observed.unplaced), (0, 0));
    assert_eq!(observed.rides.len(), 2);
    let mut learner = learner(Settings { margin_m: 0.0, ..Settings::default() });
    observed.rides.iter().for_each(|ride| learner.ride(ride));
    let table = learner.table();
    assert_eq!(ends(&table, "A", Direction::Forward), [(1_500.0, 1_550.0)]);
    assert_eq!(ends(&table, "A", Direction::Backward), [(1_400.0, 1_450.0)]);
    assert!(ends(&table, "K", Direction::Forward).is_empty());
    let signal: Vec<f64> = table.signal("A").unwrap().unwrap().rsrp_dbm().flatten().collect();
    assert!(signal.len() > 95 && signal.iter().all(|power| *power == -90.0), "{signal:?}");
}

#[test]
fn logs_that_say_nothing_are_refused() {
    let track = Track::straight(10_000.0).unwrap();
    let refused = |text: &str, part: &str| {
        let log = DriveLog::parse(text, &[]).unwrap();
        assert_told(observe(&log, &track, &LogSettings::default()).unwrap_err(), &[part]);
    };
    refused("lat,lon,cell:A\n50,8,1\n50.1,8,2\n", "2 of 2 positions are more than 200 m beside");
    refused("lat,lon\n0,0\n0,0.05\n", "no serving cell");
    refused("lat,lon,cell:A\n0,0,1\n0,0.001,2\n", "no ride of 500 m");
}

/// If a log has a gap of 2 km in which the cell changed, the position of the handover is unknown.
#[test]
fn changes_of_cells_within_holes_are_left_out() {
    let track = Track::straight(10_000.0).unwrap();
    let mut text = "lat,lon,cell:A\n".to_owned();
    for chainage in (0..2_000).step_by(100).chain((4_000..6_000).step_by(100)) {
        let place = track.coordinates_at(f64::from(chainage));
        let cell = if chainage < 3_000 { 1 } else { 2 };
        text += &format!("{},{},{cell}\n", place.latitude_deg(), place.longitude_deg());
    }
    let log = DriveLog::parse(&text, &[]).unwrap();
    let observed = observe(&log, &track, &LogSettings::default()).unwrap();
    assert_eq!((observed.rides.len(), observed.unplaced), (1, 1));
    assert_eq!(observed.rides[0].handovers(), 0);
}

/// The logs of a drive, one for each modem, give each operator the rides of its own modem.
#[test]
fn a_modem_that_was_not_on_a_ride_did_not_miss_its_handovers() {
    let alone = |operator: &str| {
        let mut learner = learner(Settings::default());
        learner.ride(&forward(&[(operator, 1_500.0, 1_504.0)]));
        learner.table()
    };
    let mut both = Learner::continuing(&alone("A"), Settings::default()).unwrap();
    both.merge(&alone("B")).unwrap();
    both.merge(&alone("B")).unwrap();
    let table = Table::parse(&both.table().to_text()).unwrap();
    for (operator, rides) in [("A", 1), ("B", 2)] {
        let range = &table.ranges(operator, Direction::Forward).unwrap()[0];
        assert_eq!((range.rides, table.age(operator, range, Direction::Forward)), (rides, 0));
        assert_eq!(table.share(operator, range, Direction::Forward), 1.0);
    }
}
