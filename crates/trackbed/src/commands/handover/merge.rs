//! `trackbed handover merge`

use anyhow::Context as _;
use trackbed_railway::handover::{Learner, Table};

use super::arguments::MergeArguments;
use super::build::{outline, settings};
use crate::output::{shell_word, tell};

/// Merges several tables into one.
///
/// # Errors
/// If a table cannot be read, the tables are for different tracks, or the result cannot be written.
pub fn execute(arguments: &MergeArguments) -> anyhow::Result<()> {
    let load = |path: &std::path::PathBuf| Table::load(path);
    let tables = arguments.tables.iter().map(load).collect::<Result<Vec<Table>, _>>()?;
    let widest = tables.iter().map(Table::margin_m).fold(0.0, f64::max);
    let mut learner = Learner::continuing(&tables[0], settings(&arguments.ranges, widest))?;
    for (path, table) in arguments.tables.iter().zip(&tables).skip(1) {
        learner.merge(table).with_context(|| path.display().to_string())?;
    }
    let merged = learner.table();
    merged.save(&arguments.output)?;
    tell(format_args!("{}: {}", shell_word(&arguments.output), outline(&merged)?));
    Ok(())
}
