//! Received power and ranges along a track as SVG 1.1, for browsers and papers.

use std::fmt::Write as _;

use trackbed_railway::handover::{HandoverError, Lookup, Signal, Table};
use trackbed_railway::motion::Direction;

use crate::axis::{escaped, write_label};

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 90.0;
const PANEL: f64 = 190.0;
const CURVE: f64 = 120.0;
const BAND: f64 = 12.0;
/// The scale of power, in dBm.
const HIGH_DBM: f64 = -50.0;
const LOW_DBM: f64 = -130.0;
/// Two colours that remain distinct with colour-vision deficiencies (Okabe and Ito).
const COLOURS: [&str; 2] = ["#0072b2", "#d55e00"];

/// A picture with a panel for each of `operators`.
///
/// # Errors
/// If the table has no such operator.
pub fn svg(table: &Table, operators: &[String]) -> Result<String, HandoverError> {
    let height = PANEL * operators.len() as f64 + 30.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<title>Handover table: power and ranges along \
         the track</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (number, operator) in operators.iter().enumerate() {
        let top = 20.0 + PANEL * number as f64;
        panel(&mut text, table, operator, top)?;
    }
    text.push_str("</svg>\n");
    Ok(text)
}

fn panel(text: &mut String, table: &Table, operator: &str, top: f64) -> Result<(), HandoverError> {
    let length_m = table.track().length_m();
    let x = |chainage_m: f64| LEFT + (WIDTH - LEFT - 20.0) * chainage_m / length_m;
    let y =
        |dbm: f64| top + CURVE * (HIGH_DBM - dbm.clamp(LOW_DBM, HIGH_DBM)) / (HIGH_DBM - LOW_DBM);
    let _ = writeln!(
        text,
        "<text x=\"10\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
        top + 4.0,
        escaped(operator)
    );
    for dbm in [-60.0, -80.0, -100.0, -120.0] {
        let _ = writeln!(
            text,
            "<path d=\"M{LEFT} {:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{dbm} dBm</text>",
            y(dbm),
            WIDTH - 20.0,
            LEFT - 6.0,
            y(dbm) + 4.0
        );
    }
    for (number, direction) in Direction::BOTH.into_iter().enumerate() {
        let band = top + CURVE + 6.0 + (BAND + 4.0) * number as f64;
        let colour = COLOURS[number];
        let lookup = Lookup::new(table, operator, direction)?;
        for range in table.ranges(operator, direction)? {
            let (from, until) = (x(range.from_m), x(range.until_m));
            let opacity = if lookup.ranges().contains(range) { 1.0 } else { 0.25 };
            let _ = writeln!(
                text,
                "<rect x=\"{from:.2}\" y=\"{band:.1}\" width=\"{:.2}\" height=\"{BAND}\" \
                 fill=\"{colour}\" opacity=\"{opacity}\"><title>{:.0} m to {:.0} m, {} rides</title>\
                 </rect>",
                (until - from).max(0.5),
                range.from_m,
                range.until_m,
                range.rides
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{colour}\">{direction}</text>",
            LEFT - 6.0,
            band + BAND - 2.0
        );
    }
    if let Some(signal) = table.signal(operator)? {
        curve(text, signal, x, y);
    }
    for step in 0..=10 {
        let chainage = length_m * f64::from(step) / 10.0;
        let place = [x(chainage), top + CURVE + 2.0 * (BAND + 4.0) + 18.0];
        let _ = write_label(place, "middle", &format!("{:.1} km", chainage / 1e3), text);
    }
    Ok(())
}

/// A line through the means, with gaps where nothing was received.
fn curve(text: &mut String, signal: &Signal, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
    let mut path = String::new();
    let mut pen_is_down = false;
    for (step, power) in signal.rsrp_dbm().enumerate() {
        if let Some(dbm) = power {
            let command = if pen_is_down { 'L' } else { 'M' };
            let middle = Signal::STEP_M * (step as f64 + 0.5);
            let _ = write!(path, "{command}{:.2} {:.1}", x(middle), y(dbm));
        }
        pen_is_down = power.is_some();
    }
    let _ = writeln!(text, "<path d=\"{path}\" fill=\"none\" stroke=\"#333\"/>");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trackbed_railway::handover::{Learner, RideRecord, Settings};
    use trackbed_railway::motion::Track;

    use super::*;

    /// 10 km lie between x = 90 and x = 980: 5 km are at 535, and 100 m are 8.9 wide.
    #[test]
    fn a_range_is_drawn_where_it_is() {
        let track = Arc::new(Track::straight(10_000.0).unwrap());
        let settings = Settings { margin_m: 0.0, ..Settings::default() };
        let mut learner = Learner::new(track, settings).unwrap();
        let mut record = RideRecord::new(Direction::Forward);
        record.handover("A & B", 5_000.0, 5_100.0);
        record.received("A & B", 25.0, -90.0);
        learner.ride(&record);
        let picture = svg(&learner.table(), &["A & B".to_owned()]).unwrap();
        assert!(picture.contains("<rect x=\"535.00\" y=\"146.0\" width=\"8.90\""), "{picture}");
        assert!(picture.contains(">A &amp; B</text>") && !picture.contains("A & B"));
        // -90 dBm is half-way between -50 and -130: 60 of 120 below the top.
        assert!(picture.contains("M92.22 80.0"), "{picture}");
        assert!(svg(&learner.table(), &["C".to_owned()]).is_err());
    }
}
