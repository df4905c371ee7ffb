//! Samples that are grouped in runs, and estimates from them.

use crate::bootstrap::{DEFAULT_RESAMPLES, acceleration, bca, jackknife_influence};
use crate::pivot::{interval_of_mean, largest, without_rounding};
use crate::sample::{check_range, mean};
use crate::{Bootstrap, MIN_PAIRS, Sample, StatsError, binomial, clustered, normal, student};

/// At least one run with at least one value each, every value finite and within
/// [`MAX_MAGNITUDE`](crate::MAX_MAGNITUDE).
///
/// The values of one run are correlated; runs are independent of one another.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    runs: Vec<Vec<f64>>,
    /// All of them, in ascending order.
    pooled: Sample,
}

/// A statistic of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The mean over runs of each run's mean.
    Mean,
    /// The quantile over all values at this probability, between 0 and 1; see [`Sample::quantile`].
    Quantile(f64),
    /// The smallest observed value.
    Min,
    /// The largest observed value.
    Max,
}

/// An estimate from runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value of the statistic.
    pub value: f64,
    /// Its confidence interval.
    pub interval: Interval,
    /// The probability of error of each end of the interval: [`TAIL`] for 95 %.
    pub tail: f64,
    /// The number of runs behind it.
    pub runs: usize,
    /// The number of values in all.
    pub samples: usize,
    /// The effective number of independent values for the statistic: for a mean the runs, for a
    /// quantile fewer than all values if those of a run are similar. [`samples_to_bound`] refers to
    /// this number.
    pub independent: f64,
}

/// A confidence interval. An end is `None` if the values leave it open: for 30 values, none need be
/// above the 99th percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Estimate {
    /// The number of runs from which the interval of the quantile at `p` has both ends, if further runs are
    /// like these.
    ///
    /// # Errors
    /// [`StatsError::BadProbability`] if `p` is not strictly between 0 and 1.
    pub fn runs_to_bound(&self, p: f64) -> Result<usize, StatsError> {
        let needed = samples_to_bound(p, self.tail)? as f64;
        let per_run = self.samples as f64 / self.runs as f64;
        let known =
            |runs: usize| clustered::known_share(per_run * runs as f64, runs as f64, self.tail);
        // What the correlation within runs leaves of each sample.
        let share = self.independent / self.samples as f64 / known(self.runs);
        let first = ((needed / (share * per_run)) as usize).max(self.runs);
        let is_enough = |runs: &usize| share * per_run * *runs as f64 * known(*runs) >= needed;
        Ok((first..first.saturating_mul(2)).find(is_enough).unwrap_or(first))
    }

    /// The number of runs from which the interval of the quantile at `p` probably lies on one side of a bound, if a
    /// `share` of the values of further runs is below the bound, too.
    pub fn runs_to_exclude(&self, p: f64, share: f64) -> f64 {
        let deviation = (share - p) / normal::quantile(1.0 - self.tail);
        self.runs as f64 * p * (1.0 - p) / (self.independent * deviation * deviation)
    }
}

impl Interval {
    fn of([low, high]: [f64; 2]) -> Interval {
        Interval { low: Some(low), high: Some(high) }
    }

    /// Both ends, if neither is open.
    pub fn closed(&self) -> Option<[f64; 2]> {
        Some([self.low?, self.high?])
    }
}

