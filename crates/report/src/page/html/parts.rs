//! The sections of results: figures first, then the tables that they are drawn from.

use maud::{Markup, html};

use super::tables;
use crate::section::Section;
use crate::{cells, differences};

/// A part of the scenario, or the whole where it has no parts.
pub(super) fn part(section: &Section<'_>, number: usize) -> Markup {
    let title = section.title.as_deref().unwrap_or("Results");
    let headline = section.headline();
    html! {
        section #{ "part-" (number) } aria-labelledby={ "part-title-" (number) } {
            h2 #{ "part-title-" (number) } { (title) }
            @if section.document.model.is_some() {
                p.label role="note" { "Model of a device, no measurement." }
            }
            @if section.title.is_some() {
                @for line in section.answer() { p.line { (line) } }
            }
            div.figures #{ "figures-" (number) } {}
            div.card {
                h3 { "Cells" }
                p.note { "One row for each combination of factors. Times: median, its 95 % interval by order \
                          statistics, and the tail. All other columns: means over runs, with 95 % intervals by \
                          Student's t, corrected for skewness. n is the number of runs that succeeded." }
                (tables::table(&cells::whole(section, false), &format!("Cells: {title}")))
            }
            @if let Some((metric, table)) = headline.and_then(|name| Some((name, differences::of(section, name)?))) {
                div.card {
                    h3 { "Differences of " (metric) }
                    p.note {
                        "Compared with the best cell under the same conditions, paired by run: run k of every cell "
                        @if section.document.shares_misfortunes() { "had the same seed and the same losses." }
                        @else { "ran right after run k of the others." }
                    }
                    (tables::table(&table, &format!("Differences: {title}")))
                }
            }
        }
    }
}

/// Where timelines, maps and waterfalls are put.
pub(super) fn single_runs() -> Markup {
    html! {
        section #runs aria-labelledby="runs-title" {
            h2 #runs-title { "Single runs" }
            p.note { "What happened in a run, moment by moment. Each is one example; what holds in \
                      general stands above." }
            div.figures.full #figures-runs {}
        }
    }
}
