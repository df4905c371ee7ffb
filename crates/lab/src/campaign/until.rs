//! Campaigns that continue until results are precise enough, or a need is decided.

use std::fmt;
use std::str::FromStr;

use trackbed_analysis::advise::{Bound, Comparison, Names, Need, Verdict};
use trackbed_measure::metrics;
use trackbed_measure::results::RunResult;
use trackbed_stats::{Criterion, Looks, MAX_MAGNITUDE, Precision, Statistic, look_error};

use trackbed_archive::{About, DirectoryError, Refresh, Results, RunDirectory, Units};
use trackbed_scenario::{Override, Plan, RUNS_MAX};

use super::keeping::{Keeping, Progress};

/// A goal that every cell must reach.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// The 95 % confidence interval of a metric's statistic extends no farther than this to either side.
    Precise {
        /// The metric.
        metric: String,
        /// The statistic and the permitted width.
        criterion: Criterion,
    },
    /// Whether the cell meets this need is known.
    Decided(Need),
}

/// In the notation in which it is parsed.
impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (metric, Criterion { statistic, precision }) = match self {
            Until::Precise { metric, criterion } => (metric, criterion),
            Until::Decided(need) => return write!(f, "{need} {DECIDED}"),
        };
        match statistic {
            Statistic::Mean => f.write_str("mean")?,
            Statistic::Quantile(p) => write!(f, "p{}", (p * 1e10).round() / 1e8)?,
            Statistic::Min => f.write_str("min")?,
            Statistic::Max => f.write_str("max")?,
        }
        write!(f, " {metric} ")?;
        match precision {
            // As it was written: dividing by a hundred and back is not exact in binary.
            Precision::Relative(share) => write!(f, "{}%", (share * 1e10).round() / 1e8),
            Precision::Absolute(width) => write!(f, "{width}"),
        }
    }
}

impl FromStr for Until {
    type Err = String;

    /// Parses `[mean | median | pNN] METRIC PRECISION`, with the precision in percent of the
    /// statistic or in the metric's unit; or `NEED decided`.
    fn from_str(text: &str) -> Result<Until, String> {
        let help = || format!("\"{text}\" {HELP}");
        let (goal, last) = text.trim().rsplit_once(char::is_whitespace).ok_or_else(help)?;
        let names = Names::new(metrics::registry().iter().map(|metric| metric.name), [""; 0]);
        if last == DECIDED {
            let need = Need::parse(goal, &names).map_err(|why| format!("\n{why}"))?;
            let can_be_decided = |comparison: &&Comparison| {
                has_interval(comparison.statistic) && matches!(comparison.bound, Bound::Value(_))
            };
            return match need.comparisons().iter().all(can_be_decided) {
                true => Ok(Until::Decided(need)),
                false => Err("write needs that compare means or percentiles with numbers; more runs do not \
                              decide about a minimum or maximum, and a baseline is for `trackbed advise`"
                    .to_owned()),
            };
        }
        if goal.contains(['<', '>', '=']) {
            return Err(help());
        }
        let (statistic, metric) = Need::quantity(goal, &names)
            .map_err(|why| format!("{}; \"{text}\" {HELP}", why.message()))?;
        // Check the number after the division, as the statistics will use it.
        let number = |text: &str, unit: f64| {
            let number = text.parse::<f64>().ok().map(|number| number / unit);
            number.filter(|number| *number > 0.0 && *number <= MAX_MAGNITUDE)
        };
        let precision = match last.strip_suffix('%') {
            Some(percent) => number(percent, 100.0).map(Precision::Relative),
            None => number(last, 1.0).map(Precision::Absolute),
        };
        let precision = precision.filter(|_| has_interval(statistic)).ok_or_else(help)?;
        Ok(Until::Precise { metric, criterion: Criterion { statistic, precision } })
    }
}

fn has_interval(statistic: Statistic) -> bool {
    let Statistic::Quantile(p) = statistic else { return statistic == Statistic::Mean };
    p > 0.0 && p < 1.0
}

const DECIDED: &str = "decided";

const HELP: &str = "is not a goal; write for example \"completion_ms 2%\", \"p95 rtt_ms 0.5\" or \
                    \"p99 rtt < 30 ms decided\"";

/// The number of runs that each cell needs, as far as is known.
#[derive(Debug)]
pub struct Rounds {
    until: Until,
    looks: Looks,
    /// Looks so far. All open cells have as many runs.
    passed: usize,
    /// How many runs the first look expects each cell to need that it leaves open.
    expected: Vec<u32>,
    cells: Vec<Cell>,
}

