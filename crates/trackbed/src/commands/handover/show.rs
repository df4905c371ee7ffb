//! `trackbed handover show`

use std::fs;

use anyhow::Context as _;
use trackbed_railway::handover::Table;
use trackbed_report::handover;

use super::arguments::ShowArguments;
use crate::output::{self, shell_word, tell};

/// Shows a table.
///
/// # Errors
/// If the table cannot be read, has no such operator, or the picture cannot be written.
pub fn execute(arguments: &ShowArguments) -> anyhow::Result<()> {
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
