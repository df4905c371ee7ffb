//! Campaigns that continue until results are precise enough.

use std::fmt;
use std::str::FromStr;

use trackbed_measure::metrics;
use trackbed_stats::{
    Criterion, Decision, Looks, MAX_MAGNITUDE, Precision, Statistic, StatsError, Stopping,
};

use trackbed_archive::{About, DirectoryError, Refresh, Results, RunDirectory, Units};
use trackbed_scenario::{Override, Plan, RUNS_MAX};

use super::keeping::{Keeping, Progress};

/// A precision goal: in every cell, the 95 % confidence interval of a metric's statistic must not
/// extend farther than this to either side.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    metric: String,
    statistic: Statistic,
    precision: Precision,
}

/// In the notation in which it is parsed.
impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.statistic {
            Statistic::Mean => f.write_str("mean")?,
            Statistic::Quantile(p) => write!(f, "p{}", (p * 1e10).round() / 1e8)?,
            Statistic::Min => f.write_str("min")?,
            Statistic::Max => f.write_str("max")?,
        }
        write!(f, " {} ", self.metric)?;
        match self.precision {
            // As it was written: dividing by a hundred and back is not exact in binary.
            Precision::Relative(share) => write!(f, "{}%", (share * 1e10).round() / 1e8),
            Precision::Absolute(width) => write!(f, "{width}"),
        }
    }
}

impl FromStr for Until {
    type Err = String;

    /// Parses `[mean | median | pNN] METRIC PRECISION`, with the precision in percent of the
    /// statistic or in the metric's unit.
    fn from_str(text: &str) -> Result<Until, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (statistic, metric, precision) = match words[..] {
            [metric, precision] => ("mean", metric, precision),
            [statistic, metric, precision] => (statistic, metric, precision),
            _ => return Err(format!("\"{text}\" {HELP}")),
        };
        if metrics::find(metric).is_none() {
            return Err(format!(
                "unknown metric {metric}; `trackbed list metrics` shows all metrics"
            ));
        }
        let quantile = || {
            let percent = statistic.strip_prefix('p')?.parse::<f64>().ok()?;
            let share = percent / 100.0;
            (share > 0.0 && share < 1.0).then_some(Statistic::Quantile(share))
        };
        let statistic = match statistic {
            "mean" => Some(Statistic::Mean),
            "median" => Some(Statistic::Quantile(0.5)),
            _ => quantile(),
        };
        // Check the number after the division, as the statistics will use it.
        let number = |text: &str, unit: f64| {
            let number = text.parse::<f64>().ok().map(|number| number / unit);
            number.filter(|number| *number > 0.0 && *number <= MAX_MAGNITUDE)
        };
        let precision = match precision.strip_suffix('%') {
            Some(percent) => number(percent, 100.0).map(Precision::Relative),
            None => number(precision, 1.0).map(Precision::Absolute),
        };
        match (statistic, precision) {
            (Some(statistic), Some(precision)) => {
                Ok(Until { metric: metric.to_owned(), statistic, precision })
            }
            _ => Err(format!("\"{text}\" {HELP}")),
        }
    }
}

const HELP: &str =
    "is not a precision; write for example \"completion_ms 2%\" or \"p95 rtt_ms 0.5\"";

/// The number of runs that each cell needs, as far as is known.
#[derive(Debug)]
pub struct Rounds {
    until: Until,
    cells: Vec<Cell>,
}

#[derive(Debug)]
struct Cell {
    stopping: Stopping,
    runs: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Reached,
    Exhausted,
}

impl Rounds {
    /// Initially every cell of `plan` needs `runs_min` runs; it gets at most `runs_max`.
    ///
    /// # Errors
    /// An error message, if these numbers are invalid.
    pub fn new(plan: &Plan, until: Until, runs_min: u32, runs_max: u32) -> Result<Rounds, String> {
        let looks =
            Looks::new(runs_min as usize, runs_max as usize).map_err(|why| why.to_string())?;
        let cells = plan.cells.len();
        if u64::from(runs_max).saturating_mul(cells as u64) > RUNS_MAX {
            return Err(format!(
                "this may take {runs_max} runs of {cells} cells; at most {RUNS_MAX} runs fit one plan"
            ));
        }
        let cell = |_| Cell { stopping: Stopping::new(looks), runs: runs_min, state: State::Open };
        Ok(Rounds { until, cells: plan.cells.iter().map(cell).collect() })
    }

