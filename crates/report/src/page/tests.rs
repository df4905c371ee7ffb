//! What a page must withstand.

use serde_json::json;
use trackbed_measure::results::{Outcome, RunResult};

use super::*;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!--";

fn summary(mean: f64) -> serde_json::Value {
    json!({ "mean": mean, "ci95": [mean * 0.9, mean * 1.1], "p50": mean, "p95": mean * 1.5,
            "p99": mean * 1.6, "min": mean * 0.5, "max": mean * 2.0, "n": 30, "samples": 30 })
}

/// Two protocols over four losses; one of the factors means ill.
fn document(runs: u32) -> Document {
    let cell = |protocol: &str, loss: f64| {
        json!({ "factors": { "protocol": protocol, "loss": loss, "name": HOSTILE }, "failed": 0,
                "metrics": { "completion_ms": summary(100.0 + 1_000.0 * loss) }, "failures": [] })
    };
    let protocols = ["quic", "http2"].into_iter();
    let cells: Vec<_> = protocols
        .flat_map(|protocol| [0.0, 0.01, 0.02, 0.05].map(|loss| cell(protocol, loss)))
        .collect();
    let value = json!({
        "trackbed": "0.1.0", "scenario": HOSTILE, "substrate": "virtual", "seed": 1, "runs": runs,
        "plan": "abc", "cells": cells, "differences": [], "checks": []
    });
    serde_json::from_value(value).unwrap()
}

fn run(cell: u32, run: u32) -> RunResult {
    let value = f64::from(run * 7_919 % 10_007) + f64::from(cell);
    let samples = BTreeMap::from([("completion_ms".to_owned(), vec![value, value * 1.5])]);
    RunResult { cell, run, outcome: Outcome::Samples(samples), certificate: None }
}

fn page(runs: u32) -> String {
    let document = document(runs);
    let origin = Origin { command: HOSTILE.to_owned(), ..Origin::default() };
    let mut page = Page::new(&document, origin);
    for cell in 0..document.cells.len() as u32 {
        page.add_cell(cell, &(0..runs).map(|k| run(cell, k)).collect::<Vec<_>>());
    }
    page.finish()
}

#[test]
fn nothing_that_a_scenario_says_becomes_part_of_the_page_itself() {
    let page = page(10);
    assert!(!page.contains("<img"), "a name became an element");
    assert!(!page.contains("alert(1)><"), "a name ended an element");
    // All scripts end where they should: the data and six others.
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = page(10);
    let own = SCRIPTS_OF_OTHERS.iter().fold(page, |page, script| page.replace(script, ""));
    for word in ["src=\"http", "href=\"http", "@import", "url(http", "fetch(", "XMLHttpRequest"] {
        assert!(!own.contains(word), "{word}");
    }
}

const SCRIPTS_OF_OTHERS: [&str; 2] = [
    include_str!("../../assets/vendor/d3.min.js"),
    include_str!("../../assets/vendor/plot.umd.min.js"),
];

/// Eight cells of 10,000 runs: the page has as many points as one of 1,000.
#[test]
fn a_page_does_not_grow_with_the_runs() {
    let (thousand, ten_thousand) = (page(1_000).len(), page(10_000).len());
    assert!(ten_thousand < thousand + thousand / 20, "{thousand} {ten_thousand}");
    assert!(ten_thousand < 1_000_000, "{ten_thousand}");
}

#[test]
fn every_axis_says_its_unit_and_every_figure_has_a_place_of_its_own() {
    let document = document(10);
    let mut page = Page::new(&document, Origin::default());
    for cell in 0..8 {
        page.add_cell(cell, &(0..10).map(|k| run(cell, k)).collect::<Vec<_>>());
    }
    let sections = Section::all(&document);
    let material = Material { section: &sections[0], distributions: &page.distributions };
    let figures = figures::of(&material);
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids, ["overview", "completion-ms-over-loss", "distribution-completion-ms"]);
    for figure in &figures {
        assert_eq!(figure.x.unit.is_empty(), figure.x.label == "loss", "{:?}", figure.x);
        assert!(!figure.x.label.is_empty() && !figure.y.label.is_empty());
    }
    let sweep = &figures[1].panels[0];
    let names: Vec<&str> = sweep.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["quic", "http2"]);
    let points: Vec<(f64, Option<f64>)> =
        sweep.series[0].points.iter().map(|point| (point.x, point.y)).collect();
    let expected = [(0.0, 100.0), (0.01, 110.0), (0.02, 120.0), (0.05, 150.0)];
    assert_eq!(points, expected.map(|(x, y)| (x, Some(y))));
    // A distribution for each loss, with a curve for each protocol.
    assert_eq!(figures[2].panels.len(), 4);
    assert_eq!(figures[2].panels[1].name, "loss 0.01");
}

/// WCAG 2.2, success criteria 1.4.3 (text, 4.5 to 1) and 1.4.11 (graphics, 3 to 1).
#[test]
fn every_colour_stands_out_from_its_paper() {
    let css = include_str!("../../assets/page/page.css");
    let blocks: Vec<&str> = css.split('}').filter(|block| block.contains("--paper:")).collect();
    assert_eq!(blocks.len(), 3, "light, dark by choice, dark by preference");
    for block in blocks {
        let colour = |name: &str| {
            let (_, rest) = block.split_once(&format!("--{name}: #")).unwrap();
            u32::from_str_radix(&rest[..6], 16).unwrap()
        };
        for (paper, names) in [
            ("paper", vec!["ink", "soft", "link"]),
            ("shade", vec!["ink", "soft", "link"]),
            ("warn-shade", vec!["warn"]),
        ] {
            for name in names {
                let contrast = contrast(colour(name), colour(paper));
                assert!(contrast >= 4.5, "{name} on {paper}: {contrast}");
            }
        }
        for number in 0..8 {
            let contrast = contrast(colour(&format!("c{number}")), colour("paper"));
            assert!(contrast >= 3.0, "c{number}: {contrast}");
        }
    }
}

fn contrast(one: u32, other: u32) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Relative luminance as WCAG 2.2 defines it.
fn luminance(rgb: u32) -> f64 {
    let channel = |shift: u32| {
        let value = f64::from((rgb >> shift) & 0xff) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
}
