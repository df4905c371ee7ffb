//! The loading times of a web page and its objects.

use std::collections::BTreeMap;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};

use super::{Metric, ms, time_of};

pub(super) const TIMES: &[Metric] = metrics! {
    "plt_ms", |records| each(records, |page| page.loaded) =>
        "page load time of each phone: from the start of the measured part, connection set-up \
         included, until every object has arrived and was parsed or executed";
    "first_paint_ms", |records| each(records, |page| page.painted.or_else(|| first_paint(page))) =>
        "time from the start of the measured part until a page can first be painted: the document \
         and all blocking objects (style sheets, and scripts unless declared otherwise) have \
         arrived and were parsed or executed; with a third-party browser, its own first paint";
    "ttfb_ms", |records| each(records, |page| page.objects.get(&DOCUMENT)?.begun) =>
        "time to first byte: from the start of the measured part, connection set-up included, \
         until the document's response begins";
};

pub(super) const OBJECTS: &[Metric] = metrics! {
    "objects_count", |records| {
        let pages = pages(records).into_values();
        pages.map(|page| page.done().count() as f64).collect()
    } => "completely received objects of a page";
    "connections_count", |records| {
        // Third-party clients do not report this.
        let pages = pages(records).into_values().filter(|page| page.connections > 0);
        pages.map(|page| f64::from(page.connections)).collect()
    } =>
        "connections that a phone opened to load a page, including those too late to be used";
    "object_requested_ms", |records| waterfall(records, |object| object.requested) =>
        "time of each object of a page, in page order, from the start of the measured part to its \
         request, the last one if a connection broke; the page's waterfall together with the next \
         two";
    "object_begun_ms", |records| waterfall(records, |object| object.begun) =>
        "time from the start of the measured part until each object's response began";
    "object_done_ms", |records| waterfall(records, |object| object.done) =>
        "time from the start of the measured part until each object's last byte";
};

/// The document's index among the objects.
const DOCUMENT: u32 = 0;

#[derive(Default)]
struct Page {
    objects: BTreeMap<u32, Object>,
    connections: u32,
    painted: Option<Time>,
    loaded: Option<Time>,
}

#[derive(Default)]
struct Object {
    blocking: bool,
    requested: Option<Time>,
    begun: Option<Time>,
    done: Option<Time>,
    ready: Option<Time>,
}

impl Page {
    fn done(&self) -> impl Iterator<Item = Time> {
        self.objects.values().filter_map(|object| object.done)
    }
}

/// The pages of all phones that started to load one.
fn pages(records: &[Record]) -> BTreeMap<u32, Page> {
    let mut pages: BTreeMap<u32, Page> = BTreeMap::new();
    let mut connections: BTreeMap<u32, u32> = BTreeMap::new();
    for record in records {
        let mut object = |phone: u32, object: u32, note: &dyn Fn(&mut Object)| {
            note(pages.entry(phone).or_default().objects.entry(object).or_default());
        };
        let at = Some(record.at);
        match &record.event {
            Event::ConnectStarted { phone, .. } => *connections.entry(*phone).or_default() += 1,
            Event::ObjectFound { phone, object: number, blocking, .. } => {
                object(*phone, *number, &|object| object.blocking = *blocking);
            }
            Event::ObjectRequested { phone, object: number, .. } => {
                object(*phone, *number, &|object| object.requested = at);
            }
            Event::ObjectBegun { phone, object: number } => {
                object(*phone, *number, &|object| object.begun = at);
            }
            Event::ObjectDone { phone, object: number } => {
                object(*phone, *number, &|object| object.done = at);
            }
            Event::ObjectReady { phone, object: number } => {
                object(*phone, *number, &|object| object.ready = at);
            }
            Event::PagePainted { phone } => pages.entry(*phone).or_default().painted = at,
            Event::PageLoaded { phone } => pages.entry(*phone).or_default().loaded = at,
            _ => {}
        }
    }
    for (phone, page) in &mut pages {
        page.connections = connections.get(phone).copied().unwrap_or(0);
    }
    pages
}

