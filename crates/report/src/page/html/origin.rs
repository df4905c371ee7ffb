//! What was run, and the conclusion.

use maud::{Markup, html};
use trackbed_analysis::groups::Section;
use trackbed_measure::results::CellResult;

use super::{Page, parts};
use crate::methods::methods;
use crate::page::figures::ANSWER;
use crate::page::figures::run::RUNS;
use crate::summary::extent;

/// The page's header: title and navigation.
pub(super) fn header(page: &Page<'_>) -> Markup {
    let titled = || page.sections.iter().enumerate().filter(|(_, one)| one.part.is_some());
    html! {
        header.top {
            div.wide {
                p.brand { "Trackbed" }
                h1 { (page.document.scenario) }
                p.under { (extent(page.document)) }
                div #controls {}
            }
        }
        nav.ways aria-label="Sections" {
            div.wide {
                a href="#answer" { "Conclusion" }
                a href="#run" { "What was run" }
                @if titled().next().is_none() { a href="#part-0" { "Results" } }
                @for (number, section) in titled() {
                    a href={ "#part-" (number) } { (section.part.as_deref().unwrap_or_default()) }
                }
                @if page.study.is_some() { a href="#study" { "The study" } }
                @if page.figures.iter().any(|one| one.place == RUNS) { a href="#runs" { "Single runs" } }
                @if !page.document.checks.is_empty() { a href="#checks" { "Checks" } }
                a href="#metrics" { "All metrics" }
            }
        }
    }
}

/// The conclusion, section by section.
pub(super) fn answer(page: &Page<'_>) -> Markup {
    let lines = |section: &Section<'_>| section.answer().map(str::to_owned).collect();
    let all: Vec<(&Section<'_>, Vec<String>)> =
        page.sections.iter().map(|section| (section, lines(section))).collect();
    let compared = all.iter().any(|(_, lines)| !lines.is_empty());
    html! {
        section #answer.card.lead aria-labelledby="answer-title" {
            h2 #answer-title { "Conclusion" }
            @if let Some(model) = &page.document.model {
                p.label role="note" { strong { "MODEL, no measurement: " } (model) }
            }
            @if !compared {
                p { "Nothing was compared. The table of cells below has the results." }
            }
            @for (section, lines) in all.iter().filter(|(_, lines)| !lines.is_empty()) {
                @if let Some(title) = section.part.as_deref() { h3 { (title) } }
                @for line in lines { p.line { (sentence(line)) } }
            }
            @if page.sections.iter().any(|section| section.part.is_none()) {
                (parts::figures(page, ANSWER, true))
            }
            (counts(page))
        }
    }
}

/// Emphasises the text before the colon: `fastest at loss 0`.
fn sentence(line: &str) -> Markup {
    match line.split_once(": ") {
        Some((front, rest)) => html! { strong { (front) ": " } (rest) },
        None => html! { (line) },
    }
}

/// Counts of runs, always including those that are missing.
fn counts(page: &Page<'_>) -> Markup {
    let document = page.document;
    let failed: u32 = document.cells.iter().map(|cell| cell.failed).sum();
    let invalid: u32 = document.cells.iter().map(|cell| cell.invalid).sum();
    let of = |cell: &CellResult| cell.ran() + cell.failed + cell.invalid;
    let there: u32 = document.cells.iter().map(of).sum();
    let passed = document.checks.iter().filter(|check| check.pass).count();
    let checks = document.checks.len();
    html! {
        dl.counts {
            div { dt { "runs" } dd { (there) } }
            div { dt { "maximum runs per cell" } dd { (document.runs) } }
            div .bad[failed > 0] { dt { "failed" } dd { (failed) } }
            div .warn[invalid > 0] { dt { "left out" } dd { (invalid) } }
            @if checks > 0 {
                div .bad[passed < checks] { dt { "checks passed" } dd { (passed) " of " (checks) } }
            }
        }
    }
}

/// Everything needed to repeat and to judge the runs.
pub(super) fn what_was_run(page: &Page<'_>) -> Markup {
    let document = page.document;
    let facts = [
        ("scenario", document.scenario.clone()),
        ("version", format!("trackbed {}", document.trackbed)),
        ("seed", document.seed.to_string()),
        ("plan", document.plan.clone()),
    ];
    html! {
        section #run.card aria-labelledby="run-title" {
            h2 #run-title { "What was run" }
            dl.facts {
                @if !page.origin.command.is_empty() {
                    dt { "command" } dd { code { (page.origin.command) } }
                }
                dt { "substrate" } dd { (document.substrate) ": " (substrate(&document.substrate)) }
                @if let Some(model) = &document.model {
                    dt { "model" } dd.warn { "MODEL, no measurement: " (model) }
                }
                @for (name, text) in &facts { dt { (name) } dd { (text) } }
                @if let Some(text) = page.certificates.text() { dt { "certificate" } dd { (text) } }
                @for (name, text) in &document.environment { dt { (name) } dd { (text) } }
                @for (name, text) in &page.origin.notes { dt { (name) } dd { (text) } }
            }
            h3 { "Methods" }
            p { (methods(document, page.origin.build.as_deref())) }
        }
    }
}

/// A substrate, for readers who do not know the word.
fn substrate(name: &str) -> &'static str {
    match name {
        "virtual" => {
            "real protocol stacks on simulated links in virtual time; the same seed gives the same \
             results on every machine"
        }
        "emulated" => "real processes in network namespaces on this machine's kernel, in real time",
        "live" => "two machines and the network between them, in real time",
        _ => "see the documentation",
    }
}
