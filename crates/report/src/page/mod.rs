//! A run directory as one HTML page that explains itself, without network, in any browser.
//!
//! Whoever makes a page goes through the cells one by one, so that never more than the runs of one are
//! in memory; what the page keeps of them does not grow with the runs. Every number in a table is that
//! of the document; distributions alone are made here, of the samples.

mod distribution;
pub mod figure;
mod figures;
mod html;
pub mod run;

use std::collections::BTreeMap;

use trackbed_measure::results::{Document, Reliability, RunResult};
use trackbed_stats::outliers;

use crate::section::Section;
use distribution::Steps;
use figure::Figure;
use figures::Material;
use run::Watched;

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
    watched: Vec<Watched>,
    /// By cell, the run in the middle.
    middle: BTreeMap<u32, u32>,
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
        let (reliability, outlying, watched, middle) = Default::default();
        Page { document, origin, distributions, reliability, outlying, watched, middle }
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
        let counted: Vec<&RunResult> = counted().collect();
        let Some(Ranked { metric, means }) = Ranked::of(&counted) else { return };
        let mut order: Vec<usize> =
            (0..means.len()).filter(|place| means[*place].is_some()).collect();
        order.sort_by(|a, b| means[*a].partial_cmp(&means[*b]).expect("both are known"));
        let Some(middle) = order.get(order.len() / 2) else { return };
        self.middle.insert(cell, counted[*middle].run);
        let median = means[*middle].unwrap_or_default();
        let one = |place: usize| {
            Some(Outlying { cell, run: counted[place].run, metric, value: means[place]?, median })
        };
        self.outlying.extend(outliers(&means).unwrap_or_default().into_iter().filter_map(one));
    }

    /// Adds how a run went by.
    pub fn add_run(&mut self, run: Watched) {
        self.watched.push(run);
    }

    /// What a cell is called on the page, and the part that it belongs to.
    pub fn name_of(&self, cell: u32) -> (String, String) {
        let sections = Section::all(self.document);
        let Some(section) = sections.iter().find(|section| section.cells.contains(&cell)) else {
            return Default::default();
        };
        let material = Material { section, distributions: &self.distributions };
        (section.title.clone().unwrap_or_default(), material.called(cell))
    }

    /// A few cells of each part that tell how its runs go by: the best and the worst one, each with the
    /// number of the run in the middle by the metric that ranks them. Known once all cells were added.
    pub fn typical_runs(&self) -> Vec<(u32, u32)> {
        let of_section = |section: &Section<'_>| {
            let metric = section.headline();
            let mean =
                |cell: &&u32| Some(self.document.cells[**cell as usize].metrics.get(metric?)?.mean);
            let known = section.cells.iter().filter(|cell| mean(cell).is_some());
            let order = |a: &&u32, b: &&u32| mean(a).partial_cmp(&mean(b)).expect("both are known");
            let (least, most) = (known.clone().min_by(order), known.max_by(order));
            let mut cells: Vec<u32> = least.into_iter().chain(most).copied().collect();
            cells.dedup();
            cells
        };
        let cells =
            Section::all(self.document).into_iter().flat_map(|section| of_section(&section));
        cells.filter_map(|cell| Some((cell, *self.middle.get(&cell)?))).collect()
    }

    /// The page.
    pub fn finish(mut self) -> String {
        // Farthest first, since only so many are shown.
        let far = |one: &Outlying| (one.value / one.median).ln().abs();
        self.outlying.sort_by(|a, b| far(b).total_cmp(&far(a)));
        let sections = Section::all(self.document);
        let figures: Vec<Vec<Figure>> = sections
            .iter()
            .map(|section| {
                let material = Material { section, distributions: &self.distributions };
                let mut figures = figures::of(&material);
                let title = section.title.as_deref().unwrap_or_default();
                figures.extend(run::figures(title, &self.watched));
                figures
            })
            .collect();
        html::page(&self, &sections, &figures)
    }
}

/// The means of the runs of a cell, by the first metric that they have of those that rank cells.
struct Ranked {
    metric: &'static str,
    means: Vec<Option<f64>>,
}

impl Ranked {
    fn of(runs: &[&RunResult]) -> Option<Ranked> {
        let mean = |run: &&RunResult, metric: &str| {
            let values = run.outcome.samples()?.get(metric)?;
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let ranking = trackbed_measure::metrics::COMPARED.iter().map(|compared| compared.name);
        let has = |metric: &&str| runs.iter().any(|run| mean(run, metric).is_some());
        let metric = ranking.into_iter().find(has)?;
        Some(Ranked { metric, means: runs.iter().map(|run| mean(run, metric)).collect() })
    }
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
