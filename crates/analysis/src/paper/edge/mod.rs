//! The study of secure communication beside inference: its tables beside ours, and its guidance, which any
//! runs derive or refute.
//!
//! The study's own figures are the paper's, and never stand for a measurement.

pub(super) mod figure;
mod guidance;
mod published;
#[cfg(test)]
mod tests;

use trackbed_measure::results::{CellResult, Document, RunResult};
use trackbed_stats::{MIN_PAIRS, Runs, Statistic};

use super::statement::{Held, Setting, Statement, Verdict};
use crate::advise::cells::Cells;
use crate::advise::words;
use figure::Observation;
pub use figure::{Figure, Place, Printed};
use guidance::{Advice, HIGH, LOW, judge};
pub use published::devices;
use published::published;

/// The numbers of its recommendations.
#[cfg(test)]
pub(super) const ADVICE: [&str; 4] =
    ["edge-advice-1", "edge-advice-2", "edge-advice-3", "edge-advice-4"];

/// Adds to what is held the study's tables and its recommendations, against the runs behind `document`.
pub(super) fn add(held: &mut Held, document: &Document, runs: &[RunResult]) {
    // What is no model of one of its devices is a machine of the user's, held against both of them.
    let known =
        [("raspberry-pi-5", "Raspberry Pi 5"), ("jetson-orin-nano", "Jetson Orin Nano"), ("", "")];
    for (name, title) in known {
        let is_it = |cell: &CellResult| cell.factor_text("device") == name;
        let observed = observe(document, runs, |cell| place(cell).filter(|_| is_it(cell)));
        if observed.is_empty() {
            continue;
        }
        let of_it = devices().into_iter().filter(|device| title.is_empty() || device == title);
        held.tables.extend(figures(&observed, of_it));
        let machine = match (title, &document.model) {
            ("", Some(_)) => "the modelled device",
            ("", None) => "this machine",
            (title, _) => title,
        };
        let advice = (1..).zip(judge(&observed)).map(|advice| statement(advice, title, machine));
        held.statements.extend(advice);
    }
}

/// The figures of the study's `devices` that have a counterpart among `observed`, in its order.
fn figures(observed: &[Observation], devices: impl Iterator<Item = String>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for device in devices {
        for theirs in published(&device) {
            let (Some(low), Some(high)) = (theirs.low, theirs.high) else { continue };
            let printed = Printed { device: device.clone(), low, high };
            let known = figures.iter_mut().find(|figure| {
                figure.setting == theirs.place
                    && figure.metric == theirs.metric
                    && figure.statistic == theirs.statistic
            });
            match known {
                Some(figure) => figure.printed.push(printed),
                None => figures.extend(figure(&theirs, printed, observed)),
            }
        }
    }
    figures
}

fn figure(theirs: &Observation, printed: Printed, observed: &[Observation]) -> Option<Figure> {
    let of = |metric: &str, statistic: &str| {
        let mut there = observed.iter().filter(|ours| ours.place == theirs.place);
        there.find(|ours| ours.metric == metric && ours.statistic == statistic)
    };
    let ours = of(&theirs.metric, &theirs.statistic)?;
    Some(Figure {
        setting: theirs.place.clone(),
        metric: theirs.metric.clone(),
        statistic: theirs.statistic.clone(),
        printed: vec![printed],
        here: ours.value?,
        ci95: [ours.low, ours.high],
        answered_hz: of(ANSWERED, "mean").and_then(|rate| rate.value),
    })
}

/// What the runs behind `document` say of the quantities that the study printed. `place` says what a cell is
/// in the study's terms; cells for which it says nothing are left out. On fewer than six runs no interval is
/// given, so that nothing is decided.
fn observe(
    document: &Document,
    runs: &[RunResult],
    place: impl Fn(&CellResult) -> Option<Place>,
) -> Vec<Observation> {
    let cells = Cells::new(document, runs);
    let quantities = quantities();
    let mut all = Vec::new();
    for cell in 0..cells.len() {
        let Some(place) = place(cells.get(cell)) else { continue };
        for (metric, statistic) in &quantities {
            let values = cells.values(cell, metric);
            let runs = Runs::new(values.iter().flatten().copied());
            let Ok(estimate) = runs.and_then(|runs| runs.estimate(*statistic)) else { continue };
            // A few runs that were alike would look like certainty.
            let interval = Some(estimate.interval).filter(|_| estimate.runs >= MIN_PAIRS);
            all.push(Observation {
                place: place.clone(),
                metric: metric.clone(),
                statistic: words::statistic(*statistic),
                value: Some(estimate.value),
                low: interval.and_then(|interval| interval.low),
                high: interval.and_then(|interval| interval.high),
            });
        }
    }
    all
}

