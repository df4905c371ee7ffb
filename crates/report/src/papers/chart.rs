//! A study's figure with our curves added, as SVG 1.1.

use std::fmt::{self, Write as _};

use trackbed_analysis::paper::{Chart, Curve};
use trackbed_measure::lists::distinct;

use crate::axis::{Axis, escaped};
use crate::number::short;
use crate::words::written;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
/// The frame of the curves.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 250.0;
/// Colours that remain distinct with colour-vision deficiencies (Okabe and Ito).
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Approximate width of a letter.
const LETTER: f64 = 6.0;
/// Width of a digit in a wide font.
const DIGIT: f64 = 7.0;
/// Numbers of this length fit between the name of the y axis and the frame.
const DIGITS: f64 = 5.0;
/// Maximum number of labelled positions on the x axis.
const LABELS_MAX: usize = 16;
/// Points of a curve that are marked; more would merge into the line.
const POINTS_MAX: usize = 40;

/// The picture.
pub(crate) fn svg(chart: &Chart) -> String {
    written(|out| write_picture(chart, out))
}

fn write_picture(chart: &Chart, out: &mut String) -> fmt::Result {
    let title = escaped(&format!("{}: {}", chart.number, chart.title));
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let values =
        points().flat_map(|p| p.ours.into_iter().chain(p.study).chain(p.ci95.map(|c| c[1])));
    let y = Axis::of(values, false, [BOTTOM, TOP]);
    // Long numbers move the name of the axis and the edge to the left.
    let longest = y.ticks().into_iter().map(|tick| short(tick).len() as f64).fold(DIGITS, f64::max);
    let edge = DIGIT * (DIGITS - longest);
    let width = WIDTH - edge;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{edge} 0 {width} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<title>{title}</title>\n\
         <rect x=\"{edge}\" width=\"{width}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\">{title}</text>"
    )?;
    let places = Places::of(chart);
    y.write_grid([LEFT, RIGHT], out)?;
    // With many positions, only about every fifth is labelled.
    let each = (places.names.len() / LABELS_MAX).next_multiple_of(5).max(1);
    let mut free_from = f64::NEG_INFINITY;
    for (number, name) in places.names.iter().enumerate().step_by(each) {
        let (x, name) = (places.at[number], escaped(name));
        let half = LETTER * name.len() as f64 / 2.0;
        if x - half < free_from {
            continue;
        }
        free_from = x + half + LETTER;
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
            BOTTOM + 16.0
        )?;
    }
    let (name, middle) = (edge + 14.0, (TOP + BOTTOM) / 2.0);
    writeln!(
        out,
        "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#333\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text x=\"{name}\" y=\"{middle}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 {name} {middle})\">{}</text>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 36.0,
        escaped(&chart.x),
        escaped(&chart.metric)
    )?;
    for (curve, colour) in chart.curves.iter().zip(COLOURS.into_iter().cycle()) {
        write_curve(curve, colour, &places, &y, out)?;
    }
    write_legend(chart, out)?;
    writeln!(out, "</svg>")
}

fn write_curve(
    curve: &Curve,
    colour: &str,
    places: &Places,
    y: &Axis,
    out: &mut String,
) -> fmt::Result {
    let mut path = String::new();
    for point in &curve.points {
        let x = places.of_point(&point.x);
        if let Some(ours) = point.ours {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            write!(path, "{letter}{x:.1} {:.1}", y.place(ours))?;
        }
        if let Some([low, high]) = point.ci95.filter(|[low, high]| low < high) {
            let (from, until) = (y.place(low), y.place(high));
            writeln!(
                out,
                "<path d=\"M{x:.1} {from:.1}V{until:.1}\" stroke=\"{colour}\" opacity=\"0.6\"/>"
            )?;
        }
        if curve.points.len() > POINTS_MAX {
            continue;
        }
        for (value, fill) in [(point.ours, colour), (point.study, "white")] {
            let Some(value) = value else { continue };
            writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{fill}\" stroke=\"{colour}\"/>",
                y.place(value)
            )?;
        }
    }
    writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>")
}

fn write_legend(chart: &Chart, out: &mut String) -> fmt::Result {
    let x = RIGHT + 16.0;
    let mut y = TOP + 6.0;
    for (curve, colour) in chart.curves.iter().zip(COLOURS.into_iter().cycle()) {
        writeln!(
            out,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 8.0,
            y + 4.0,
            escaped(&curve.name)
        )?;
        y += 16.0;
    }
    if chart.curves.iter().flat_map(|curve| &curve.points).any(|point| point.study.is_some()) {
        writeln!(
            out,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"white\" stroke=\"#333\"/>\
             <text x=\"{}\" y=\"{}\">from the study</text>",
            x + 8.0,
            y + 4.0
        )?;
    }
    Ok(())
}

/// Positions on the x axis: proportional to the values if they are numbers, evenly spaced if they
/// are names.
struct Places {
    names: Vec<String>,
    at: Vec<f64>,
}

impl Places {
    fn of(chart: &Chart) -> Places {
        let points = chart.curves.iter().flat_map(|curve| &curve.points);
        let names = distinct(points.map(|point| point.x.clone()));
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        let shares: Vec<f64> = match numbers {
            Some(numbers) => {
                let most = numbers.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                numbers.iter().map(|number| 0.04 + 0.92 * number / most).collect()
            }
            None => {
                let count = names.len() as f64;
                (0..names.len()).map(|number| (number as f64 + 0.5) / count).collect()
            }
        };
        let at = shares.into_iter().map(|share| LEFT + (RIGHT - LEFT) * share).collect();
        Places { names, at }
    }

    fn of_point(&self, x: &str) -> f64 {
        self.names.iter().position(|name| name == x).map_or(LEFT, |number| self.at[number])
    }
}

#[cfg(test)]
mod tests {
    use super::super::statements::tests::held;
    use super::*;

    /// The y axis ends at 21 plus 8 %, over 216 units: 20 is 190.5 above the bottom at 250.
    #[test]
    fn points_are_drawn_at_their_values() {
        let picture = svg(&held().charts[0]);
        let places = "<circle cx=\"500.0\" cy=\"59.5\" r=\"3\" fill=\"#0072b2\"";
        let x = LEFT + (RIGHT - LEFT) * 0.96;
        let places = places.replace("500.0", &format!("{x:.1}"));
        assert!(picture.contains(&places), "{picture}");
        assert!(picture.contains("fill=\"white\" stroke=\"#d55e00\""), "the study's: {picture}");
        assert!(picture.contains(">from the study<"));
    }

    #[test]
    fn long_numbers_have_room_beside_the_name_of_the_axis() {
        let mut chart = held().charts.remove(0);
        chart.curves[0].points[0].ours = Some(200_000.0);
        let picture = svg(&chart);
        assert!(picture.contains("viewBox=\"-7 0 647 300\""), "{picture}");
        assert!(picture.contains("rotate(-90 7 142)"), "{picture}");
    }
}
