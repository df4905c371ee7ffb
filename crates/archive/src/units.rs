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
    families: Vec<Vec<u32>>,
    cells: usize,
    wanted: Vec<u64>,
    len: u64,
}

impl Units {
    /// The units of `plan` that are wanted, by cell and run.
    pub fn of(plan: &Plan, mut is_wanted: impl FnMut(u32, u32) -> bool) -> Units {
        let cells = plan.cells.len();
        let places = cells * plan.runs as usize;
        let (families, wanted) = (plan.families(), vec![0; places.div_ceil(64)]);
        let mut units = Units { families, cells, wanted, len: 0 };
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

    /// What to execute, in order: each run of a family once, with the cells whose results are wanted.
    pub fn runs(&self) -> impl Iterator<Item = (Vec<u32>, u32)> + '_ {
        let runs = self.wanted.len() * 64 / self.cells.max(1) + 1;
        let all = (0..runs).flat_map(|run| self.families.iter().map(move |family| (run, family)));
        all.filter_map(|(run, family)| {
            let is_wanted = |cell: &u32| self.has(run * self.cells + *cell as usize);
            let cells: Vec<u32> = family.iter().copied().filter(is_wanted).collect();
            (!cells.is_empty()).then_some((cells, run as u32))
        })
    }

    fn has(&self, place: usize) -> bool {
        self.wanted.get(place / 64).is_some_and(|bits| bits & (1 << (place % 64)) != 0)
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

    /// Whether a run of a family of cells belongs to this share, for a plan with so many families. Each
    /// run belongs to one share; the numbers of runs of shares differ by at most one.
    ///
    /// Runs are dealt in turn. If that would give the same families to the same shares each time,
    /// although some are slow, the start is shifted by one after each repetition.
    pub fn has(self, families: usize, (family, run): (u32, u32)) -> bool {
        let count = u64::from(self.count.get());
        let (families, run) = (families as u64, u64::from(run));
        let runs_until_repetition = count / greatest_common_divisor(families, count);
        let turn = run * families + u64::from(family) + run / runs_until_repetition;
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
        let expected = (0..40).flat_map(|run| (0..cells).map(move |cell| (vec![cell], run)));
        assert!(all.runs().eq(expected));
        assert_eq!(all.len(), u64::from(40 * cells));
        let some = Units::of(&plan, |cell, run| cell == 1 && run > 37);
        assert!(some.runs().eq([(vec![1], 38), (vec![1], 39)]) && some.len() == 2);
        assert!(Units::of(&plan, |_, _| false).is_empty());
    }

    /// Rows of one group come first, then those of the other.
    #[test]
    fn groups_of_a_run_are_executed_together() {
        let text = "protocol = \"tcp\"\nruns = 2\n[link]\nrate = \"1 Mbit/s\"\n[workload]\n\
                    kind = \"flow\"\n[group.a]\ncount = [0, 1, 2]\n[group.b]\n[[part]]\n\
                    name = \"p\"\n[[part]]\nname = \"q\"\ngroup.a.count = 1\n";
        let plan = scenario::load(&Source::recorded("own", text), &[]).unwrap();
        assert_eq!(plan.families(), [vec![0, 3], vec![1, 4], vec![2], vec![5, 6]]);
        let units = Units::of(&plan, |cell, run| run == 1 && cell != 0);
        let once = [vec![3], vec![1, 4], vec![2], vec![5, 6]].map(|cells| (cells, 1));
        assert!(units.runs().eq(once) && units.len() == 6);
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
        let units = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2)].map(|(cell, run)| (vec![cell], run));
        assert!(Units::of(&plan, |_, _| true).runs().eq(units));
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
