//! Reference: every metric of every cell, definitions, the scenario's text.

use std::collections::BTreeSet;

use maud::{Markup, html};
use trackbed_measure::metrics;
use trackbed_measure::results::Document;

use super::tables;
use crate::details;
use crate::page::Origin;

/// The full table, collapsed.
pub(super) fn all_metrics(document: &Document) -> Markup {
    html! {
        section #metrics.card aria-labelledby="metrics-title" {
            h2 #metrics-title { "All metrics" }
            details {
                summary { "Every metric of every cell, with its distribution" }
                p.note { "Means and their 95 % confidence intervals are over runs, quantiles over all samples." }
                (tables::table(&details::table(document), "All metrics of all cells"))
            }
        }
    }
}

pub(super) fn definitions(document: &Document) -> Markup {
    let names: BTreeSet<&str> =
        document.cells.iter().flat_map(|cell| cell.metrics.keys().map(String::as_str)).collect();
    let known = metrics::registry().iter().filter(|metric| names.contains(metric.name));
    html! {
        section #definitions.card aria-labelledby="definitions-title" {
            h2 #definitions-title { "What the metrics mean" }
            details {
                summary { "Definitions" }
                dl.facts {
                    @for metric in known { dt { (metric.name) } dd { (metric.help) } }
                }
            }
        }
    }
}

/// The scenario's text, if known.
pub(super) fn scenario(origin: &Origin) -> Markup {
    if origin.scenario.is_empty() {
        return html! {};
    }
    html! {
        section #scenario.card aria-labelledby="scenario-title" {
            h2 #scenario-title { "The scenario" }
            details {
                summary { "Text" }
                div.scroll tabindex="0" role="region" aria-label="The scenario's text" {
                    pre { (origin.scenario) }
                }
            }
        }
    }
}
