//! A study's figures and recommendations beside what was measured.

use std::fmt::{self, Write as _};

use trackbed_analysis::advise::guidance::{Figure, GuidanceVerdict, Load, Recommendation, devices};

use crate::number::{Decimals, dash, significant};
use crate::table::{Align, Table};

/// Renders the figures and recommendations of the study called `title`; `model` says what of the runs
/// is a model's, if anything.
pub fn render(
    title: &str,
    model: Option<&str>,
    figures: &[Figure],
    guidance: &[Recommendation],
) -> String {
    let mut text = format!("paper: {title}\n");
    let written = write_all(model, figures, guidance, &mut text);
    written.expect("a String takes everything");
    text
}

fn write_all(
    model: Option<&str>,
    figures: &[Figure],
    guidance: &[Recommendation],
    out: &mut String,
) -> fmt::Result {
    if let Some(model) = model {
        writeln!(out, "MODEL, no measurement: {model}")?;
    }
    if !figures.is_empty() {
        write!(out, "\n{}", table(figures, if model.is_some() { "model" } else { "here" }))?;
    }
    let (derived, refuted) = match model {
        None => ("derived from these runs", "refuted by these runs"),
        Some(_) => ("derived from these runs of a model", "refuted by these runs of a model"),
    };
    for advice in guidance {
        let verdict = match advice.verdict {
            GuidanceVerdict::Derived => derived,
            GuidanceVerdict::Refuted => refuted,
            GuidanceVerdict::Undecided => "undecided: intervals overlap, or runs are too few",
            GuidanceVerdict::NotMeasured => "not measured: the settings left cells out",
        };
        let Recommendation { text, reading, better, undecided, against, .. } = advice;
        writeln!(out, "\nrecommendation: {text}\n  read as: {reading}\n  {verdict}")?;
        if advice.verdict != GuidanceVerdict::NotMeasured {
            let against = against.len();
            writeln!(out, "  {better} comparisons for it, {against} against it, {undecided} open")?;
        }
        for words in against.iter().take(AGAINST_MAX) {
            writeln!(out, "  against it: {words}")?;
        }
        if let Some(more @ 1..) = against.len().checked_sub(AGAINST_MAX) {
            writeln!(out, "  and {more} more")?;
        }
    }
    Ok(())
}

/// `ours` is the title of the column of what was found in the runs.
pub(crate) fn table(figures: &[Figure], ours: &str) -> Table {
    let devices = devices();
    let titles = ["figure", "load", "protocol", "cipher"].map(|title| (title, Align::Left));
    let numbers = devices.iter().map(String::as_str).chain([ours, "95 % interval"]);
    let mut table =
        Table::new(titles.into_iter().chain(numbers.map(|title| (title, Align::Right))));
    for figure in figures {
        let load = match figure.setting.load {
            Load::Low => "low",
            Load::High => "high",
        };
        let printed = devices.iter().map(|device| {
            let found = figure.printed.iter().find(|printed| printed.device == *device);
            found.map_or_else(dash, |printed| range(printed.low, printed.high))
        });
        let interval = match figure.ci95 {
            [Some(low), Some(high)] => Decimals::of([figure.here]).interval([low, high]),
            _ => dash(),
        };
        let words = [
            format!("{} {}", figure.statistic, figure.metric),
            load.to_owned(),
            figure.setting.protocol.clone(),
            figure.setting.cipher.clone(),
        ];
        let here = [Decimals::of([figure.here]).text(figure.here), interval];
        table.row(words.into_iter().chain(printed).chain(here));
    }
    table
}

fn range(low: f64, high: f64) -> String {
    if low == high { significant(low) } else { format!("{low} to {high}") }
}

/// More say no more.
const AGAINST_MAX: usize = 3;
