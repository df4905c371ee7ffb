//! A study's statements and tables beside our results, as SVG 1.1.

use std::fmt::{self, Write as _};

use trackbed_analysis::paper::{Figure, Held, Statement, Verdict};
use trackbed_measure::lists;

use crate::axis::{Axis, escaped, write_label};
use crate::number::short;
use crate::words::written;

/// Rows of one quantity with a shared axis.
struct Panel {
    title: String,
    rows: Vec<Row>,
    /// Whether the values are differences; then zero is marked.
    is_difference: bool,
}

struct Row {
    label: String,
    /// Values or ranges from the paper.
    paper: Vec<[f64; 2]>,
    ours: Option<f64>,
    interval: Option<[f64; 2]>,
    /// Whether it is undecided, drawn as an open circle.
    is_open: bool,
}

/// The picture; `None` if there is nothing to draw.
pub(super) fn svg(name: &str, held: &Held) -> Option<String> {
    let mut panels = of_tables(&held.tables);
    panels.extend(of_statements(&held.statements));
    panels.retain(|panel| panel.rows.iter().any(|row| row.ours.is_some()));
    (!panels.is_empty()).then(|| written(|out| write_picture(name, &panels, out)))
}

fn of_statements(statements: &[Statement]) -> Vec<Panel> {
    let row = |statement: &Statement| {
        let Statement { id, text, study, unit, ours, ci95, verdict, .. } = statement;
        let row = Row {
            label: format!("{id}: {text}"),
            paper: study.map(|value| [value, value]).into_iter().collect(),
            ours: *ours,
            interval: *ci95,
            is_open: *verdict == Verdict::Undecided,
        };
        let is_difference = statement.is_difference();
        (if is_difference { "differences in %".to_owned() } else { unit.clone() }, row)
    };
    let mut panels = grouped(statements.iter().filter(|s| s.ours.is_some()).map(row));
    for panel in &mut panels {
        panel.is_difference = panel.title == "differences in %";
    }
    panels
}

fn of_tables(figures: &[Figure]) -> Vec<Panel> {
    grouped(figures.iter().map(|figure| {
        let Figure { setting, metric, statistic, printed, here, ci95, .. } = figure;
        let row = Row {
            label: format!("{} {}, {} load", setting.protocol, setting.cipher, setting.load),
            paper: printed.iter().map(|printed| [printed.low, printed.high]).collect(),
            ours: Some(*here),
            interval: match ci95 {
                [Some(low), Some(high)] => Some([*low, *high]),
                _ => None,
            },
            is_open: false,
        };
        (format!("{statistic} {metric}"), row)
    }))
}

/// A panel for each name, in order of appearance.
fn grouped(rows: impl Iterator<Item = (String, Row)>) -> Vec<Panel> {
    let panels = lists::grouped(rows).into_iter();
    panels.map(|(title, rows)| Panel { title, rows, is_difference: false }).collect()
}

const WIDTH: f64 = 1_000.0;
/// Where labels end and axes begin.
const LEFT: f64 = 420.0;
const RIGHT: f64 = 970.0;
const ROW: f64 = 17.0;
/// Space above and below the rows of a panel.
const HEAD: f64 = 30.0;
const FOOT: f64 = 34.0;
/// Longer labels are truncated.
const LABEL_CHARS: usize = 66;
/// Two colours that remain distinct with colour-vision deficiencies (Okabe and Ito).
const OURS: &str = "#0072b2";
const PAPER: &str = "#d55e00";

fn write_picture(name: &str, panels: &[Panel], out: &mut String) -> fmt::Result {
    let height_of = |panel: &Panel| HEAD + ROW * panel.rows.len() as f64 + FOOT;
    let height = 30.0 + panels.iter().map(height_of).sum::<f64>();
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{name}: the study's results and ours</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <g transform=\"translate({LEFT} 16)\"><path d=\"{}\" fill=\"{PAPER}\"/>\
         <text x=\"10\" y=\"4\">the study</text><circle cx=\"90\" r=\"3.5\" fill=\"{OURS}\"/>\
         <text x=\"100\" y=\"4\">ours, with 95 % confidence interval (open: undecided)</text></g>",
        diamond(0.0, 0.0)
    )?;
    let mut top = 30.0;
    for panel in panels {
        write_panel(panel, top, out)?;
        top += height_of(panel);
    }
    writeln!(out, "</svg>")
}

