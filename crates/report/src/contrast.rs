//! One run directory compared with another, as text.

use std::fmt::{self, Write as _};

use serde_json::{Map, Value};
use trackbed_analysis::significance::word;
use trackbed_measure::contrast::{CellContrast, Change, Contrast, Incomparable, Regression};
use trackbed_measure::lists::{distinct, grouped};
use trackbed_measure::results::{Verdict, plain};

use trackbed_outward::printable_line;

use crate::number::{Decimals, dash};
use crate::plot::escaped;
use crate::table::{Align, Table};
use crate::words::{title, written};

/// Renders the comparison for the terminal.
pub fn render(contrast: &Contrast) -> String {
    written(|out| write_all(contrast, out))
}

fn write_all(contrast: &Contrast, out: &mut String) -> fmt::Result {
    let Contrast { first, second, .. } = contrast;
    writeln!(out, "{}\n", contrast.answer)?;
    writeln!(out, "{} compared with {}\n", second.directory, first.directory)?;
    for (metric, cells) in grouped(contrast.cells.iter().map(|cell| (&cell.metric, cell))) {
        let statistic = cells.first().map_or("", |cell| &cell.statistic);
        // A quantile that was asked for is part of the metric's name.
        let of_run = if metric.contains(' ') { "" } else { &format!("{statistic} ") };
        let over_runs = format!("{statistic} over the runs, {}", how(contrast));
        writeln!(out, "{of_run}{metric} of each run, {over_runs}:\n")?;
        writeln!(out, "{}", table(metric, &cells))?;
    }
    write_unmatched("only in the first", &contrast.missing, out)?;
    write_unmatched("only in the second", &contrast.added, out)?;
    contrast.incomparable.iter().try_for_each(|it| write_incomparable(it, out))?;
    let mut told = None;
    for cell in contrast.cells.iter().filter(|cell| cell.failed != [0, 0]) {
        // Each cell has a comparison per metric.
        if told.replace(cell.cells) != Some(cell.cells) {
            let [first, second] = cell.failed;
            writeln!(out, "failed runs of {}: {first} before, {second} now", words(&cell.factors))?;
        }
    }
    write_changes(&contrast.changes, out)
}

fn how(contrast: &Contrast) -> String {
    let confidence = contrast.confidence * 100.0;
    let pairs = if contrast.paired {
        "paired by run (same seeds, same losses)"
    } else if contrast.first.results_version != contrast.second.results_version {
        "as independent runs (other versions of results: the same seed does not give the same losses)"
    } else if contrast.first.seed == contrast.second.seed {
        "as independent runs (a real network does not follow a seed)"
    } else {
        "as independent runs (different seeds)"
    };
    format!("{pairs}; verdicts at {confidence} % confidence over all comparisons (Holm)")
}

fn table(metric: &str, cells: &[&CellContrast]) -> Table {
    let factors = distinct(cells.iter().flat_map(|cell| cell.factors.keys()));
    let before = format!("before\n{}", title(metric).split('\n').next_back().unwrap_or_default());
    let columns = [("cell".to_owned(), Align::Right)]
        .into_iter()
        .chain(factors.iter().map(|name| ((*name).clone(), Align::Left)))
        .chain([before, "now".to_owned()].map(|title| (title, Align::Right)))
        .chain(["difference", "interval", "%", "n"].map(|title| (title.to_owned(), Align::Right)))
        .chain([("verdict".to_owned(), Align::Left)]);
    let mut table = Table::new(columns);
    let decimals = Decimals::of(cells.iter().flat_map(|cell| cell.means));
    let fine = Decimals::of(cells.iter().map(|cell| cell.difference));
    for cell in cells {
        let value = |name: &&String| cell.factors.get(*name).map(plain).unwrap_or_default();
        let n = match cell.n {
            [one, two] if one == two => one.to_string(),
            [one, two] => format!("{one}, {two}"),
        };
        let percent = cell.percent.map(|[value, ..]| format!("{value:+.2}"));
        let row = [cell.cells[0].to_string()]
            .into_iter()
            .chain(factors.iter().map(value))
            .chain(cell.means.map(|mean| decimals.text(mean)))
            .chain([fine.signed(cell.difference)])
            .chain([cell.interval.map_or_else(dash, |ends| fine.signed_interval(ends))])
            .chain([percent.unwrap_or_else(dash), n, judgement(cell)]);
        table.row(row);
    }
    table
}

