//! Which metrics figures show, and what their captions say.

use trackbed_analysis::groups::Section;
use trackbed_analysis::number::plural;
use trackbed_measure::lists::distinct;
use trackbed_measure::metrics;
use trackbed_measure::results::CellResult;

/// `1 run`, `30 runs` or `7 to 30 runs`
pub(crate) fn range(numbers: impl Iterator<Item = u32> + Clone, what: &str) -> String {
    match (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0)) {
        (1, 1) => format!("1 {what}"),
        (least, most) if least < most => format!("{least} to {most} {what}s"),
        (_, most) => format!("{most} {what}s"),
    }
}

/// The number of runs behind `metric`, what failed, and which direction is better; `lost` are cells of which all runs
/// failed.
pub(crate) fn caption(cells: &[(u32, &CellResult)], lost: &[&CellResult], metric: &str) -> String {
    let n = cells.iter().filter_map(|(_, cell)| Some(cell.metrics.get(metric)?.n));
    let mut text = format!("n = {} per cell", range(n, "run"));
    let drawn = cells.iter().map(|(_, cell)| *cell);
    let failed: u32 = drawn.chain(lost.iter().copied()).map(|cell| cell.failed).sum();
    let invalid: u32 = cells.iter().map(|(_, cell)| cell.invalid).sum();
    match failed {
        0 => text.push_str("; none failed"),
        failed => text.push_str(&format!("; {failed} failed and are not included")),
    }
    if !lost.is_empty() {
        text.push_str(&format!(", and with them {}", plural(lost.len() as u64, "cell")));
    }
    if invalid > 0 {
        text.push_str(&format!("; {invalid} left out because the machine was too slow"));
    }
    text.push('.');
    if let Some(less) = metrics::less_is_better(metric) {
        text.push_str(if less { " Lower is better." } else { " Higher is better." });
    }
    text
}

/// At most `most` metrics whose values differ: those that rank cells first, then in registry order.
pub(crate) fn telling(section: &Section<'_>, most: usize) -> Vec<&'static str> {
    let ranking = section.headline().into_iter().chain(section.declared());
    let compared = ranking.chain(metrics::COMPARED).map(|compared| compared.name);
    let all = compared.chain(metrics::registry().iter().map(|metric| metric.name));
    let differ = |name: &&str| {
        let mut found = section.results().filter_map(|cell| cell.metrics.get(*name));
        let first = found.clone().next().map(|summary| summary.mean);
        found.any(|other| other.min < other.max || Some(other.mean) != first)
    };
    let mut names = distinct(all.filter(differ));
    let headline = section.headline().map(|compared| compared.name);
    if let Some(headline) = headline.filter(|headline| !names.contains(headline)) {
        names.insert(0, headline);
    }
    names.truncate(most);
    names
}
