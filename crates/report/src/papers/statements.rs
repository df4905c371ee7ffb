//! Studies' statements beside our results, as text and tables.

use std::fmt::{self, Write as _};

use trackbed_analysis::paper::{Chart, Curve, Held, Setting, Statement, Verdict};
use trackbed_measure::lists::distinct;

use crate::guidance;
use crate::number::{Decimals, dash};
use crate::table::{Align, Table};
use crate::words::{lines, written};

/// A study's statements compared with our runs, for a terminal of `width` characters. With `all`,
/// also the statements without runs.
pub fn render(held: &Held, width: usize) -> String {
    written(|out| write_all(held, width, out))
}

/// A study's tables beside our runs, and its recommendations; empty if it has no tables, or none of
/// our values are in them.
pub fn beside(held: &Held, width: usize) -> String {
    match held.tables.is_empty() {
        true => String::new(),
        false => written(|out| write_beside(held, width, out)),
    }
}

/// The number of statements per verdict, in a sentence.
pub fn conclusion(held: &Held) -> String {
    let sentence = |setting: Setting, whose: &str| {
        let tally = held.tally(setting);
        let all: usize = tally.iter().map(|(_, count)| count).sum();
        let of = |(verdict, count): &(Verdict, usize)| match verdict {
            Verdict::Holds if *count > 1 => format!("{count} hold"),
            verdict => format!("{count} {verdict}"),
        };
        let there: Vec<String> = tally.iter().filter(|(_, n)| *n > 0).map(of).collect();
        (all > 0).then(|| format!("{all} statements in {whose} setting: {}.", there.join(", ")))
    };
    let sentences = [sentence(Setting::Study, "the study's"), sentence(Setting::Ours, "our own")];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn write_all(held: &Held, width: usize, out: &mut String) -> fmt::Result {
    writeln!(out, "{}\nstudy: {}", conclusion(held), held.title)?;
    if let Some(model) = &held.model {
        writeln!(out, "MODEL, no measurement: {model}")?;
    }
    for statement in held.statements.iter().filter(|s| s.verdict != Verdict::NotRun) {
        write_statement(statement, width, out)?;
    }
    let left_out = held.statements.iter().filter(|s| s.verdict == Verdict::NotRun).count();
    if left_out > 0 {
        writeln!(out, "\n{left_out} statements refer to cells that were not run")?;
    }
    for chart in held.charts.iter().filter(|chart| is_drawn(chart)) {
        writeln!(out, "\n{}: {} ({})\n{}", chart.number, chart.title, chart.metric, table(chart))?;
    }
    if !held.tables.is_empty() {
        write!(out, "\n{}", guidance::table(&held.tables, ours(held)))?;
    }
    held.definitions.iter().try_for_each(|(metric, help)| {
        writeln!(out, "\n{metric}:")?;
        lines(help, width.saturating_sub(2)).iter().try_for_each(|line| writeln!(out, "  {line}"))
    })
}

fn write_beside(held: &Held, width: usize, out: &mut String) -> fmt::Result {
    writeln!(out, "tables of the study beside these runs: {}\n", held.title)?;
    write!(out, "{}", guidance::table(&held.tables, ours(held)))?;
    // Conclusions without numbers cannot be compared.
    let is_shown = |s: &&Statement| {
        s.source == "conclusion" && !s.says.is_empty() && s.verdict != Verdict::NotRun
    };
    let mut advice = held.statements.iter().filter(is_shown);
    advice.try_for_each(|statement| write_statement(statement, width, out))
}

fn write_statement(statement: &Statement, width: usize, out: &mut String) -> fmt::Result {
    let Statement { id, source, text, says, .. } = statement;
    let mut indented = |text: &str, first: &str| {
        lines(text, width.saturating_sub(2)).iter().enumerate().try_for_each(|(number, line)| {
            writeln!(out, "{}{line}", if number == 0 { first } else { "  " })
        })
    };
    indented(&format!("\n{id}, {source}: {text}"), "")?;
    let here = statement.here().map_or_else(String::new, |here| format!("; here {here}"));
    let says = if says.is_empty() { String::new() } else { format!(", in the study {says}") };
    indented(&format!("{}{here}{says}", verdict(statement)), "  ")?;
    if let Some(over) = &statement.over_settings {
        indented(&format!("over what the study leaves out: {over}"), "  ")?;
    }
    if let Some(why) = &statement.why {
        indented(why, "  ")?;
    }
    if let Some(command) = &statement.evidence {
        writeln!(out, "  $ {command}")?;
    }
    Ok(())
}

/// `undecided (about 60 runs would decide)`
fn verdict(statement: &Statement) -> String {
    match statement.runs_needed {
        Some(runs) => format!("{} (about {runs} runs would decide)", statement.verdict),
        None => statement.verdict.to_string(),
    }
}

/// The name of our values.
pub(super) fn ours(held: &Held) -> &'static str {
    if held.model.is_some() { "model" } else { "here" }
}

/// Whether it has any of our values.
pub(crate) fn is_drawn(chart: &Chart) -> bool {
    chart.curves.iter().flat_map(|curve| &curve.points).any(|point| point.ours.is_some())
}