/// What the study printed, each once, and the requests that were answered.
fn quantities() -> Vec<(String, Statistic)> {
    let mut once: Vec<(String, Statistic)> = vec![(ANSWERED.to_owned(), Statistic::Mean)];
    for figure in devices().iter().flat_map(|device| published(device)) {
        let is = |statistic: &Statistic| words::statistic(*statistic) == figure.statistic;
        let quantity = STATISTICS.into_iter().find(is).map(|found| (figure.metric.clone(), found));
        once.extend(quantity.filter(|quantity| !once.contains(quantity)));
    }
    once
}

/// A recommendation as a statement about the runs of `machine`, with what the study's own tables say of it:
/// those of `device`, or of all devices if it has no name.
fn statement((number, advice): (usize, Advice), device: &str, machine: &str) -> Statement {
    let verdict = match advice.verdict() {
        // More runs of a model that has no such difference show none.
        Verdict::Undecided if !device.is_empty() => Verdict::NotTestable,
        verdict => verdict,
    };
    let own = devices().into_iter().filter(|own| device.is_empty() || own == device);
    let own = own.filter_map(|own| {
        let judged = judge(&published(&own));
        Some(format!("{own} {}", judged.get(number - 1)?.counts()))
    });
    let Advice { text, reading, against, .. } = &advice;
    Statement {
        id: format!("edge-advice-{number}"),
        source: "conclusion".to_owned(),
        text: format!("{text} ({reading}), {machine}: {}", advice.counts()),
        setting: Setting::Study,
        says: format!("better; its own tables: {}", own.collect::<Vec<_>>().join("; ")),
        study: None,
        unit: "%".to_owned(),
        ours: None,
        ci95: None,
        runs: 0,
        verdict,
        runs_needed: None,
        why: (!against.is_empty() || advice.verdict() == Verdict::Undecided)
            .then(|| reason(against)),
        evidence: None,
    }
}

fn reason(against: &[String]) -> String {
    if against.is_empty() {
        return "What it compares costs the same, or differs by less than its intervals."
            .to_owned();
    }
    let more = match against.len().saturating_sub(AGAINST_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let first: Vec<&str> = against.iter().take(AGAINST_MAX).map(String::as_str).collect();
    format!("Against it: {}{more}.", first.join("; "))
}

/// What a cell is in the study's terms; `None` where it had no such thing.
fn place(cell: &CellResult) -> Option<Place> {
    let protocol = match cell.factor_text("protocol").as_str() {
        "http2" => "https",
        "http3" => "http3",
        "mqtt" => "mqtt",
        "coap+dtls" => "dtls",
        _ => return None,
    };
    let load = match (cell.factor_text("rate_hz").as_str(), cell.factor_text("size_bytes").as_str())
    {
        ("1", "512") => LOW,
        ("100", "2048") => HIGH,
        _ => return None,
    };
    let cipher = match cell.factor_text("cipher").as_str() {
        cipher @ ("aes128gcm" | "aes256gcm") => cipher.to_owned(),
        "chacha20poly1305" => "chacha20".to_owned(),
        _ => return None,
    };
    let inferring = !["", "none"].contains(&cell.factor_text("inference").as_str());
    inferring.then(|| Place::new(load, protocol, &cipher))
}

/// The requests that were answered in a second.
const ANSWERED: &str = "answer_rate_hz";

/// More say no more.
const AGAINST_MAX: usize = 3;

/// Those that the study prints.
const STATISTICS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::Quantile(0.5),
    Statistic::Quantile(0.95),
    Statistic::Quantile(0.99),
];
