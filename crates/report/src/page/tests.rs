//! What a page contains, and what it refuses.

mod fixture;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::figure::View;
use super::*;
use crate::plot::{Axis, Mark, Scale};
use fixture::{complete, document, filled, run};

/// Maximum size of a page: it is sent by mail and opened from a slow disk.
const BYTES_MAX: usize = 3_000_000;

#[test]
fn every_figure_has_its_kind_once_and_every_axis_a_name_with_a_unit() {
    let figures = complete(&document(&["quic", "http2"], 4, 30)).figures();
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    let of_section = ["overview-0", "difference-0", "sweep-0-0", "distribution-0", "front-0"];
    let of_run = ["timeline-0", "timeline-1", "map-2", "waterfall-3"];
    assert_eq!(ids, [&of_section[..], &of_run].concat());
    for figure in &figures {
        assert!(figure.first.contains("<path") && figure.views[0].svg.is_empty(), "{}", figure.id);
        for (number, view) in figure.views.iter().enumerate() {
            assert_eq!(view.choice.len(), figure.choosers.len(), "{}", figure.id);
            assert!(!view.caption.is_empty(), "{}", figure.id);
            assert!(number == 0 || view.svg.contains("<path"), "{}", figure.id);
            for panel in &view.plot.panels {
                let is_named =
                    |axis: &Axis| matches!(axis.scale, Scale::Names(_)) || axis.name.ends_with(')');
                assert!(is_named(&panel.x) && is_named(&panel.y), "{}: {panel:?}", figure.id);
            }
        }
    }
}

/// The values that are told of a view, by column.
fn values(view: &View) -> Vec<BTreeMap<&'static str, f64>> {
    let marks = view.plot.panels.iter().flat_map(|panel| &panel.marks);
    let told = marks.filter_map(|mark| match mark {
        Mark::Value(_, [x, y], more) => {
            let more = view.plot.columns.iter().copied().zip(more.iter().copied());
            Some([("x", *x), ("y", *y)].into_iter().chain(more).collect())
        }
        _ => None,
    });
    told.collect()
}

/// One mean is of a single run, and one equals its median.
#[test]
fn every_mean_along_a_factor_has_an_interval_and_no_quantile_has() {
    let mut document = document(&["quic"], 4, 30);
    let [single, equal] = [1, 2];
    document.cells[single].metrics.get_mut("rtt_ms").unwrap().n = 1;
    let summary = document.cells[equal].metrics.get_mut("rtt_ms").unwrap();
    summary.p50 = summary.mean;
    let figures = filled(&document, 10).figures();
    let sweep = figures.iter().find(|one| one.id.contains("sweep")).unwrap();
    let [mean, median, _, _, quantiles] = [0, 1, 2, 3, 4].map(|at| values(&sweep.views[at]));
    assert_eq!(mean.len(), 4);
    assert!(mean[single]["low"].is_nan() && mean[equal]["low"].is_finite());
    assert!(median.iter().all(|value| value["low"].is_nan()), "{median:?}");
    assert_eq!(quantiles.len(), 3 * 4, "p50, p95 and p99 together");
}

#[test]
fn the_numbers_are_those_of_the_document() {
    let document = document(&["quic", "http2"], 3, 30);
    let figures = filled(&document, 10).figures();
    let [overview, differences, ..] = &figures[..] else { panic!("{}", figures.len()) };
    let rows = values(&overview.views[0]);
    assert_eq!(rows.len(), document.cells.len());
    for row in rows {
        let summary = &document.cells[row["cell"] as usize].metrics["rtt_ms"];
        assert_eq!((row["x"], row["high"]), (summary.p50, summary.p50_ci95.unwrap()[1]));
    }
    let found: Vec<f64> = values(&differences.views[0]).iter().map(|one| one["x"]).collect();
    let expected: Vec<f64> = document.differences.iter().map(|one| one.mean).collect();
    assert_eq!(found, expected);
}

/// Ten conditions are too many panels: the reader chooses one.
#[test]
fn many_panels_become_a_choice() {
    let document = document(&["quic", "http2", "http3", "sctp", "tcp"], 10, 30);
    let figures = filled(&document, 10).figures();
    let distribution = figures.iter().find(|one| one.id == "distribution-0").unwrap();
    let [metric, condition] = &distribution.choosers[..] else { panic!("{distribution:?}") };
    assert_eq!((metric.options.len(), condition.options.len()), (2, 10));
    assert_eq!(distribution.views.len(), 20);
    assert!(distribution.views.iter().all(|view| view.plot.panels.len() == 1));
}

/// Everything that has a name has this one.
fn named(name: &str) -> (Document, Origin) {
    let text = || name.to_owned();
    let mut document = document(&[name, "http2"], 2, 6);
    (document.scenario, document.model) = (text(), Some(text()));
    document.environment.insert(text(), text());
    let notes = vec![(text(), text())];
    let (scenario, build) = (String::new(), Some(text()));
    (document, Origin { command: text(), replay: text(), scenario, build, notes })
}

/// Names are escaped everywhere: in HTML, in attributes, in the script's data.
#[test]
fn hostile_names_are_text() {
    const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&";
    let (mut document, mut origin) = named(HOSTILE);
    document.cells[0].failed = 1;
    document.cells[0].failures =
        serde_json::from_value(json!([{ "run": 3, "count": 1, "reason": HOSTILE }])).unwrap();
    document.checks[0].detail = HOSTILE.to_owned();
    origin.scenario = HOSTILE.to_owned();
    let page = Builder::new(&document, origin).finish();
    assert!(!page.contains("<img"), "it became an element");
    assert_eq!(page.matches("</script").count(), 2, "the data's and the script's own");
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
    assert!(page.contains("\\u003c/script>\\u003cimg"));
}