impl Runs {
    /// The runs that have values; others are left out.
    ///
    /// # Errors
    /// [`StatsError::Empty`] if none has, [`StatsError::OutOfRange`] for a value that is not
    /// finite; its index counts over all runs.
    pub fn new<'a>(runs: impl IntoIterator<Item = &'a [f64]>) -> Result<Runs, StatsError> {
        let runs: Vec<&[f64]> = runs.into_iter().filter(|run| !run.is_empty()).collect();
        let pooled = Sample::new(&runs.concat())?;
        let sorted = |run: &&[f64]| {
            let mut values = run.to_vec();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        Ok(Runs { runs: runs.iter().map(sorted).collect(), pooled })
    }

    /// The share of all values below `bound`; those equal to it count half.
    pub fn share_below(&self, bound: f64) -> f64 {
        let values = self.pooled.sorted();
        let [less, not_more] =
            [values.partition_point(|x| *x < bound), values.partition_point(|x| *x <= bound)];
        (less + not_more) as f64 / (2 * values.len()) as f64
    }

    /// The number of runs, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one run")]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// The statistic and its 95 % confidence interval:
    ///
    /// - of the mean, that of the runs' means ([`mean_interval`](crate::mean_interval));
    /// - of a quantile, that of order statistics ([`order_statistics`]), for the effective number
    ///   of independent values: correlated values of a run count as fewer (E. L. Korn and B. I.
    ///   Graubard, Survey Methodology 24, 1998). With one value per run it is exact;
    /// - of the smallest and largest value, that value itself.
    ///
    /// With a single run the differences between runs are unknown: the interval of a quantile is
    /// open, that of a mean is the mean. `docs/statistics.md` says how often they cover.
    ///
    /// # Errors
    /// [`StatsError::BadProbability`] if a quantile's is not strictly between 0 and 1.
    pub fn estimate(&self, statistic: Statistic) -> Result<Estimate, StatsError> {
        self.estimate_at(statistic, TAIL)
    }

    /// As [`Runs::estimate`], with an interval of which each end errs with probability `tail`, above 0 and below a half.
    ///
    /// # Errors
    /// As [`Runs::estimate`].
    pub fn estimate_at(&self, statistic: Statistic, tail: f64) -> Result<Estimate, StatsError> {
        let all: Vec<usize> = (0..self.runs.len()).collect();
        let value = self.of(statistic, &all)?;
        let interval = match statistic {
            Statistic::Mean => {
                Interval::of(interval_of_mean(&Sample::new(&self.means())?, 1.0 - 2.0 * tail))
            }
            Statistic::Min | Statistic::Max => Interval::of([value; 2]),
            Statistic::Quantile(p) => self.quantile_interval(p, tail),
        };
        let (runs, samples) = (self.runs.len(), self.pooled.len());
        let independent = match statistic {
            Statistic::Mean => runs as f64,
            Statistic::Quantile(p) if runs > 1 && runs < samples => {
                clustered::independent_values(&self.runs, &self.pooled, p, tail)
            }
            Statistic::Quantile(_) | Statistic::Min | Statistic::Max => samples as f64,
        };
        Ok(Estimate { value, interval, tail, runs, samples, independent })
    }

    fn quantile_interval(&self, p: f64, tail: f64) -> Interval {
        match self.runs.len() {
            1 => Interval::default(),
            runs if runs == self.pooled.len() => order_statistics_of(&self.pooled, p, tail),
            _ => clustered::interval(&self.runs, &self.pooled, p, tail),
        }
    }

    /// The BCa interval of a statistic of runs, which are drawn with replacement. It is widened like
    /// Student's t, with n in the divisor as for resamples (T. C. Hesterberg, "What teachers should
    /// know about the bootstrap", The American Statistician 69, 2015, section 5.1).
    fn resampled(&self, value: f64, statistic: impl Fn(&[usize]) -> f64) -> [f64; 2] {
        let all: Vec<usize> = (0..self.runs.len()).collect();
        let without = |left_out: &usize| -> f64 {
            let others: Vec<usize> = all.iter().copied().filter(|run| run != left_out).collect();
            statistic(&others)
        };
        let jackknife: Vec<f64> = all.iter().map(without).collect();
        let bootstrap = Bootstrap::default().with_resamples(self.resamples());
        let mut replicates = bootstrap.replicate(&all, statistic);
        let n = self.runs.len() as f64;
        let reach = student::upper_point(TAIL, n - 1.0) * (n / (n - 1.0)).sqrt();
        bca(value, &mut replicates, acceleration(&jackknife_influence(&jackknife)), reach)
    }

    /// Fewer resamples for many values, to limit the time.
    fn resamples(&self) -> usize {
        let log = |len: usize| (usize::BITS - len.leading_zeros()) as usize;
        let longest = self.runs.iter().map(Vec::len).max().unwrap_or(1);
        let steps = 2 * self.runs.len() * log(self.pooled.len()) * log(longest);
        (STEPS_MAX / steps).min(DEFAULT_RESAMPLES)
    }

    /// The statistic of the `chosen` runs, each as often as it occurs there.
    fn of(&self, statistic: Statistic, chosen: &[usize]) -> Result<f64, StatsError> {
        Ok(match statistic {
            Statistic::Mean => {
                let means: Vec<f64> = chosen.iter().map(|run| mean(&self.runs[*run])).collect();
                Sample::new(&means)?.mean()
            }
            Statistic::Min => self.pooled.min(),
            Statistic::Max => self.pooled.max(),
            Statistic::Quantile(p) if p > 0.0 && p < 1.0 => self.quantile_of(chosen, p),
            Statistic::Quantile(p) => return Err(StatsError::BadProbability(p)),
        })
    }

    fn means(&self) -> Vec<f64> {
        self.runs.iter().map(|run| mean(run)).collect()
    }

    /// The type 7 quantile of all values of the chosen runs, without concatenating them: a value's
    /// rank is the sum of its ranks in the runs.
    fn quantile_of(&self, chosen: &[usize], p: f64) -> f64 {
        let mut times = vec![0usize; self.runs.len()];
        chosen.iter().for_each(|run| times[*run] += 1);
        let count: usize = self.runs.iter().zip(&times).map(|(run, times)| run.len() * times).sum();
        let rank = (count - 1) as f64 * p;
        let below = rank.floor() as usize;
        let low = self.order_statistic(&times, below);
        let fraction = rank - below as f64;
        if fraction == 0.0 {
            return low;
        }
        let high = self.order_statistic(&times, below + 1);
        (low + fraction * (high - low)).clamp(low, high)
    }

    /// The value with `rank` others before it, if run k occurs `times[k]` times.
    fn order_statistic(&self, times: &[usize], rank: usize) -> f64 {
        let values = self.pooled.sorted();
        let up_to = |value: f64| -> usize {
            let runs = self.runs.iter().zip(times).filter(|(_, times)| **times > 0);
            runs.map(|(run, times)| run.partition_point(|x| *x <= value) * times).sum()
        };
        // The first value that has more than `rank` values up to and with it.
        let (mut low, mut high) = (0, values.len() - 1);
        while low < high {
            let middle = (low + high) / 2;
            if up_to(values[middle]) > rank { high = middle } else { low = middle + 1 }
        }
        values[low]
    }
}