#[derive(Clone, Debug)]
struct Cell {
    runs: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Reached,
    /// It is known that the need is not met.
    Missed,
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
        let looks = if let Until::Decided(_) = until { looks.by_halves() } else { looks };
        let cells = vec![Cell { runs: runs_min, state: State::Open }; cells];
        Ok(Rounds { until, looks, passed: 0, expected: Vec::new(), cells })
    }

    /// Executes missing runs until every cell has reached the goal; returns false if it was stopped
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
        let mut refresh = Refresh::default();
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
            let goes_on = self.look(directory)?;
            if let (1, Some(outlook)) = (self.passed, self.outlook()) {
                progress.note(&outlook);
            }
            if !goes_on {
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
        let next = self.looks.counts().nth(self.passed + 1);
        let open = |(_, cell): &(u32, &mut Cell)| cell.state == State::Open;
        for (index, cell) in (0..).zip(&mut self.cells).filter(open) {
            let there = results.of(index)?;
            let counts = |run: &&RunResult| !run.is_invalid() && run.run < cell.runs;
            let runs: Vec<&RunResult> = there.iter().filter(counts).collect();
            cell.state = match &self.until {
                Until::Precise { metric, criterion } => measure(metric, *criterion, &runs),
                Until::Decided(need) => judge(need, self.passed, &runs),
            };
            if cell.state == State::Open {
                let Some(next) = next else {
                    cell.state = State::Exhausted;
                    continue;
                };
                cell.runs = next as u32;
                if let (Until::Decided(need), 0) = (&self.until, self.passed) {
                    self.expected.push(expect(need, &self.looks, &runs));
                }
            }
        }
        self.passed += 1;
        Ok(self.cells.iter().any(|cell| cell.state == State::Open))
    }

    /// After the first look at a need: how many runs will probably decide it.
    fn outlook(&self) -> Option<String> {
        let (expected, most) = (&self.expected, self.looks.counts().last()?);
        let words = |runs: &u32| match *runs {
            u32::MAX => format!("more than {most}"),
            runs => runs.to_string(),
        };
        let [low, high] = [expected.iter().min()?, expected.iter().max()?].map(words);
        let needed = if low == high { low } else { format!("{low} to {high}") };
        let (first, until, all) = (self.looks.counts().next()?, &self.until, self.cells.len());
        let decided = all - expected.len();
        Some(format!(
            "{first} runs per cell: {until} in {decided} of {all}; the others will probably need {needed} runs"
        ))
    }

    fn len(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.runs)).sum()
    }

    fn most_runs(&self) -> u32 {
        self.cells.iter().map(|cell| cell.runs).max().unwrap_or(0)
    }

    /// The cells that did not reach the goal.
    pub fn short_of(&self) -> Vec<u32> {
        let is_short = |cell: &Cell| !matches!(cell.state, State::Reached | State::Missed);
        let short = (0..).zip(&self.cells).filter(|(_, cell)| is_short(cell));
        short.map(|(index, _)| index).collect()
    }

    /// The outcome, in one line.
    pub fn summary(&self) -> String {
        let least = self.cells.iter().map(|cell| cell.runs).min().unwrap_or(0);
        let most = self.most_runs();
        let runs = if least == most { format!("{most}") } else { format!("{least} to {most}") };
        let short: Vec<String> = self.short_of().iter().map(u32::to_string).collect();
        let count = |state| self.cells.iter().filter(|cell| cell.state == state).count();
        let (all, met, missed) = (self.cells.len(), count(State::Reached), count(State::Missed));
        let until = &self.until;
        let (goal, rest) = match until {
            Until::Precise { .. } => {
                (format!("{until} reached by {met} of {all}"), "not reached by")
            }
            Until::Decided(need) => {
                (format!("{need} met by {met} of {all}, not met by {missed}"), "undecided:")
            }
        };
        let rest = match short.as_slice() {
            [] => String::new(),
            short => format!("; {rest} cell {}", short.join(", ")),
        };
        format!("{runs} runs per cell: {goal}{rest}")
    }
}

/// Whether these runs are precise enough.
fn measure(metric: &str, criterion: Criterion, runs: &[&RunResult]) -> State {
    let samples = runs.iter().filter_map(|run| run.outcome.samples()?.get(metric));
    // If the metric is not measured, more runs do not help.
    let is_measured = samples.clone().next().is_some();
    match criterion.is_met(samples.map(Vec::as_slice)) {
        Ok(true) => State::Reached,
        Ok(false) if is_measured => State::Open,
        _ => State::Exhausted,
    }
}

/// The permitted error of each end of an interval at this look. As at the end of a 95 % interval, it is 2.5 % over all
/// looks, a half of what `look_error` permits.
fn tail(look: usize) -> f64 {
    look_error(look as u32) / 2.0
}

/// Whether these runs decide about the need, at this look.
fn judge(need: &Need, look: usize, runs: &[&RunResult]) -> State {
    let samples = runs.iter().filter_map(|run| run.outcome.samples());
    let all_succeeded = samples.clone().count() == runs.len();
    match need.judge(samples, tail(look)) {
        (Verdict::Fails, _) => State::Missed,
        (Verdict::Meets, _) if all_succeeded => State::Reached,
        // The runs that succeeded are a selection, and nothing is measured later that was not by now.
        (Verdict::Meets, _) => State::Exhausted,
        (Verdict::CannotTell, more) if more.is_empty() => State::Exhausted,
        (Verdict::CannotTell, _) => State::Open,
    }
}

/// The runs of the look that will probably decide about the need; `u32::MAX` for none.
fn expect(need: &Need, looks: &Looks, runs: &[&RunResult]) -> u32 {
    let samples = runs.iter().filter_map(|run| run.outcome.samples());
    let decides = |(look, count): &(usize, usize)| {
        let (_, more) = need.judge(samples.clone(), tail(*look));
        let is_enough = |more: u64| (runs.len() as u64).saturating_add(more) <= *count as u64;
        more.into_iter().all(|more| more.is_some_and(is_enough))
    };
    looks.counts().enumerate().skip(1).find(decides).map_or(u32::MAX, |(_, count)| count as u32)
}

/// What `asked` describes, with another number of runs.
pub(super) fn with_runs(asked: &About, runs: u32) -> About {
    let setting = Override { key: "runs".to_owned(), value: runs.to_string() };
    let overrides = asked.overrides.iter().cloned().chain([setting.to_string()]).collect();
    About { overrides, runs, ..asked.clone() }
}

#[cfg(test)]
mod tests;