    /// Executes missing runs until every cell is precise enough; returns false if it was stopped
    /// before. The directory, `plan` and `about` always have the number of runs known to be needed,
    /// so they stay usable however the process ends.
    ///
    /// # Errors
    /// If results cannot be read or written.
    pub fn run(
        &mut self,
        keeping: &Keeping<'_>,
        (plan, about): (&mut Plan, &mut About),
        directory: &mut RunDirectory,
        progress: &mut dyn Progress,
    ) -> Result<bool, DirectoryError> {
        let asked = about.clone();
        let mut refresh = Refresh::new();
        let mut describe = |runs: u32, directory: &mut RunDirectory| {
            *about = with_runs(&asked, runs);
            directory.describe(about)
        };
        let is_complete = loop {
            plan.set_runs(self.most_runs());
            let is_missing = |cell, run| self.wants(cell, run) && !directory.runs().has(cell, run);
            let missing = Units::of(plan, is_missing);
            if !missing.is_empty() {
                describe(plan.runs, directory)?;
            }
            progress.set(self.len(), self.len() - missing.len());
            let done = keeping.run(plan, &missing, directory, &mut refresh, progress)?;
            if done < missing.len() {
                break false;
            }
            if !self.look(directory)? {
                break true;
            }
        };
        describe(plan.runs, directory)?;
        Ok(is_complete)
    }

    fn wants(&self, cell: u32, run: u32) -> bool {
        self.cells.get(cell as usize).is_some_and(|cell| run < cell.runs)
    }

    /// Evaluates `results`, which contain every run wanted so far, and returns whether more are
    /// needed.
    ///
    /// # Errors
    /// If they cannot be read.
    fn look(&mut self, results: &dyn Results) -> Result<bool, DirectoryError> {
        let Until { metric, statistic, precision } = &self.until;
        let criterion = Criterion { statistic: *statistic, precision: *precision };
        let open = |(_, cell): &(u32, &mut Cell)| cell.state == State::Open;
        for (index, cell) in (0..).zip(&mut self.cells).filter(open) {
            let there = results.of(index)?;
            let mut runs: Vec<Option<&[f64]>> = vec![None; cell.runs as usize];
            for run in there.iter().filter(|run| !run.is_invalid()) {
                let samples = run.outcome.samples().and_then(|samples| samples.get(metric));
                if let Some(place) = runs.get_mut(run.run as usize) {
                    *place = samples.map(Vec::as_slice);
                }
            }
            if runs.iter().all(Option::is_none) {
                // If the metric is not measured, more runs do not help.
                cell.state = State::Exhausted;
                continue;
            }
            match cell.stopping.decide(&[(criterion, &runs)]) {
                Ok(Decision::Continue { until }) => cell.runs = until as u32,
                Ok(Decision::Reached { .. }) => cell.state = State::Reached,
                Ok(Decision::Exhausted { .. }) | Err(StatsError::OutOfRange { .. }) => {
                    cell.state = State::Exhausted;
                }
                Err(why) => unreachable!("the criterion was read, and the lists are one: {why}"),
            }
        }
        Ok(self.cells.iter().any(|cell| cell.state == State::Open))
    }

    fn len(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.runs)).sum()
    }

    fn most_runs(&self) -> u32 {
        self.cells.iter().map(|cell| cell.runs).max().unwrap_or(0)
    }

    /// The cells that reached the maximum number of runs without being precise enough.
    pub fn short_of(&self) -> Vec<u32> {
        let short = (0..).zip(&self.cells).filter(|(_, cell)| cell.state != State::Reached);
        short.map(|(index, _)| index).collect()
    }

    /// The outcome, in one line.
    pub fn summary(&self) -> String {
        let least = self.cells.iter().map(|cell| cell.runs).min().unwrap_or(0);
        let most = self.most_runs();
        let runs = if least == most { format!("{most}") } else { format!("{least} to {most}") };
        let short: Vec<String> = self.short_of().iter().map(u32::to_string).collect();
        let (until, reached) = (&self.until, self.cells.len() - short.len());
        let rest = match short.as_slice() {
            [] => String::new(),
            short => format!("; not reached by cell {}", short.join(", ")),
        };
        format!("{runs} runs per cell: {until} reached by {reached} of {}{rest}", self.cells.len())
    }
}

