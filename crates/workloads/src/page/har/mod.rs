//! A page recorded by a browser: the HTTP Archive format (HAR) 1.2.
//!
//! Every answered request becomes an object, in the order in which they began. One server has all
//! of them, whatever their origins, at separate paths, so that a repeated request stays repeated.
//! Redirects, headers, cookies and server times are not reproduced.
//!
//! *Sizes* are the transferred ones: `response.bodySize`; if a browser does not give it, Chrome's
//! `_transferSize`, which includes headers; for an object from a cache, the size of its content,
//! or, if that was compressed, the length in its headers. What a page takes from a cache a second time
//! is no request.
//!
//! *Dependencies* are redirects, or `_initiator`; without either, an object is found in
//! the one that ended last before it began. One that began while the document that led to it was
//! arriving is found at that place in it, in proportion to the time.

mod format;

use std::collections::BTreeSet;
use std::path::Path as FilePath;
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use trackbed_outward::files;

use super::manifest::{FILE_BYTES_MAX, OBJECT_BYTES_MAX};
use super::model::{Found, Kind, Object, Page};
use crate::contract::WorkloadError;
use format::{Archive, Entry, Response};

/// Reads the page in the archive `file`; the first one, if there are several.
pub(super) fn read(file: &FilePath) -> Result<Page, WorkloadError> {
    let refuse = |why: String| {
        let advice = format!("{}: {why}", file.display());
        WorkloadError::new("har", advice)
    };
    let text = files::read_text(file, FILE_BYTES_MAX)
        .map_err(|why| refuse(format!("cannot be read: {why}; give the path of a .har file")))?;
    parse(&text).map_err(refuse)
}

fn parse(text: &str) -> Result<Page, String> {
    let archive: Archive = serde_json::from_str(text)
        .map_err(|why| format!("is not an HTTP archive: {why}; export one from a browser"))?;
    let recorded = Recorded::all(archive)?;
    let objects = (0..recorded.len()).map(|index| object(&recorded, index));
    let page = Page::new(objects.collect::<Result<_, _>>()?);
    page.map_err(|fault| format!("{}: {}", recorded[fault.object].name(), fault.what))
}

struct Recorded {
    entry: Entry,
    /// Its place in the file, for messages.
    number: usize,
    /// The times of its begin, first byte and end, in milliseconds.
    begin: f64,
    first_byte: f64,
    end: f64,
}

impl Recorded {
    /// The answered requests of the archive's first page, in the order in which they began.
    fn all(archive: Archive) -> Result<Vec<Recorded>, String> {
        let first = archive.log.pages.unwrap_or_default().into_iter().next().map(|page| page.id);
        let of_the_page = |entry: &Entry| match (&first, &entry.pageref) {
            (Some(first), Some(page)) => first == page,
            _ => true,
        };
        let mut all = Vec::new();
        for (index, entry) in archive.log.entries.into_iter().enumerate() {
            if of_the_page(&entry) && is_transfer(&entry) {
                let after = all.last().map_or(0.0, |last: &Recorded| last.end);
                all.push(Recorded::new(entry, index + 1, after)?);
            }
        }
        all.sort_by(|a, b| a.begin.total_cmp(&b.begin));
        let mut known = BTreeSet::new();
        all.retain(|one| known.insert(one.url().to_owned()) || !is_from_cache(&one.entry));
        match all.is_empty() {
            true => Err("the page is empty: the archive has no answered HTTP request; record it \
                         while the page loads"
                .to_owned()),
            false => Ok(all),
        }
    }

    /// The entry begins at `after` if its own time is not known.
    fn new(entry: Entry, number: usize, after: f64) -> Result<Recorded, String> {
        let started = entry.started.as_deref();
        let begin = started.map_or(Some(after), milliseconds).ok_or_else(|| {
            format!(
                "{}: startedDateTime is \"{}\"; write a time such as 2024-05-01T10:00:00.000Z",
                name(number, &entry.request.url),
                started.unwrap_or_default()
            )
        })?;
        let span =
            |value: Option<f64>| value.filter(|ms| ms.is_finite() && *ms > 0.0).unwrap_or(0.0);
        let before = entry.timings.as_ref();
        let before = before.map_or([None; 5], |t| [t.blocked, t.dns, t.connect, t.send, t.wait]);
        let end = begin + span(entry.time);
        let first_byte = (begin + before.into_iter().map(span).sum::<f64>()).min(end);
        Ok(Recorded { begin, first_byte, end, number, entry })
    }

    fn name(&self) -> String {
        name(self.number, &self.entry.request.url)
    }

    fn url(&self) -> &str {
        &self.entry.request.url
    }
}

