//! The page in a real browser: it draws everything without errors or network requests; keys read
//! values; choices and switches work.

#[path = "../../src/page/tests/fixture.rs"]
mod fixture;

use serde_json::{Value, json};
// `fixture` imports these from here.
use trackbed_report::page::{Builder, Limit, Origin, Watched};

use super::browser::{Seen, examined, open};

const HOSTILE: &str = "</script><img src=x onerror=document.title=1>";

/// Three protocols, one with HTML in its name, at four loads.
fn page() -> String {
    let mut document = fixture::document(&["quic", "http2", HOSTILE], 4, 30);
    document.scenario = HOSTILE.to_owned();
    fixture::complete(&document).finish()
}

#[test]
fn everything_is_drawn_without_an_error_or_a_request_at_every_width() {
    for width in [390, 1024, 1600] {
        // Means, differences, along a factor, distributions, a front; two timelines, a map, a waterfall.
        let Some(titles) = examined(&page(), width, 9) else { return };
        assert_eq!(titles[0], format!("{HOSTILE} - Trackbed"));
    }
}

/// Keys move through the values of every figure, and each value is announced to screen readers.
#[test]
fn values_are_read_by_keys() {
    let Some(Seen { probe, .. }) = open(&page(), 1024, include_str!("probes/keys.js")) else {
        return;
    };
    let figures = probe.as_array().unwrap_or_else(|| panic!("{probe}"));
    assert_eq!(figures.len(), 9);
    for figure in figures {
        assert_eq!((&figure["tab"], &figure["named"]), (&json!(0), &json!(true)), "{figure}");
        assert_eq!((&figure["visible"], &figure["gone"]), (&json!(true), &json!(true)), "{figure}");
        let heard = figure["heard"].as_array().unwrap();
        assert!(!heard[0].as_str().unwrap().is_empty(), "{figure}");
        assert_ne!(heard[0], heard[1], "{figure}");
        assert_eq!(heard[0], heard[2], "back where it was: {figure}");
    }
    let overview = figures.iter().find(|figure| figure["id"] == "overview-0").unwrap();
    let first = overview["heard"][0].as_str().unwrap();
    assert!(
        first.contains("Round-trip time (ms): 0.8000 [0.7000, 0.9000]") && first.contains("n = 30"),
        "{first}"
    );
}

/// A choice shows another view, and the theme changes colours, also those of figures.
#[test]
fn choices_and_themes_change_what_is_seen() {
    let Some(Seen { probe, .. }) = open(&page(), 1024, include_str!("probes/choices.js")) else {
        return;
    };
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{probe}")).to_owned();
    assert!(text(&probe["before"]).contains("Round-trip time (ms)"), "{probe}");
    assert!(text(&probe["chosen"]).contains("1/s"), "{probe}");
    assert_eq!(probe["colours"][0], probe["colours"][2]);
    assert_ne!(probe["colours"][0], probe["colours"][1]);
}

/// Downloads are complete: a picture without references to the page's style sheet, and every point
/// as a line of the table.
#[test]
fn downloads_stand_for_themselves() {
    let Some(Seen { probe, .. }) = open(&page(), 1024, include_str!("probes/downloads.js")) else {
        return;
    };
    assert_eq!(probe["error"], "", "{probe}");
    let svg = probe["svg"].as_str().unwrap_or_else(|| panic!("{probe}"));
    assert!(!svg.contains("var(--"), "colours need the page");
    assert!(
        svg.contains("trackbed 0.1.0")
            && svg.contains("seed 7")
            && svg.contains("Round-trip time (ms)")
    );
    let csv = probe["csv"].as_str().unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("metric,statistic,series,x,x name,y,y name,low,high,n"));
    // Two metrics; four statistics and three of them together; three protocols, four loads.
    assert_eq!(lines.count(), 2 * 7 * 3 * 4);
    let line = "\nrtt (ms),mean,HTTP/2,1,Rate (1/s),4,Round-trip time (ms),3.6,4.8,30\r\n";
    assert!(csv.contains(line), "{csv}");
    for name in probe["names"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)), "{name}");
    }
}
