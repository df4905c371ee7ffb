//! The state machine on rides computed by hand: at 80 m/s a lead of 300 ms is 24 m.

use super::*;

fn table(first: &[(f64, f64)], second: &[(f64, f64)]) -> PathRanges {
    let ranges = |list: &[(f64, f64)]| {
        let range = |&(from_m, until_m): &(f64, f64)| Range { from_m, until_m };
        list.iter().map(range).collect::<Vec<Range>>()
    };
    // The same in both directions.
    PathRanges([ranges(first), ranges(second)].map(|list| [list.clone(), list]).into())
}

/// A position of this time.
fn sighting(chainage_m: f64, distance_m: f64, speed_m_s: Option<f64>) -> Sighting {
    Sighting { chainage_m, distance_m, speed_m_s, age: Duration::ZERO }
}

/// A ride: positions every 100 ms, decisions every 10 ms.
struct Drive {
    controller: Controller,
    table: Option<PathRanges>,
    now: Time,
    /// The orders: when (in ms), the train's position, the path and the change.
    log: Vec<(u64, f64, usize, Flag)>,
    chainage_m: f64,
    speed_m_s: f64,
    gps: bool,
    /// Whether data arrives over each path.
    flows: [bool; 2],
    received: [u64; 2],
}

impl Drive {
    fn new(table: PathRanges) -> Drive {
        let mut controller = Controller::new(Settings::default(), 2);
        (0..2).for_each(|path| controller.set_usable(path, true));
        Drive {
            controller,
            table: Some(table),
            now: Time::ZERO,
            log: Vec::new(),
            chainage_m: 0.0,
            speed_m_s: 80.0,
            gps: true,
            flows: [true; 2],
            received: [0; 2],
        }
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            let tenths = self.now.as_nanos() / 10_000_000;
            if self.gps && tenths.is_multiple_of(10) {
                let speed_m_s = Some(self.speed_m_s.abs());
                self.controller.see(self.now, sighting(self.chainage_m, 2.0, speed_m_s));
            }
            for path in 0..2 {
                let carries = self.flows[path] && !self.controller.is_flagged(path);
                self.received[path] += if carries { 12_500 } else { 0 };
                self.controller.received(path, self.received[path]);
            }
            self.controller.advance(self.now, self.table.as_ref());
            while let Some(order) = self.controller.poll_order() {
                let at = (self.now.as_nanos() / 1_000_000, self.chainage_m);
                self.log.push((at.0, at.1, order.path, order.flag));
            }
            assert!(!(0..2).all(|path| self.controller.is_flagged(path)), "never both");
            let next = self.controller.next_wake(self.now);
            self.chainage_m += self.speed_m_s * next.since(self.now).as_secs_f64();
            self.now = next;
        }
    }

    fn flags(&self) -> Vec<(usize, Flag)> {
        self.log.iter().map(|(_, _, path, flag)| (*path, *flag)).collect()
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_path_is_a_backup_from_a_lead_before_its_range_until_its_end() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_100.0)], &[(1_670.0, 1_800.0)]));
    drive.run(seconds(30));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear), (1, Flag::Set), (1, Flag::Clear)]);
    let expected = [976.0, 1_100.0, 1_646.0, 1_800.0];
    for ((_, place, _, _), expected) in drive.log.iter().zip(expected) {
        // The train moves 0.8 m between decisions.
        assert!((0.0..=0.81).contains(&(place - expected)), "{place} for {expected}");
    }
}

#[test]
fn a_train_that_runs_back_meets_the_other_end_first() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_100.0)], &[]));
    (drive.chainage_m, drive.speed_m_s) = (2_000.0, -80.0);
    drive.run(seconds(20));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
    assert!((drive.log[0].1 - 1_124.0).abs() <= 0.81 && (drive.log[1].1 - 1_000.0).abs() <= 0.81);
}

#[test]
fn of_two_ranges_at_once_the_first_counts_and_the_other_waits() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_200.0)], &[(1_010.0, 1_300.0)]));
    drive.run(seconds(20));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear), (1, Flag::Set), (1, Flag::Clear)]);
    assert!((drive.log[2].1 - 1_200.0).abs() <= 1.0, "as soon as the first is free");
    // With equal beginnings, one of them is still chosen.
    let mut drive = Drive::new(table(&[(1_000.0, 1_200.0)], &[(1_000.0, 1_200.0)]));
    drive.run(seconds(20));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
}

