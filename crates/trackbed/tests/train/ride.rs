//! A ride of ten seconds at 300 km/h, with four handovers, and the table learnt from earlier rides.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_railway::handover::{Learner, RideRecord, Settings};
use trackbed_railway::motion::{Direction, Ride, SpeedProfile, Track};

use crate::pause;
use crate::railway::Railway;

/// When which operator's link is out: operator and milliseconds. 300 ms each, never both.
pub const OUTAGES: [(usize, u64, u64); 4] =
    [(0, 3_000, 3_300), (1, 4_600, 4_900), (0, 6_200, 6_500), (1, 7_800, 8_100)];

/// How long the ride takes.
pub const RIDE: Duration = Duration::from_secs(10);

/// The names of the operators in the table.
pub const OPERATORS: [&str; 2] = ["A", "B"];

/// The train at 83.3 m/s, from 1 km on.
pub fn ride() -> Ride {
    let track = Arc::new(Track::straight(20_000.0).unwrap());
    let speed = SpeedProfile::constant(300.0 / 3.6).unwrap();
    Ride::new(track, speed, Direction::Forward).starting_at(1_000.0)
}

/// Writes the table of fifty rides, whose handovers were a few metres earlier or later.
pub fn write_table(path: &Path) {
    let ride = ride();
    let settings = Settings { margin_m: 2.0, ..Settings::default() };
    let mut learner = Learner::new(Arc::clone(ride.track()), settings).unwrap();
    for number in 0..50 {
        let mut record = RideRecord::new(Direction::Forward);
        let error = f64::from(number * 7 % 5) - 2.0;
        for (operator, from, until) in OUTAGES {
            let [from, until] = [from, until].map(|at| ride.chainage_m(Time::from_millis(at)));
            record.handover(OPERATORS[operator], from + error, until + error);
        }
        learner.ride(&record);
    }
    learner.table().save(path).unwrap();
}

/// Interrupts and restores the links according to the ride, until its end.
pub fn play_outages(railway: &Railway) {
    let mut changes: Vec<(u64, usize, bool)> = OUTAGES
        .into_iter()
        .flat_map(|(operator, from, until)| [(from, operator, true), (until, operator, false)])
        .collect();
    changes.sort_unstable();
    for (at, operator, outage) in changes {
        wait_until(railway, Time::from_millis(at));
        railway.set_outage(operator, outage);
    }
    wait_until(railway, Time::ZERO + RIDE);
}

pub fn wait_until(railway: &Railway, at: Time) {
    loop {
        let now = railway.clock.now();
        if now >= at {
            return;
        }
        pause(at.since(now));
    }
}
