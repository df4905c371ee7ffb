//! Single runs compared with the others of their cell: medians and outliers.

use std::collections::BTreeMap;

use trackbed_analysis::groups::Section;
use trackbed_measure::results::RunResult;
use trackbed_stats::outliers;

/// The runs of all cells, ranked by the metric that ranks cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranks {
    /// The median run of each cell.
    middle: BTreeMap<u32, u32>,
    outlying: Vec<Outlying>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outlying {
    pub cell: u32,
    pub run: u32,
    pub metric: &'static str,
    /// The mean of its samples.
    pub value: f64,
    /// The median of the cell's runs.
    pub median: f64,
}

impl Ranks {
    /// Adds the runs of `cell` that count, by the metric that ranks it.
    pub fn add(&mut self, cell: u32, metric: &'static str, runs: &[&RunResult]) {
        let means: Vec<Option<f64>> = runs.iter().map(|run| mean(run, metric)).collect();
        let mut order: Vec<(f64, usize)> =
            means.iter().enumerate().filter_map(|(place, mean)| Some(((*mean)?, place))).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((median, middle)) = order.get(order.len() / 2).copied() else { return };
        self.middle.insert(cell, runs[middle].run);
        let one = |place: usize| {
            Some(Outlying { cell, run: runs[place].run, metric, value: means[place]?, median })
        };
        self.outlying.extend(outliers(&means).unwrap_or_default().into_iter().filter_map(one));
    }

    /// The number of a cell's median run.
    pub fn middle(&self, cell: u32) -> Option<u32> {
        self.middle.get(&cell).copied()
    }

    /// The outlying runs, the farthest first.
    pub fn outlying(&self) -> Vec<&Outlying> {
        let far = |one: &Outlying| {
            let ratio = (one.value / one.median).ln().abs();
            if ratio.is_nan() { 0.0 } else { ratio }
        };
        let mut all: Vec<&Outlying> = self.outlying.iter().collect();
        all.sort_by(|a, b| far(b).total_cmp(&far(a)));
        all
    }

    /// The best and the worst cell of each section, each with the number of its median run.
    pub fn typical(&self, sections: &[Section<'_>]) -> Vec<(u32, u32)> {
        let cells = sections.iter().flat_map(extremes);
        cells.filter_map(|cell| Some((cell, self.middle(cell)?))).collect()
    }
}

/// The cells of a section with the lowest and the highest mean of the metric that ranks them.
fn extremes(section: &Section<'_>) -> Vec<u32> {
    let compared = section.headline();
    let value = |cell: u32| compared?.of(&section.document.cells[cell as usize]);
    let known = section.cells.iter().filter_map(|cell| Some((value(*cell)?, *cell)));
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0);
    let (least, most) = (known.clone().min_by(order), known.max_by(order));
    let mut cells: Vec<u32> = least.into_iter().chain(most).map(|(_, cell)| cell).collect();
    cells.dedup();
    cells
}

fn mean(run: &RunResult, metric: &str) -> Option<f64> {
    let values = run.outcome.samples()?.get(metric)?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use trackbed_measure::results::Outcome;

    use super::*;

    fn run(number: u32, completion_ms: f64) -> RunResult {
        let samples = [("completion_ms".to_owned(), vec![completion_ms])];
        let outcome = Outcome::Samples(samples.into());
        RunResult { cell: 3, run: number, outcome, certificate: None, answered: None }
    }

    #[test]
    fn the_middle_and_what_is_far_from_it_are_known() {
        // 20 runs between 100 and 120 ms, number 4 at 900 ms.
        let runs: Vec<RunResult> = (0..21)
            .map(|number| run(number, if number == 4 { 900.0 } else { 100.0 + f64::from(number) }))
            .collect();
        let mut ranks = Ranks::default();
        ranks.add(3, "completion_ms", &runs.iter().collect::<Vec<_>>());
        let [one] = ranks.outlying()[..] else { panic!("{ranks:?}") };
        assert_eq!((one.cell, one.run, one.metric, one.value), (3, 4, "completion_ms", 900.0));
        // In order: 100 to 103, 105 to 120, 900; the eleventh of these 21 is 111.
        assert_eq!((one.median, ranks.middle[&3]), (111.0, 11));
    }

    #[test]
    fn runs_without_values_have_no_middle() {
        let mut ranks = Ranks::default();
        ranks.add(0, "completion_ms", &[]);
        assert!(ranks.middle.is_empty() && ranks.outlying().is_empty());
    }
}
