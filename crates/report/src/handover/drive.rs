//! Recorded drives as pictures.

use std::sync::Arc;

use trackbed_core::Time;
use trackbed_railway::handover::{Lookup, Table};
use trackbed_railway::motion::{Coordinates, MotionError, Ride, Track};
use trackbed_railway::radio::{LinkDirection, RadioTimeline, RecordedDrive};

use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// The map with the handovers, and for each operator throughput over time, with handovers and the ranges of
/// `table` below, as SVG 1.1.
///
/// # Errors
/// If the positions are not on the table's track.
pub fn drive_svg(drive: &RecordedDrive, table: Option<&Table>) -> Result<String, MotionError> {
    Ok(plot(drive, table)?.svg(180.0))
}

fn plot(drive: &RecordedDrive, table: Option<&Table>) -> Result<Plot, MotionError> {
    let track = match table {
        Some(table) => Some(Arc::clone(table.track())),
        None if drive.positions.is_empty() => None,
        None => Some(Arc::new(Track::through(drive.positions.iter().map(|(_, place)| *place))?)),
    };
    let track = track.filter(|_| !drive.positions.is_empty());
    let ride = track.map(|track| Ride::through(track, &drive.positions)).transpose()?;
    let mut panels: Vec<Panel> = ride.iter().map(|ride| map(drive, ride)).collect();
    let changes = drive.timelines.iter().filter_map(|one| Some(one.changes.last()?.at));
    let end = drive.positions.last().map(|(at, _)| *at).into_iter().chain(changes).max();
    for (number, timeline) in drive.timelines.iter().enumerate() {
        let end = end.unwrap_or_default().as_secs_f64();
        panels.push(throughput(timeline, number, end, ride.as_ref().zip(table)));
    }
    let keys = vec![
        Key::curve(Look::INK, false, "throughput, or the train's way"),
        Key::area(Look::INK, Fill::Full, "handover"),
        Key::area(Look::INK, Fill::Light, "the table expects one"),
    ];
    Ok(Plot { keys, panels, aspect: 0.3, panel_width_min: 60.0, ..Plot::default() })
}

fn map(drive: &RecordedDrive, ride: &Ride) -> Panel {
    let origin = ride.track().coordinates_at(0.0);
    let km = |place: Coordinates| {
        let (east, north) = origin.offset_m(place);
        [east / 1e3, north / 1e3]
    };
    let way = drive.positions.iter().map(|(_, place)| km(*place)).collect();
    let mut marks = vec![Mark::Line(Look::INK, way)];
    for (number, timeline) in drive.timelines.iter().enumerate() {
        let places = timeline.handovers.iter().map(|one| km(ride.coordinates(one.command)));
        marks.extend(places.map(|place| Mark::Dot(Look::series(number), place, Fill::Full)));
    }
    let axis = |name| Axis::new(name, Scale::Data);
    Panel { title: "map".to_owned(), x: axis("east (km)"), y: axis("north (km)"), marks }
}

fn throughput(
    timeline: &RadioTimeline,
    number: usize,
    end: f64,
    expected: Option<(&Ride, &Table)>,
) -> Panel {
    let rates = timeline.rates(LinkDirection::Down);
    let mbps = rates.iter().map(|(at, rate)| (at.as_secs_f64(), rate.as_bps() as f64 / 1e6));
    let mut mbps: Vec<(f64, f64)> = mbps.collect();
    mbps.extend(mbps.last().map(|(_, last)| (end, *last)));
    let highest = mbps.iter().map(|(_, rate)| *rate).fold(1.0, f64::max);
    // A value holds until the next one.
    let steps = mbps.windows(2).flat_map(|pair| [[pair[0].0, pair[0].1], [pair[1].0, pair[0].1]]);
    let mut marks = vec![Mark::Line(Look::INK, steps.collect())];
    let band = |low: f64, high: f64| [-highest * low, -highest * high];
    let mut bar = |from: f64, until: f64, [low, high]: [f64; 2], fill| {
        marks.push(Mark::Area(Look::series(number), [from, low], [until, high], fill));
    };
    for handover in &timeline.handovers {
        let (from, until) = (handover.command.as_secs_f64(), handover.end.as_secs_f64());
        bar(from, until, band(0.12, 0.04), Fill::Full);
    }
    if let Some((ride, table)) = expected
        && let Ok(lookup) = Lookup::new(table, &timeline.operator, ride.direction())
    {
        let at = |step: u32| end * f64::from(step) / 1e3;
        let inside = |step: &u32| {
            let time = Time::from_millis((at(*step) * 1e3) as u64);
            lookup.at(ride.chainage_m(time), 0.0).is_some()
        };
        let inside: Vec<u32> = (0..1_000).filter(inside).collect();
        for run in inside.chunk_by(|one, next| one + 1 == *next) {
            bar(at(run[0]), at(run[run.len() - 1] + 1), band(0.24, 0.16), Fill::Light);
        }
    }
    Panel {
        title: timeline.operator.clone(),
        x: Axis::new("time (s)", Scale::Ends(0.0, end)),
        y: Axis::new("throughput (Mbit/s)", Scale::Ends(-0.25 * highest, highest)),
        marks,
    }
}
