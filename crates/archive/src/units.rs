//! The units of work of a campaign (a run of a cell each), and how shards divide them.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::files::SHARD_PREFIX;
use trackbed_scenario::Plan;

/// A set of units of a plan, in order of execution: run 0 of every cell first, then run 1, so that
/// results after an interruption cover all cells.
///
/// It takes one bit per unit of the plan.
#[derive(Clone, Debug)]
pub struct Units {
    cells: usize,
    wanted: Vec<u64>,
    len: u64,
}

impl Units {
    /// The units of `plan` that are wanted, by cell and run.
    pub fn of(plan: &Plan, mut is_wanted: impl FnMut(u32, u32) -> bool) -> Units {
        let cells = plan.cells.len();
        let places = cells * plan.runs as usize;
        let mut units = Units { cells, wanted: vec![0; places.div_ceil(64)], len: 0 };
        for place in 0..places {
            let (cell, run) = units.at(place);
            if run < plan.cells[cell as usize].runs && is_wanted(cell, run) {
                units.wanted[place / 64] |= 1 << (place % 64);
                units.len += 1;
            }
        }
        units
    }

    /// The number of units.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The cells and runs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let is_wanted = |place: &usize| self.wanted[place / 64] & (1 << (place % 64)) != 0;
        (0..self.wanted.len() * 64).filter(is_wanted).map(|place| self.at(place))
    }

    fn at(&self, place: usize) -> (u32, u32) {
        ((place % self.cells) as u32, (place / self.cells) as u32)
    }
}

/// One of several equal shares of a campaign, for workers that do not communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its index, from 0.
    index: u32,
    count: NonZeroU32,
}

impl Shard {
    /// Share `index` of `count`, from 0; `None` if `index` is too large.
    pub fn new(index: u32, count: NonZeroU32) -> Option<Shard> {
        (index < count.get()).then_some(Shard { index, count })
    }

    /// Its index, from 0.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of shares.
    pub fn count(self) -> u32 {
        self.count.get()
    }

    /// The name of a shard's run directory inside that of the campaign. Names sort like numbers.
    pub fn folder(self) -> String {
        let count = self.count.to_string();
        format!("{SHARD_PREFIX}{:0width$}-of-{count}", self.index + 1, width = count.len())
    }

    /// Whether a run of a cell belongs to this share, for a plan with `cells` cells. Each run
    /// belongs to one share; the sizes of shares differ by at most one.
    ///
    /// Units are dealt in turn, run by run. If that would give the same cells to the same shares
    /// each time, although some cells are slow, the start is shifted by one after each repetition.
    pub fn has(self, cells: usize, (cell, run): (u32, u32)) -> bool {
        let count = u64::from(self.count.get());
        let (cells, run) = (cells as u64, u64::from(run));
        let runs_until_repetition = count / greatest_common_divisor(cells, count);
        let turn = run * cells + u64::from(cell) + run / runs_until_repetition;
        turn % count == u64::from(self.index)
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// As on the command line, from 1.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Parses `I/N`, with I from 1 to N.
    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = || {
            let (index, count) = text.split_once('/')?;
            Some((index.trim().parse::<u32>().ok()?, count.trim().parse::<u32>().ok()?))
        };
        let (index, count) = numbers().filter(|(_, count)| *count > 0).ok_or(
            "write the share and the number of shares, for example 3/8 for the third of eight",
        )?;
        let shard =
            index.checked_sub(1).and_then(|index| Shard::new(index, NonZeroU32::new(count)?));
        shard.ok_or_else(|| format!("there is no share {index} of {count}: write 1 to {count}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use trackbed_scenario::{self as scenario, Override, Source};

    fn plan(runs: u32) -> Plan {
        let settings = ["protocol=quic,tcp,http1".to_owned(), format!("runs={runs}")];
        let overrides: Vec<Override> = settings.iter().map(|text| text.parse().unwrap()).collect();
        scenario::load(&Source::named("vru"), &overrides).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn units_come_run_by_run() {
        let plan = plan(40);
        let cells = plan.cells.len() as u32;
        let all = Units::of(&plan, |_, _| true);
        let expected = (0..40).flat_map(|run| (0..cells).map(move |cell| (cell, run)));
        assert!(all.iter().eq(expected));
        assert_eq!(all.len(), u64::from(40 * cells));
        let some = Units::of(&plan, |cell, run| cell == 1 && run > 37);
        assert_eq!((some.iter().collect::<Vec<_>>(), some.len()), (vec![(1, 38), (1, 39)], 2));
        assert!(Units::of(&plan, |_, _| false).is_empty());
    }

    /// Parts with two and three runs: only the second part has a third run.
    #[test]
    fn a_part_has_its_own_number_of_runs() {
        let text = "protocol = \"quic\"\n[link]\nrate = \"1 Mbit/s\"\n[workload]\nkind = \"messages\"\n\
                    [[part]]\nname = \"a\"\nruns = 2\n[[part]]\nname = \"b\"\nruns = 3\n";
        let load = |overrides: &[Override]| {
            scenario::load(&Source::recorded("own", text), overrides).unwrap()
        };
        let plan = load(&[]);
        let units: Vec<(u32, u32)> = Units::of(&plan, |_, _| true).iter().collect();
        assert_eq!(units, [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2)]);
        assert_eq!((plan.units(), plan.runs), (5, 3));
        assert_eq!(plan.runs_in_words(), "2 to 3 runs each");
        let more = load(&["runs=4".parse().unwrap()]);
        assert_eq!(more.units(), 8, "the command line takes precedence");
    }

    #[test]
    fn shares_are_disjoint_complete_and_equal() {
        for (cells, runs, count) in
            [(1, 100, 8), (8, 30, 8), (7, 30, 8), (29, 5, 3), (3, 1, 16), (12, 17, 8), (6, 50, 4)]
        {
            let shards = (0..count).map(|k| Shard::new(k, count.try_into().unwrap()).unwrap());
            let shards: Vec<Shard> = shards.collect();
            let mut owned = vec![Vec::new(); shards.len()];
            for unit in (0..runs).flat_map(|run| (0..cells).map(move |cell| (cell, run))) {
                let owners = (0..shards.len()).filter(|k| shards[*k].has(cells as usize, unit));
                let owners: Vec<usize> = owners.collect();
                assert_eq!(owners.len(), 1, "{unit:?} of {count}");
                owned[owners[0]].push(unit);
            }
            let sizes = || owned.iter().map(Vec::len);
            assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1, "{cells} {runs} {count}");
            if runs >= 2 * count {
                let cells_of_first: BTreeSet<u32> = owned[0].iter().map(|unit| unit.0).collect();
                assert_eq!(cells_of_first.len() as u32, cells, "each share has all cells");
            }
        }
    }

    #[test]
    fn a_shard_is_written_from_one_on() {
        for text in ["1/1", "3/8", "8/8"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        for text in ["3", "3/0", "a/b", "-1/8", "3/8/9", ""] {
            assert!(text.parse::<Shard>().unwrap_err().contains("3/8"), "{text}");
        }
    }
}
