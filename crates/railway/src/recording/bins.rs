//! Values over time in bounded memory.

use std::collections::BTreeMap;

/// The means of values in equal spans of time, which become longer when there are too many.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    width_s: f64,
    /// The sums of seconds and of the values, and their number.
    sums: BTreeMap<i64, ([f64; 3], f64)>,
}

impl Default for Bins {
    fn default() -> Bins {
        Bins { width_s: WIDTH_MIN_S, sums: BTreeMap::new() }
    }
}

impl Bins {
    pub fn add(&mut self, seconds: f64, values: [f64; 2]) {
        self.put([seconds, values[0], values[1]], 1.0);
        if self.sums.len() > BINS_MAX {
            self.width_s *= 2.0;
            for (_, (sums, count)) in std::mem::take(&mut self.sums) {
                self.put(sums, count);
            }
        }
    }

    fn put(&mut self, sums: [f64; 3], count: f64) {
        let bin = (sums[0] / count / self.width_s).floor() as i64;
        let (known, all) = self.sums.entry(bin).or_default();
        (0..3).for_each(|at| known[at] += sums[at]);
        *all += count;
    }

    /// The seconds, and the mean of the values there, in order of time.
    pub fn means(&self) -> impl DoubleEndedIterator<Item = (f64, [f64; 2])> + '_ {
        let mean =
            |([seconds, a, b], count): &([f64; 3], f64)| (seconds / count, [a / count, b / count]);
        self.sums.values().map(mean)
    }

    /// The times of the first and the last value.
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((self.means().next()?.0, self.means().next_back()?.0))
    }

    /// Where values are missing: for 5 s or more, and five times as long as usual.
    pub fn gaps(&self) -> Vec<(f64, f64)> {
        let times: Vec<f64> = self.means().map(|(at, _)| at).collect();
        let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f64::total_cmp);
        let usual_s = steps.get(steps.len() / 2).copied().unwrap_or_default();
        let missing = |pair: &&[f64]| pair[1] - pair[0] > GAP_MIN_S.max(5.0 * usual_s);
        times.windows(2).filter(missing).map(|pair| (pair[0], pair[1])).collect()
    }
}

/// Finer than any log of a modem.
const WIDTH_MIN_S: f64 = 0.01;
/// A day second by second has fewer.
const BINS_MAX: usize = 100_000;
const GAP_MIN_S: f64 = 5.0;
