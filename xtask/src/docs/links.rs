//! Checks links to files of the repository and to anchors of the built pages. External links are
//! not followed.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::pages;
use super::stage::{self, Place};
use crate::files::read;

/// A link of a page.
#[derive(Debug)]
pub struct Link {
    /// Where it is, from the root of the repository.
    pub page: PathBuf,
    pub line: usize,
    /// Its target, also from the root.
    pub target: PathBuf,
    /// The text after `#`.
    pub anchor: Option<String>,
    /// The position of its destination in the page.
    pub destination: Range<usize>,
}

/// Links of all pages that lead to anchors; an error if one leads to a missing file.
pub fn targets(pages: &[PathBuf]) -> Result<Vec<Link>, String> {
    let summary = Path::new(pages::SOURCE).join("SUMMARY.md");
    let mut checked = Vec::new();
    for page in std::iter::once(&summary).chain(pages).chain(&stage::outside(pages)?) {
        for link in of(page, &read(page)?) {
            if !link.target.is_file() {
                let (line, target) = (link.line, link.target.display());
                return Err(format!("{}:{line}: {target} is not a file", page.display()));
            }
            checked.push(link);
        }
    }
    checked.retain(|link| link.anchor.is_some());
    Ok(checked)
}

/// An error if the page to which a link leads has no such anchor in the built book.
pub fn anchors(links: &[Link]) -> Result<(), String> {
    for link in links {
        let (Some(anchor), Place::Chapter(place)) = (&link.anchor, stage::place(&link.target))
        else {
            continue;
        };
        let built = Path::new("target/book").join(place).with_extension("html");
        if !read(&built)?.contains(&format!("id=\"{anchor}\"")) {
            let (page, line) = (link.page.display(), link.line);
            let target = link.target.display();
            return Err(format!("{page}:{line}: {target} has no heading #{anchor}"));
        }
    }
    Ok(())
}

/// Links of a page into the repository.
pub fn of(page: &Path, text: &str) -> Vec<Link> {
    let folder = page.parent().unwrap_or(Path::new(""));
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let (Event::Start(Tag::Link { link_type, dest_url, .. })
        | Event::Start(Tag::Image { link_type, dest_url, .. })) = event
        else {
            continue;
        };
        if link_type != LinkType::Inline || dest_url.contains("://") {
            continue;
        }
        let Some(at) = text[range.clone()].rfind(&format!("]({dest_url}")) else { continue };
        let start = range.start + at + 2;
        let (path, anchor) = match dest_url.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_owned())),
            None => (&*dest_url, None),
        };
        let target = if path.is_empty() { page.to_owned() } else { normal(&folder.join(path)) };
        links.push(Link {
            page: page.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            target,
            anchor,
            destination: start..start + dest_url.len(),
        });
    }
    links
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_from_their_page() {
        let text =
            "# A\n[b](b.md#x) and\n[c](../LIMITATIONS.md), [n](https://example.org/), [s](#a)\n";
        let links = of(Path::new("docs/how/a.md"), text);
        let seen: Vec<_> = links
            .iter()
            .map(|link| (link.line, link.target.to_str().unwrap(), link.anchor.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                (2, "docs/how/b.md", Some("x")),
                (3, "docs/LIMITATIONS.md", None),
                (3, "docs/how/a.md", Some("a")),
            ]
        );
        assert_eq!(&text[links[1].destination.clone()], "../LIMITATIONS.md");
    }
}
