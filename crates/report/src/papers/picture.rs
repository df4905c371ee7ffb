//! A study's statements and tables beside our results.

use trackbed_analysis::paper::{Figure, Held, Statement, Verdict};
use trackbed_measure::lists;

use crate::page::words;
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// Rows of one quantity with a shared axis.
struct Quantity {
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
pub(super) fn plot(held: &Held) -> Option<Plot> {
    let mut quantities = of_tables(&held.tables);
    quantities.extend(of_statements(&held.statements));
    quantities.retain(|quantity| quantity.rows.iter().any(|row| row.ours.is_some()));
    let panels: Vec<Panel> = quantities.into_iter().map(panel).collect();
    let keys = vec![
        Key::dot(PAPER, Fill::Full, "the study"),
        Key::dot(OURS, Fill::Full, "ours"),
        Key::dot(OURS, Fill::White, "ours, undecided"),
        Key::interval(OURS, false, "95 % confidence interval"),
        Key::area(PAPER, Fill::Light, "range in the study"),
    ];
    // The legend has what is drawn.
    let drawn = |key: &Key| {
        panels.iter().flat_map(|panel| &panel.marks).any(|mark| is_like(&key.marks[0], mark))
    };
    let keys = keys.into_iter().filter(drawn).collect();
    (!panels.is_empty()).then(|| Plot { keys, panels, ..Plot::default() })
}

/// Whether two marks differ in place only.
fn is_like(one: &Mark, other: &Mark) -> bool {
    match (one, other) {
        (Mark::Dot(look, _, fill), Mark::Dot(other, _, other_fill)) => {
            (look, fill) == (other, other_fill)
        }
        (Mark::Whisker(..), Mark::Whisker(..)) | (Mark::Area(..), Mark::Area(..)) => true,
        _ => false,
    }
}

fn panel(quantity: Quantity) -> Panel {
    let mut marks = Vec::new();
    for (row, y) in quantity.rows.iter().zip((0..).map(f64::from)) {
        for [low, high] in &row.paper {
            marks.push(match low < high {
                true => Mark::Area(PAPER, [*low, y - 0.25], [*high, y + 0.25], Fill::Light),
                false => Mark::Dot(PAPER, [*low, y], Fill::Full),
            });
        }
        if let Some([low, high]) = row.interval.filter(|[low, high]| low < high) {
            marks.push(Mark::Whisker(OURS, [low, y], [high, y]));
        }
        let fill = if row.is_open { Fill::White } else { Fill::Full };
        marks.extend(row.ours.map(|ours| Mark::Dot(OURS, [ours, y], fill)));
    }
    let scale = if quantity.is_difference { Scale::Difference } else { Scale::Zero };
    let names = quantity.rows.into_iter().map(|row| row.label).collect();
    Panel {
        title: String::new(),
        x: Axis::new(quantity.title, scale),
        y: Axis::new("", Scale::Names(names)),
        marks,
    }
}

fn of_statements(statements: &[Statement]) -> Vec<Quantity> {
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
        (if is_difference { DIFFERENCES.to_owned() } else { words::metric(unit) }, row)
    };
    let mut quantities = grouped(statements.iter().filter(|s| s.ours.is_some()).map(row));
    for quantity in &mut quantities {
        quantity.is_difference = quantity.title == DIFFERENCES;
    }
    quantities
}

fn of_tables(figures: &[Figure]) -> Vec<Quantity> {
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

/// A quantity for each name, in order of appearance.
fn grouped(rows: impl Iterator<Item = (String, Row)>) -> Vec<Quantity> {
    let quantities = lists::grouped(rows).into_iter();
    quantities.map(|(title, rows)| Quantity { title, rows, is_difference: false }).collect()
}

const DIFFERENCES: &str = "difference (%)";
const OURS: Look = Look { colour: 0, dash: 0 };
const PAPER: Look = Look { colour: 1, dash: 0 };

#[cfg(test)]
mod tests {
    use super::super::statements::tests::held;
    use super::*;

    #[test]
    fn statements_are_at_their_values() {
        let plot = plot(&held()).unwrap();
        let [panel] = &plot.panels[..] else { panic!("{plot:?}") };
        assert_eq!(panel.marks.len(), 9, "a value, an interval and the study's for each of three");
        for mark in [
            Mark::Dot(PAPER, [-15.0, 0.0], Fill::Full),
            Mark::Whisker(OURS, [-20.0, 1.0], [-4.0, 1.0]),
            Mark::Dot(OURS, [-12.0, 2.0], Fill::White),
        ] {
            assert!(panel.marks.contains(&mark), "{mark:?} in {panel:?}");
        }
        let texts: Vec<&str> = plot.keys.iter().map(|key| key.text.as_str()).collect();
        assert_eq!(texts, ["the study", "ours", "ours, undecided", "95 % confidence interval"]);
        assert!(plot.svg(150.0).contains("less &lt; more &amp; so on"));
    }

    #[test]
    fn without_values_there_is_no_picture() {
        assert!(plot(&Held::default()).is_none());
    }
}
