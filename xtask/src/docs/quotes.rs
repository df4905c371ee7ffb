//! Checks that lines quoted from the repository still exist.

use std::path::PathBuf;

use super::block::{self, Block};
use super::compare::{Difference, is_quoted};
use crate::files::read;

/// An error if a page quotes missing lines.
pub fn check(pages: &[PathBuf]) -> Result<(), String> {
    for page in pages {
        let at = |line: usize| format!("{}:{line}", page.display());
        let blocks =
            block::blocks(&read(page)?).map_err(|(line, why)| format!("{}: {why}", at(line)))?;
        for block in blocks {
            let Block::Quote(quote) = block else { continue };
            let text = read(&quote.path).map_err(|why| at(quote.line) + ": " + &why)?;
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
