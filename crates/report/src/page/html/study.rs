//! The scenario's study beside the results: its statements with verdicts, and its figures.

use maud::{Markup, PreEscaped, html};
use trackbed_analysis::paper::{Chart, Held, Setting};

use super::tables;
use crate::page::figure::WIDTHS;
use crate::papers::{self, conclusion};

/// The section; empty without a study.
pub(super) fn study(held: Option<&Held>) -> Markup {
    let Some(held) = held else { return html! {} };
    let statements = |setting| papers::statements(held, setting);
    html! {
        section #study.card aria-labelledby="study-title" {
            h2 #study-title { "What the study says" }
            p { (held.title) }
            p { (conclusion(held)) }
            @for chart in held.charts.iter().filter(|chart| papers::is_drawn(chart)) { (figure(chart)) }
            @if let Some(table) = statements(Setting::Study) {
                details {
                    summary { "Statements" }
                    (tables::table(&table, "Statements of the study"))
                }
            }
            @if let Some(table) = statements(Setting::Ours) {
                details {
                    summary { "Statements, tested in our own setting" }
                    (tables::table(&table, "Statements of the study, tested in our own setting"))
                }
            }
        }
    }
}

fn figure(chart: &Chart) -> Markup {
    let Chart { number, title, .. } = chart;
    html! {
        figure {
            div.drawings { (PreEscaped(papers::plot(chart).inline(&WIDTHS[..2]))) }
            figcaption { (number) ": " (title) }
            details {
                summary { (number) " as a table" }
                (tables::table(&papers::table(chart), title))
            }
        }
    }
}
