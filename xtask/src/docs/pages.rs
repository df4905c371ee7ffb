//! Which pages the book has.

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::files::{read, told};

/// The book's sources, from the root of the repository.
pub const SOURCE: &str = "docs";

/// Pages in the order of the summary, by their paths from the root. Every Markdown file of the
/// sources must be listed, or readers would not find it.
pub fn listed() -> Result<Vec<PathBuf>, String> {
    let summary = read(Path::new(SOURCE).join("SUMMARY.md"))?;
    let pages: Vec<PathBuf> = links(&summary)
        .iter()
        .map(|link| Path::new(SOURCE).join(link.split('#').next().unwrap_or_default()))
        .collect();
    let mut files = Vec::new();
    collect(Path::new(SOURCE), &mut files)?;
    for file in files {
        if file.ends_with("SUMMARY.md") || pages.contains(&file) {
            continue;
        }
        return Err(format!("{} is not listed in {SOURCE}/SUMMARY.md", file.display()));
    }
    Ok(pages)
}

/// Where a page's links lead, as written.
fn links(text: &str) -> Vec<String> {
    Parser::new_ext(text, Options::empty())
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
            _ => None,
        })
        .collect()
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(told(folder.display()))? {
        let path = entry.map_err(told(folder.display()))?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            into.push(path);
        }
    }
    into.sort();
    Ok(())
}
