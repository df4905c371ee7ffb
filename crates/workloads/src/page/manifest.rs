//! A page described by a manifest: a TOML file with an `[[object]]` for each object.
//!
//! ```toml
//! [[object]]                   # the first one is the page itself
//! path = "/index.html"
//! kind = "html"                # html, css, js, image, font or other
//! size = "30 kB"
//!
//! [[object]]
//! path = "/app.js"
//! kind = "js"
//! size = 90_000
//! found-in = "/index.html"     # default: the object is requested at once
//! found-at = "2 kB"            # bytes of the document before it; default: the whole document
//! blocking = false             # whether it blocks painting; default: true for html, css and js
//! execution = "20 ms"          # until the objects found in it are known
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path as FilePath;
use std::time::Duration;

use serde::Deserialize;
use toml::{Spanned, Value};
use trackbed_core::ByteSize;
use trackbed_core::units::parse_duration;
use trackbed_outward::files;

use super::model::{Found, Kind, Object, Page, path_fault};
use crate::contract::WorkloadError;

pub(super) fn read(file: &FilePath) -> Result<Page, WorkloadError> {
    let refuse = |why: String| {
        let advice = format!("{} {why}; write the path of a page manifest", file.display());
        WorkloadError::new(PARAMETER, advice)
    };
    let text = files::read_bounded(file, FILE_BYTES_MAX)
        .map_err(|why| refuse(format!("cannot be read: {why}")))?;
    let text = String::from_utf8(text).map_err(|_| refuse("is not a text in UTF-8".to_owned()))?;
    parse(&text).map_err(|Refusal { at, what }| {
        let line = text[..at.min(text.len())].matches('\n').count() + 1;
        WorkloadError::new(PARAMETER, format!("{}, line {line}: {what}", file.display()))
    })
}

const PARAMETER: &str = "manifest";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    #[serde(default)]
    object: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    path: Spanned<String>,
    kind: Spanned<String>,
    size: Spanned<Value>,
    found_in: Option<Spanned<String>>,
    found_at: Option<Spanned<Value>>,
    blocking: Option<bool>,
    execution: Option<Spanned<String>>,
}

/// What is wrong, and at which byte of the text.
#[derive(Debug)]
struct Refusal {
    at: usize,
    what: String,
}

fn refusal<T>(span: &Range<usize>, what: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { at: span.start, what: what.into() })
}

fn parse(text: &str) -> Result<Page, Refusal> {
    let manifest: Manifest = toml::from_str(text).map_err(|why| Refusal {
        at: why.span().map_or(0, |span| span.start),
        what: format!("{}; `trackbed list keys` shows the format of a manifest", why.message()),
    })?;
    if manifest.object.is_empty() {
        return refusal(&(0..0), "the page is empty; write an [[object]] for each of its objects");
    }
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, entry) in manifest.object.iter().enumerate() {
        let path = &entry.get_ref().path;
        if let Some(fault) = path_fault(path.get_ref()) {
            return refusal(&path.span(), format!("the path \"{}\" {fault}", path.get_ref()));
        }
        if places.insert(path.get_ref(), index).is_some() {
            let what =
                format!("\"{}\" occurs twice; give each object a separate path", path.get_ref());
            return refusal(&path.span(), what);
        }
    }
    check_folders(&manifest.object, &places)?;
    let objects = manifest.object.iter().map(|entry| object(entry.get_ref(), &places, &manifest));
    let page = Page::new(objects.collect::<Result<_, _>>()?);
    page.map_err(|fault| Refusal {
        at: manifest.object[fault.object].span().start,
        what: fault.what,
    })
}

/// A path cannot be both a file and a folder: third-party servers serve the page from a disk.
fn check_folders(
    objects: &[Spanned<Entry>],
    places: &BTreeMap<&str, usize>,
) -> Result<(), Refusal> {
    for object in objects {
        let path = &object.get_ref().path;
        let folders = path.get_ref().match_indices('/').map(|(at, _)| &path.get_ref()[..at]);
        if let Some(folder) = folders.into_iter().find(|folder| places.contains_key(folder)) {
            let what = format!(
                "\"{}\" lies below \"{folder}\", which is an object itself; rename one of them",
                path.get_ref()
            );
            return refusal(&path.span(), what);
        }
    }
    Ok(())
}

