//! Handover tables as text and as pictures.

mod drive;
mod svg;

use trackbed_railway::handover::{HandoverError, Lookup, Range, Table};
use trackbed_railway::motion::Direction;

use crate::table::Table as TextTable;

pub use drive::drive_svg;
pub use svg::svg;

/// A table's content: a summary line, and a row for each range. `operators` are those to show, in
/// this order.
///
/// # Errors
/// If the table has no such operator.
pub fn ranges(table: &Table, operators: &[String]) -> Result<String, HandoverError> {
    let mut rows =
        TextTable::titled("operator|direction|>from km|>to km|>length m|>rides|>share %|>age|");
    for operator in operators {
        for direction in Direction::BOTH {
            let used = Lookup::new(table, operator, direction)?;
            for range in table.ranges(operator, direction)? {
                let note = if used.ranges().contains(range) { "" } else { "too rare, ignored" };
                rows.row([
                    operator.clone(),
                    direction.name().to_owned(),
                    format!("{:.3}", range.from_m / 1e3),
                    format!("{:.3}", range.until_m / 1e3),
                    format!("{:.0}", range.until_m - range.from_m),
                    range.rides.to_string(),
                    format!("{:.0}", 100.0 * table.share(operator, range, direction)),
                    table.age(operator, range, direction).to_string(),
                    note.to_owned(),
                ]);
            }
        }
    }
    let mut text = format!(
        "track of {:.1} km; {} rides forward, {} backward; margin {} m\n\n{rows}",
        table.track().length_m() / 1e3,
        table.rides(Direction::Forward),
        table.rides(Direction::Backward),
        table.margin_m(),
    );
    for operator in operators {
        text.push_str(&blocked(table, operator)?);
    }
    Ok(text)
}

/// The share of the track that an operator's ranges cover.
fn blocked(table: &Table, operator: &str) -> Result<String, HandoverError> {
    let share = |direction| -> Result<f64, HandoverError> {
        let lookup = Lookup::new(table, operator, direction)?;
        let length = |range: &Range| range.until_m - range.from_m;
        let taken: f64 = lookup.ranges().iter().map(length).sum();
        Ok(100.0 * taken / table.track().length_m())
    };
    let (forward, backward) = (share(Direction::Forward)?, share(Direction::Backward)?);
    Ok(format!(
        "\nranges of {operator} cover {forward:.1} % of the track forward, {backward:.1} % backward"
    ))
}
