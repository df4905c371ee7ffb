//! Tracks, speeds and rides, compared with values computed by hand.

use std::sync::Arc;

use trackbed_core::Time;
use trackbed_railway::motion::{Coordinates, Direction, DriveLog, Ride, SpeedProfile, Track};

use crate::{assert_told, rows, straight_from};

fn at(latitude: f64, longitude: f64) -> Coordinates {
    Coordinates::new(latitude, longitude).unwrap()
}

fn close(left: f64, right: f64, margin: f64) {
    assert!((left - right).abs() <= margin, "{left} is not {right}");
}

/// 300 m beside the point at 2,000 m, a place is sqrt(300^2 + 400^2) = 500 m from the point at
/// 2,400 m: the triangle 3, 4, 5.
#[test]
fn places_beside_a_straight_track_lie_at_right_angles() {
    let paris = at(48.8566, 2.3522);
    for track in [
        Track::straight(5_000.0).unwrap(),
        straight_from(paris, 0.0, 1.0, 5),
        straight_from(paris, -0.6, -0.8, 5),
    ] {
        close(track.length_m(), 5_000.0, 0.01);
        for offset in [300.0, -300.0] {
            let beside = track.beside(2_000.0, offset);
            close(beside.plane_distance_m(track.coordinates_at(2_400.0)), 500.0, 0.05);
            close(beside.plane_distance_m(track.coordinates_at(1_600.0)), 500.0, 0.05);
            let found = track.project(beside);
            close(found.chainage_m, 2_000.0, 0.05);
            close(found.distance_m, 300.0, 0.05);
        }
        // Beyond its ends, a track is extended in a straight line.
        let before = track.beside(-400.0, 0.0);
        close(before.plane_distance_m(track.coordinates_at(0.0)), 400.0, 0.05);
        close(track.project(before).chainage_m, 0.0, 1e-9);
    }
    // North is to the left of an eastbound track.
    assert!(Track::straight(100.0).unwrap().beside(50.0, 10.0).latitude_deg() > 0.0);
}

#[test]
fn chainages_and_places_are_each_others_inverse() {
    let corners = [at(50.0, 8.0), at(50.01, 8.0), at(50.01, 8.0), at(50.01, 8.02), at(50.0, 8.03)];
    let track = Track::through(corners).unwrap();
    assert_eq!(track.points().len(), 4, "a repeated point counts once");
    let legs: f64 = corners.windows(2).map(|pair| pair[0].distance_m(pair[1])).sum();
    close(track.length_m(), legs, 0.01);
    for chainage in [0.0, 1.0, 500.0, 1_111.0, 1_500.0, 2_540.0, track.length_m()] {
        let found = track.project(track.coordinates_at(chainage));
        close(found.chainage_m, chainage, 0.01);
        close(found.distance_m, 0.0, 0.01);
    }
    close(track.project(track.coordinates_at(1e9)).chainage_m, track.length_m(), 1e-6);
    let piece = track.piece(500.0, 2_000.0);
    assert_eq!(piece.len(), 3);
    assert_eq!(piece[1], corners[1]);
}

/// Out and back on two lines 20 m apart: only the train's previous position distinguishes them.
#[test]
fn a_track_that_comes_near_itself_is_searched_around_the_train() {
    let (west, east) = (at(0.0, 0.0), at(0.0, 0.01));
    let north = 20.0;
    let track =
        Track::through([west, east, east.shifted_m(0.0, north), west.shifted_m(0.0, north)]);
    let track = track.unwrap();
    let place = track.coordinates_at(500.0).shifted_m(0.0, 9.0);
    close(track.project(place).chainage_m, 500.0, 0.1);
    let back = track.length_m() - 500.0;
    close(track.project_near(place, back + 30.0, 100.0).chainage_m, back, 0.1);
}

/// s = a t^2 / 2 while it accelerates, and v t afterwards.
#[test]
fn distances_are_the_integral_of_speeds() {
    let constant: SpeedProfile = "300 km/h".parse().unwrap();
    close(constant.distance_m(Time::from_millis(70_000)), 5_833.333_333, 1e-6);
    close(constant.time_at(1_340.0).unwrap().as_secs_f64(), 16.08, 1e-9);
    let start = SpeedProfile::through([(0.0, 0.0), (160.0, 80.0)]).unwrap();
    for (seconds, speed, distance) in
        [(0, 0.0, 0.0), (40, 20.0, 400.0), (160, 80.0, 6_400.0), (200, 80.0, 9_600.0)]
    {
        let time = Time::from_millis(seconds * 1_000);
        close(start.speed_m_s(time), speed, 1e-9);
        close(start.distance_m(time), distance, 1e-9);
        close(start.time_at(distance).unwrap().as_secs_f64(), seconds as f64, 1e-6);
    }
    // Braking to a standstill after 1,000 m.
    let stop = SpeedProfile::through([(0.0, 50.0), (40.0, 0.0)]).unwrap();
    close(stop.distance_m(Time::from_millis(1_000_000)), 1_000.0, 1e-9);
    close(stop.time_at(999.0).unwrap().as_secs_f64(), 40.0 - 1.6f64.sqrt(), 1e-6);
    assert_eq!(stop.time_at(1_000.1), None);
}

#[test]
fn speeds_are_read_from_tables() {
    let text = "time_s,speed_km_h\n# out of the station\n10,0\n60,180\n";
    let profile = SpeedProfile::parse_csv(text).unwrap();
    close(profile.speed_m_s(Time::from_millis(5_000)), 0.0, 0.0);
    close(profile.speed_m_s(Time::from_millis(35_000)), 25.0, 1e-9);
    close(profile.distance_m(Time::from_millis(70_000)), 1_250.0 + 500.0, 1e-9);
    for row in rows(include_str!("speed-mistakes.txt")) {
        assert_told(SpeedProfile::parse_csv(&row[0]).unwrap_err(), &row[1..]);
    }
}

#[test]
fn a_ride_goes_either_way_and_stops_at_the_end() {
    let track = Arc::new(Track::straight(1_000.0).unwrap());
    let speed = SpeedProfile::constant(50.0).unwrap();
    let forward = Ride::new(Arc::clone(&track), speed.clone(), Direction::Forward);
    let backward = Ride::new(track, speed, Direction::Backward).starting_at(900.0);
    let second = |n: u64| Time::from_millis(n * 1_000);
    assert_eq!(forward.chainage_m(second(4)), 200.0);
    assert_eq!(backward.chainage_m(second(4)), 700.0);
    assert_eq!((forward.chainage_m(second(21)), backward.chainage_m(second(21))), (1_000.0, 0.0));
    assert_eq!((forward.speed_m_s(second(19)), forward.speed_m_s(second(20))), (50.0, 0.0));
    assert_eq!((forward.end(), backward.end()), (Some(second(20)), Some(second(18))));
}

#[test]
fn tracks_are_read_from_positions() {
    let text = "longitude,latitude,remark\n8.0,50.0,a\n8.0,50.01,b\n";
    let read = |text| DriveLog::parse(text, &[]).and_then(|log| Track::of_log(&log));
    close(read(text).unwrap().length_m(), at(50.0, 8.0).distance_m(at(50.01, 8.0)), 1e-3);
    assert_told(read("latitude,longitude\n50,8\n50,8\n").unwrap_err(), &["two different points"]);
    for length in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(Track::straight(length).unwrap_err().to_string().contains("10,000 km"));
    }
}