/// A time of each phone's page, in milliseconds after the start of the measured part.
fn each(records: &[Record], time: impl Fn(&Page) -> Option<Time>) -> Vec<f64> {
    let Some(start) = time_of(records, &Event::Started) else { return Vec::new() };
    pages(records).into_values().filter_map(|page| time(&page)).map(|at| ms(at - start)).collect()
}

fn waterfall(records: &[Record], time: impl Fn(&Object) -> Option<Time>) -> Vec<f64> {
    let Some(start) = time_of(records, &Event::Started) else { return Vec::new() };
    let objects = pages(records).into_values().flat_map(|page| page.objects.into_values());
    objects.filter_map(|object| Some(ms(time(&object)? - start))).collect()
}

/// When the last blocking object was ready.
fn first_paint(page: &Page) -> Option<Time> {
    let awaited =
        page.objects.iter().filter(|(number, object)| **number == DOCUMENT || object.blocking);
    awaited.map(|(_, object)| object.ready).collect::<Option<Vec<Time>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compute(metric: &str, records: &[Record]) -> Vec<f64> {
        let found = TIMES.iter().chain(OBJECTS).find(|known| known.name == metric).unwrap();
        (found.compute)(records)
    }

    fn found(object: u32, blocking: bool) -> Event {
        let (path, kind) = (format!("/{object}"), "css".to_owned());
        Event::ObjectFound { phone: 0, object, path, kind, bytes: 10, blocking }
    }

    fn requested(object: u32, connection: u32) -> Event {
        Event::ObjectRequested { phone: 0, object, connection }
    }

    /// A document, a style sheet that is requested twice, and an image.
    fn records() -> Vec<Record> {
        let begun = |object| Event::ObjectBegun { phone: 0, object };
        let done = |object| Event::ObjectDone { phone: 0, object };
        let ready = |object| Event::ObjectReady { phone: 0, object };
        let connect = |connection| Event::ConnectStarted { phone: 0, connection };
        let events = [
            (100, Event::Started),
            (100, found(0, true)),
            (100, connect(0)),
            (150, requested(0, 0)),
            (200, begun(0)),
            (210, done(0)),
            (215, ready(0)),
            (215, found(1, true)),
            (215, found(2, false)),
            (215, requested(1, 0)),
            (220, connect(1)),
            (260, requested(1, 1)),
            (265, requested(2, 1)),
            (300, begun(2)),
            (310, begun(1)),
            (320, done(1)),
            (330, ready(1)),
            (400, done(2)),
            (400, ready(2)),
            (400, Event::PageLoaded { phone: 0 }),
            (400, Event::Finished),
        ];
        events.map(|(ms, event)| Record { at: Time::from_millis(ms), event }).to_vec()
    }

    #[test]
    fn a_page_is_timed_from_the_start() {
        let records = records();
        for (metric, expected) in [
            ("plt_ms", &[300.0][..]),
            ("ttfb_ms", &[100.0]),
            ("first_paint_ms", &[230.0]),
            ("objects_count", &[3.0]),
            ("connections_count", &[2.0]),
            ("object_requested_ms", &[50.0, 160.0, 165.0]),
            ("object_begun_ms", &[100.0, 210.0, 200.0]),
            ("object_done_ms", &[110.0, 220.0, 300.0]),
        ] {
            assert_eq!(compute(metric, &records), expected, "{metric}");
        }
    }

    #[test]
    fn what_was_not_reached_has_no_time() {
        let mut records = records();
        records.truncate(14);
        assert!(compute("plt_ms", &records).is_empty());
        assert!(compute("first_paint_ms", &records).is_empty(), "the style sheet is missing");
        assert_eq!(compute("objects_count", &records), [1.0]);
        let other = [Record { at: Time::ZERO, event: Event::Started }];
        assert!(compute("connections_count", &other).is_empty(), "this is no page");
    }
}
