//! The table of cells.

use trackbed_analysis::groups::Section;
use trackbed_measure::metrics::{Compared, split_unit};
use trackbed_measure::results::{CellResult, MetricSummary};

use crate::number::{Decimals, dash, significant};
use crate::spread::Scale;
use crate::table::{Align, Table};
use crate::words::title;

/// A column of the table: its title, and a text for each cell.
struct Column {
    title: String,
    align: Align,
    texts: Vec<String>,
}

/// Each cell with its number, its factors, what arithmetic expects, and the values that matter, in the
/// `width` of a terminal if it is one; what does not fit there is named below.
pub(crate) fn table(section: &Section<'_>, width: Option<usize>) -> String {
    let Some(width) = width else { return whole(section, false).to_string() };
    let with_spread = whole(section, true);
    let (table, gone) = with_spread.fit(width, |title| title.starts_with("min to"));
    if gone.is_empty() {
        return table.to_string();
    }
    let shown: Vec<String> = COLUMNS.iter().map(|(name, _)| title(name)).collect();
    let (table, gone) = table.fit(width, |title| shown.iter().any(|name| name == title));
    match gone.as_slice() {
        [] => table.to_string(),
        gone => format!("{table}(no room for {}; -v shows them)\n", gone.join(", ")),
    }
}

/// The table in full; with the spread of samples as a line where wished.
pub(crate) fn whole(section: &Section<'_>, has_spread: bool) -> Table {
    let cells: &[&CellResult] = &section.results().collect::<Vec<_>>();
    let headline = section.headline();
    let left = |title: String, texts| Column { title, align: Align::Left, texts };
    let mut columns = vec![right("cell", section.cells.iter().map(|index| index.to_string()))];
    for name in section.factors() {
        let texts = cells.iter().map(|cell| cell.factor_text(&name)).collect();
        columns.push(left(name, texts));
    }
    let expected = cells.iter().any(|cell| cell.expected_round_trips.is_some());
    if expected {
        let count = |cell: &CellResult| cell.expected_round_trips.map(|count| count.to_string());
        let time = |cell: &CellResult| cell.expected_completion_ms.map(significant);
        columns.push(right("expected\nRTTs", cells.iter().map(|c| count(c).unwrap_or_else(dash))));
        columns.push(right("\n= ms", cells.iter().map(|c| time(c).unwrap_or_else(dash))));
    }
    if let Some(compared) = headline {
        let metric = compared.name;
        columns.extend(with_interval(cells, compared));
        let summaries = cells.iter().filter_map(|cell| cell.metrics.get(metric));
        if let Some(scale) = Scale::of(summaries).filter(|_| has_spread) {
            let line = |cell: &&CellResult| cell.metrics.get(metric).map(|s| scale.draw(s));
            let texts = cells.iter().map(|cell| line(cell).unwrap_or_default()).collect();
            columns.push(left(scale.title(), texts));
        }
    }
    // Next to missed deadlines, the times show how soon the others were met.
    let mut others = section.declared();
    others.retain(|one| Some(*one) != headline && When::NotZero.holds(one.name, cells, expected));
    columns.extend(others.iter().flat_map(|compared| with_interval(cells, compared)));
    let is_told = |name: &str| headline.into_iter().chain(others.clone()).any(|it| it.name == name);
    for (name, when) in COLUMNS {
        if !is_told(name) && when.holds(name, cells, expected) {
            let mean = |cell: &CellResult| cell.mean(name);
            columns.push(numbers(cells, &title(name), mean));
        }
    }
    columns.push(right("n", cells.iter().map(|cell| cell.ran().to_string())));
    columns.push(right("failed", cells.iter().map(|cell| cell.failed.to_string())));

    let mut table = Table::new(columns.iter().map(|column| (column.title.clone(), column.align)));
    for index in 0..cells.len() {
        table.row(columns.iter().map(|column| column.texts[index].clone()));
    }
    table
}

/// The interval of a mean or median; there is none of few runs, and where all runs gave the same it is no
/// more than that.
pub(crate) fn interval(
    summary: &MetricSummary,
    ends: Option<[f64; 2]>,
    decimals: Decimals,
) -> String {
    match ends {
        Some(_) if summary.min == summary.max => "constant".to_owned(),
        Some(ends) => decimals.interval(ends),
        None => dash(),
    }
}

