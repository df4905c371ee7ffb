//! Archives as browsers export them, shortened to what matters.

use serde_json::{Value, json};

use super::*;

/// Begins `ms` after ten o'clock, waits 100 ms for its first byte and ends after 200 ms. A path is
/// one of `https://example.test`.
fn entry(ms: u32, url: &str, kind: &str, mime: &str, bytes: i64) -> Value {
    let begin = format!("2024-05-01T10:00:{:02}.{:03}Z", ms / 1_000, ms % 1_000);
    let content = json!({ "size": 3 * bytes, "mimeType": mime, "compression": 2 * bytes });
    let fields = [
        ("/_resourceType", json!(kind)),
        ("/startedDateTime", json!(begin)),
        ("/request/url", json!(full(url))),
        ("/response/bodySize", json!(bytes)),
        ("/response/_transferSize", json!(bytes + 150)),
        ("/response/content", content),
    ];
    let entry = serde_json::from_str(include_str!("tests/entry.json")).unwrap();
    fields.into_iter().fold(entry, |entry, (pointer, value)| with(entry, pointer, value))
}

fn full(url: &str) -> String {
    if url.starts_with('/') { format!("https://example.test{url}") } else { url.to_owned() }
}

/// What Chrome gives for an object that the parser found in the object `by`.
fn found_in(by: &str, entry: Value) -> Value {
    with(entry, "/_initiator", json!({ "type": "parser", "url": full(by), "lineNumber": 7 }))
}

fn archive(entries: &[Value]) -> Value {
    let archive = serde_json::from_str(include_str!("tests/archive.json")).unwrap();
    with(archive, "/log/entries", json!(entries))
}

fn page(entries: &[Value]) -> Page {
    parse(&archive(entries).to_string()).unwrap_or_else(|why| panic!("{why}"))
}

fn refused(entries: &[Value]) -> String {
    parse(&archive(entries).to_string()).unwrap_err()
}

type Place = (usize, Option<u64>);

fn tree(page: &Page) -> Vec<(&str, Option<Place>)> {
    let found = |object: &Object| object.found.map(|found| (found.by, found.at));
    page.objects().iter().map(|o| (o.path.as_str(), found(o))).collect()
}

fn with(mut entry: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    entry.pointer_mut(parent).unwrap()[key] = value;
    entry
}

#[test]
fn chrome_says_what_led_to_what() {
    let script = json!({ "type": "script", "stack": {
        "callFrames": [{ "functionName": "", "scriptId": "1", "url": "", "lineNumber": 0 }],
        "parent": { "description": "setTimeout", "callFrames": [
            { "functionName": "f", "url": "https://cdn.test/app.js", "lineNumber": 3 }] } } });
    let later = entry(60_000, "/later", "document", "text/html", 1);
    let page = page(&[
        entry(0, "/", "document", "text/html", 30_000),
        // Halfway through the document, of which the first byte comes after 100 ms.
        found_in("/", entry(150, "/style.css?v=3", "stylesheet", "text/css", 9_000)),
        found_in("/", entry(250, "https://cdn.test/app.js", "script", "text/javascript", 40_000)),
        found_in(
            "/style.css?v=3",
            entry(700, "https://img.test/a/b%20c.png", "image", "image/png", 70_000),
        ),
        with(entry(900, "/api", "fetch", "text/plain", 100), "/_initiator", script),
        json!({ "pageref": "page_2", "request": later["request"], "response": later["response"],
                "startedDateTime": later["startedDateTime"] }),
    ]);
    assert_eq!(
        tree(&page),
        [
            ("/0-index", None),
            ("/1-style.css", Some((0, Some(15_000)))),
            ("/2-app.js", Some((0, None))),
            ("/3-b20c.png", Some((1, None))),
            ("/4-api", Some((2, None))),
        ]
    );
    let kinds: Vec<Kind> = page.objects().iter().map(|object| object.kind).collect();
    assert_eq!(kinds, [Kind::Html, Kind::Css, Kind::Js, Kind::Image, Kind::Other]);
    let bytes: Vec<u64> = page.objects().iter().map(|object| object.bytes).collect();
    assert_eq!(bytes, [30_000, 9_000, 40_000, 70_000, 100]);
}

