//! What is known about one case, and which case should go on.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::Case;
use super::table::{Row, row};

/// What `trackbed agree` found about a case.
pub struct Outcome<'a> {
    pub case: &'a Case,
    /// The number of the case in the file.
    pub number: usize,
    /// What it printed last.
    pub document: Value,
    /// What a pair of runs takes.
    pair: Duration,
    /// Whether it made no more pairs when it went on last.
    is_stuck: bool,
}

impl<'a> Outcome<'a> {
    /// Nothing is known yet.
    pub fn new(case: &'a Case, number: usize) -> Outcome<'a> {
        Outcome { case, number, document: Value::Null, pair: Duration::ZERO, is_stuck: false }
    }

    /// The case after `time` more, when it printed `document`.
    pub fn then(self, document: Value, time: Duration) -> Outcome<'a> {
        let mut next = Outcome { document, ..self };
        let before = pairs(&self.document);
        let more = pairs(&next.document).saturating_sub(before);
        next.is_stuck = more == 0 && before > 0;
        if let Some(pair) = u32::try_from(more).ok().and_then(|more| time.checked_div(more)) {
            next.pair = pair;
        }
        next
    }

    pub fn rows(&self) -> Vec<Row> {
        cells(&self.document).map(|cell| row(self.case, cell)).collect()
    }

    /// The times that its undecided cells probably need, each alone.
    fn needs(&self) -> impl Iterator<Item = Duration> {
        cells(&self.document).filter_map(|cell| {
            let more = cell["pairs_to_decide"].as_u64()?.saturating_sub(cell["pairs"].as_u64()?);
            Some(self.pair.saturating_mul(u32::try_from(more.max(1)).unwrap_or(u32::MAX)))
        })
    }
}

/// The case with the cell that is probably decided soonest, and the time for it, if `left` suffices.
pub fn soonest(found: &[Outcome<'_>], left: Duration) -> Option<(usize, Duration)> {
    let open = found.iter().enumerate().filter(|(_, outcome)| !outcome.is_stuck);
    let needs = open.filter_map(|(index, outcome)| Some((index, outcome.needs().min()?)));
    needs.filter(|(_, needed)| *needed <= left).min_by_key(|(_, needed)| *needed)
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
        let document = json!({"cells": [cell]});
        Outcome::new(case, 0).then(document, Duration::from_secs(10))
    }

    #[test]
    fn the_case_that_is_decided_soonest_goes_on_if_there_is_time() {
        let case = "traffic = 'x'\nscenario = 'bulk'\nset = []\naxes = []";
        let case: Case = toml::from_str(case).expect("a valid case");
        let found = [None, Some(40), Some(25)].map(|pairs| outcome(&case, pairs));
        let seconds = Duration::from_secs;
        assert_eq!(soonest(&found, seconds(60)), Some((2, seconds(15))));
        assert_eq!(soonest(&found, seconds(14)), None);
        let [_, later, sooner] = found;
        let document = sooner.document.clone();
        let stuck = sooner.then(document, seconds(20));
        assert_eq!(soonest(&[stuck, later], seconds(60)), Some((1, seconds(30))));
    }
}