/// The milliseconds from 1970 to `text` (ISO 8601, the profile of RFC 3339), for example
/// `2024-05-01T10:00:00.250+02:00`; `None` if it is malformed.
fn milliseconds(text: &str) -> Option<f64> {
    let time: DateTime<FixedOffset> = text.parse().ok()?;
    Some(time.timestamp() as f64 * 1e3 + f64::from(time.timestamp_subsec_nanos()) / 1e6)
}

fn name(number: usize, url: &str) -> String {
    let short: String = url.chars().take(URL_SHOWN_MAX).collect();
    format!("entry {number} ({short})")
}

/// Whether an entry was sent by a server. A response without a status was never answered.
fn is_transfer(entry: &Entry) -> bool {
    let url = entry.request.url.as_str();
    let web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    let is_tunnel = entry.request.method.as_deref() == Some("CONNECT");
    web && !is_tunnel && (200.0..600.0).contains(&status(entry))
}

/// Whether neither a body nor headers were transferred.
fn is_from_cache(entry: &Entry) -> bool {
    let Response { body_size, transfer_size, .. } = &entry.response;
    *transfer_size == Some(0.0) && body_size.is_none_or(|size| size <= 0.0)
}

fn status(entry: &Entry) -> f64 {
    entry.response.status.unwrap_or(0.0)
}

fn is_redirect(entry: &Entry) -> bool {
    (300.0..400.0).contains(&status(entry))
}

fn object(all: &[Recorded], index: usize) -> Result<Object, String> {
    let recorded = &all[index];
    let kind = kind(&recorded.entry);
    let low = ["Medium", "Low", "VeryLow"];
    let deferred = kind == Kind::Js
        && recorded.entry.priority.as_deref().is_some_and(|priority| low.contains(&priority));
    Ok(Object {
        path: path(index, recorded.url()),
        kind,
        bytes: bytes(recorded)?,
        found: found(all, index),
        blocking: kind.blocks() && !deferred,
        execution: Duration::ZERO,
    })
}

/// The transferred bytes of the response's body.
fn bytes(recorded: &Recorded) -> Result<u64, String> {
    let response = &recorded.entry.response;
    let whole = response.content.as_ref();
    let content = whole.and_then(|it| Some(it.size? - it.compression.unwrap_or(0.0)));
    // Answers with these states have no body.
    let is_empty = is_redirect(&recorded.entry) || status(&recorded.entry) == 204.0;
    let header = |name: &str| {
        let mut headers = response.headers.iter().flatten();
        headers.find(|header| header.name.eq_ignore_ascii_case(name))
    };
    let length = || match is_empty {
        true => Some(0.0),
        false => header("content-length")?.value.trim().parse().ok(),
    };
    let content = content.filter(|size| *size >= 0.0);
    let is_unpacked = header("content-encoding").is_some()
        && whole.is_some_and(|content| content.compression.is_none());
    let content = if is_unpacked { length().or(content) } else { content.or_else(length) };
    let known = match (response.body_size, response.transfer_size) {
        (Some(body), _) if body > 0.0 => Some(body),
        // Only headers were transferred.
        (Some(0.0), Some(transferred)) if transferred > 0.0 => Some(0.0),
        (Some(0.0), _) => content.or(Some(0.0)),
        (_, Some(transferred)) if transferred > 0.0 => Some(transferred),
        _ => content,
    };
    let size = known.map(|size| size as u64).ok_or_else(|| {
        format!(
            "{}: neither response.bodySize nor response.content.size gives its length; export the \
             archive with contents, or remove the entry",
            recorded.name()
        )
    })?;
    match size <= OBJECT_BYTES_MAX {
        true => Ok(size),
        false => Err(format!(
            "{}: {size} bytes; an object has at most {OBJECT_BYTES_MAX}; remove the entry",
            recorded.name()
        )),
    }
}

fn kind(entry: &Entry) -> Kind {
    let chrome = entry.resource_type.as_deref().unwrap_or("");
    let content = entry.response.content.as_ref();
    let mime = content.and_then(|content| content.mime_type.as_deref()).unwrap_or("");
    let mime = mime.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match (chrome, mime.as_str()) {
        ("document", _) => Kind::Html,
        ("stylesheet", _) => Kind::Css,
        ("script", _) => Kind::Js,
        ("image", _) => Kind::Image,
        ("font", _) => Kind::Font,
        ("xhr" | "fetch" | "other" | "media" | "preflight" | "ping" | "manifest", _) => Kind::Other,
        (_, "text/html" | "application/xhtml+xml") => Kind::Html,
        (_, "text/css") => Kind::Css,
        (_, mime) if mime.contains("javascript") || mime.contains("ecmascript") => Kind::Js,
        (_, mime) if mime.starts_with("image/") => Kind::Image,
        (_, mime) if mime.starts_with("font/") || mime.contains("font-") => Kind::Font,
        _ => Kind::Other,
    }
}