/// When a metric is shown besides the first one.
enum When {
    Always,
    /// Where arithmetic does not already give the result.
    NotExpected,
    /// Where it is not zero everywhere.
    NotZero,
    /// Where cells differ, or there is only one: a schedule gives all of them the same throughput.
    Differs,
    /// Where there is this other metric too.
    Beside(&'static str),
}

impl When {
    /// Whether the metric called `name` is shown.
    fn holds(&self, name: &str, cells: &[&CellResult], expected: bool) -> bool {
        let mut means = cells.iter().filter_map(|cell| cell.mean(name));
        match self {
            When::Always => means.next().is_some(),
            When::NotExpected => !expected && means.next().is_some(),
            When::Beside(other) => {
                cells.iter().any(|cell| cell.metrics.contains_key(*other)) && means.next().is_some()
            }
            When::NotZero => means.any(|mean| mean > 0.0),
            When::Differs => {
                let first = means.next();
                let is_other = |mean: f64| first.is_some_and(|one| (mean - one).abs() > 1e-3 * one);
                first.is_some() && (cells.len() == 1 || means.any(is_other))
            }
        }
    }
}

const COLUMNS: [(&str, When); 19] = [
    ("first_paint_ms", When::Always),
    ("ttfb_ms", When::Always),
    ("rtt_ms", When::Always),
    ("startup_delay_ms", When::Always),
    ("seek_delay_ms", When::Always),
    ("rebuffering_ms", When::NotZero),
    ("media_bitrate_mbps", When::Always),
    ("throughput_mbps", When::Differs),
    ("handover_goodput_mbps", When::Always),
    ("gap_ms", When::Always),
    ("retransmission_percent", When::NotExpected),
    ("deadline_miss_ratio", When::NotZero),
    ("late_verdict_ratio", When::NotZero),
    ("dropped_count", When::NotZero),
    ("wrong_verdict_count", When::NotZero),
    ("verification_cpu_percent", When::Always),
    ("fps", When::Always),
    // What the frames are paid for with.
    ("answer_rate_hz", When::Beside("fps")),
    ("cpu_percent", When::Always),
];

/// The value that ranks cells, its interval and, for times, the highest percentile that the samples of
/// every cell can estimate.
fn with_interval(cells: &[&CellResult], compared: &Compared) -> Vec<Column> {
    let summary = |cell: &CellResult| cell.metrics.get(compared.name).cloned();
    let decimals = Decimals::of(cells.iter().filter_map(|cell| compared.of(cell)));
    let value = |cell| compared.of(cell).map_or_else(dash, |value| decimals.text(value));
    let span =
        |cell| summary(cell).map_or_else(dash, |s| interval(&s, compared.interval(&s), decimals));
    let (name, unit) = split_unit(compared.name);
    let statistic = if compared.by_median() { "median" } else { "mean" };
    let name = name.replace('_', " ");
    let mut columns = vec![
        right(&format!("{name}\n{statistic} {unit}"), cells.iter().copied().map(value)),
        right("95 % CI", cells.iter().copied().map(span)),
    ];
    let tails = cells.iter().filter_map(|cell| summary(cell)?.tail());
    if let Some((name, _)) = tails.min_by_key(|(name, _)| *name).filter(|_| compared.by_median()) {
        let of = |s: &MetricSummary| match name {
            "p99" => Some((s.p99, s.p99_ci95)),
            _ => s.tail().map(|_| (s.p95, s.p95_ci95)),
        };
        let tail = |cell| summary(cell).and_then(|s| Some((of(&s)?, s)));
        let text = |cell| tail(cell).map_or_else(dash, |((v, _), _)| decimals.text(v));
        columns.push(right(name, cells.iter().copied().map(text)));
        let ends = |cell| tail(cell).and_then(|((_, ends), s)| Some((s, ends?)));
        if cells.iter().copied().any(|cell| ends(cell).is_some()) {
            let span = |(s, ends)| interval(&s, Some(ends), decimals);
            let text = |cell| ends(cell).map_or_else(dash, span);
            columns.push(right("95 % CI", cells.iter().copied().map(text)));
        }
    }
    columns
}

fn numbers(
    cells: &[&CellResult],
    title: &str,
    value: impl Fn(&CellResult) -> Option<f64>,
) -> Column {
    let decimals = Decimals::of(cells.iter().copied().filter_map(&value));
    let text = |cell| value(cell).map_or_else(dash, |value| decimals.text(value));
    right(title, cells.iter().copied().map(text))
}

fn right(title: &str, texts: impl Iterator<Item = String>) -> Column {
    Column { title: title.to_owned(), align: Align::Right, texts: texts.collect() }
}
