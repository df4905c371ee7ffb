//! What is known about one case, and which case should go on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::table::{Row, row};
use super::{Case, RUNS};

/// What `trackbed agree` found about a case.
pub struct Outcome<'a> {
    pub case: &'a Case,
    /// The number of the case in the file.
    pub number: usize,
    /// What it printed last.
    pub document: Value,
    /// What a pair of runs takes.
    pair: Duration,
    /// Whether it has gone on, and cells without runs still have none: all of them may fail.
    cannot_begin: bool,
}

impl<'a> Outcome<'a> {
    /// Nothing is known yet.
    pub fn new(case: &'a Case, number: usize) -> Outcome<'a> {
        let (document, pair) = (Value::Null, Duration::ZERO);
        Outcome { case, number, document, pair, cannot_begin: false }
    }

    /// The case after `time` more, when it printed `document`.
    pub fn then(self, document: Value, time: Duration) -> Outcome<'a> {
        let (before, now) = (pairs(&self.document), pairs(&document));
        let more = u32::try_from(now.saturating_sub(before)).unwrap_or(u32::MAX);
        // A case that goes on for a short time begins with as much work as one that goes on for long. One that came
        // no further needs more time.
        let pair = match time.checked_div(more) {
            Some(pair) if self.pair.is_zero() => pair,
            Some(pair) => pair.min(self.pair),
            None => self.pair.max(Duration::from_secs(1)).saturating_mul(2),
        };
        // An interruption leaves less than there was.
        let document = if now < before { self.document.clone() } else { document };
        let missing = self.missing();
        let then = Outcome { document, pair, ..self };
        let cannot_begin = before > 0 && then.missing() >= missing;
        Outcome { cannot_begin, ..then }
    }

    pub fn rows(&self) -> Vec<Row> {
        cells(&self.document).map(|cell| row(self.case, cell)).collect()
    }

    /// The cells that had no time for a pair of runs, as far as the axes of the case tell.
    pub fn missing(&self) -> u32 {
        let values = |axis: &String| axis.split(',').count();
        let all: usize = self.case.axes.iter().map(values).product();
        let begun: BTreeSet<_> = cells(&self.document).map(|cell| cell["cell"].as_u64()).collect();
        u32::try_from(all.saturating_sub(begun.len())).unwrap_or(u32::MAX)
    }

    /// The time that cells without runs probably need until their first verdict.
    fn first_pairs(&self) -> Option<Duration> {
        let pairs = self.missing().checked_mul(self.case.runs.unwrap_or(RUNS))?;
        (pairs > 0 && !self.cannot_begin).then(|| self.pair.saturating_mul(pairs))
    }

    /// The times that its open cells probably need, each alone.
    fn needs(&self) -> impl Iterator<Item = Duration> {
        cells(&self.document).filter_map(|cell| {
            let of = |found: &Value| found["pairs_to_decide"].as_u64();
            let wanted = of(cell).or_else(|| of(&cell["with_computing"]))?;
            let pairs = cell["pairs"].as_u64()?;
            // There is a verdict each time that there are half as many pairs more.
            let more = wanted.saturating_sub(pairs).max(pairs / 2);
            Some(self.pair.saturating_mul(u32::try_from(more).unwrap_or(u32::MAX)))
        })
    }
}

/// The case with the cell that is probably decided soonest, and the time for it, at most `left`: few pairs tell
/// little about how many are needed. Cells without runs go first.
pub fn soonest(found: &[Outcome<'_>], left: Duration) -> Option<(usize, Duration)> {
    let open = || found.iter().enumerate();
    let first = open().filter_map(|(index, outcome)| Some((index, outcome.first_pairs()?)));
    let needs = open().filter_map(|(index, outcome)| Some((index, outcome.needs().min()?)));
    let soonest = |(_, needed): &(usize, Duration)| *needed;
    let (index, needed) = first.min_by_key(soonest).or_else(|| needs.min_by_key(soonest))?;
    Some((index, needed.min(left)))
}

fn cells(document: &Value) -> impl Iterator<Item = &Value> {
    document["cells"].as_array().into_iter().flatten()
}

/// The pairs of all cells; a cell has a row for each of its metrics.
fn pairs(document: &Value) -> u64 {
    let of_cell = |cell: &Value| Some((cell["cell"].as_u64()?, cell["pairs"].as_u64()?));
    cells(document).filter_map(of_cell).collect::<BTreeMap<_, _>>().values().sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A case that has taken ten seconds for ten pairs, and needs `pairs_to_decide`.
    fn outcome(case: &Case, pairs_to_decide: Option<u64>) -> Outcome<'_> {
        let cell = json!({"cell": 0, "pairs": 10, "pairs_to_decide": pairs_to_decide});
        Outcome::new(case, 0).then(json!({"cells": [cell]}), Duration::from_secs(10))
    }

    #[test]
    fn the_case_that_is_decided_soonest_goes_on() {
        let case = "traffic = 'x'\nscenario = 'bulk'\nset = []\naxes = []";
        let case: Case = toml::from_str(case).expect("a valid case");
        let found = [None, Some(40), Some(25)].map(|pairs| outcome(&case, pairs));
        let seconds = Duration::from_secs;
        assert_eq!(soonest(&found, seconds(60)), Some((2, seconds(15))));
        assert_eq!(soonest(&found, seconds(14)), Some((2, seconds(14))));
        assert_eq!(soonest(&[outcome(&case, None)], seconds(60)), None);
        let [_, later, sooner] = found;
        let fewer = json!({"cells": [{"cell": 0, "pairs": 8, "pairs_to_decide": 9}]});
        let stuck = sooner.then(fewer.clone(), seconds(20)).then(fewer, seconds(20));
        assert_eq!(stuck.document["cells"][0]["pairs"], 10);
        assert_eq!(soonest(&[stuck, later], seconds(60)), Some((1, seconds(30))));
    }

    /// Two values of one axis and three of another are six cells; the five that have no runs need twelve pairs each.
    #[test]
    fn cells_without_runs_go_first() {
        let case = "traffic = 'x'\nscenario = 'bulk'\nset = []\naxes = ['a=1,2', 'b=3,4,5']";
        let larger: Case = toml::from_str(case).expect("a valid case");
        let case: Case = toml::from_str(&case.replace("'a=1,2', 'b=3,4,5'", "")).expect("valid");
        let found = [outcome(&case, Some(25)), outcome(&larger, None)];
        assert_eq!([found[0].missing(), found[1].missing()], [0, 5]);
        assert_eq!(soonest(&found, Duration::from_secs(90)), Some((1, Duration::from_secs(60))));
        assert_eq!(soonest(&found, Duration::from_secs(40)), Some((1, Duration::from_secs(40))));
        // All runs of the others fail.
        let [first, second] = found;
        let more = json!({"cells": [{"cell": 0, "pairs": 20}]});
        let found = [first, second.then(more, Duration::from_secs(10))];
        assert_eq!(soonest(&found, Duration::from_secs(90)), Some((0, Duration::from_secs(15))));
    }
}