fn judgement(cell: &CellContrast) -> String {
    // No difference is shown, nor that there is none that matters: undecided.
    let word = word(cell.verdict, &cell.metric, true);
    let mut words = match (cell.verdict, cell.regression) {
        (Verdict::Undecided, Some(Regression::NoWorse)) => vec![word, "no worse"],
        // The one-sided test for worse can be significant where the two-sided one is undecided.
        (Verdict::Undecided, Some(Regression::Worse)) => vec!["WORSE"],
        (_, Some(Regression::Worse)) => vec![word, "WORSE"],
        _ => vec![word],
    };
    if cell.is_worse() && !words.contains(&"WORSE") && !cell.fails_more {
        words.push("WORSE IN EVERY RUN");
    }
    if cell.fails_more {
        words.push("FAILS MORE");
    }
    words.join(", ")
}

/// A cell without anything to compare, and why.
fn write_incomparable(it: &Incomparable, out: &mut String) -> fmt::Result {
    let metric = it.metric.as_deref().unwrap_or("any metric");
    let side = |side: usize| {
        let [n, failed] = [it.n[side], it.failed[side]];
        format!("in {n} runs, and {failed} failed")
    };
    let more = if it.fails_more { ", FAILS MORE" } else { "" };
    let [before, now] = [side(0), side(1)];
    let cell = words(&it.factors);
    writeln!(out, "not compared: {cell}: {metric} before {before}; now {now}{more}")
}

/// The comparison as JUnit's XML, which CI systems show: a regression is a failure, a missing verdict is
/// skipped. With a gate that and a missing cell are failures too.
pub fn junit(contrast: &Contrast, has_gate: bool) -> String {
    let escaped = |text: &str| escaped(&printable_line(text));
    let mut cases = Vec::new();
    let mut case = |factors: &Map<String, Value>, metric: &str, outcome: Option<[&str; 2]>| {
        let name = escaped(&format!("{}: {metric}", words(factors)));
        let class = escaped(&contrast.second.scenario);
        let inner = outcome.map_or_else(String::new, |[kind, why]| {
            format!("<{kind} message=\"{}\"/>", escaped(why))
        });
        cases.push(format!("<testcase classname=\"{class}\" name=\"{name}\">{inner}</testcase>"));
    };
    for cell in &contrast.cells {
        let decimals = Decimals::of(cell.means);
        let [before, now] = cell.means.map(|value| decimals.text(value));
        let why = format!("{}: {} {before} before, {now} now", judgement(cell), cell.statistic);
        let is_open = contrast.too_few.is_some() && cell.verdict == Verdict::Undecided;
        let is_shown = cell.regression.is_none_or(|shown| shown == Regression::NoWorse);
        let fails = cell.is_worse() || has_gate && !is_shown;
        let kind = if fails { "failure" } else { "skipped" };
        let outcome = (fails || is_open).then_some([kind, &why]);
        case(&cell.factors, &cell.metric, outcome);
    }
    for it in &contrast.incomparable {
        let fails = it.fails_more || has_gate && it.n[0] > 0;
        let kind = if fails { "failure" } else { "skipped" };
        let ([before, now], [was, is]) = (it.n, it.failed);
        let why =
            format!("not compared: in {before} runs, {was} failed; now in {now}, {is} failed");
        case(&it.factors, it.metric.as_deref().unwrap_or("any metric"), Some([kind, &why]));
    }
    for factors in &contrast.missing {
        let kind = if has_gate { "failure" } else { "skipped" };
        case(factors, "any metric", Some([kind, "only in the first"]));
    }
    // Texts have no such sign.
    let count = |kind: &str| cases.iter().filter(|case| case.contains(kind)).count();
    let [failed, skipped] = ["<failure ", "<skipped "].map(count);
    let (tests, cases) = (cases.len(), cases.join("\n  "));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"trackbed compare\" \
         tests=\"{tests}\" failures=\"{failed}\" skipped=\"{skipped}\">\n  {cases}\n</testsuite>\n"
    )
}

fn write_unmatched(what: &str, cells: &[Map<String, Value>], out: &mut String) -> fmt::Result {
    cells.iter().try_for_each(|factors| writeln!(out, "{what}: {}", words(factors)))
}

fn write_changes(changes: &[Change], out: &mut String) -> fmt::Result {
    if changes.is_empty() {
        return writeln!(out, "same version, scenario, settings and seed");
    }
    writeln!(out, "other changes:")?;
    let line =
        |Change { what, first, second }: &Change| writeln!(out, "  {what}: {first} -> {second}");
    changes.iter().try_for_each(line)
}

fn words(factors: &Map<String, Value>) -> String {
    let words: Vec<String> = factors.values().map(plain).collect();
    if words.is_empty() { "the only cell".to_owned() } else { words.join(" ") }
}