/// A chart's values: a row for each position on the x axis, a column for each curve, and one for
/// the study's values.
pub(crate) fn table(chart: &Chart) -> Table {
    if chart.curves.iter().any(|curve| curve.points.len() > PLACES_MAX) {
        return shapes(chart);
    }
    let prints = |curve: usize| chart.curves[curve].points.iter().any(|p| p.study.is_some());
    let mut titles = vec![(chart.x.clone(), Align::Left)];
    for (number, curve) in chart.curves.iter().enumerate() {
        titles.push((curve.name.clone(), Align::Right));
        titles.push(("95 % interval".to_owned(), Align::Right));
        if prints(number) {
            titles.push(("study".to_owned(), Align::Right));
        }
    }
    let mut table = Table::new(titles);
    let points = chart.curves.iter().flat_map(|curve| &curve.points);
    for x in distinct(points.map(|point| &point.x)) {
        let mut row = vec![x.clone()];
        for (number, curve) in chart.curves.iter().enumerate() {
            let point = curve.points.iter().find(|point| point.x == *x);
            let ours = point.and_then(|point| point.ours);
            let decimals = Decimals::of(ours);
            let text = |value: Option<f64>| value.map_or_else(dash, |value| decimals.text(value));
            row.push(text(ours));
            row.push(match point.and_then(|point| point.ci95) {
                Some([low, high]) if low == high => "constant".to_owned(),
                Some(ends) => decimals.interval(ends),
                None => dash(),
            });
            if prints(number) {
                row.push(text(point.and_then(|point| point.study)));
            }
        }
        table.row(row);
    }
    table
}

/// A row for each curve of a long chart: mean, minimum, maximum, and its shape on a shared axis.
fn shapes(chart: &Chart) -> Table {
    let number = [("mean", Align::Right), ("min", Align::Right), ("max", Align::Right)];
    let words = [("curve", Align::Left)].into_iter().chain(number);
    let mut table =
        Table::new(words.chain([("shape (0 to the maximum of all curves)", Align::Left)]));
    let values = |curve: &Curve| curve.points.iter().filter_map(|it| it.ours).collect::<Vec<f64>>();
    let most_of = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let top = most_of(&chart.curves.iter().flat_map(values).collect::<Vec<f64>>());
    for curve in &chart.curves {
        let values = values(curve);
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let text = |value: f64| Decimals::of(Some(top)).text(value);
        let step = |value: &f64| STEPS[((value / top * 8.0).ceil() as usize).min(8)];
        let shape: String = values.iter().map(step).collect();
        table.row([curve.name.clone(), text(mean), text(least), text(most_of(&values)), shape]);
    }
    table
}

/// Charts with more positions show one shape per curve instead of a row per position.
const PLACES_MAX: usize = 20;

/// A space, and eighths of a line's height.
const STEPS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The statements tested in a setting, as a table for a page; `None` if there are none.
pub(crate) fn statements(held: &Held, setting: Setting) -> Option<Table> {
    let titles = "|where|the study says|study|here|verdict|over what the study leaves out";
    let mut table = Table::titled(titles);
    let mut of_setting = held.statements.iter().filter(|s| s.setting == setting).peekable();
    of_setting.peek()?;
    for statement in of_setting {
        let Statement { id, source, text, says, .. } = statement;
        let verdict = match statement.verdict.differs() {
            true => format!("**{}**", verdict(statement)),
            false => verdict(statement),
        };
        let here = statement.here().unwrap_or_else(dash);
        let over = statement.over_settings.as_ref().map_or_else(dash, ToString::to_string);
        table.row([id.clone(), source.clone(), text.clone(), says.clone(), here, verdict, over]);
    }
    Some(table)
}

#[cfg(test)]
pub(super) mod tests {
    use trackbed_analysis::paper::{Curve, Point};

    use super::*;

    pub(in crate::papers) fn held() -> Held {
        let statement = |id: &str, text: &str, verdict| Statement {
            id: id.to_owned(),
            source: "Fig. 9".to_owned(),
            text: text.to_owned(),
            setting: Setting::Study,
            says: "-15.0 % (-18.8 to -11.2)".to_owned(),
            study: Some(-15.0),
            unit: "%".to_owned(),
            ours: Some(-12.0),
            ci95: Some([-20.0, -4.0]),
            runs: 30,
            verdict,
            over_settings: None,
            runs_needed: (verdict == Verdict::Undecided).then_some(60),
            why: verdict.differs().then(|| "The study's machine is slower.".to_owned()),
            evidence: None,
        };
        let point = |x: &str, ours: f64, study| Point {
            x: x.to_owned(),
            ours: Some(ours),
            ci95: Some([ours - 1.0, ours + 1.0]),
            study,
        };
        let curve = |name: &str, points| Curve { name: name.to_owned(), points };
        Held {
            title: "A study of pipes | tubes".to_owned(),
            statements: vec![
                statement("s-1", "QUIC is faster", Verdict::Holds),
                statement("s-2", "by a|lot", Verdict::Contradicted),
                statement("s-3", "less < more & so on", Verdict::Undecided),
            ],
            charts: vec![Chart {
                number: "Fig. 9".to_owned(),
                title: "delay by errors".to_owned(),
                x: "loss".to_owned(),
                metric: "completion_ms".to_owned(),
                curves: vec![
                    curve("tcp", vec![point("0", 10.0, None), point("0.1", 20.0, None)]),
                    curve("quic", vec![point("0", 11.0, Some(9.0)), point("0.1", 12.0, None)]),
                ],
            }],
            ..Held::default()
        }
    }

    #[test]
    fn the_answer_comes_first() {
        let text = render(&held(), 100);
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "3 statements in the study's setting: 1 holds, 1 contradicted, 1 undecided."
        );
        assert!(
            text.contains("\ns-2, Fig. 9: by a|lot\n  contradicted; here -12.0 % [-20.0, -4.0], ")
        );
        assert!(text.contains("undecided (about 60 runs would decide)"), "{text}");
        assert!(text.contains("  The study's machine is slower.\n"), "{text}");
    }

    #[test]
    fn a_chart_has_a_row_for_each_place() {
        let text = table(&held().charts[0]).to_string();
        assert!(
            text.contains("0.1   20.00  [19.00, 21.00]  12.00  [11.00, 13.00]      -"),
            "{text}"
        );
    }
}
