//! A page: its objects and their dependencies.

use std::time::Duration;

use trackbed_connection::Priority;
use trackbed_core::named;

/// A page with its objects; the first one is the document itself. Every object is reachable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    objects: Vec<Object>,
    /// For each object the objects found in it, in order.
    children: Vec<Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// Its path, see [`path_fault`].
    pub(super) path: String,
    pub(super) kind: Kind,
    /// The length of its content in bytes, as transferred.
    pub(super) bytes: u64,
    /// Where it is found; otherwise it is requested at once.
    pub(super) found: Option<Found>,
    pub(super) blocking: bool,
    /// The time to parse or execute it after its arrival.
    pub(super) execution: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) by: usize,
    /// The bytes of that object after which it is found; otherwise once all is parsed or executed.
    pub(super) at: Option<u64>,
}

named! {
    pub(super) enum Kind {
        Html = "html",
        Css = "css",
        Js = "js",
        Image = "image",
        Font = "font",
        /// Anything else, such as what a script fetches.
        Other = "other",
    }
}

impl Kind {
    pub(super) fn blocks(self) -> bool {
        matches!(self, Kind::Html | Kind::Css | Kind::Js)
    }
}

impl Object {
    /// The priority with which Chromium requests it. Its levels from `HIGHEST` down are the
    /// urgencies from 0 up; images start at `LOWEST`, which is 3, as do scripts that block nothing.
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

/// Why objects do not form a page: the index of the wrong one, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) object: usize,
    pub(super) what: String,
}

impl Page {
    /// The page that consists of `objects`. Each `found.by` is the index of one of them.
    pub(super) fn new(objects: Vec<Object>) -> Result<Page, Fault> {
        let fault = |object, what| Err(Fault { object, what });
        if objects.first().is_some_and(|first| first.found.is_some()) {
            let what = "the first object is the page itself and is not found in another; put the \
                        page first, and remove its found-in";
            return fault(0, what.to_owned());
        }
        for index in 0..objects.len() {
            if let Some(circle) = circle(&objects, index) {
                let names: Vec<&str> = circle.iter().map(|it| objects[*it].path.as_str()).collect();
                let what = format!(
                    "objects are found in one another in a circle ({}), so none of them is ever \
                     requested; change the found-in of one",
                    chain(&names)
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

    pub(super) fn objects(&self) -> &[Object] {
        &self.objects
    }

    pub(super) fn children(&self, index: usize) -> &[usize] {
        &self.children[index]
    }
}

/// The circle that leads from object `index` back to it, if there is one.
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
            // It leads into a circle of other objects, which are checked in turn.
            return None;
        }
    }
    None
}

/// The chain of names; the middle of a long one is left out.
fn chain(names: &[&str]) -> String {
    match names {
        [start @ .., end] if start.len() >= NAMES_MAX => {
            format!("{} in ... in {end}", start[..NAMES_MAX - 1].join(" in "))
        }
        _ => names.join(" in "),
    }
}

const NAMES_MAX: usize = 6;

/// What is wrong with a path, if anything: it must be a valid file name too, because third-party
/// servers serve the page from a folder.
pub(super) fn path_fault(path: &str) -> Option<&'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut segments = path.split('/').skip(1);
    if !path.starts_with('/') {
        Some("does not begin with a slash; write \"/style.css\"")
    } else if !path.bytes().all(allowed) {
        Some("has characters other than letters, digits, and -._~/; write \"/style.css\"")
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
pub(super) mod tests {
    use super::*;

    pub fn object(path: &str, by: Option<usize>) -> Object {
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
        // One that leads into the circle is not part of it.
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