/// The statistic of `cell` minus `factor` times that of `against`, over the runs that both have:
/// entry k of each is run k, and `None` is a failed run. Runs are drawn in pairs, so what affected
/// both cells of a run cancels. An end is open if one of the two has too few values on that side;
/// both are open if too few runs show what does not cancel.
///
/// # Errors
/// [`StatsError::LengthMismatch`], [`StatsError::Empty`] if no pair is complete, and as
/// [`Runs::estimate`]; also for a factor that is not a number above zero.
pub fn scaled_difference(
    cell: &[Option<&[f64]>],
    against: &[Option<&[f64]>],
    statistic: Statistic,
    factor: f64,
) -> Result<Estimate, StatsError> {
    if cell.len() != against.len() {
        return Err(StatsError::LengthMismatch { first: cell.len(), second: against.len() });
    }
    check_range(0, factor)?;
    if factor <= 0.0 {
        return Err(StatsError::OutOfRange { index: 0, value: factor });
    }
    let present = |run: Option<&'_ [f64]>| run.is_some_and(|values| !values.is_empty());
    let both = |(cell, against): &(&Option<&[f64]>, &Option<&[f64]>)| {
        present(**cell) && present(**against)
    };
    let pairs: Vec<_> = cell.iter().zip(against).filter(both).collect();
    let cell = Runs::new(pairs.iter().filter_map(|(cell, _)| **cell))?;
    let against = Runs::new(pairs.iter().filter_map(|(_, against)| **against))?;
    let all: Vec<usize> = (0..cell.runs.len()).collect();
    let difference = |chosen: &[usize]| -> Result<f64, StatsError> {
        Ok(cell.of(statistic, chosen)? - factor * against.of(statistic, chosen)?)
    };
    let value = difference(&all)?;
    let (runs, samples) = (all.len(), cell.pooled.len());
    let interval = match statistic {
        Statistic::Mean => {
            let means = cell.means().into_iter().zip(against.means());
            let differences: Vec<f64> = means.map(|(x, y)| x - factor * y).collect();
            Interval::of(interval_of_mean(&Sample::new(&differences)?, 0.95))
        }
        Statistic::Min | Statistic::Max => Interval::of([value; 2]),
        Statistic::Quantile(_) if runs == 1 => Interval::default(),
        Statistic::Quantile(p) => quantile_difference([&cell, &against], p, factor, value),
    };
    let independent = if statistic == Statistic::Mean { runs } else { samples } as f64;
    Ok(Estimate { value, interval, tail: TAIL, runs, samples, independent })
}

