//! What the scenario's study says, beside the results: its statements with their verdicts, and its figures.

use maud::{Markup, PreEscaped, html};
use trackbed_analysis::paper::{Chart, Held, Setting};

use super::tables;
use crate::papers::{self, conclusion};

/// The section; nothing without a study.
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
                    summary { "Its statements" }
                    (tables::table(&table, "Statements of the study"))
                }
            }
            @if let Some(table) = statements(Setting::Ours) {
                details {
                    summary { "Its statements in a setting of ours" }
                    (tables::table(&table, "Statements of the study in a setting of ours"))
                }
            }
        }
    }
}

fn figure(chart: &Chart) -> Markup {
    let Chart { number, title, .. } = chart;
    html! {
        figure {
            (PreEscaped(papers::svg(chart)))
            details {
                summary { (number) " as a table" }
                (tables::table(&papers::table(chart), title))
            }
        }
    }
}
