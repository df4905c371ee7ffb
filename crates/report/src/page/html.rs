//! The page's text: everything that can be read without scripts.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::json;
use trackbed_measure::metrics;
use trackbed_measure::results::{CellResult, Document};

use super::figure::Figure;
use super::{Page, Tally};
use crate::section::Section;
use crate::table::{Align, Table};
use crate::words::numbered;
use crate::{cells, conclusion, details, differences};

/// The whole page.
pub(super) fn page(page: &Page<'_>, sections: &[Section<'_>], figures: &[Vec<Figure>]) -> String {
    let document = page.document;
    let all: Vec<&Figure> = figures.iter().flatten().collect();
    let data = json!({ "scenario": document.scenario, "figures": all });
    // Inside a script element only `</` could end it early, and `<!--` change what it means.
    let data = data.to_string().replace('<', "\\u003c");
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.scenario) " - Trackbed" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#results" { "Skip to the results" }
                (header(page, sections))
                main id="results" {
                    @for (section, figures) in sections.iter().zip(figures) {
                        (part(section, figures))
                    }
                    (problems(page))
                    (checks(document))
                    (how_it_was_made(page))
                    (glossary(document))
                }
                footer { p { "Trackbed " (document.trackbed) ". This page is complete in itself." } }
                script type="application/json" id="data" { (PreEscaped(data)) }
                @for script in SCRIPTS { script { (PreEscaped(script)) } }
            }
        }
    };
    markup.into_string()
}

fn header(page: &Page<'_>, sections: &[Section<'_>]) -> Markup {
    let document = page.document;
    let runs = if document.runs == 1 { "1 run" } else { &format!("{} runs", document.runs) };
    html! {
        header {
            div.bar {
                h1 { (document.scenario) }
                button #theme type="button" hidden { "Dark" }
            }
            p.lead {
                (document.cells.len()) " cells, " (runs) " each, " (document.substrate) " substrate, seed "
                (document.seed)
            }
            @if let Some(model) = &document.model {
                p.warning { strong { "Model, no measurement: " } (model) }
            }
            @for section in sections {
                @let lines = section.headline().map(|metric| conclusion::lines(section, metric));
                @for line in lines.iter().flatten().take(CONCLUSIONS_MAX) {
                    p.answer {
                        @if let Some(title) = &section.title { span.part { (title) ": " } }
                        (line)
                    }
                }
            }
            nav aria-label="On this page" {
                ul {
                    @for section in sections {
                        @if let Some(title) = &section.title {
                            li { a href={ "#" (anchor(title)) } { (title) } }
                        }
                    }
                    li { a href="#made" { "How it was made" } }
                    li { a href="#metrics" { "What is measured" } }
                }
            }
        }
    }
}

/// One part of the scenario: its tables and figures.
fn part(section: &Section<'_>, figures: &[Figure]) -> Markup {
    let title = section.title.clone().unwrap_or_else(|| "Results".to_owned());
    let headline = section.headline();
    html! {
        section aria-labelledby=(anchor(&title)) {
            h2 id=(anchor(&title)) { (title) }
            (table(&cells::whole(section, false), "Cells: means over runs with their 95 % intervals"))
            @if let Some(metric) = headline {
                @if let Some(table_) = differences::of(section, metric) {
                    details {
                        summary { "Differences from the best cell, run by run" }
                        (table(&table_, "Differences"))
                    }
                }
            }
            div.figures {
                @for figure in figures { (figure_place(figure)) }
            }
        }
    }
}

/// Where the script draws a figure; what it shows can be read without.
fn figure_place(figure: &Figure) -> Markup {
    html! {
        figure #(figure.id) {
            figcaption { h3 { (figure.title) } p { (figure.note) } }
            noscript { p { "This figure is drawn by a script, which this browser does not run." } }
        }
    }
}

