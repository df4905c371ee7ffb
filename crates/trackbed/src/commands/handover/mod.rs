//! `trackbed handover`: tables of where a train's handovers are expected.

mod arguments;
mod build;

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use arguments::{HandoverCommand, MergeArguments, ShowArguments};
use build::settings;
use trackbed_railway::handover::{Learner, Table};
use trackbed_report::handover;

use crate::ending::Ending;
use crate::output::{self, shell_word, tell};

pub use arguments::{Arguments, column};
pub(super) use build::outline;

/// Builds, shows or merges tables.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    match &arguments.command {
        HandoverCommand::Build(arguments) => build::execute(arguments),
        HandoverCommand::Show(arguments) => show(arguments),
        HandoverCommand::Merge(arguments) => merge(arguments),
    }?;
    Ok(Ending::Success)
}

fn merge(arguments: &MergeArguments) -> anyhow::Result<()> {
    let load = |path: &PathBuf| Table::load(path);
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

fn show(arguments: &ShowArguments) -> anyhow::Result<()> {
    let table = Table::load(&arguments.table)?;
    let operators: Vec<String> = match arguments.operators.is_empty() {
        true => table.operators().map(str::to_owned).collect(),
        false => arguments.operators.clone(),
    };
    let mut text = handover::ranges(&table, &operators)?;
    text.push('\n');
    if let Some(path) = &arguments.svg {
        let picture = handover::svg(&table, &operators)?;
        fs::write(path, picture).with_context(|| format!("cannot write {}", path.display()))?;
        tell(format_args!("picture: {}", shell_word(path)));
    }
    output::print(&text)
}
