//! The report of a third-party client, as events.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};
use trackbed_programs::{Fetched, Visited};
use trackbed_workloads::PageObject;

/// The events of one phone's visit that began at `begin`. Fetched files become events if they
/// belong to `page`.
pub(super) fn records(begin: Time, visited: &Visited, page: &[PageObject]) -> Vec<Record> {
    let mut records = vec![Record { at: begin, event: Event::Started }];
    for fetched in &visited.fetched {
        let place = page.iter().zip(0..).find(|(object, _)| object.path == fetched.path);
        let events = place.map(|(object, number)| object_events(object, number, fetched));
        let events = events.into_iter().flatten();
        records.extend(events.map(|(after, event)| Record { at: begin + after, event }));
    }
    if let Some(times) = visited.page {
        let painted = times.first_paint.map(|after| (after, Event::PagePainted { phone: 0 }));
        let loaded = (times.loaded, Event::PageLoaded { phone: 0 });
        let events = painted.into_iter().chain([loaded]);
        records.extend(events.map(|(after, event)| Record { at: begin + after, event }));
    }
    records
}

/// No client reports when an object was parsed or executed, nor its connection: all objects count
/// as on the first.
fn object_events(object: &PageObject, number: u32, fetched: &Fetched) -> [(Duration, Event); 4] {
    let PageObject { path, kind, bytes, blocking } = object.clone();
    let (phone, kind) = (0, kind.to_owned());
    let found = Event::ObjectFound { phone, object: number, path, kind, bytes, blocking };
    [
        (fetched.found, found),
        (fetched.requested, Event::ObjectRequested { phone, object: number, connection: 0 }),
        (fetched.first_byte, Event::ObjectBegun { phone, object: number }),
        (fetched.done, Event::ObjectDone { phone, object: number }),
    ]
}

#[cfg(test)]
mod tests {
    use trackbed_programs::PageTimes;

    use super::*;
    use crate::testing::samples;

    fn fetched(path: &str, at: [u64; 4]) -> Fetched {
        let [found, requested, first_byte, done] = at.map(Duration::from_millis);
        let protocol = "http2".to_owned();
        let path = path.to_owned();
        Fetched { path, protocol, status: 200, bytes: 5, found, requested, first_byte, done }
    }

    fn object(path: &str, kind: &'static str) -> PageObject {
        PageObject { path: path.to_owned(), kind, bytes: 5, blocking: kind != "image" }
    }

    #[test]
    fn a_browsers_times_become_the_metrics_of_a_page() {
        let page = [object("/index.html", "html"), object("/a.css", "css")];
        let visited = Visited {
            begin: None,
            fetched: vec![
                fetched("/index.html", [0, 400, 600, 650]),
                fetched("/a.css", [655, 660, 860, 870]),
                fetched("/favicon.ico", [900, 900, 950, 960]),
            ],
            page: Some(PageTimes {
                first_paint: Some(Duration::from_millis(890)),
                loaded: Duration::from_millis(880),
            }),
        };
        let mut records = records(Time::from_millis(100), &visited, &page);
        records.sort_by_key(|record| record.at);
        for (name, expected) in [
            ("plt_ms", &[880.0][..]),
            ("ttfb_ms", &[600.0]),
            ("first_paint_ms", &[890.0]),
            ("objects_count", &[2.0]),
            ("connections_count", &[]),
            ("object_requested_ms", &[400.0, 660.0]),
            ("object_done_ms", &[650.0, 870.0]),
        ] {
            assert_eq!(samples(name, &records), expected, "{name}");
        }
    }

    #[test]
    fn files_that_are_no_page_have_no_such_metrics() {
        let fetched = vec![fetched("/bulk/5", [0, 1, 2, 3])];
        let visited = Visited { begin: None, fetched, page: None };
        let records = records(Time::ZERO, &visited, &[]);
        assert_eq!(records, [Record { at: Time::ZERO, event: Event::Started }]);
    }
}
