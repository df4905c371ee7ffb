//! The documentation: builds the book, checks its links, and executes its commands.

mod bless;
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

use std::fs;
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
    /// Execute them and write their output into the pages.
    Bless(String),
}

/// Runs it in the root of the repository, with the program that was built there.
pub fn run(mode: &Mode, built: &Path, ledger: &mut Ledger) -> Result<(), String> {
    let root = Path::new(".");
    let program = std::path::absolute(needs::program_or(built)).map_err(|why| why.to_string())?;
    let blesses = matches!(mode, Mode::Bless(_));
    if *mode != Mode::Build {
        commands::check(root, &program, blesses)?;
    }
    let pages = pages::listed(root)?;
    if matches!(mode, Mode::Check | Mode::Build) {
        quotes::check(root, &pages)?;
        let staged = stage::stage(root, &pages)?;
        let checked = links::targets(root, &pages)?;
        if mdbook::build(&staged, ledger)? {
            links::anchors(&checked)?;
        }
    }
    match mode {
        Mode::Build => Ok(()),
        Mode::Check => execute::execute(root, &pages, "", &program, false, ledger),
        Mode::Execute(part) | Mode::Bless(part) => {
            execute::execute(root, &pages, part, &program, blesses, ledger)
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|why| format!("{}: {why}", path.display()))
}

/// An empty folder in place of whatever is there.
fn fresh(folder: &Path) -> Result<(), String> {
    let removed = match fs::remove_dir_all(folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    };
    removed
        .and_then(|()| fs::create_dir_all(folder))
        .map_err(|why| format!("{}: {why}", folder.display()))
}
