//! Checks that lines quoted from the repository still exist.

use std::path::{Path, PathBuf};

use super::block::{self, Block};
use super::compare::{Difference, is_quoted};
use super::read;

/// An error if a page quotes missing lines.
pub fn check(root: &Path, pages: &[PathBuf]) -> Result<(), String> {
    for page in pages {
        let at = |line: usize| format!("{}:{line}", page.display());
        let blocks = block::blocks(&read(&root.join(page))?)
            .map_err(|(line, why)| format!("{}: {why}", at(line)))?;
        for block in blocks {
            let Block::Quote(quote) = block else { continue };
            let text = read(&root.join(&quote.path)).map_err(|why| at(quote.line) + ": " + &why)?;
            let text: Vec<String> = text.lines().map(str::to_owned).collect();
            if let Err(Difference::Missing(line, _)) = is_quoted(&quote.shown, &text) {
                let shown = quote.shown.get(line).map_or("", String::as_str);
                let (at, path) = (at(quote.line + 1 + line), quote.path);
                return Err(format!("{at}: {path} does not contain this line here:\n    {shown}"));
            }
        }
    }
    Ok(())
}