/// A unique path for the object that shows its origin: the end of its URL's path.
fn path(index: usize, url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or("");
    let last = path.splitn(4, '/').nth(3).unwrap_or("").rsplit('/').next().unwrap_or("");
    let allowed = |c: &char| c.is_ascii_alphanumeric() || "-._~".contains(*c);
    let last: Vec<char> = last.chars().filter(allowed).collect();
    let last: String = last[last.len().saturating_sub(NAME_LEN_MAX)..].iter().collect();
    format!("/{index}-{}", if last.is_empty() { "index" } else { &last })
}

fn found(all: &[Recorded], index: usize) -> Option<Found> {
    let recorded = &all[index];
    if let Some(by) = redirect(all, index).or_else(|| initiator(all, index)) {
        return match recorded.begin < all[by].end && kind(&all[by].entry) == Kind::Html {
            true => while_it_arrived(recorded, by, &all[by]),
            false => Some(Found { by, at: None }),
        };
    }
    let ended = |redirects| {
        let by = ended_before(all, index, redirects)?;
        Some(Found { by, at: None })
    };
    let is_document =
        |other: &Recorded| !is_redirect(&other.entry) && kind(&other.entry) == Kind::Html;
    let document = || {
        let by = all[..index].iter().position(is_document)?;
        while_it_arrived(recorded, by, &all[by])
    };
    ended(false).or_else(document).or_else(|| ended(true))
}

/// The place in the document `parent` of an object that began before the document had ended. One
/// that began before its first byte was found elsewhere: it was pushed or known in advance.
fn while_it_arrived(recorded: &Recorded, by: usize, parent: &Recorded) -> Option<Found> {
    let (since, span) = (recorded.begin - parent.first_byte, parent.end - parent.first_byte);
    let size = bytes(parent).unwrap_or(0);
    let at = (size as f64 * since / span) as u64;
    (since >= 0.0 && span > 0.0).then_some(Found { by, at: Some(at) })
}

/// The response that redirected to this object: the last one before it, unless the same address was requested
/// in between.
fn redirect(all: &[Recorded], index: usize) -> Option<usize> {
    let target = resolved("", all[index].url());
    for (place, earlier) in all[..index].iter().enumerate().rev() {
        let to = earlier.entry.response.redirect_url.as_deref().unwrap_or("");
        if is_redirect(&earlier.entry) && !to.is_empty() && resolved(earlier.url(), to) == target {
            return Some(place);
        }
        if resolved("", earlier.url()) == target {
            return None;
        }
    }
    None
}

/// The address `to`, which may be relative to `base` (RFC 3986, section 5.2), without its scheme, since browsers
/// change HTTP to HTTPS, and without fragment.
fn resolved(base: &str, to: &str) -> String {
    let without_scheme = |url: &str| url.split_once("//").map_or("", |(_, rest)| rest).to_owned();
    let to = to.split('#').next().unwrap_or("");
    let base = without_scheme(base.split(['?', '#']).next().unwrap_or(""));
    let host = base.split('/').next().unwrap_or("");
    let is_absolute =
        to.starts_with("//") || to.split(['/', '?']).next().unwrap_or("").ends_with(':');
    let full = match to.chars().next() {
        _ if is_absolute => without_scheme(to),
        Some('/') => format!("{host}{to}"),
        None | Some('?') => format!("{base}{to}"),
        Some(_) => format!("{}/{to}", base.rsplit_once('/').map_or(host, |(folder, _)| folder)),
    };
    let (path, query) = full.split_at(full.find('?').unwrap_or(full.len()));
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "." => {}
            // The first one is the host.
            ".." => steps.truncate(steps.len().saturating_sub(1).max(1)),
            _ => steps.push(step),
        }
    }
    let slash = if steps.len() == 1 { "/" } else { "" };
    format!("{}{slash}{query}", steps.join("/"))
}

/// The object that the archive names as initiator: the last one of that URL that began before it or, if
/// there is none, one that began later.
fn initiator(all: &[Recorded], index: usize) -> Option<usize> {
    let url = all[index].entry.initiator.as_ref()?.url()?;
    let named = |other: &usize| *other != index && all[*other].url() == url;
    (0..index).rev().find(named).or_else(|| (index..all.len()).find(named))
}

/// The response that ended last before this object was requested. What is no redirect leads to more than its
/// target.
fn ended_before(all: &[Recorded], index: usize, redirects: bool) -> Option<usize> {
    let ended = (0..index).filter(|other| {
        all[*other].end <= all[index].begin && is_redirect(&all[*other].entry) == redirects
    });
    ended.max_by(|a, b| all[*a].end.total_cmp(&all[*b].end))
}

const URL_SHOWN_MAX: usize = 100;
const NAME_LEN_MAX: usize = 80;

#[cfg(test)]
mod tests;
