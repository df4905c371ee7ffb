//! A page: its objects, and what leads from one to the next.

use std::fmt;
use std::time::Duration;

use trackbed_connection::Priority;
use trackbed_core::named;

/// A page with its objects; the first one is the document itself. Every object is reachable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    objects: Vec<Object>,
    /// For each object those that are found in it, in their own order.
    children: Vec<Vec<usize>>,
}

/// A part of a page that is requested by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// Where it is, see [`path_fault`].
    pub(super) path: String,
    pub(super) kind: Kind,
    /// The length of its content in bytes, as it is transferred.
    pub(super) bytes: u64,
    /// What leads to it; without it, it is requested at once.
    pub(super) found: Option<Found>,
    /// Whether nothing is painted before it is there.
    pub(super) blocking: bool,
    /// How long it takes to be parsed or executed once it has arrived.
    pub(super) execution: Duration,
}

/// Where an object is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The place among the page's objects of the one that names it.
    pub(super) by: usize,
    /// It is found when so many bytes of that one have arrived; otherwise when all of it has, and
    /// has been parsed or executed.
    pub(super) at: Option<u64>,
}

named! {
    /// What an object is to a browser.
    pub(super) enum Kind {
        /// A document.
        Html = "html",
        /// A style sheet.
        Css = "css",
        /// A script.
        Js = "js",
        /// An image.
        Image = "image",
        /// A font.
        Font = "font",
        /// Anything else, such as what a script fetches.
        Other = "other",
    }
}

impl Kind {
    /// Whether browsers paint nothing before such an object is there, unless they are told.
    pub(super) fn blocks(self) -> bool {
        matches!(self, Kind::Html | Kind::Css | Kind::Js)
    }
}

impl Object {
    /// The priority with which Chromium requests it. Its levels from `HIGHEST` down are the
    /// urgencies from 0 up; images start at `LOWEST`, which is 3, as do scripts that block
    /// nothing.
    pub(super) fn priority(&self) -> Priority {
        let (urgency, incremental) = match self.kind {
            Kind::Html => (0, true),
            Kind::Css if self.blocking => (0, false),
            Kind::Font => (0, false),
            Kind::Js if self.blocking => (1, false),
            Kind::Other => (1, true),
            Kind::Css | Kind::Js => (3, false),
            Kind::Image => (3, true),
        };
        Priority { urgency, incremental }
    }
}

/// Why objects do not make a page: which of them, by its place, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) object: usize,
    pub(super) what: String,
}

impl Page {
    /// The page of which `objects` are the parts. Each `found.by` is the place of one of them.
    ///
    /// # Errors
    /// If the first one is found in another, or objects are found in one another in a circle.
    pub(super) fn new(objects: Vec<Object>) -> Result<Page, Fault> {
        let fault = |object, what| Err(Fault { object, what });
        if objects.first().is_some_and(|first| first.found.is_some()) {
            let what = "the first object is the page itself and is found in no other; put it \
                        first, and leave out what it is found in";
            return fault(0, what.to_owned());
        }
        for index in 0..objects.len() {
            if let Some(circle) = circle(&objects, index) {
                let names: Vec<&str> =
                    circle.iter().map(|object| objects[*object].path.as_str()).collect();
                let names = Chain(&names);
                let what = format!(
                    "objects are found in one another in a circle ({names}), so that none of them \
                     is ever requested; find one of them elsewhere"
                );
                return fault(index, what);
            }
        }
        let mut children = vec![Vec::new(); objects.len()];
        for (index, object) in objects.iter().enumerate() {
            if let Some(found) = object.found {
                children[found.by].push(index);
            }
        }
        Ok(Page { objects, children })
    }

    /// All objects, the document first.
    pub(super) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The places of the objects that are found in object `index`.
    pub(super) fn children(&self, index: usize) -> &[usize] {
        &self.children[index]
    }
}