/// A name that reads from right to left is shown with the character that turns it, wherever it stands.
#[test]
fn names_do_not_change_the_direction_of_the_page() {
    let turned: Vec<char> =
        "\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{61c}".chars().collect();
    let hostile: String = ["a", &turned.iter().collect::<String>(), "b"].concat();
    let (document, mut origin) = named(&hostile);
    origin.scenario = format!("# {hostile}\r\nruns = 6\r\n");
    let page = Builder::new(&document, origin).finish();
    assert!(!page.contains(|character| turned.contains(&character)));
    let shown = "a\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069\\u061cb";
    assert!(page.matches(shown).count() > 6, "in HTML");
    assert!(page.contains(&shown.replace('\\', "\\\\")), "in the data of the script");
    assert!(page.contains(&format!("# {shown}\nruns = 6\n")), "ends of lines stay");
}

#[test]
fn ten_thousand_runs_make_a_small_page() {
    for (protocols, loads, runs, samples) in
        [(vec!["quic"], 1, 10_000, 10), (vec!["quic", "http2", "http3"], 34, 100, 100)]
    {
        let document = document(&protocols, loads, runs);
        assert!(document.cells.len() as u32 * runs >= 10_000);
        let page = filled(&document, samples).finish();
        assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
    }
}

/// With many cells, less of each is drawn, and long tables end with a count.
#[test]
fn thousands_of_cells_still_make_a_page() {
    let names: Vec<String> = (0..20).map(|number| format!("protocol {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let page = filled(&document(&names, 100, 1), 1).finish();
    assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
    assert!(page.contains("Not drawn: 2000 cells make it too large for a page."));
    assert!(page.contains("more rows; run.json has them all"));
}

/// The page is complete as text, without a script.
#[test]
fn the_page_says_what_was_run_and_what_failed() {
    let mut document = document(&["quic", "http2"], 2, 6);
    document.cells[1].failed = 2;
    document.cells[1].failures =
        serde_json::from_value(json!([{ "run": 3, "count": 2, "reason": "no connection" }]))
            .unwrap();
    document.model = Some("two cores".to_owned());
    let text = "Fastest at rate_hz 0: QUIC: median 1.000 ms.".to_owned();
    document.answer =
        vec![trackbed_measure::results::Answer { part: None, text, metric: String::new() }];
    let origin = Origin {
        build: None,
        command: "trackbed run edge --quick".to_owned(),
        replay: "trackbed replay out".to_owned(),
        scenario: "protocol = \"quic\"".to_owned(),
        notes: vec![("kernel".to_owned(), "Linux 6.18".to_owned())],
    };
    let page = Builder::new(&document, origin.clone()).finish();
    let shown = "<code>trackbed run edge --quick</code>|<code>trackbed replay out 1 3</code>|MODEL, no measurement: |\
                 Linux 6.18|protocol = &quot;quic&quot;|<dt>failed</dt><dd>2</dd>|0 of 1 passed.|\
                 <strong class=\"bad\">FAILED</strong> round trips: 4 in place of 3|\
                 <strong>Fastest at rate_hz 0: </strong>QUIC: median 1.000 ms.";
    for text in shown.split('|') {
        assert!(page.contains(text), "{text}");
    }
    document.substrate = "emulated".to_owned();
    let page = Builder::new(&document, origin).finish();
    assert!(page.contains("no connection") && !page.contains("trackbed replay out 1 3"));
}

#[test]
fn a_page_refers_to_nothing_outside() {
    let page = complete(&document(&["quic", "http2"], 4, 6)).finish();
    // The only script that may run is the page's own.
    let (_, script) = page.rsplit_once("<script>").unwrap();
    let digest = Sha256::digest(script.split_once("</script>").unwrap().0);
    assert!(page.contains(&format!("script-src 'sha256-{}';", BASE64_STANDARD.encode(digest))));
    for reference in ["src=", "href=\"http", "url(", "@import", "<link", "<iframe", "fetch("] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn a_document_without_cells_is_a_page() {
    let page = Builder::new(&document(&[], 0, 6), Origin::default()).finish();
    assert!(page.contains("Nothing was compared"));
}

#[test]
fn an_unknown_cell_is_refused_by_its_number() {
    let document = document(&["quic"], 1, 1);
    let mut builder = Builder::new(&document, Origin::default());
    let error = builder.cell(1, &[]).unwrap_err();
    assert_eq!(error.to_string(), "there is no cell 1: the document has 1, counted from 0");
}

/// Runs that the document leaves out are not in the distributions.
#[test]
fn invalid_runs_are_where_the_document_has_them() {
    let mut document = document(&["quic"], 1, 2);
    let mut runs = vec![run(0, 0, 1), run(0, 1, 1)];
    let certificate = json!({ "verdict": "invalid", "packets": 9, "late_p50_us": 1.0,
        "late_p99_us": 2000.0, "late_max_us": 9000.0, "late_percent": 3.0, "overflowed": 1,
        "processor_ms": 1.0, "histogram": [] });
    runs[1].certificate = Some(serde_json::from_value(certificate).unwrap());
    let samples = |document: &Document| {
        let mut builder = Builder::new(document, Origin::default());
        builder.cell(0, &runs).unwrap();
        builder.distributions[&(0, "rtt_ms")].samples
    };
    assert_eq!(samples(&document), 2, "all are counted with --keep-invalid");
    document.cells[0].invalid = 1;
    assert_eq!(samples(&document), 1);
    let mut builder = Builder::new(&document, Origin::default());
    builder.cell(0, &runs).unwrap();
    let page = builder.finish();
    assert!(page.contains("0 of 1 runs valid, 0 suspect"), "the certificate is told");
    assert!(page.contains("<dt>left out</dt><dd>1</dd>"));
}
