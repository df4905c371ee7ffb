//! Page loads over an arithmetic protocol: the order of objects, the number of connections, broken
//! connections.

use crate::fake::{Behaviour, Ran, run};
use crate::support::*;

/// A document, the objects in it, and the objects in those, with distinct sizes.
const MANIFEST: &str = "tests/data/page.toml";

fn page(settings: &Settings, behaviour: &Behaviour) -> Ran {
    run("page", &[&[("manifest", MANIFEST)], settings].concat(), behaviour)
}

/// A kilobyte of a body arrives each millisecond.
fn slow() -> Behaviour {
    Behaviour { per_kilobyte: Duration::from_millis(1), ..Behaviour::default() }
}

/// When, in milliseconds since the start, each object was requested and was done.
fn times(records: &[Record]) -> BTreeMap<u32, (f64, f64)> {
    let mut times: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for record in records {
        match record.event {
            Event::ObjectRequested { object, .. } => {
                times.entry(object).or_default().0 = record.at.as_millis_f64();
            }
            Event::ObjectDone { object, .. } => {
                times.entry(object).or_default().1 = record.at.as_millis_f64();
            }
            _ => {}
        }
    }
    times
}

/// Connecting takes 20 ms, a response begins 10 ms after its request, and arrives with 1 kB each
/// millisecond on each connection's exchange.
///
/// The document (20 kB) is requested at 20, begins at 30 and is done at 50 ms. Its style sheet (10
/// kB) is referenced after 4 kB: requested at 34, done at 54. Its script (5 kB) is found at its end:
/// requested at 50, done at 65, executed until 72. The image in the style sheet (30 kB): 54 to 94.
/// What the script fetches (1 kB): 72 to 83. The font that nothing leads to: 20 to 32.
#[test]
fn objects_are_requested_when_they_become_known() {
    let ran = page(&[], &slow()).succeeded();
    let expected = [(20, 50), (34, 54), (50, 65), (54, 94), (72, 83), (20, 32)];
    let expected: BTreeMap<u32, (f64, f64)> =
        (0..).zip(expected.map(|(from, to)| (f64::from(from), f64::from(to)))).collect();
    assert_eq!(times(&ran.records), expected);
    expect("plt_ms", &ran.records, &[94.0]);
    expect("ttfb_ms", &ran.records, &[30.0]);
    // The script is the last blocking object to be executed.
    expect("first_paint_ms", &ran.records, &[72.0]);
    expect("objects_count", &ran.records, &[6.0]);
    expect("connections_count", &ran.records, &[1.0]);
    assert_eq!((ran.counts.in_use, ran.counts.in_use_max), (0, 1));
}

/// One exchange at a time: the document and the font take a connection each. At 32 ms the second
/// one is idle, and takes the style sheet at 34. The script takes the first one at 50, when the
/// document is complete, the image the second one at 54, and the object that the script fetches the
/// first one.
#[test]
fn connections_are_used_again_before_others_are_opened() {
    let ran = page(&[], &Behaviour { multiplexed: false, ..slow() }).succeeded();
    expect("plt_ms", &ran.records, &[94.0]);
    expect("connections_count", &ran.records, &[2.0]);
}

/// The built-in page has five objects in its document and two in these.
#[test]
fn no_more_connections_are_open_than_allowed() {
    for (limit, multiplexed) in [(1, false), (2, false), (6, false), (3, true)] {
        let behaviour = Behaviour { multiplexed, ..slow() };
        let text: &'static str = ["", "1", "2", "3", "", "", "6"][limit];
        let ran = run("page", &[("connections", text)], &behaviour).succeeded();
        expect("objects_count", &ran.records, &[8.0]);
        assert!(ran.counts.in_use_max as usize <= limit, "{} of {limit}", ran.counts.in_use_max);
        assert_eq!(attempts(&ran.records), limit.min(6), "multiplexed: {multiplexed}");
        assert_eq!(ran.counts.exchanges_max > 1, multiplexed, "at once on a connection");
        assert_eq!(ran.counts.in_use, 0);
    }
}

#[test]
fn without_keep_alive_each_object_has_a_connection_of_its_own() {
    for multiplexed in [false, true] {
        for connections_max in ["1", "2", "6"] {
            let settings = [("keep_alive", "false"), ("connections", connections_max)];
            let ran = page(&settings, &Behaviour { multiplexed, ..slow() }).succeeded();
            assert_eq!(attempts(&ran.records), 6);
            assert_eq!(ran.counts.exchanges, vec![1; 6], "exchanges of each connection");
            assert!(ran.counts.in_use_max <= connections_max.parse().unwrap());
        }
    }
}