/// Other browsers give neither `_initiator` nor `_resourceType`. The archive is not sorted by time.
#[test]
fn without_initiators_time_decides() {
    let plain = |ms, path: &str, mime| {
        let mut entry = entry(ms, path, "", mime, 1_000);
        let object = entry.as_object_mut().unwrap();
        for key in ["_initiator", "_priority", "_resourceType", "pageref"] {
            object.remove(key);
        }
        entry
    };
    let page = page(&[
        plain(0, "/", "text/html; charset=utf-8"),
        plain(700, "/d.woff2", "font/woff2"),
        plain(50, "/early.js", "application/javascript"),
        plain(125, "/a.css", "text/css"),
        plain(200, "/b.svg", "image/svg+xml"),
        plain(410, "/c.png", "image/png"),
    ]);
    assert_eq!(
        tree(&page),
        [
            ("/0-index", None),
            ("/1-early.js", None),
            ("/2-a.css", Some((0, Some(250)))),
            ("/3-b.svg", Some((0, None))),
            ("/4-c.png", Some((3, None))),
            ("/5-d.woff2", Some((4, None))),
        ]
    );
    let kinds: Vec<Kind> = page.objects().iter().map(|object| object.kind).collect();
    assert_eq!(kinds, [Kind::Html, Kind::Js, Kind::Css, Kind::Image, Kind::Image, Kind::Font]);
}

#[test]
fn a_redirect_leads_to_its_target_and_scripts_may_wait() {
    let moved = entry(0, "http://example.test/", "document", "", 0);
    let moved = with(moved, "/response/status", json!(301));
    let moved = with(moved, "/response/redirectURL", json!("https://example.test/"));
    let late = entry(450, "/late.js", "script", "text/javascript", 10);
    let page = page(&[
        moved,
        entry(200, "/", "document", "text/html", 10),
        with(late, "/_priority", json!("Low")),
    ]);
    assert_eq!(page.objects()[1].found, Some(Found { by: 0, at: None }));
    assert_eq!(page.objects()[0].bytes, 0);
    let blocking: Vec<bool> = page.objects().iter().map(|object| object.blocking).collect();
    assert_eq!(blocking, [true, true, false]);
}

/// Without initiators, with addresses relative to the redirect's, and a frame that looks like the target.
#[test]
fn a_redirect_leads_to_the_first_request_of_its_address_only() {
    for (from, to, target) in [
        ("http://a.test/start", "/", "https://a.test/"),
        ("http://a.test", "https://a.test", "https://a.test/"),
        ("https://a.test/x/y?q", "z?p=/", "https://a.test/x/z?p=/"),
        ("https://a.test/x/y/", "../../w#top", "https://a.test/w"),
        ("https://a.test/x", "//b.test/x", "https://b.test/x"),
        ("https://a.test/x?old", "?new", "https://a.test/x?new"),
    ] {
        let plain = |entry| with(entry, "/_initiator", json!(null));
        let moved = plain(entry(0, from, "", "", 0));
        let moved = with(moved, "/response/status", json!(302));
        let frame = plain(entry(310, "https://ads.test/", "", "text/html", 10));
        let page = page(&[
            with(moved, "/response/redirectURL", json!(to)),
            plain(entry(201, target, "", "text/html", 100)),
            with(frame, "/time", json!(5)),
            plain(entry(320, target, "", "text/html", 10)),
        ]);
        let found: Vec<Option<Place>> = tree(&page).into_iter().map(|(_, found)| found).collect();
        let places = [None, Some((0, None)), Some((1, Some(9))), Some((2, None))];
        assert_eq!(found, places, "{from} {to}");
    }
}

/// The same page with the initiators of WebPageTest, the numbers and nulls of several tools, and Fiddler's tunnels.
#[test]
fn fields_have_the_forms_of_many_tools() {
    for (pointer, value, bytes) in [
        ("/_initiator", json!("https://example.test/"), 500),
        ("/_initiator", json!(17), 500),
        ("/_priority", json!(3), 500),
        ("/_transferSize", json!("unknown"), 500),
        ("/response/bodySize", json!(500.0), 500),
        ("/response/bodySize", json!(null), 650),
        ("/response/status", json!(200.0), 500),
        ("/response/content", json!(null), 500),
        ("/timings", json!(null), 500),
        ("/response/redirectURL", json!(null), 500),
        ("/pageref", json!(null), 500),
    ] {
        let tunnel = entry(0, "https://example.test:443", "", "", 0);
        let page = page(&[
            with(tunnel, "/request/method", json!("CONNECT")),
            entry(0, "/", "document", "text/html", 30_000),
            with(entry(250, "/a.css", "stylesheet", "text/css", 500), pointer, value.clone()),
        ]);
        assert_eq!(page.objects().len(), 2, "{pointer} {value}");
        assert_eq!(page.objects()[1].bytes, bytes, "{pointer} {value}");
        assert_eq!(page.objects()[1].found.unwrap().by, 0, "{pointer} {value}");
    }
}