fn problems(page: &Page<'_>) -> Markup {
    let document = page.document;
    let failed: Vec<(usize, &CellResult)> =
        document.cells.iter().enumerate().filter(|(_, cell)| cell.failed > 0).collect();
    html! {
        @if !failed.is_empty() {
            section aria-labelledby="failed" {
                h2 id="failed" { "Failed runs" }
                @for (index, cell) in failed {
                    h3 { (cell.failed) " of " (numbered(document, index as u32)) }
                    ul {
                        @for failure in &cell.failures {
                            li {
                                (failure.count) " x " (failure.reason)
                                @if let Some(replay) = &page.origin.replay {
                                    br; code { (replay) " " (index) " " (failure.run) }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if !page.outlying.is_empty() {
            section aria-labelledby="outlying" {
                h2 id="outlying" { "Runs that stand out" }
                p {
                    "They count like all others. Far out is beyond three times the width of the middle half, \
                     more where values lean to that side."
                }
                (table(&outlying(page), "Runs that stand out"))
                @if page.outlying.len() > OUTLYING_MAX {
                    p { "... and " (page.outlying.len() - OUTLYING_MAX) " more." }
                }
            }
        }
    }
}

fn outlying(page: &Page<'_>) -> Table {
    let titles = ["cell", "run", "metric", "value", "median of the cell", "again"];
    let mut table = Table::new(titles.map(|title| match title {
        "metric" | "again" => (title, Align::Left),
        _ => (title, Align::Right),
    }));
    for one in page.outlying.iter().take(OUTLYING_MAX) {
        let again = page.origin.replay.as_ref();
        let [value, median] = [one.value, one.median].map(crate::number::significant);
        table.row([
            one.cell.to_string(),
            one.run.to_string(),
            one.metric.to_owned(),
            value,
            median,
            again.map_or_else(String::new, |replay| format!("{replay} {} {}", one.cell, one.run)),
        ]);
    }
    table
}

fn checks(document: &Document) -> Markup {
    let passed = document.checks.iter().filter(|check| check.pass).count();
    html! {
        @if !document.checks.is_empty() {
            section aria-labelledby="checks" {
                h2 id="checks" { "Checks" }
                p { (passed) " of " (document.checks.len()) " hold." }
                details open[passed < document.checks.len()] {
                    summary { "All checks" }
                    ul.checks {
                        @for check in &document.checks {
                            li {
                                strong { @if check.pass { "holds: " } @else { "FAILS: " } }
                                (check.name) " (" (check.detail) ")"
                            }
                        }
                    }
                }
            }
        }
    }
}

fn how_it_was_made(page: &Page<'_>) -> Markup {
    let Document { trackbed, substrate, seed, plan, environment, .. } = page.document;
    let Tally { valid, suspect, invalid } = page.reliability;
    html! {
        section aria-labelledby="made" {
            h2 id="made" { "How it was made" }
            dl {
                dt { "Command" } dd { code { (page.origin.command) } }
                dt { "Settings" }
                dd {
                    @if page.origin.settings.is_empty() { "as the scenario has them" }
                    @for setting in &page.origin.settings { code { (setting) } " " }
                }
                dt { "Version" } dd { "Trackbed " (trackbed) }
                dt { "Substrate" } dd { (substrate) ": " (explain(substrate)) }
                dt { "Seed" } dd { (seed) }
                dt { "Plan" } dd { code { (plan) } ", the same wherever these runs are made" }
                @for (name, value) in environment { dt { (name) } dd { (value) } }
                @if valid + suspect + invalid > 0 {
                    dt { "Certificates" }
                    dd {
                        (valid) " runs the machine kept up with, " (suspect) " in which it was late now and \
                         then, " (invalid) " with which it did not keep up (left out of means)"
                    }
                }
            }
            h3 { "How to read it" }
            p {
                "A cell is one combination of factors. Means are over runs, since the samples of one run \
                 share its misfortunes. An interval covers the true mean in 95 of 100 such studies. Run k of \
                 every cell meets the same losses and delays, so cells are compared run by run."
            }
            details {
                summary { "All metrics of all cells" }
                (table(&details::table(page.document), "All metrics"))
            }
            details { summary { "Scenario" } pre { (page.origin.scenario) } }
        }
    }
}

fn explain(substrate: &str) -> &'static str {
    match substrate {
        "virtual" => {
            "real protocol stacks in exact virtual time; the same command gives the same bytes anywhere"
        }
        "emulated" => "this machine's kernel and processes, joined by emulated links in real time",
        _ => "two machines and the network between them",
    }
}

fn glossary(document: &Document) -> Markup {
    let is_there = |name: &str| document.cells.iter().any(|cell| cell.metrics.contains_key(name));
    html! {
        section aria-labelledby="metrics" {
            h2 id="metrics" { "What is measured" }
            dl {
                @for metric in metrics::registry().iter().filter(|metric| is_there(metric.name)) {
                    dt { code { (metric.name) } } dd { (metric.help) }
                }
            }
        }
    }
}

/// A table that can be scrolled sideways, also by keys.
fn table(table: &Table, label: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead {
                    tr { @for (title, align) in table.columns() {
                        th scope="col" class=(class(*align)) { (title.replace('\n', " ")) }
                    } }
                }
                tbody {
                    @for row in table.rows() {
                        tr { @for (text, (_, align)) in row.iter().zip(table.columns()) {
                            td class=(class(*align)) { (text) }
                        } }
                    }
                }
            }
        }
    }
}

fn class(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Right => "right",
    }
}

fn anchor(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("part-{}", title.chars().map(plain).collect::<String>())
}

const STYLE: &str = include_str!("../../assets/page/page.css");

/// In this order: the libraries, then what draws.
const SCRIPTS: [&str; 6] = [
    include_str!("../../assets/vendor/d3.min.js"),
    include_str!("../../assets/vendor/plot.umd.min.js"),
    include_str!("../../assets/page/kinds.js"),
    include_str!("../../assets/page/saving.js"),
    include_str!("../../assets/page/figure.js"),
    include_str!("../../assets/page/page.js"),
];

/// Above the tables; the rest stands with its part.
const CONCLUSIONS_MAX: usize = 6;
const OUTLYING_MAX: usize = 20;
