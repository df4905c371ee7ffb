//! Where one side lies relative to another: tests and intervals of a mean or a median.

use crate::pivot::{Pivot, largest, without_rounding};
use crate::sample::{mean, quantile_of_sorted};
use crate::{MIN_PAIRS, binomial, normal};

/// What is compared: one of these of the differences within pairs, or of the differences between all
/// runs of the two sides where they make no pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Center {
    /// The mean, for what adds up: rates, shares, counts.
    Mean,
    /// The median, for times, whose tails would rule a mean: by order statistics, for any
    /// distribution (the sign test; without pairs the test of Mann and Whitney).
    Median,
}

/// Sorted values; paired values have the same index.
pub(super) struct Sides {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    pub(super) paired: bool,
    pub(super) center: Center,
    /// For medians: entry k is the probability that at most k of the differences are above zero if
    /// their median is zero.
    counts: Vec<f64>,
}

/// The differences of the second side from a multiple of the first.
pub(super) enum Location<'a> {
    Mean {
        pivot: Pivot,
        /// The outermost differences, from [`MIN_PAIRS`] runs on.
        range: Option<[f64; 2]>,
    },
    Median {
        sides: &'a Sides,
        ratio: f64,
        shift: f64,
        /// How many differences are below zero, and how many not above it.
        below: [usize; 2],
    },
}

impl<'a> Location<'a> {
    fn new(sides: &'a Sides, ratio: f64, shift: f64) -> Location<'a> {
        let [first, second] = [&sides.first, &sides.second];
        if sides.center == Center::Median {
            let of = |is_below: fn(f64) -> bool| sides.count(ratio, shift, is_below);
            return Location::Median {
                sides,
                ratio,
                shift,
                below: [of(|x| x < 0.0), of(|x| x <= 0.0)],
            };
        }
        let scale = sides.scale(ratio);
        let (mut pivot, range) = match sides.paired {
            true => {
                let pairs = first.iter().zip(second);
                let differences: Vec<f64> = pairs.map(|(x, y)| y - ratio * x).collect();
                (Pivot::of_mean(&differences, scale), ends(&differences))
            }
            false => {
                let scaled: Vec<f64> = first.iter().map(|x| ratio * x).collect();
                let ([low, high], [least, most]) = (ends(second), ends(&scaled));
                (Pivot::of_difference(second, &scaled), [low - most, high - least])
            }
        };
        pivot.estimate -= shift;
        let range = range.map(|end| without_rounding(end, scale) - shift);
        let is_enough = first.len().min(second.len()) >= MIN_PAIRS;
        Location::Mean { pivot, range: is_enough.then_some(range) }
    }

    pub(super) fn estimate(&self) -> f64 {
        match self {
            Location::Mean { pivot, .. } => pivot.estimate,
            Location::Median { sides, ratio, shift, .. } => {
                quantile_of_sorted(&sides.differences(*ratio, *shift), 0.5)
            }
        }
    }

    /// The interval that covers the true value with `confidence`. That of a mean ends at the
    /// outermost difference: if all have one sign, so does the interval, as the test of signs says.
    pub(super) fn interval(&self, confidence: f64) -> [f64; 2] {
        match self {
            Location::Mean { pivot, range } => {
                let [least, most] = range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                pivot.interval(confidence).map(|end| end.clamp(least, most))
            }
            Location::Median { sides, ratio, shift, .. } => {
                let (tail, counts) = (0.5 * (1.0 - confidence), &sides.counts);
                let place = counts.partition_point(|p| *p <= tail).saturating_sub(1);
                let differences = sides.differences(*ratio, *shift);
                let place = place * differences.len() / (counts.len() - 1);
                [differences[place], differences[differences.len() - 1 - place]]
            }
        }
    }

    /// Whether zero is outside [`Location::interval`], and the values are enough for one.
    pub(super) fn excludes_zero(&self, confidence: f64) -> bool {
        match self {
            Location::Mean { pivot, .. } => {
                pivot.excludes_zero(confidence) || (self.has_one_sign() && self.is_sure(confidence))
            }
            Location::Median { .. } => self.is_sure(confidence),
        }
    }

    /// Whether there is no spread to judge by.
    pub(super) fn varies_not(&self) -> bool {
        match self {
            Location::Mean { pivot, .. } => pivot.varies_not(),
            Location::Median { sides, ratio, shift, .. } => {
                let differences = sides.differences(*ratio, *shift);
                differences.first() == differences.last()
            }
        }
    }

    /// The probability of values this far above zero if the true one were zero or below.
    pub(super) fn p_above(&self) -> f64 {
        match self {
            Location::Mean { pivot, range: Some([least, _]) } if *least > 0.0 => pivot.surest,
            Location::Mean { pivot, .. } => pivot.p_above(),
            // At least so many above zero, which is as likely as at most the rest.
            Location::Median { sides, below: [_, rest], .. } => sides.counts[*rest],
        }
    }

    /// The probability of values this far below zero if the true one were zero or above.
    pub(super) fn p_below(&self) -> f64 {
        match self {
            Location::Mean { pivot, range: Some([_, most]) } if *most < 0.0 => pivot.surest,
            Location::Mean { pivot, .. } => pivot.p_below(),
            Location::Median { sides, below: [below, _], .. } => {
                sides.counts[sides.counts.len() - 1 - below]
            }
        }
    }

    /// The probability of values this far from zero if the true one were zero.
    pub(super) fn p_either(&self) -> f64 {
        (2.0 * self.p_above().min(self.p_below())).min(1.0)
    }

    fn is_sure(&self, confidence: f64) -> bool {
        self.p_either() <= 1.0 - confidence
    }

    fn has_one_sign(&self) -> bool {
        matches!(self, Location::Mean { range: Some([least, most]), .. } if *least > 0.0 || *most < 0.0)
    }
}

impl Sides {
    pub(super) fn new([first, second]: [Vec<f64>; 2], paired: bool, center: Center) -> Sides {
        let counts = match (center, paired) {
            (Center::Mean, _) => Vec::new(),
            (Center::Median, true) => binomial::cumulated(first.len(), 0.5),
            (Center::Median, false) => mann_whitney(first.len(), second.len()),
        };
        Sides { first, second, paired, center, counts }
    }

