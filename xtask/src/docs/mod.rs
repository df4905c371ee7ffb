//! The documentation: builds the book, checks its links, and executes its commands.

mod block;
mod commands;
mod compare;
mod execute;
mod links;
mod mdbook;
mod needs;
mod pages;
mod quotes;
mod stage;

use std::path::Path;

use crate::ledger::Ledger;

/// What to do with the documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Build the book, check its links, execute its commands.
    Check,
    /// Build the book and check its links.
    Build,
    /// Execute the commands of pages whose path contains this, and nothing else.
    Execute(String),
    /// Regenerate the page of the command line.
    Bless,
}

/// Runs it in the root of the repository, with the program that was built there.
pub fn run(mode: &Mode, built: &Path, ledger: &mut Ledger) -> Result<(), String> {
    let program = std::path::absolute(needs::program_or(built)).map_err(|why| why.to_string())?;
    if *mode != Mode::Build {
        commands::check(&program, *mode == Mode::Bless)?;
    }
    let pages = pages::listed()?;
    if matches!(mode, Mode::Check | Mode::Build) {
        quotes::check(&pages)?;
        let staged = stage::stage(&pages)?;
        let checked = links::targets(&pages)?;
        if mdbook::build(&staged, ledger)? {
            links::anchors(&checked)?;
        }
    }
    match mode {
        Mode::Build | Mode::Bless => Ok(()),
        Mode::Check => execute::execute(&pages, "", &program, ledger),
        Mode::Execute(part) => execute::execute(&pages, part, &program, ledger),
    }
}