#[test]
fn the_last_usable_path_is_never_a_backup() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_400.0)], &[]));
    drive.controller.set_usable(1, false);
    drive.run(seconds(14));
    assert_eq!(drive.flags(), []);
    // When the other path becomes usable, this one may be a backup; when it goes away, no longer.
    drive.controller.set_usable(1, true);
    drive.run(Duration::from_millis(500));
    assert_eq!(drive.flags(), [(0, Flag::Set)]);
    drive.controller.set_usable(1, false);
    drive.run(Duration::from_millis(20));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
    drive.controller.set_usable(1, true);
    drive.run(Duration::from_millis(20));
    assert_eq!(drive.flags().len(), 3, "it is still inside the range");
}

#[test]
fn without_positions_flags_are_taken_back_after_the_time_that_is_set() {
    let mut drive = Drive::new(table(&[(1_000.0, 2_000.0)], &[]));
    drive.run(Duration::from_millis(13_000));
    assert_eq!(drive.flags(), [(0, Flag::Set)]);
    drive.gps = false;
    drive.run(Duration::from_millis(2_800));
    assert_eq!(drive.flags(), [(0, Flag::Set)], "it is extrapolated by its speed");
    drive.run(Duration::from_millis(300));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
    drive.gps = true;
    drive.run(seconds(1));
    assert_eq!(drive.flags().last(), Some(&(0, Flag::Set)), "and back again");
}

#[test]
fn short_gaps_of_positions_are_bridged() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_100.0)], &[]));
    drive.run(seconds(11));
    drive.gps = false;
    drive.run(Duration::from_millis(2_900));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
    assert!((drive.log[0].1 - 976.0).abs() <= 0.81 && (drive.log[1].1 - 1_100.0).abs() <= 0.81);
}

#[test]
fn a_train_that_stands_in_a_range_has_its_path_back_after_a_while() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_100.0)], &[]));
    drive.run(seconds(13));
    drive.speed_m_s = 0.0;
    drive.run(seconds(60));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
    let held = drive.log[1].0 - drive.log[0].0;
    assert!((30_000..30_020).contains(&held), "{held}");
    // It continues through the rest of this range, and around the line to its beginning again.
    drive.speed_m_s = 80.0;
    drive.run(seconds(10));
    assert_eq!(drive.flags().len(), 2);
    drive.speed_m_s = -80.0;
    drive.run(seconds(11));
    assert_eq!(drive.flags().len(), 4, "on its way back it is a new one");
}

#[test]
fn no_table_no_flags_and_a_table_that_goes_takes_them_along() {
    let mut drive = Drive::new(table(&[(1_000.0, 2_000.0)], &[]));
    drive.run(seconds(13));
    drive.table = None;
    drive.run(Duration::from_millis(20));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
}

#[test]
fn everything_is_taken_back_at_the_end() {
    let mut drive = Drive::new(table(&[(1_000.0, 2_000.0)], &[]));
    drive.run(seconds(13));
    drive.controller.release_all(drive.now, Reason::Stopping);
    let order = drive.controller.poll_order().unwrap();
    assert_eq!((order.path, order.flag, order.reason), (0, Flag::Clear, Reason::Stopping));
    assert!(drive.controller.poll_order().is_none());
    drive.controller.release_all(drive.now, Reason::Stopping);
    assert!(drive.controller.poll_order().is_none(), "once is enough");
}

#[test]
fn a_flag_is_taken_back_again_until_data_is_back() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_100.0)], &[]));
    drive.run(seconds(13));
    // The first two B=0 are lost: no data arrives for 600 ms.
    drive.flows = [false, true];
    drive.run(Duration::from_millis(750 + 600));
    drive.flows = [true; 2];
    drive.run(seconds(5));
    let again = [(0, Flag::Set), (0, Flag::Clear), (0, Flag::ClearAgain), (0, Flag::ClearAgain)];
    assert_eq!(drive.flags(), again);
    let spans: Vec<u64> = drive.log.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert_eq!(spans[1..], [250, 250]);
}

