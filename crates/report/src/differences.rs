//! The table of differences: what each cell differs by from the best one it is comparable with.

use std::fmt::{self, Write as _};

use trackbed_analysis::groups::{Group, Section};
use trackbed_analysis::significance::word;
use trackbed_measure::metrics::{Compared, split_unit};

use crate::number::{Decimals, dash};
use crate::table::{Align, Table};
use crate::words::numbered;

/// One table for all groups, if anything was compared.
pub(crate) fn of(section: &Section<'_>, metric: &str) -> Option<Table> {
    let groups = section.groups(metric);
    (!groups.is_empty()).then(|| table(section, metric, &groups))
}

/// Writes one table for all groups.
pub(crate) fn write(section: &Section<'_>, compared: &Compared, out: &mut String) -> fmt::Result {
    let Compared { name: metric, title, .. } = compared;
    let groups = section.groups(metric);
    let against = match groups.as_slice() {
        [] => return Ok(()),
        [only] => numbered(section.document, only.best),
        _ => "the best cell under the same conditions".to_owned(),
    };
    let pairs = match section.document.shares_seeds() {
        true => "same seeds, same losses",
        false => "in turn over the same network",
    };
    let mut differences = groups.iter().flat_map(|group| &group.differences);
    let statistic = if differences.any(|one| one.median.is_some()) { "median" } else { "mean" };
    writeln!(
        out,
        "\nDifference in {title} from {against}: {statistic}, paired by run ({pairs})\n"
    )?;
    write!(out, "{}", table(section, metric, &groups))
}

/// A row for each cell that is compared with another.
fn table(section: &Section<'_>, metric: &str, groups: &[Group<'_>]) -> Table {
    let factors = section.factors();
    let (_, unit) = split_unit(metric);
    let mut columns = vec![("cell".to_owned(), Align::Right)];
    columns.extend(factors.iter().map(|name| (name.clone(), Align::Left)));
    if groups.len() > 1 {
        columns.push(("against\ncell".to_owned(), Align::Right));
    }
    let titles = [format!("difference\n{unit}"), "95 % CI".to_owned(), "%".to_owned()];
    columns.extend(titles.map(|title| (title, Align::Right)));
    columns.extend([("n".to_owned(), Align::Right), ("verdict".to_owned(), Align::Left)]);
    let mut table = Table::new(columns);
    let all = || groups.iter().flat_map(|group| &group.differences);
    let decimals = Decimals::of(all().map(|difference| difference.headline().value));
    let percents = Decimals::of(all().filter_map(|difference| difference.headline().percent));
    let with_group = groups.iter().flat_map(|it| it.differences.iter().map(move |one| (it, one)));
    for (group, difference) in with_group {
        let Some(cell) = section.document.cells.get(difference.cell as usize) else { continue };
        let mut row = vec![difference.cell.to_string()];
        row.extend(factors.iter().map(|name| cell.factor_text(name)));
        row.extend((groups.len() > 1).then(|| difference.against.to_string()));
        let shown = difference.headline();
        row.push(decimals.signed(shown.value));
        row.push(shown.ci95.map_or_else(dash, |ends| decimals.signed_interval(ends)));
        row.push(shown.percent.map_or_else(dash, |percent| percents.signed(percent)));
        row.push(difference.n.to_string());
        row.push(word(shown.verdict, metric, group.is_too_few()).to_owned());
        table.row(row);
    }
    table
}
