//! The study of secure communication alongside inference: its tables next to ours, and its
//! guidance, which any runs can confirm or refute.
//!
//! The study's own figures are the paper's, and never replace a measurement.

pub(super) mod figure;
mod guidance;
mod published;
#[cfg(test)]
mod tests;

use trackbed_measure::lists::{distinct, grouped};
use trackbed_measure::results::{CellResult, Document, RunResult};
use trackbed_stats::{MIN_PAIRS, Runs, Statistic};

use super::outcome::{Setting, Verdict};
use super::statement::{Held, Statement};
use crate::advise::cells::Cells;
use crate::advise::words;
use crate::calibration::infers;
use figure::Observation;
pub use figure::{Figure, Place, Printed};
use guidance::{Advice, HIGH, LOW, judge};
pub use published::devices;
use published::published;

/// The ids of its recommendations.
#[cfg(test)]
pub(super) const ADVICE: [&str; 4] =
    ["edge-advice-1", "edge-advice-2", "edge-advice-3", "edge-advice-4"];

/// Adds the study's tables and recommendations to `held`, compared with the runs behind `document`.
pub(super) fn add(held: &mut Held, document: &Document, runs: &[RunResult]) {
    // A device that is not a model of the study's is the user's machine, compared with both of the
    // study's.
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

/// The figures of the study's `devices` that have a counterpart in `observed`, in the study's
/// order.
fn figures(observed: &[Observation], devices: impl Iterator<Item = String>) -> Vec<Figure> {
    let theirs = devices.flat_map(|device| {
        published(&device).into_iter().filter_map(move |theirs| {
            let printed = Printed { device: device.clone(), low: theirs.low?, high: theirs.high? };
            Some(((theirs.place, theirs.metric, theirs.statistic), printed))
        })
    });
    let quantities = grouped(theirs).into_iter();
    let figures = quantities.filter_map(|((setting, metric, statistic), printed)| {
        let of = |metric: &str, statistic: &str| {
            let mut there = observed.iter().filter(|ours| ours.place == setting);
            there.find(|ours| ours.metric == metric && ours.statistic == statistic)
        };
        let ours = of(&metric, &statistic)?;
        let (here, ci95) = (ours.value?, [ours.low, ours.high]);
        let answered_hz = of(ANSWERED, "mean").and_then(|rate| rate.value);
        Some(Figure { setting, metric, statistic, printed, here, ci95, answered_hz })
    });
    figures.collect()
}

/// The observations of the study's quantities in the runs behind `document`. Cells without a
/// counterpart in the study are left out. With fewer than six runs there is no interval, so nothing
/// is decided.
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
            let runs = Runs::new(cells.values(cell, metric).iter().flatten().copied());
            let Ok(estimate) = runs.and_then(|runs| runs.estimate(*statistic)) else { continue };
            // A few similar runs would look like certainty.
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

/// The distinct quantities that the study printed, and the requests answered.
fn quantities() -> Vec<(String, Statistic)> {
    let figures = devices().into_iter().flat_map(|device| published(&device));
    let printed = figures.filter_map(|figure| {
        let is = |statistic: &Statistic| words::statistic(*statistic) == figure.statistic;
        Some((figure.metric, STATISTICS.into_iter().find(is)?))
    });
    distinct([(ANSWERED.to_owned(), Statistic::Mean)].into_iter().chain(printed))
}

/// A recommendation as a statement about the runs of `machine`, with the verdict of the study's own
/// tables: those of `device`, or of all devices if it has no name.
fn statement((number, advice): (usize, Advice), device: &str, machine: &str) -> Statement {
    // Frame rates and processor times of the models are inputs, and so are the costs that decide the rest.
    let is_model = !device.is_empty();
    let verdict = match advice.verdict() {
        Verdict::NotRun => Verdict::NotRun,
        _ if is_model => Verdict::NotTestable,
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
        over_settings: None,
        why: match is_model {
            true => Some(MODELLED.to_owned()),
            false => (!against.is_empty() || advice.verdict() == Verdict::Undecided)
                .then(|| reason(against)),
        },
        evidence: None,
    }
}

fn reason(against: &[String]) -> String {
    if against.is_empty() {
        return "The compared settings do not differ significantly.".to_owned();
    }
    let more = match against.len().saturating_sub(AGAINST_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let first: Vec<&str> = against.iter().take(AGAINST_MAX).map(String::as_str).collect();
    format!("Against it: {}{more}.", first.join("; "))
}

/// A cell in the study's terms; `None` if the study has no such cell.
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
    infers(cell).then(|| Place::new(load, protocol, &cipher))
}

/// Why no runs of a model of the study's device count for or against a recommendation.
const MODELLED: &str = "The model's frame rates and its processor time at low load are inputs. The costs of \
                        HTTP/3 and MQTT on the Pi are chosen by hand, and that CoAP sends 2,048 bytes \
                        block-wise is our choice. On a device, `trackbed run edge` judges it.";

/// The requests answered per second.
const ANSWERED: &str = "answer_rate_hz";

/// Maximum number of counterexamples listed.
const AGAINST_MAX: usize = 3;

const STATISTICS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::Quantile(0.5),
    Statistic::Quantile(0.95),
    Statistic::Quantile(0.99),
];