/// An image, a script and a style sheet are found one after the other at the end of the document.
/// The image takes the idle connection; the others wait for it.
#[test]
fn what_waits_for_a_connection_does_so_in_the_order_of_its_urgency() {
    for (priorities, expected) in [("true", [0, 1, 3, 2]), ("false", [0, 1, 2, 3])] {
        let settings = [
            ("manifest", "tests/data/urgent.toml"),
            ("connections", "1"),
            ("priorities", priorities),
        ];
        let ran = run("page", &settings, &Behaviour { multiplexed: false, ..slow() });
        let mut order: Vec<_> = times(&ran.records).into_iter().collect();
        order.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        assert_eq!(order.iter().map(|(object, _)| *object).collect::<Vec<_>>(), expected);
        assert_eq!(ran.counts.prioritised, if priorities == "true" { 4 } else { 0 });
    }
}

/// Exchange 1 is the font's, 2 the style sheet's. All exchanges on the connection continue;
/// repeated and later requests take a new one.
#[test]
fn a_connection_that_breaks_is_replaced_and_its_object_requested_again() {
    for multiplexed in [true, false] {
        let ran = page(&[], &Behaviour { multiplexed, broken: &[2], ..slow() }).succeeded();
        expect("objects_count", &ran.records, &[6.0]);
        let sheet = |event: &Event| matches!(event, Event::ObjectRequested { object: 1, .. });
        assert_eq!(count(&ran.records, sheet), 2);
        assert_eq!(ran.counts.in_use, 0, "the broken connection is closed too");
    }
}

/// It breaks in the middle of the body; objects in the first half are found only once.
#[test]
fn a_document_that_breaks_off_is_loaded_again() {
    let ran = page(&[], &Behaviour { breaking_off: &[0], ..slow() }).succeeded();
    let found = |event: &Event| matches!(event, Event::ObjectFound { .. });
    assert_eq!(count(&ran.records, found), 6);
    expect("objects_count", &ran.records, &[6.0]);
}

#[test]
fn a_page_that_cannot_be_completed_fails_with_a_reason() {
    let failure = |behaviour: &Behaviour| {
        let ran = page(&[], behaviour);
        assert!(outcome(&ran.records).is_err());
        assert_eq!(count(&ran.records, |event| *event == Event::Finished), 1);
        assert_eq!(count(&ran.records, |event| matches!(event, Event::PageLoaded { .. })), 0);
        assert_eq!(ran.counts.in_use, 0);
        failures(&ran.records).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let all: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    assert_eq!(
        failure(&Behaviour { broken: all, ..slow() }),
        ["/index.html: fake: sending failed: broken (attempt 5)"]
    );
    assert_eq!(
        failure(&Behaviour { refused: u32::MAX, ..slow() }),
        ["/index.html: fake: connecting failed: refused"]
    );
    assert_eq!(
        failure(&Behaviour { unanswered: &[2], ..slow() }),
        ["2 of the page's 6 objects were missing after 600 s (workload.timeout)"]
    );
    assert_eq!(
        failure(&Behaviour { missing: Some("/app.js"), ..slow() }),
        ["/app.js: the server answered with status 404"]
    );
    assert_eq!(
        failure(&Behaviour { shortened: Some("/style.css"), ..slow() }),
        ["/style.css: 9999 bytes arrived instead of 10000"]
    );
}

/// Two attempts fail, the third succeeds.
#[test]
fn connecting_is_tried_again() {
    assert_eq!(attempts(&page(&[], &Behaviour { refused: 2, ..slow() }).succeeded().records), 3);
}

#[test]
fn every_phone_loads_the_page() {
    expect("plt_ms", &page(&[("phones", "3")], &slow()).succeeded().records, &[94.0; 3]);
}

#[test]
fn a_recorded_page_loads_as_it_was_recorded() {
    let ran = run("page", &[("har", "tests/data/page.har")], &slow()).succeeded();
    expect("objects_count", &ran.records, &[4.0]);
    // The document is found at 20 ms, is 12 kB long and comes from 30 to 42 ms. The style sheet
    // (4 kB) takes until 56, its font (8 kB) until 74; the script (2 kB) stood halfway in the
    // document.
    expect("object_done_ms", &ran.records, &[42.0, 48.0, 56.0, 74.0]);
}

#[test]
fn a_site_holds_every_object() {
    let site = prepare("page", &[("manifest", MANIFEST)]).unwrap().site().unwrap();
    let sizes: Vec<(String, usize)> = site
        .files
        .iter()
        .map(|file| {
            let mut content = Vec::new();
            (file.content)(&mut content).unwrap();
            (file.path.clone(), content.len())
        })
        .collect();
    let objects = [
        ("/index.html", 20_000),
        ("/style.css", 10_000),
        ("/app.js", 5_000),
        ("/images/back.gif", 30_000),
        ("/data.json", 1_000),
        ("/type.woff2", 2_000),
    ];
    assert_eq!(sizes[1..], objects.map(|(path, len)| (path.to_owned(), len)));
}

#[test]
fn the_timeout_is_as_long_as_it_says() {
    let ran = page(&[("timeout", "3 s")], &Behaviour { unanswered: &[0], ..slow() });
    assert_eq!(
        failures(&ran.records),
        ["5 of the page's 6 objects were missing after 3 s (workload.timeout)"]
    );
    assert!(ran.end.as_millis_f64() < 3_100.0 && ran.end.as_millis_f64() >= 3_000.0);
}
