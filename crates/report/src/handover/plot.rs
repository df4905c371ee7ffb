//! Received power and ranges along a track, as a text plot.

use std::fmt::Write as _;

use trackbed_railway::handover::{HandoverError, Lookup, Signal, Table};
use trackbed_railway::motion::Direction;

/// Height of a curve, in lines.
const HEIGHT: usize = 8;
/// Width of the labels to the left of a plot.
const MARGIN: usize = 10;
/// Minimum useful width.
const COLUMNS_MIN: usize = 20;

/// A plot of an operator's power and ranges, at most `width` columns wide: a curve where the table
/// knows the power, below it a line of ranges for each direction, and the chainage in km.
///
/// # Errors
/// If the table has no such operator.
pub fn plot(table: &Table, operator: &str, width: usize) -> Result<String, HandoverError> {
    let columns = width.saturating_sub(MARGIN).max(COLUMNS_MIN);
    let length_m = table.track().length_m();
    let mut text = format!("{operator}\n");
    if let Some(signal) = table.signal(operator)? {
        text.push_str(&curve(signal, length_m, columns));
    }
    for direction in Direction::BOTH {
        let lookup = Lookup::new(table, operator, direction)?;
        let mark = if direction == Direction::Forward { '>' } else { '<' };
        let step = length_m / columns as f64;
        let in_range = |column: usize| {
            let (from, until) = (step * column as f64, step * (column + 1) as f64);
            lookup.ranges().iter().any(|range| range.from_m < until && from < range.until_m)
        };
        let line: String =
            (0..columns).map(|column| if in_range(column) { mark } else { '.' }).collect();
        let _ = writeln!(text, "{:>8}  {line}", direction.name());
    }
    text.push_str(&axis(length_m, columns));
    Ok(text)
}

fn curve(signal: &Signal, length_m: f64, columns: usize) -> String {
    let powers: Vec<Option<f64>> = signal.rsrp_dbm().collect();
    let column = |number: usize| {
        let step = |edge: usize| {
            let chainage = length_m * edge as f64 / columns as f64;
            ((chainage / Signal::STEP_M) as usize).min(powers.len() - 1)
        };
        let inside = powers[step(number)..=step(number + 1).max(step(number))].iter().flatten();
        let (sum, count) = inside.fold((0.0, 0u32), |(sum, n), power| (sum + power, n + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    let means: Vec<Option<f64>> = (0..columns).map(column).collect();
    let known = || means.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(-1e9, f64::max));
    if !low.is_finite() {
        return String::new();
    }
    let step = ((high - low) / HEIGHT as f64).max(0.1);
    let row_of = |power: f64| (((high - power) / step) as usize).min(HEIGHT - 1);
    let mut text = String::new();
    for row in 0..HEIGHT {
        let label = match row {
            0 => format!("{high:.0} dBm"),
            _ if row == HEIGHT - 1 => format!("{low:.0} dBm"),
            _ => String::new(),
        };
        let at = |mean: &Option<f64>| if mean.map(row_of) == Some(row) { '*' } else { ' ' };
        let line: String = means.iter().map(at).collect();
        let _ = writeln!(text, "{}", format!("{label:>8}  {line}").trim_end());
    }
    text
}

/// A few chainages, in km.
fn axis(length_m: f64, columns: usize) -> String {
    let mut line = String::new();
    let labels = (columns / 15).max(1);
    for label in 0..=labels {
        let share = label as f64 / labels as f64;
        let column = (share * (columns - 1) as f64) as usize;
        let text = format!("{:.1}", share * length_m / 1e3);
        let start = column.saturating_sub(if label == labels { text.len() - 1 } else { 0 });
        line.push_str(&" ".repeat(start.saturating_sub(line.len())));
        line.push_str(&text);
    }
    format!("{:>8}  {line}\n", "km")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trackbed_railway::handover::{Learner, RideRecord, Settings};
    use trackbed_railway::motion::Track;

    use super::*;

    /// 8 km in 80 columns: a column is 100 m. Power falls by 10 dB in the middle.
    #[test]
    fn ranges_and_power_are_drawn_in_their_columns() {
        let track = Arc::new(Track::straight(8_000.0).unwrap());
        let settings = Settings { margin_m: 0.0, ..Settings::default() };
        let mut learner = Learner::new(track, settings).unwrap();
        let mut forward = RideRecord::new(Direction::Forward);
        forward.handover("A", 1_010.0, 1_290.0);
        for step in 0..160 {
            let chainage = 25.0 + 50.0 * f64::from(step);
            forward.received("A", chainage, if chainage < 4_000.0 { -80.0 } else { -90.0 });
        }
        learner.ride(&forward);
        let mut backward = RideRecord::new(Direction::Backward);
        backward.handover("A", 7_990.0, 7_910.0);
        learner.ride(&backward);
        let picture = plot(&learner.table(), "A", 90).unwrap();
        let lines: Vec<&str> = picture.lines().collect();
        assert_eq!(lines.len(), 1 + HEIGHT + 3);
        let dots = |count: usize| ".".repeat(count);
        assert_eq!(lines[9], format!(" forward  {}>>>{}", dots(10), dots(67)));
        assert_eq!(lines[10], format!("backward  {}<", dots(79)));
        assert!(lines[1].starts_with(&format!(" -80 dBm  {}", "*".repeat(39))), "{picture}");
        assert!(lines[8].starts_with(" -90 dBm") && lines[8].ends_with(&"*".repeat(39)));
        assert!(lines[11].starts_with("      km  0.0") && lines[11].ends_with("8.0"));
        assert!(lines.iter().all(|line| line.chars().count() <= 90), "{picture}");
        assert!(plot(&learner.table(), "B", 90).is_err());
    }
}
