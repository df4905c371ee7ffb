//! Received power and ranges along a track as a picture.

use trackbed_railway::handover::{HandoverError, Lookup, Signal, Table};
use trackbed_railway::motion::Direction;

use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// The scale of power, in dBm; below it are the ranges of both directions.
const DBM: Scale = Scale::Ends(-145.0, -50.0);
const BANDS_DBM: [[f64; 2]; 2] = [[-137.0, -132.0], [-144.0, -139.0]];

/// A picture with a panel for each of `operators`, as SVG 1.1.
///
/// # Errors
/// If the table has no such operator.
pub fn svg(table: &Table, operators: &[String]) -> Result<String, HandoverError> {
    Ok(plot(table, operators)?.svg(180.0))
}

fn plot(table: &Table, operators: &[String]) -> Result<Plot, HandoverError> {
    let panels = operators.iter().map(|operator| panel(table, operator));
    let panels: Vec<Panel> = panels.collect::<Result<_, _>>()?;
    let band = |number, fill, text| Key::area(Look::series(number), fill, text);
    let keys = vec![
        Key::curve(Look::INK, false, "received power"),
        band(0, Fill::Full, "expected handover, forward"),
        band(1, Fill::Full, "backward"),
        Key::area(Look::INK, Fill::Light, "too rare, ignored"),
    ];
    Ok(Plot {
        keys,
        panels,
        is_shared: true,
        aspect: 0.25,
        panel_width_min: 60.0,
        ..Plot::default()
    })
}

fn panel(table: &Table, operator: &str) -> Result<Panel, HandoverError> {
    let length_km = table.track().length_m() / 1e3;
    let mut marks = Vec::new();
    if let Some(signal) = table.signal(operator)? {
        // A gap where nothing was received.
        let middle = |step: usize| Signal::STEP_M * (step as f64 + 0.5) / 1e3;
        let powers = signal.rsrp_dbm().enumerate();
        let points = powers.map(|(step, dbm)| [middle(step), dbm.unwrap_or(f64::NAN)]);
        marks.push(Mark::Line(Look::INK, points.collect()));
    }
    for (number, direction) in Direction::BOTH.into_iter().enumerate() {
        let [low, high] = BANDS_DBM[number];
        let lookup = Lookup::new(table, operator, direction)?;
        for range in table.ranges(operator, direction)? {
            let fill = if lookup.ranges().contains(range) { Fill::Full } else { Fill::Light };
            let (from, until) = ([range.from_m / 1e3, low], [range.until_m / 1e3, high]);
            marks.push(Mark::Area(Look::series(number), from, until, fill));
        }
    }
    Ok(Panel {
        title: operator.to_owned(),
        x: Axis::new("position (km)", Scale::Ends(0.0, length_km)),
        y: Axis::new("power (dBm)", DBM),
        marks,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trackbed_railway::handover::{Learner, RideRecord, Settings};
    use trackbed_railway::motion::Track;

    use super::*;

    #[test]
    fn a_range_is_drawn_where_it_is() {
        let track = Arc::new(Track::straight(10_000.0).unwrap());
        let settings = Settings { margin_m: 0.0, ..Settings::default() };
        let mut learner = Learner::new(track, settings).unwrap();
        let mut record = RideRecord::new(Direction::Forward);
        record.handover("A & B", 5_000.0, 5_100.0);
        record.received("A & B", 25.0, -90.0);
        learner.ride(&record);
        let plot = plot(&learner.table(), &["A & B".to_owned()]).unwrap();
        let [panel] = &plot.panels[..] else { panic!("{plot:?}") };
        let range = Mark::Area(Look::series(0), [5.0, -137.0], [5.1, -132.0], Fill::Full);
        assert!(panel.marks.contains(&range), "{panel:?}");
        let Mark::Line(_, power) = &panel.marks[0] else { panic!("{panel:?}") };
        assert_eq!(power[0], [0.025, -90.0]);
        assert!(power[1][1].is_nan(), "nothing was received there");
        assert!(svg(&learner.table(), &["C".to_owned()]).is_err());
    }
}
