//! The book's sources with all linked files: pages link to files outside their folder, which a site
//! would not have. In a copy below `target` these become chapters or text files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::links::{self, Link};
use super::pages;
use crate::files::{fresh, read, write};

/// What `book.toml` adds to the theme.
const STYLE: &str = "docs/book.css";

/// The place of a repository file in the staged sources.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// As a page of the site.
    Chapter(PathBuf),
    /// As text, under a name that browsers show.
    Text(PathBuf),
}

/// Writes the staged book to `target/book-source`, and returns its path.
pub fn stage(pages: &[PathBuf]) -> Result<PathBuf, String> {
    let folder = PathBuf::from("target/book-source");
    let sources = folder.join(pages::SOURCE);
    fresh(&folder)?;
    write(folder.join("book.toml"), read("book.toml")?.replace("target/book", "../book"))?;
    write(folder.join(STYLE), &read(STYLE)?)?;
    let outside = outside(pages)?;
    let mut texts = BTreeSet::new();
    for page in pages.iter().chain(&outside) {
        let text = read(page)?;
        let found = links::of(page, &text);
        let (Place::Chapter(place) | Place::Text(place)) = place(page);
        write(sources.join(&place), led(&text, &found, &place))?;
        texts.extend(found.into_iter().map(|link| link.target));
    }
    for text in &texts {
        let (Place::Text(place), from) = (place(text), text) else { continue };
        if from.is_file() {
            write(sources.join(place), &read(from)?)?;
        }
    }
    let mut summary = read(Path::new(pages::SOURCE).join("SUMMARY.md"))?;
    summary.push_str("\n# The project\n\n");
    for page in &outside {
        let (Place::Chapter(place) | Place::Text(place)) = place(page);
        let text = read(page)?;
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("Page");
        summary.push_str(&format!("- [{title}]({})\n", place.display()));
    }
    write(sources.join("SUMMARY.md"), &summary)?;
    Ok(folder)
}

/// Pages of the project outside of the book's folder: those that it, or one of them, links to.
pub fn outside(pages: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut next = pages.to_vec();
    while let Some(page) = next.pop() {
        for Link { target, .. } in links::of(&page, &read(&page)?) {
            let is_page = target.extension().is_some_and(|extension| extension == "md");
            let is_new = !target.starts_with(pages::SOURCE) && !found.contains(&target);
            if is_page && is_new && target.is_file() {
                next.push(target.clone());
                found.push(target);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Where a file of the repository goes.
pub fn place(file: &Path) -> Place {
    if let Ok(inside) = file.strip_prefix(pages::SOURCE) {
        let is_page = inside.extension().is_some_and(|extension| extension == "md");
        return if is_page { Place::Chapter(inside.to_owned()) } else { text(inside) };
    }
    match file.extension() {
        Some(extension) if extension == "md" => {
            Place::Chapter(Path::new("project").join(file.file_name().unwrap_or_default()))
        }
        _ => text(&Path::new("source").join(file)),
    }
}

fn text(place: &Path) -> Place {
    let mut name = place.as_os_str().to_owned();
    let is_shown = |extension: &OsStr| SHOWN.iter().any(|shown| extension == *shown);
    if place.extension().is_some_and(|extension| !is_shown(extension)) {
        name.push(".txt");
    }
    Place::Text(name.into())
}

/// What browsers show under its own name.
const SHOWN: [&str; 3] = ["json", "txt", "svg"];

/// The text of the page at `place`, its links as they are in the staged sources.
fn led(text: &str, links: &[Link], place: &Path) -> String {
    let up = "../".repeat(place.components().count() - 1);
    let mut written = String::new();
    let mut at = 0;
    for link in links {
        let (Place::Chapter(target) | Place::Text(target)) = self::place(&link.target);
        written.push_str(&text[at..link.destination.start]);
        written.push_str(&format!("{up}{}", target.display()));
        if let Some(anchor) = &link.anchor {
            written.push_str(&format!("#{anchor}"));
        }
        at = link.destination.end;
    }
    written.push_str(&text[at..]);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_folder_lead_to_what_was_put_in() {
        let page = Path::new("docs/how-to/link.md");
        let text =
            "[l](../../LIMITATIONS.md#x) [s](../../crates/net/src/loss.rs) ![a](../pictures/a.svg)";
        let Place::Chapter(place) = place(page) else { panic!("a page is a chapter") };
        assert_eq!(
            led(text, &links::of(page, text), &place),
            "[l](../project/LIMITATIONS.md#x) [s](../source/crates/net/src/loss.rs.txt) ![a](../pictures/a.svg)"
        );
    }
}
