//! A study's statements beside our results.

use trackbed_analysis::paper::{Statement, Verdict};
use trackbed_measure::lists::grouped;

use crate::page::words;
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// The picture, with a panel for each quantity; `None` if there is nothing to draw, or too much.
pub(super) fn plot(statements: &[Statement]) -> Option<Plot> {
    let is_drawn = |one: &&Statement| one.ours.is_some() && one.verdict != Verdict::NotTestable;
    let known: Vec<&Statement> = statements.iter().filter(is_drawn).collect();
    let titled = known.iter().map(|one| match one.is_difference() {
        true => ("difference (%)".to_owned(), *one),
        false => (words::metric(&one.unit), *one),
    });
    let panels: Vec<Panel> = grouped(titled).into_iter().map(panel).collect();
    let has = |wanted: fn(&Mark) -> bool| panels.iter().flat_map(|it| &it.marks).any(wanted);
    // The legend has what is drawn.
    let keys = [
        (true, Key::dot(PAPER, Fill::Full, "the study")),
        (true, Key::dot(OURS, Fill::Full, "ours")),
        (
            has(|mark| matches!(mark, Mark::Dot(.., Fill::White))),
            Key::dot(OURS, Fill::White, "ours, undecided"),
        ),
        (
            has(|mark| matches!(mark, Mark::Whisker(..))),
            Key::interval(OURS, false, "95 % confidence interval"),
        ),
    ];
    let keys = keys.into_iter().filter_map(|(is_drawn, key)| is_drawn.then_some(key)).collect();
    (1..=ROWS_MAX).contains(&known.len()).then(|| Plot { keys, panels, ..Plot::default() })
}

fn panel((title, statements): (String, Vec<&Statement>)) -> Panel {
    let mut marks = Vec::new();
    for (statement, y) in statements.iter().zip((0..).map(f64::from)) {
        marks.extend(statement.study.map(|study| Mark::Dot(PAPER, [study, y], Fill::Full)));
        let interval = statement.ci95.filter(|[low, high]| low < high);
        marks.extend(interval.map(|[low, high]| Mark::Whisker(OURS, [low, y], [high, y])));
        let is_open = statement.verdict == Verdict::Undecided;
        let fill = if is_open { Fill::White } else { Fill::Full };
        marks.extend(statement.ours.map(|ours| Mark::Dot(OURS, [ours, y], fill)));
    }
    let is_difference = statements.iter().any(|one| one.is_difference());
    let scale = if is_difference { Scale::Difference } else { Scale::Zero };
    let names = statements.iter().map(|one| format!("{}: {}", one.id, one.text)).collect();
    let (x, y) = (Axis::new(title, scale), Axis::new("", Scale::Names(names)));
    Panel { title: String::new(), x, y, marks }
}

/// More rows are a table.
const ROWS_MAX: usize = 8;
const OURS: Look = Look { colour: 0, dash: 0 };
const PAPER: Look = Look { colour: 1, dash: 0 };

#[cfg(test)]
mod tests {
    use super::super::statements::tests::held;
    use super::*;

    #[test]
    fn statements_are_at_their_values() {
        let plot = plot(&held().statements).unwrap();
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
}
