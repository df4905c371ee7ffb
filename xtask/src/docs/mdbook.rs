//! mdBook, which builds a site from the pages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo::cargo;
use crate::ledger::Ledger;

/// The version whose output the link checker knows.
const VERSION: &str = "0.5.4";

/// Builds the book in `staged` to `target/book`; false without mdBook.
pub fn build(staged: &Path, ledger: &mut Ledger) -> Result<bool, String> {
    let Some(program) = provide(ledger)? else { return Ok(false) };
    let output = Command::new(&program)
        .arg("build")
        .arg(staged)
        .stdin(Stdio::null())
        .output()
        .map_err(|why| format!("cannot start {}: {why}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    // mdBook continues after an error in a chapter.
    let complains = ["ERROR", "WARN"].iter().any(|level| said.contains(level));
    if !output.status.success() || complains {
        return Err(format!("mdbook build: {}\n{said}", output.status));
    }
    Ok(true)
}

/// The program: that of `PATH` if it is the right version, else our own, compiled once (about a
/// minute of two cores).
fn provide(ledger: &mut Ledger) -> Result<Option<PathBuf>, String> {
    let tools = Path::new("target/tools");
    let ours = tools.join("bin/mdbook");
    for program in [PathBuf::from("mdbook"), ours.clone()] {
        if is_right(&program) {
            return Ok(Some(program));
        }
    }
    eprintln!("    compiling mdbook {VERSION} once");
    let installed = cargo()
        .args(["install", "mdbook", "--version", VERSION, "--locked", "--quiet"])
        .args(["--no-default-features", "--features", "search", "--root"])
        .arg(tools)
        .stdin(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if installed && is_right(&ours) {
        return Ok(Some(ours));
    }
    let message =
        format!("mdbook {VERSION} is missing; run: cargo install mdbook --version {VERSION}");
    if ledger.strict {
        return Err(message);
    }
    eprintln!("    {message}; the book is not built");
    ledger.skip(&message);
    Ok(None)
}

fn is_right(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.stdout.trim_ascii().ends_with(VERSION.as_bytes()))
}
