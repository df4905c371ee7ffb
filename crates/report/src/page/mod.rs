//! A run directory as one HTML page that explains itself, without network, in any browser.
//!
//! Whoever makes a page goes through the cells one by one, so that never more than the runs of one are
//! in memory; what the page keeps of them does not grow with the runs. Every number in a table is that
//! of the document; distributions alone are made here, of the samples.

mod distribution;
pub mod figure;
mod figures;
mod html;

use std::collections::BTreeMap;

use trackbed_measure::results::{Document, Reliability, RunResult};
use trackbed_stats::outliers;

use crate::section::Section;
use distribution::Steps;
use figure::Figure;
use figures::Material;

/// What made the results, as the page says it.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// The settings that were changed, each as `key=value`.
    pub settings: Vec<String>,
    /// The scenario's text.
    pub scenario: String,
    /// The command that replays a run, without the numbers of its cell and of itself; `None` where runs
    /// cannot be repeated.
    pub replay: Option<String>,
}

/// A page in the making.
#[derive(Debug)]
pub struct Page<'a> {
    document: &'a Document,
    origin: Origin,
    /// By cell and metric.
    distributions: Vec<BTreeMap<&'static str, Steps>>,
    reliability: Tally,
    outlying: Vec<Outlying>,
    /// Figures from elsewhere, with the titles of the sections that they belong to.
    further: Vec<(String, Figure)>,
}

/// How many runs in real time the machine kept up with.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    valid: u32,
    suspect: u32,
    invalid: u32,
}

/// A run that stands out.
#[derive(Clone, Debug)]
struct Outlying {
    cell: u32,
    run: u32,
    metric: &'static str,
    value: f64,
    median: f64,
}

impl<'a> Page<'a> {
    /// A page about `document`.
    pub fn new(document: &'a Document, origin: Origin) -> Page<'a> {
        let distributions = vec![BTreeMap::new(); document.cells.len()];
        let (reliability, outlying, further) = Default::default();
        Page { document, origin, distributions, reliability, outlying, further }
    }

    /// Takes what the page shows of the runs of a cell, which are those that count, in the order of
    /// their numbers.
    pub fn add_cell(&mut self, cell: u32, runs: &[RunResult]) {
        let Some(place) = self.distributions.get_mut(cell as usize) else { return };
        let counted = || runs.iter().filter(|run| !run.is_invalid());
        *place = distribution::of_runs(counted(), SHOWN_METRICS);
        for certificate in runs.iter().filter_map(|run| run.certificate.as_ref()) {
            match certificate.verdict {
                Reliability::Valid => self.reliability.valid += 1,
                Reliability::Suspect => self.reliability.suspect += 1,
                Reliability::Invalid => self.reliability.invalid += 1,
            }
        }
        self.outlying.extend(standing_out(cell, &counted().collect::<Vec<_>>()));
    }

    /// Adds a figure that the document cannot give, such as how a run went by.
    pub fn add_figure(&mut self, section: &str, figure: Figure) {
        self.further.push((section.to_owned(), figure));
    }

    /// The page.
    pub fn finish(mut self) -> String {
        // Farthest first, since only so many are shown.
        let far = |one: &Outlying| (one.value / one.median).ln().abs();
        self.outlying.sort_by(|a, b| far(b).total_cmp(&far(a)));
        let sections = Section::all(self.document);
        let figures: Vec<Vec<Figure>> = sections
            .iter()
            .map(|section| figures::of(&Material { section, distributions: &self.distributions }))
            .collect();
        html::page(&self, &sections, &figures)
    }
}

/// The runs of a cell that stand out by the first metric that they have of those that rank cells.
fn standing_out(cell: u32, runs: &[&RunResult]) -> Vec<Outlying> {
    let mean = |run: &&RunResult, metric: &str| {
        let values = run.outcome.samples()?.get(metric)?;
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let ranking = trackbed_measure::metrics::COMPARED.iter().map(|compared| compared.name);
    let has = |metric: &&str| runs.iter().any(|run| mean(run, metric).is_some());
    let Some(metric) = ranking.into_iter().find(has) else { return Vec::new() };
    let means: Vec<Option<f64>> = runs.iter().map(|run| mean(run, metric)).collect();
    let mut sorted: Vec<f64> = means.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let places = outliers(&means).unwrap_or_default();
    let one = |place: usize| {
        Some(Outlying { cell, run: runs[place].run, metric, value: means[place]?, median })
    };
    places.into_iter().filter_map(one).collect()
}

/// The metrics whose distributions a page shows, where cells have them.
const SHOWN_METRICS: &[&str] = &[
    "completion_ms",
    "plt_ms",
    "loading_delay_ms",
    "rtt_ms",
    "verdict_ms",
    "warning_ms",
    "startup_delay_ms",
    "seek_delay_ms",
    "rebuffering_ms",
    "handover_goodput_mbps",
    "goodput_mbps",
    "gap_ms",
    "throughput_mbps",
    "signature_rate_hz",
    "frame_ms",
    "fps",
    "cpu_percent",
];

#[cfg(test)]
mod tests;