/// The interval of the difference of two quantiles, by resampling pairs of runs.
///
/// An end is open if one side has too few values, counted as if they were independent, because what
/// affected both cells of a run cancels. But enough runs must show what does not cancel: both ends
/// are open if fewer than [`MIN_PAIRS`] runs have different numbers of values below the two
/// quantiles, unless each side has an interval by itself.
fn quantile_difference(sides: [&Runs; 2], p: f64, factor: f64, value: f64) -> Interval {
    let [cell, against] = sides;
    let quantiles =
        |chosen: &[usize]| cell.quantile_of(chosen, p) - factor * against.quantile_of(chosen, p);
    let [low, high] = cell.resampled(value, quantiles);
    let all: Vec<usize> = (0..cell.runs.len()).collect();
    let below = sides.map(|side| {
        let quantile = side.quantile_of(&all, p);
        side.runs.iter().map(|run| run.partition_point(|x| *x <= quantile)).collect::<Vec<_>>()
    });
    let unlike = below[0].iter().zip(&below[1]).filter(|(x, y)| x != y).count();
    let have_intervals = || sides.iter().all(|it| it.quantile_interval(p, TAIL).closed().is_some());
    let scale = largest(cell.pooled.sorted()).max(factor * largest(against.pooled.sorted()));
    let cancels = without_rounding(high - low, scale) == 0.0;
    if !cancels && unlike < MIN_PAIRS && !have_intervals() {
        return Interval::default();
    }
    let [x, y] = sides.map(|side| order_statistics_of(&side.pooled, p, TAIL));
    Interval { low: x.low.and(y.high).map(|_| low), high: x.high.and(y.low).map(|_| high) }
}

/// The exact 95 % confidence interval of the quantile at `p` of the distribution behind independent
/// values: between two of the values, chosen so that each end is wrong with probability at most 2.5
/// % (H. A. David and H. N. Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1). An end
/// is open if even the outermost value is wrong more often: the 99th percentile has an upper end
/// from 368 values on.
///
/// # Errors
/// [`StatsError::BadProbability`] if `p` is not strictly between 0 and 1.
pub fn order_statistics(sample: &Sample, p: f64) -> Result<Interval, StatsError> {
    match p > 0.0 && p < 1.0 {
        true => Ok(order_statistics_of(sample, p, TAIL)),
        false => Err(StatsError::BadProbability(p)),
    }
}

fn order_statistics_of(sample: &Sample, p: f64, tail: f64) -> Interval {
    let values = sample.sorted();
    let (below, above) = binomial::central(values.len(), p, tail);
    Interval { low: below.map(|index| values[index]), high: above.map(|index| values[index]) }
}

/// The number of independent values from which the interval of the quantile at `p` has an upper
/// end, or for `p` below a half a lower one, that errs with probability `tail`; see
/// [`order_statistics`].
///
/// # Errors
/// [`StatsError::BadProbability`] if `p` is not strictly between 0 and 1.
pub fn samples_to_bound(p: f64, tail: f64) -> Result<usize, StatsError> {
    if !(p > 0.0 && p < 1.0) {
        return Err(StatsError::BadProbability(p));
    }
    Ok((libm::log(tail) / libm::log(p.max(1.0 - p))).ceil() as usize)
}

/// The probability of error of each end of a 95 % interval.
pub const TAIL: f64 = 0.025;

/// Maximum steps of a search for one interval: about half a second.
const STEPS_MAX: usize = 50_000_000;

#[cfg(test)]
mod tests;