/// What `asked` describes, with another number of runs.
pub(super) fn with_runs(asked: &About, runs: u32) -> About {
    let setting = Override { key: "runs".to_owned(), value: runs.to_string() };
    let overrides = asked.overrides.iter().cloned().chain([setting.to_string()]).collect();
    About { overrides, runs, ..asked.clone() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trackbed_measure::results::{Outcome, RunResult};

    use super::*;
    use crate::testing::built_in;

    #[test]
    fn precisions_are_read_and_written() {
        for (text, written) in [
            ("completion_ms 2%", "mean completion_ms 2%"),
            ("median rtt_ms 0.5", "p50 rtt_ms 0.5"),
            ("p99 rtt_ms 10%", "p99 rtt_ms 10%"),
            ("p99.9 rtt_ms 0.0001%", "p99.9 rtt_ms 0.0001%"),
        ] {
            assert_eq!(text.parse::<Until>().unwrap().to_string(), written);
        }
        for text in [
            "",
            "completion_ms",
            "completion_ms 0%",
            "p0 rtt_ms 1%",
            "p100 rtt_ms 1%",
            "completion_ms -1%",
            "completion_ms x",
            "completion_ms 1e300",
            "completion_ms 1e-323%",
            "p1e-323 rtt_ms 1%",
            "p99.999999999999999999 rtt_ms 1%",
            "best rtt_ms 1%",
            "a b c d",
        ] {
            assert!(text.parse::<Until>().unwrap_err().contains("for example"), "{text}");
        }
        assert!("speed 2%".parse::<Until>().unwrap_err().contains("list metrics"));
    }

    /// Cell 0 is constant, cell 1 varies, cell 2 lacks the metric.
    #[test]
    fn each_cell_gets_the_runs_that_it_needs() {
        let plan = built_in("vru", &["protocol=quic,tcp,http1", "tls=1.3", "handshake=new"]);
        assert_eq!(plan.cells.len(), 3);
        let result = |cell: u32, run: u32| {
            let value = if cell == 1 { 100.0 + f64::from(run % 2) } else { 7.0 };
            let name = if cell == 2 { "rtt_ms" } else { "completion_ms" };
            let outcome = Outcome::Samples(BTreeMap::from([(name.to_owned(), vec![value])]));
            RunResult { cell, run, outcome, certificate: None }
        };
        let until = "completion_ms 0.1".parse::<Until>().unwrap();
        let mut rounds = Rounds::new(&plan, until.clone(), 30, 1_000).unwrap();
        let mut looks = 0;
        loop {
            let wanted = (0..3).flat_map(|cell| (0..1_000).map(move |run| (cell, run)));
            let wanted = wanted.filter(|(cell, run)| rounds.wants(*cell, *run));
            let results: Vec<RunResult> = wanted.map(|(cell, run)| result(cell, run)).collect();
            assert_eq!(results.len() as u64, rounds.len());
            looks += 1;
            if !rounds.look(&results).unwrap() {
                break;
            }
        }
        // Half the width, 1.96 times 0.5 over the root of n, is below 0.1 from 97 runs on.
        assert!((97..=130).contains(&rounds.most_runs()), "{}", rounds.most_runs());
        assert!((4..12).contains(&looks), "{looks}");
        assert_eq!((rounds.cells[0].runs, rounds.short_of()), (30, vec![2]));
        assert!(rounds.summary().ends_with("reached by 2 of 3; not reached by cell 2"));

        let mut short = Rounds::new(&plan, until, 30, 40).unwrap();
        let all = |runs: u32| (0..runs).flat_map(|run| (0..3).map(move |cell| result(cell, run)));
        while short.look(&all(40).collect::<Vec<_>>()).unwrap() {}
        assert_eq!(short.short_of(), [1, 2]);
        let begun = |least, most| Rounds::new(&plan, "rtt_ms 1%".parse().unwrap(), least, most);
        assert!(begun(3, 40).is_err());
        assert!(begun(30, 3_333_333).is_ok());
        assert!(begun(30, 3_333_334).unwrap_err().contains("at most 10000000 runs fit one plan"));
    }
}