#[test]
fn nothing_is_repeated_where_nothing_is_sent_and_not_for_ever() {
    let mut drive = Drive::new(table(&[(1_000.0, 1_100.0)], &[]));
    drive.flows = [false; 2];
    drive.run(seconds(30));
    assert_eq!(drive.flags(), [(0, Flag::Set), (0, Flag::Clear)]);
    let mut drive = Drive::new(table(&[(1_000.0, 1_100.0)], &[]));
    drive.flows = [false, true];
    drive.run(seconds(40));
    let repeats = Settings::default().repeats_max as usize;
    assert_eq!(drive.flags().len(), 2 + repeats);
}

#[test]
fn what_the_kernel_refuses_is_tried_again() {
    use Flag::{Clear, ClearAgain, Set};
    let mut drive = Drive::new(table(&[(1_000.0, 1_200.0)], &[]));
    drive.run(Duration::from_millis(12_190));
    let mut orders = Vec::new();
    let mut refusals = 3;
    for step in 0..500 {
        let now = drive.now + Duration::from_millis(10 * step);
        drive.controller.see(now, sighting(drive.chainage_m + 0.8 * step as f64, 0.0, Some(80.0)));
        drive.controller.advance(now, drive.table.as_ref());
        while let Some(order) = drive.controller.poll_order() {
            orders.push(order.flag);
            if refusals > 0 || order.flag == Clear {
                refusals -= 1;
                drive.controller.refused(now, order);
                assert!(!drive.controller.is_flagged(0));
            }
        }
    }
    assert_eq!(orders, [Set, Set, Set, Set, Clear, ClearAgain]);
}

/// In any case, at most one of two paths is a backup, never the only alternative to an unusable one, and
/// without positions none is (10,000 random steps).
#[test]
fn no_sequence_of_events_breaks_the_promises() {
    for seed in 0..50_u64 {
        let mut rng = trackbed_core::Seed::of_run(seed, 0).stream("events");
        let many: Vec<(f64, f64)> = (0..40)
            .map(|number| {
                let from = 100.0 * f64::from(number) + 50.0 * rng.unit();
                (from, from + 150.0 * rng.unit())
            })
            .collect();
        let table =
            table(&many, &many.iter().map(|(a, b)| (a + 40.0, b + 60.0)).collect::<Vec<_>>());
        let mut controller = Controller::new(Settings::default(), 2);
        let (mut now, mut place, mut speed) = (Time::ZERO, 0.0, 50.0);
        let mut usable = [true; 2];
        let mut flagged = [false; 2];
        for _ in 0..10_000 {
            now += Duration::from_millis((40.0 * rng.unit()) as u64);
            place += speed * 0.02;
            match (rng.unit() * 60.0) as u32 {
                0 => speed = -speed,
                1 => speed = 100.0 * rng.unit() - 50.0,
                2 => usable[0] = !usable[0],
                3 => usable[1] = !usable[1],
                4 => now += Duration::from_secs(4),
                5 => place += 3_000.0 * (rng.unit() - 0.5),
                6..30 => {
                    let distance_m = 210.0 * rng.unit();
                    let speed_m_s = (rng.unit() < 0.9).then_some(speed.abs());
                    controller.see(now, sighting(place, distance_m, speed_m_s));
                }
                _ => {}
            }
            (0..2).for_each(|path| controller.set_usable(path, usable[path]));
            controller.advance(now, Some(&table));
            while let Some(order) = controller.poll_order() {
                let set = order.flag == Flag::Set;
                assert!(!set || usable[1 - order.path] && !flagged[1 - order.path], "{order:?}");
                flagged[order.path] = set;
            }
            assert_eq!(flagged, [0, 1].map(|path| controller.is_flagged(path)));
            assert!(!(flagged[0] && flagged[1]));
            assert!(controller.place(now).is_ok() || flagged == [false; 2]);
            assert!((0..2).all(|path| !flagged[path] || usable[1 - path]));
        }
    }
}
