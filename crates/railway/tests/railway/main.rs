//! Tests of the public interface: motion, radio and handover tables.

mod geometry;
mod gps;
mod learning;
mod logs;
mod radio;
mod tables;

use std::fmt::Debug;

use trackbed_core::Seed;
use trackbed_railway::handover::Table;
use trackbed_railway::motion::{Coordinates, Direction, DriveLog, Track};
use trackbed_railway::radio::{timelines_from_text, timelines_to_text};

/// A straight track with a point each kilometre; `east` and `north` are its direction, of length 1.
fn straight_from(origin: Coordinates, east: f64, north: f64, kilometres: usize) -> Track {
    let next = |place: &Coordinates| Some(place.shifted_m(1_000.0 * east, 1_000.0 * north));
    Track::through(std::iter::successors(Some(origin), next).take(kilometres + 1)).unwrap()
}

/// The rows of a table of mistakes: fields between bars, with escaped ends of lines.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<String>> {
    let field = |field: &str| field.replace("\\r", "\r").replace("\\n", "\n");
    table.lines().map(move |line| line.split(" | ").map(field).collect())
}

fn assert_told(error: impl ToString, parts: &[impl AsRef<str> + Debug]) {
    let error = error.to_string();
    assert!(parts.iter().all(|part| error.contains(part.as_ref())), "{parts:?}: {error}");
}

/// Whether a log is read; if so, its positions are valid.
fn is_log(text: &str) -> bool {
    let Ok(log) = DriveLog::parse(text, &[]) else { return false };
    let _ = Track::of_log(&log);
    log.samples.iter().all(|sample| {
        sample.coordinates.latitude_deg().abs() <= 90.0 && sample.seconds.is_none_or(f64::is_finite)
    })
}

/// For any bytes, a text is read or refused, never a panic; a table that is read can be written.
#[test]
fn damaged_texts_never_panic() {
    let railway = radio::railway(&[("profile", "hsr-measured")]);
    let ride = railway.ride(Direction::Forward);
    let until = trackbed_core::Time::from_millis(20_000);
    let timelines = timelines_to_text(&railway.drive(&ride, until, &Seed::of_run(1, 0)));
    let csv = "time,latitude,longitude,speed_km_h,cell:A,rsrp:A\n1,50,8,180,7,-90\n2,50.1,8,,8,\n";
    let sentence = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\n";
    let nmea = format!("{sentence}$PTRKC,A,101,-95.5*39\n{sentence}");
    let is_table = |text: &str| match Table::parse(text) {
        Ok(table) => Table::parse(&table.to_text()).is_ok(),
        Err(_) => false,
    };
    let mut rng = Seed::of_run(2, 0).stream("damage");
    for (text, reads) in [
        (csv, &is_log as &dyn Fn(&str) -> bool),
        (logs::GPX, &is_log),
        (&nmea, &is_log),
        (&timelines, &|text| timelines_from_text(text).is_ok()),
        (&tables::table().to_text(), &is_table),
    ] {
        let mut read = 0;
        for _ in 0..3_000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                match rng.below(8) {
                    0 if bytes.len() > 1 => drop(bytes.remove(at)),
                    1 => bytes.truncate(at.max(1)),
                    2 => bytes[at] = rng.next_u64() as u8,
                    _ => bytes[at] = b"0123456789-.eE<>/\"',$*&{}[]:;=% \n"[rng.below(33) as usize],
                }
            }
            read += u32::from(reads(&String::from_utf8_lossy(&bytes)));
        }
        assert!(read > 50, "{read}: {text}");
    }
}