fn write_panel(panel: &Panel, top: f64, out: &mut String) -> fmt::Result {
    let axis = axis(panel);
    let (first, last) = (top + HEAD, top + HEAD + ROW * panel.rows.len() as f64);
    let title = escaped(&panel.title);
    writeln!(out, "<text x=\"10\" y=\"{:.1}\" font-weight=\"bold\">{title}</text>", top + 20.0)?;
    for tick in axis.ticks() {
        let x = axis.place(tick);
        writeln!(
            out,
            "<path d=\"M{x:.1} {first}V{last}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text>",
            last + 14.0,
            short(tick)
        )?;
    }
    if panel.is_difference {
        let x = axis.place(0.0);
        writeln!(out, "<path d=\"M{x:.1} {first}V{last}\" stroke=\"#333\"/>")?;
    }
    for (number, row) in panel.rows.iter().enumerate() {
        write_row(row, &axis, first + ROW * (number as f64 + 0.5), out)?;
    }
    Ok(())
}

fn write_row(row: &Row, axis: &Axis, y: f64, out: &mut String) -> fmt::Result {
    let cut = row.label.chars().count() > LABEL_CHARS;
    let mut label: String = row.label.chars().take(LABEL_CHARS).collect();
    label.push_str(if cut { "..." } else { "" });
    write_label([LEFT - 10.0, y + 4.0], "end", &escaped(&label), out)?;
    for [low, high] in &row.paper {
        let (from, until) = (axis.place(*low), axis.place(*high));
        if until > from {
            let width = until - from;
            writeln!(
                out,
                "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"7\" \
                 fill=\"{PAPER}\" opacity=\"0.35\"/>",
                y - 3.5
            )?;
        } else {
            writeln!(out, "<path d=\"{}\" fill=\"{PAPER}\"/>", diamond(from, y))?;
        }
    }
    if let Some([low, high]) = row.interval {
        let (from, until) = (axis.place(low), axis.place(high));
        writeln!(
            out,
            "<path d=\"M{from:.1} {y:.1}H{until:.1}\" stroke=\"{OURS}\" stroke-width=\"2\"/>"
        )?;
        // An interval that continues beyond the axis ends in an arrowhead.
        for (goes_on, end, back) in [(low < axis.low, from, 6.0), (high > axis.high, until, -6.0)] {
            if goes_on {
                let tip = end - back;
                let (above, below) = (y - 4.0, y + 4.0);
                writeln!(
                    out,
                    "<path d=\"M{tip:.1} {y:.1}L{end:.1} {above:.1}V{below:.1}Z\" fill=\"{OURS}\"/>"
                )?;
            }
        }
    }
    if let Some(ours) = row.ours {
        let fill = if row.is_open { "white" } else { OURS };
        writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{fill}\" stroke=\"{OURS}\"/>",
            axis.place(ours)
        )?;
    }
    Ok(())
}

fn diamond(x: f64, y: f64) -> String {
    format!(
        "M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z",
        x - 4.5,
        y - 4.5,
        x + 4.5,
        y + 4.5
    )
}

/// The shared axis of a panel's rows.
fn axis(panel: &Panel) -> Axis {
    let ours = panel.rows.iter().filter_map(|row| row.ours);
    let paper = panel.rows.iter().flat_map(|row| &row.paper).flatten().copied();
    Axis::of(ours.chain(paper), panel.is_difference, [LEFT, RIGHT])
}

#[cfg(test)]
mod tests {
    use super::super::statements::tests::held;
    use super::*;

    /// From -20 (less 8 %) to 0, between x = 420 and x = 970: -12 % lies at 534.0 of what is from -16.2 to 1.2.
    #[test]
    fn statements_are_drawn_at_their_values() {
        let picture = svg("vru", &held()).unwrap();
        assert!(
            picture.contains("<circle cx=\"552.8\" cy=\"68.5\" r=\"3.5\" fill=\"#0072b2\""),
            "{picture}"
        );
        assert!(picture.contains("fill=\"white\" stroke=\"#0072b2\""), "undecided: {picture}");
        assert!(picture.contains("less &lt; more &amp; so on"));
        // Each interval continues beyond the axis, on the left side only.
        assert_eq!(picture.matches(&format!("Z\" fill=\"{OURS}\"")).count(), 3, "{picture}");
    }

    #[test]
    fn without_values_there_is_no_picture() {
        assert_eq!(svg("edge", &Held::default()), None);
    }
}
