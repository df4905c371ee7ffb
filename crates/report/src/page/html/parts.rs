//! The result sections: figures first, then the tables behind them.

use maud::{Markup, PreEscaped, html};
use trackbed_analysis::groups::Section;

use super::{Page, tables};
use crate::page::figures::run::RUNS;
use crate::{cells, differences};

/// A part of the scenario, or the whole scenario if it has no parts.
pub(super) fn part(page: &Page<'_>, section: &Section<'_>, number: usize) -> Markup {
    let title = section.part.as_deref().unwrap_or("Results");
    let headline = section.headline().map(|compared| compared.name);
    html! {
        section #{ "part-" (number) } aria-labelledby={ "part-title-" (number) } {
            h2 #{ "part-title-" (number) } { (title) }
            @if section.document.model.is_some() {
                p.label role="note" { "Model of a device, no measurement." }
            }
            @if section.part.is_some() {
                @for line in section.answer() { p.line { (line) } }
            }
            (figures(page, &format!("figures-{number}"), false))
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
                        @if section.document.shares_seeds() { "had the same seed and the same losses." }
                        @else { "ran right after run k of the others." }
                    }
                    (tables::table(&table, &format!("Differences: {title}")))
                }
            }
        }
    }
}

/// Contains timelines, maps and waterfalls.
pub(super) fn single_runs(page: &Page<'_>) -> Markup {
    html! {
        section #runs aria-labelledby="runs-title" {
            h2 #runs-title { "Single runs" }
            p.note { "How single runs went over time. Each is one example; the results over all \
                      runs are above." }
            (figures(page, RUNS, true))
        }
    }
}

/// The figures of this place, each with its first view; the script adds choices, values and downloads.
pub(super) fn figures(page: &Page<'_>, place: &str, is_wide: bool) -> Markup {
    html! {
        div.figures.full[is_wide] #(place) {
            @for figure in page.figures.iter().filter(|figure| figure.place == place) {
                article.card.figure #(figure.id) aria-labelledby={ "title-" (figure.id) } {
                    h3 #{ "title-" (figure.id) } { (figure.title) }
                    p.note { (figure.note) }
                    @if let Some(view) = figure.views.first() {
                        div.stage.drawings { (PreEscaped(&figure.first)) }
                        p.caption { (view.caption) }
                    }
                }
            }
        }
    }
}
