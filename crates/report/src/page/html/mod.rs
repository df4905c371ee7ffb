//! The page around the figures: everything that can be read without a script.

mod findings;
mod origin;
mod parts;
mod reference;
mod study;
mod tables;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use trackbed_analysis::groups::Section;
use trackbed_analysis::paper::Held;
use trackbed_measure::results::Document;
use trackbed_outward::printable;

use super::certificates::Certificates;
use super::figure::Figure;
use super::figures::run::RUNS;
use super::origin::Origin;
use super::palette::{DARK, LIGHT};
use super::ranks::Outlying;

pub(crate) struct Page<'a> {
    pub document: &'a Document,
    pub origin: &'a Origin,
    pub sections: &'a [Section<'a>],
    pub certificates: &'a Certificates,
    /// Outlying runs, the farthest first.
    pub outlying: Vec<&'a Outlying>,
    /// The statements of the scenario's study, compared with the runs.
    pub study: Option<&'a Held>,
    pub figures: &'a [Figure],
    /// The script's data, escaped for the page.
    pub data: String,
}

/// The page loads nothing and sends nothing, and no script runs but this one.
fn policy(script: &str) -> String {
    let digest = BASE64_STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data: blob:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// The whole page. Characters that change the direction of a text are shown as in a terminal.
pub(crate) fn page(page: &Page<'_>) -> String {
    let document = page.document;
    let title = format!("{} - Trackbed", document.scenario);
    let script = scripts();
    let script = printable(&script);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy(&script));
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "trackbed " (document.trackbed) };
                title { (title) }
                style { (PreEscaped(styles())) }
            }
            body {
                a.skip href="#answer" { "Skip to the conclusion" }
                (origin::header(page))
                main #main {
                    (origin::answer(page))
                    (findings::problems(page))
                    (origin::what_was_run(page))
                    @for (number, section) in page.sections.iter().enumerate() {
                        (parts::part(page, section, number))
                    }
                    (study::study(page.study))
                    @if page.figures.iter().any(|one| one.place == RUNS) { (parts::single_runs(page)) }
                    (findings::outlying(page))
                    (findings::checks(document))
                    (reference::all_metrics(document))
                    (reference::definitions(document))
                    (reference::scenario(page.origin))
                }
                (footer(document))
                noscript { p.bar { "This browser does not run scripts, so each figure shows its first view only. \
                                    The conclusion and all tables are complete." } }
                script type="application/json" id="data" { (PreEscaped(&page.data)) }
                script { (PreEscaped(&script)) }
            }
        }
    };
    printable(&markup.into_string()).into_owned()
}

fn footer(document: &Document) -> Markup {
    html! {
        footer {
            p { "Made by trackbed " (document.trackbed) ". This file needs no network and sends \
                 nothing." }
        }
    }
}

/// Colours of both themes, by the system's setting or the reader's choice; print is light.
fn styles() -> String {
    let (light, dark) = (LIGHT.properties(), DARK.properties());
    let mut text = format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}\n\
         @media print{{:root:root:root{{color-scheme:light;{light}}}}}\n"
    );
    STYLES.iter().for_each(|style| text.push_str(style));
    text
}

fn scripts() -> String {
    let mut text = String::from("(() => {\n\"use strict\";\n");
    SCRIPTS.iter().for_each(|script| text.push_str(script));
    text.push_str("})();\n");
    text
}

/// Style sheets, in cascade order.
pub(crate) const STYLES: [&str; 4] = [
    include_str!("../../../assets/page/base.css"),
    include_str!("../../../assets/page/tables.css"),
    include_str!("../../../assets/page/figures.css"),
    include_str!("../../../assets/page/print.css"),
];

/// The page's script: definitions first, then the start. They share one scope that nothing outside sees.
pub(crate) const SCRIPTS: [&str; 6] = [
    include_str!("../../../assets/page/words.js"),
    include_str!("../../../assets/page/reader.js"),
    include_str!("../../../assets/page/downloads.js"),
    include_str!("../../../assets/page/figure.js"),
    include_str!("../../../assets/page/theme.js"),
    include_str!("../../../assets/page/start.js"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Content of a `<script>` or `<style>` must neither end the element nor open a comment.
    #[test]
    fn no_asset_ends_its_element() {
        for script in SCRIPTS {
            let lower = script.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--"));
        }
        for style in STYLES {
            assert!(!style.to_lowercase().contains("</style"));
        }
    }
}