/// The circle that leads from object `index` back to it, if one does.
fn circle(objects: &[Object], index: usize) -> Option<Vec<usize>> {
    let mut way = vec![index];
    let mut at = index;
    while let Some(found) = objects[at].found {
        at = found.by;
        way.push(at);
        if at == index {
            return Some(way);
        }
        if way.len() > objects.len() {
            // It leads into a circle of others, which are met when it is their turn.
            return None;
        }
    }
    None
}

/// Names with what leads from one to the next; the middle of a long way is left out.
struct Chain<'a>(&'a [&'a str]);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0;
        match names.len() > NAMES_MAX {
            false => f.write_str(&names.join(" in ")),
            true => {
                let (start, end) = (names[..NAMES_MAX - 1].join(" in "), names[names.len() - 1]);
                write!(f, "{start} in ... in {end}")
            }
        }
    }
}

const NAMES_MAX: usize = 6;

/// What is wrong with a path, if anything: it must be the name of a file too, since other servers
/// serve the page from a folder.
pub(super) fn path_fault(path: &str) -> Option<&'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut segments = path.split('/').skip(1);
    if !path.starts_with('/') {
        Some("does not begin with a slash; write \"/style.css\"")
    } else if !path.bytes().all(allowed) {
        Some("has other characters than letters, digits, and -._~/; write \"/style.css\"")
    } else if path.ends_with('/') {
        Some("names no file; write \"/index.html\"")
    } else if segments.any(|segment| matches!(segment, "" | "." | "..") || segment.len() > 255) {
        Some(
            "has a part that is empty, a dot, two dots, or longer than 255 bytes; write \
             \"/images/1.gif\"",
        )
    } else if path.len() > PATH_LEN_MAX {
        Some("is longer than 1024 bytes; write a shorter one")
    } else {
        None
    }
}

const PATH_LEN_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn object(path: &str, by: Option<usize>) -> Object {
        Object {
            path: path.to_owned(),
            kind: Kind::Other,
            bytes: 1,
            found: by.map(|by| Found { by, at: None }),
            blocking: false,
            execution: Duration::ZERO,
        }
    }

    #[test]
    fn children_stand_below_what_they_are_found_in() {
        let objects =
            [object("/", None), object("/a", Some(2)), object("/b", Some(0)), object("/c", None)];
        let page = Page::new(objects.to_vec()).unwrap();
        assert_eq!([0, 1, 2, 3].map(|index| page.children(index)), [&[2][..], &[], &[1], &[]]);
    }

    #[test]
    fn circles_are_named() {
        let objects = vec![object("/", None), object("/a", Some(2)), object("/b", Some(1))];
        let fault = Page::new(objects).unwrap_err();
        assert_eq!(fault.object, 1);
        assert!(fault.what.contains("(/a in /b in /a)"), "{}", fault.what);
        let alone = Page::new(vec![object("/", None), object("/a", Some(1))]).unwrap_err();
        assert!(alone.what.contains("(/a in /a)"), "{}", alone.what);
        // One that leads into the circle is not on it.
        let objects = [("/", None), ("/x", Some(2)), ("/a", Some(3)), ("/b", Some(2))];
        let objects = objects.map(|(path, by)| object(path, by)).to_vec();
        assert_eq!(Page::new(objects).unwrap_err().object, 2);
        assert_eq!(Page::new(vec![object("/", Some(0))]).unwrap_err().object, 0);
    }

    #[test]
    fn paths_are_names_of_files() {
        for path in ["/a", "/index.html", "/a/b-c_d~1.min.js"] {
            assert_eq!(path_fault(path), None, "{path}");
        }
        let long = format!("/{}", "a".repeat(256));
        for path in
            ["", "a", "/", "/a/", "//a", "/./a", "/a/..", "/a?b", "/a b", "/%41", "/\u{e4}", &long]
        {
            assert!(path_fault(path).is_some(), "{path}");
        }
    }
}
