//! How a page was loaded, object by object: as a table (CSV) and as an HTTP Archive (HAR 1.2),
//! which browsers' developer tools and other viewers draw as a waterfall.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use serde_json::json;
use trackbed_core::event::{Event, Record};

use crate::metrics::time_of;
use crate::samples::cell;

/// An object of a phone's page. Times count from the start of the measured part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bar {
    /// The client.
    pub phone: u32,
    /// Its index on the page.
    pub object: u32,
    /// Its path.
    pub path: String,
    /// Its kind: html, css, js, image, font or other.
    pub kind: String,
    /// The size of its content in bytes.
    pub bytes: u64,
    /// The number of the client's connection on which it came.
    pub connection: Option<u32>,
    /// The number of requests for it.
    pub requests: u32,
    /// When it became known.
    pub found: Duration,
    /// When it was requested, the last time.
    pub requested: Option<Duration>,
    /// When its response began.
    pub begun: Option<Duration>,
    /// When its last byte arrived.
    pub done: Option<Duration>,
    /// When it was parsed or executed.
    pub ready: Option<Duration>,
}

/// The objects of all pages of a run, by phone and index on the page; empty if no page was loaded.
pub fn bars(records: &[Record]) -> Vec<Bar> {
    let start = time_of(records, &Event::Started).unwrap_or_default();
    let mut bars: BTreeMap<(u32, u32), Bar> = BTreeMap::new();
    for Record { at, event } in records {
        let at = *at - start;
        let mut note = |phone: u32, object: u32, change: &dyn Fn(&mut Bar)| {
            bars.get_mut(&(phone, object)).into_iter().for_each(change);
        };
        match event {
            Event::ObjectFound { phone, object, path, kind, bytes, .. } => {
                let bar = Bar {
                    phone: *phone,
                    object: *object,
                    path: path.clone(),
                    kind: kind.clone(),
                    bytes: *bytes,
                    found: at,
                    ..Bar::default()
                };
                bars.insert((*phone, *object), bar);
            }
            Event::ObjectRequested { phone, object, connection } => note(*phone, *object, &|bar| {
                (bar.connection, bar.requested) = (Some(*connection), Some(at));
                bar.requests += 1;
            }),
            Event::ObjectBegun { phone, object } => {
                note(*phone, *object, &|bar| bar.begun = Some(at));
            }
            Event::ObjectDone { phone, object } => {
                note(*phone, *object, &|bar| bar.done = Some(at));
            }
            Event::ObjectReady { phone, object } => {
                note(*phone, *object, &|bar| bar.ready = Some(at));
            }
            _ => {}
        }
    }
    bars.into_values().collect()
}

const HEADING: &str = "phone,object,path,kind,bytes,connection,requests,found_ms,requested_ms,begun_ms,done_ms,\
                       ready_ms";

/// Writes a line for each object; missing values are left empty.
///
/// # Errors
/// If `sink` does.
pub fn write_csv(bars: &[Bar], sink: impl io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(sink);
    writer.write_record(HEADING.split(','))?;
    for bar in bars {
        let time = |at: Option<Duration>| at.map_or_else(String::new, |at| ms(at).to_string());
        writer.write_record([
            bar.phone.to_string(),
            bar.object.to_string(),
            cell(&bar.path).into_owned(),
            cell(&bar.kind).into_owned(),
            bar.bytes.to_string(),
            bar.connection.map_or_else(String::new, |number| number.to_string()),
            bar.requests.to_string(),
            time(Some(bar.found)),
            time(bar.requested),
            time(bar.begun),
            time(bar.done),
            time(bar.ready),
        ])?;
    }
    writer.flush()
}

/// The page of one phone as an archive. `comment` names its source. Objects that did not arrive are
/// left out; the time from an object's discovery to its request is `blocked`, connecting included.
pub fn archive(bars: &[Bar], phone: u32, comment: &str) -> serde_json::Value {
    let bars: Vec<&Bar> = bars.iter().filter(|bar| bar.phone == phone).collect();
    let page = bars.first().map_or("", |bar| bar.path.as_str());
    let loaded = bars.iter().map(|bar| bar.ready.map(ms)).collect::<Option<Vec<f64>>>();
    let loaded = loaded.and_then(|times| times.into_iter().reduce(f64::max));
    json!({ "log": {
        "version": "1.2",
        "creator": { "name": "trackbed", "version": env!("CARGO_PKG_VERSION") },
        "comment": comment,
        "pages": [{
            "startedDateTime": instant(Duration::ZERO),
            "id": "page",
            "title": page,
            "pageTimings": { "onContentLoad": -1, "onLoad": loaded },
        }],
        "entries": bars.into_iter().filter_map(entry).collect::<Vec<_>>(),
    } })
}