    /// Where the second side lies relative to `ratio` times the first plus `shift`.
    pub(super) fn location(&self, ratio: f64, shift: f64) -> Location<'_> {
        Location::new(self, ratio, shift)
    }

    pub(super) fn center_of(&self, values: &[f64]) -> f64 {
        match self.center {
            Center::Mean => mean(values),
            Center::Median => {
                let mut sorted = values.to_vec();
                sorted.sort_unstable_by(f64::total_cmp);
                quantile_of_sorted(&sorted, 0.5)
            }
        }
    }

    /// The magnitude that determines rounding errors of differences.
    fn scale(&self, ratio: f64) -> f64 {
        largest(&self.second).max(ratio.abs() * largest(&self.first))
    }

    /// How many differences are below zero, as `is_below` defines it.
    fn count(&self, ratio: f64, shift: f64, is_below: fn(f64) -> bool) -> usize {
        let scale = self.scale(ratio);
        let is = |x: f64, y: f64| is_below(without_rounding(y - ratio * x, scale) - shift);
        match self.paired {
            true => self.first.iter().zip(&self.second).filter(|(x, y)| is(**x, **y)).count(),
            false => self.first.iter().map(|x| self.second.partition_point(|y| is(*x, *y))).sum(),
        }
    }

    fn differences(&self, ratio: f64, shift: f64) -> Vec<f64> {
        let scale = self.scale(ratio);
        self.each(|x, y| without_rounding(y - ratio * x, scale) - shift)
    }

    /// What `combine` makes of each pair, in ascending order; of very many runs without pairs, every n-th counts.
    pub(super) fn each(&self, combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let thin = |side: &[f64]| -> Vec<f64> {
            side.iter().copied().step_by(side.len().div_ceil(SIDE_MAX)).collect()
        };
        let mut found: Vec<f64> = match self.paired {
            true => self.first.iter().zip(&self.second).map(|(x, y)| combine(*x, *y)).collect(),
            false => {
                let [first, second] = [thin(&self.first), thin(&self.second)];
                first.iter().flat_map(|x| second.iter().map(|y| combine(*x, *y))).collect()
            }
        };
        found.sort_unstable_by(f64::total_cmp);
        found
    }
}

/// The smallest and the largest value.
fn ends(values: &[f64]) -> [f64; 2] {
    values
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| [least.min(*x), most.max(*x)])
}

/// Entry k: the probability that in at most k of the n times m pairs of two independent samples the
/// second value is larger, if both come from one distribution (H. B. Mann and D. R. Whitney, Ann.
/// Math. Statist. 18, 1947). Exact up to [`EXACT`] pairs, then normal.
fn mann_whitney(n: usize, m: usize) -> Vec<f64> {
    let pairs = n * m;
    let (x, y) = (n as f64, m as f64);
    if pairs > EXACT {
        let deviation = (x * y * (x + y + 1.0) / 12.0).sqrt();
        let at_most = |k: usize| normal::cdf((k as f64 + 0.5 - 0.5 * x * y) / deviation);
        return (0..=pairs).map(at_most).collect();
    }
    // of[j] is the distribution for i values of the first sample and j of the second: the largest of
    // them all belongs to the second with probability j / (i + j), and is then above i values.
    let mut of: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        for j in 1..=m {
            let mut next = vec![0.0; i * j + 1];
            let share = j as f64 / (i + j) as f64;
            of[j].iter().enumerate().for_each(|(u, p)| next[u] += (1.0 - share) * p);
            of[j - 1].iter().enumerate().for_each(|(u, p)| next[u + i] += share * p);
            of[j] = next;
        }
    }
    binomial::running_sum(of.swap_remove(m))
}

/// More runs of a side would need too much memory for all differences.
const SIDE_MAX: usize = 2_000;

/// The exact distribution of more pairs takes too long, and is normal to three digits.
const EXACT: usize = 2_500;