fn object(
    entry: &Entry,
    places: &BTreeMap<&str, usize>,
    manifest: &Manifest,
) -> Result<Object, Refusal> {
    let Some(kind) = Kind::from_name(entry.kind.get_ref()) else {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let names = names.join(", ");
        let what = format!("unknown kind \"{}\"; write one of {names}", entry.kind.get_ref());
        return refusal(&entry.kind.span(), what);
    };
    Ok(Object {
        path: entry.path.get_ref().clone(),
        kind,
        bytes: bytes(&entry.size, "size")?,
        found: found(entry, places, manifest)?,
        blocking: entry.blocking.unwrap_or(kind.blocks()),
        execution: match &entry.execution {
            None => Duration::ZERO,
            Some(text) => match parse_duration(text.get_ref()) {
                Ok(span) => span,
                Err(why) => return refusal(&text.span(), format!("execution: {why}")),
            },
        },
    })
}

fn found(
    entry: &Entry,
    places: &BTreeMap<&str, usize>,
    manifest: &Manifest,
) -> Result<Option<Found>, Refusal> {
    let Some(parent) = &entry.found_in else {
        return match &entry.found_at {
            None => Ok(None),
            Some(at) => refusal(&at.span(), "found-at needs an object; add found-in"),
        };
    };
    let Some(&by) = places.get(parent.get_ref().as_str()) else {
        let what = format!(
            "found-in names \"{}\", which is not on the page; write the path of an object",
            parent.get_ref()
        );
        return refusal(&parent.span(), what);
    };
    let Some(place) = &entry.found_at else { return Ok(Some(Found { by, at: None })) };
    let at = bytes(place, "found-at")?;
    let found_in = manifest.object[by].get_ref();
    if found_in.kind.get_ref() != Kind::Html.name() {
        let what = "only documents are read while they arrive; remove found-at";
        return refusal(&place.span(), what);
    }
    let size = bytes(&found_in.size, "size")?;
    if at > size {
        let what = format!(
            "found-at is {at} bytes, but \"{}\" has only {size}; write at most this number",
            parent.get_ref()
        );
        return refusal(&place.span(), what);
    }
    Ok(Some(Found { by, at: Some(at) }))
}

fn bytes(value: &Spanned<Value>, key: &str) -> Result<u64, Refusal> {
    let advice = "write a whole number of bytes from 0 on, or a size such as \"30 kB\"";
    let bytes = match value.get_ref() {
        Value::Integer(bytes) => {
            u64::try_from(*bytes).map_err(|_| format!("{key} is {bytes}; {advice}"))
        }
        Value::String(text) => {
            text.parse().map(ByteSize::as_bytes).map_err(|why| format!("{key}: {why}"))
        }
        other => Err(format!("{key} is {}; {advice}", other.type_str())),
    };
    match bytes {
        Ok(bytes) if bytes <= OBJECT_BYTES_MAX => Ok(bytes),
        Ok(bytes) => refusal(
            &value.span(),
            format!("{key} is {bytes} bytes; an object has at most {OBJECT_BYTES_MAX}"),
        ),
        Err(what) => refusal(&value.span(), what),
    }
}

/// For longer transfers, there is the workload `bulk`.
pub(super) const OBJECT_BYTES_MAX: u64 = 1_000_000_000;

/// The maximum size of a manifest or an archive.
pub(super) const FILE_BYTES_MAX: u64 = 256_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../tests/data/manifest.toml");

    #[test]
    fn a_manifest_says_everything_about_a_page() {
        let page = parse(PAGE).unwrap();
        let [document, script, data] = page.objects() else { panic!("{page:?}") };
        assert_eq!((document.kind, document.bytes, document.found), (Kind::Html, 30_000, None));
        assert!(document.blocking && !script.blocking && !data.blocking);
        assert_eq!(script.found, Some(Found { by: 0, at: Some(2_000) }));
        assert_eq!(script.execution, Duration::from_millis(20));
        assert_eq!((data.bytes, data.found), (0, Some(Found { by: 1, at: None })));
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_what_to_write() {
        for row in include_str!("../../tests/data/manifest-mistakes.txt").lines() {
            let fields: Vec<&str> = row.split(" | ").collect();
            let [from, to, line, message] = fields[..] else { panic!("{row}") };
            assert!(PAGE.contains(from), "{from}");
            let text = PAGE.replace(from, &to.replace("\\n", "\n"));
            let Refusal { at, what } = parse(&text).unwrap_err();
            assert!(what.contains(message), "{to}: {what}");
            assert_eq!((text[..at].matches('\n').count() + 1).to_string(), line, "{to}: {what}");
        }
        assert!(parse("").unwrap_err().what.starts_with("the page is empty; write"));
        let at_once = "found-in = '/index.html'\nfound-at = '2 kB'";
        assert!(PAGE.contains(at_once));
        let circle = PAGE.replace(at_once, "found-in = '/data/1.json'");
        assert!(parse(&circle).unwrap_err().what.contains("in a circle (/app.js in /data/1.json"));
    }
}