#[test]
fn sizes_are_those_that_were_transferred() {
    let sized = |body: Value, transfer: Value, content: Value| {
        let entry = entry(0, "/", "document", "text/html", 1);
        let entry = with(entry, "/response/bodySize", body);
        let entry = with(entry, "/response/_transferSize", transfer);
        with(entry, "/response/content", content)
    };
    let size = |entry| page(&[entry]).objects()[0].bytes;
    let content = json!({ "size": 900, "compression": 600 });
    assert_eq!(size(sized(json!(200), json!(350), content.clone())), 200);
    assert_eq!(size(sized(json!(-1), json!(350), content.clone())), 350);
    assert_eq!(size(sized(json!(-1), json!(null), content.clone())), 300);
    assert_eq!(size(sized(json!(0), json!(0), json!({ "size": 900 }))), 900, "from a cache");
    assert_eq!(size(sized(json!(0), json!(0), json!({}))), 0);
    let packed = json!([{ "name": "content-encoding", "value": "gzip" },
                        { "name": "content-length", "value": "310" }]);
    let cached = sized(json!(0), json!(0), json!({ "size": 900 }));
    assert_eq!(size(with(cached, "/response/headers", packed)), 310, "packed, from a cache");
    let header = json!([{ "name": "Content-Length", "value": "70" }]);
    let firefox = sized(json!(-1), json!(null), json!({ "size": -1 }));
    assert_eq!(size(with(firefox, "/response/headers", header)), 70);
    let unknown = refused(&[sized(json!(-1), json!(-1), json!({ "size": -1 }))]);
    assert!(unknown.contains("entry 1 (https://example.test/): neither response.bodySize"));
    assert!(unknown.contains("export the archive with contents"), "{unknown}");
    let vast = refused(&[sized(json!(2_000_000_000), json!(0), json!({}))]);
    assert!(vast.contains("remove the entry"), "{vast}");
}

#[test]
fn what_was_not_sent_by_a_server_is_left_out() {
    let blocked = entry(10, "https://ads.test/x.js", "script", "", 5);
    let page = page(&[
        entry(0, "/", "document", "text/html", 10),
        with(blocked, "/response/status", json!(0)),
        entry(20, "data:image/gif;base64,R0lGODlhAQABAAAAACw=", "image", "image/gif", 5),
        entry(30, "wss://example.test/live", "websocket", "", 5),
        entry(40, "/a.css", "stylesheet", "text/css", 10),
        // Preloaded, then used.
        ["/response/bodySize", "/response/_transferSize"]
            .into_iter()
            .fold(entry(300, "/a.css", "stylesheet", "text/css", 10), |again, size| {
                with(again, size, json!(0))
            }),
    ]);
    assert_eq!(page.objects().len(), 2);
}

#[test]
fn what_is_no_page_is_refused_with_place_and_remedy() {
    let a = entry(0, "/", "document", "text/html", 10);
    assert!(refused(&[]).contains("the page is empty"), "{}", refused(&[]));
    let unsent = refused(&[with(a.clone(), "/response/status", json!(0))]);
    assert!(unsent.contains("record it while the page loads"), "{unsent}");
    let undated = refused(&[with(a.clone(), "/startedDateTime", json!("yesterday"))]);
    assert!(undated.contains("entry 1 (https://example.test/): startedDateTime"), "{undated}");
    // A load generator's script has no times.
    let script = ["/", "/b"].map(|url| entry(0, url, "document", "text/html", 10));
    let script = script.map(|entry| with(entry, "/startedDateTime", Value::Null));
    assert_eq!(tree(&page(&script))[1].1, Some((0, None)));

    let x = found_in("/y.js", entry(250, "/x.js", "script", "", 9));
    let y = found_in("/x.js", entry(260, "/y.js", "script", "", 9));
    let circle = refused(&[a.clone(), x, y]);
    assert!(circle.contains("entry 2 (https://example.test/x.js): "), "{circle}");
    assert!(circle.contains("in a circle (/1-x.js in /2-y.js in /1-x.js)"), "{circle}");

    for (text, message) in [
        ("", "is not an HTTP archive: EOF while parsing a value at line 1 column 0; export one"),
        ("{\"log\": {}}", "missing field `entries` at line 1"),
        ("[1]", "is not an HTTP archive"),
    ] {
        let why = parse(text).unwrap_err();
        assert!(why.contains(message), "{why}");
    }
}