fn entry(bar: &Bar) -> Option<serde_json::Value> {
    let (requested, begun, done) = (bar.requested?, bar.begun?, bar.done?);
    let span = |from: Duration, to: Duration| ms(to.saturating_sub(from));
    Some(json!({
        "pageref": "page",
        "startedDateTime": instant(bar.found),
        "time": span(bar.found, done),
        "request": {
            "method": "GET", "url": format!("https://server.test{}", bar.path),
            "httpVersion": "HTTP", "cookies": [], "headers": [], "queryString": [],
            "headersSize": -1, "bodySize": 0,
        },
        "response": {
            "status": 200, "statusText": "", "httpVersion": "HTTP", "cookies": [],
            "headers": [], "redirectURL": "", "headersSize": -1, "bodySize": bar.bytes,
            "content": { "size": bar.bytes, "mimeType": mime(&bar.kind) },
        },
        "cache": {},
        "timings": {
            "blocked": span(bar.found, requested), "dns": -1, "connect": -1, "ssl": -1,
            "send": 0, "wait": span(requested, begun), "receive": span(begun, done),
        },
        "connection": bar.connection.map(|number| number.to_string()),
    }))
}

fn mime(kind: &str) -> &'static str {
    match kind {
        "html" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        "image" => "image/gif",
        "font" => "font/woff2",
        _ => "application/octet-stream",
    }
}

fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}

/// A time in an archive. Runs have no date, so their clock begins in 2000. The formats have
/// milliseconds; the exact times are in the timings.
fn instant(since: Duration) -> String {
    let (seconds, ms) = (since.as_secs(), since.subsec_millis());
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    // A run lasts a day at most.
    format!("2000-01-{:02}T{hours:02}:{minutes:02}:{:02}.{ms:03}Z", days + 1, seconds % 60)
}

#[cfg(test)]
mod tests {
    use trackbed_core::Time;

    use super::*;

    fn records() -> Vec<Record> {
        let found = |object, path: &str, kind: &str| Event::ObjectFound {
            phone: 0,
            object,
            path: path.to_owned(),
            kind: kind.to_owned(),
            bytes: 100,
            blocking: false,
        };
        let requested =
            |object, connection| Event::ObjectRequested { phone: 0, object, connection };
        let events = [
            (1_000, Event::Started),
            (1_000, found(0, "/index.html", "html")),
            (1_020, requested(0, 0)),
            (1_030, Event::ObjectBegun { phone: 0, object: 0 }),
            (1_045, Event::ObjectDone { phone: 0, object: 0 }),
            (1_050, Event::ObjectReady { phone: 0, object: 0 }),
            (1_050, found(1, "/a,b.gif", "image")),
            (1_050, requested(1, 0)),
            (1_090, requested(1, 1)),
        ];
        events.map(|(ms, event)| Record { at: Time::from_millis(ms), event }).to_vec()
    }

    #[test]
    fn a_table_has_a_line_for_each_object() {
        let mut text = Vec::new();
        write_csv(&bars(&records()), &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "phone,object,path,kind,bytes,connection,requests,found_ms,requested_ms,begun_ms,\
             done_ms,ready_ms\n\
             0,0,/index.html,html,100,0,1,0,20,30,45,50\n\
             0,1,\"/a,b.gif\",image,100,1,2,50,90,,,\n"
        );
        assert!(bars(&[]).is_empty());
    }

    #[test]
    fn an_archive_has_the_objects_that_came() {
        let archive = archive(&bars(&records()), 0, "trackbed replay");
        let entries = archive["log"]["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 1);
        let timings = &entries[0]["timings"];
        let parts = ["blocked", "send", "wait", "receive"].map(|it| timings[it].as_f64().unwrap());
        assert_eq!(parts, [20.0, 0.0, 10.0, 15.0]);
        assert_eq!(entries[0]["time"], 45.0);
        assert_eq!(archive["log"]["pages"][0]["pageTimings"]["onLoad"], json!(null));
        assert_eq!(instant(Duration::from_millis(3_723_004)), "2000-01-01T01:02:03.004Z");
    }
}
