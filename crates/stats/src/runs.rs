//! Samples that come in runs, and what can be said of a quantity that they are drawn from.

use crate::bootstrap::{acceleration, bca, jackknife_influence};
use crate::pivot::{interval_of_mean, largest, without_rounding};
use crate::sample::{check_range, mean};
use crate::{Bootstrap, MIN_PAIRS, Sample, StatsError, binomial, clustered, student};

/// At least one run with at least one value each, every value finite and within
/// [`MAX_MAGNITUDE`](crate::MAX_MAGNITUDE).
///
/// The values of one run share its misfortunes; runs are independent of one another.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// The values of each run, in rising order.
    runs: Vec<Vec<f64>>,
    /// All of them, in rising order.
    pooled: Sample,
}

/// What is asked of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The mean over runs of each run's mean.
    Mean,
    /// The quantile over all values at this probability, between 0 and 1; see [`Sample::quantile`].
    Quantile(f64),
    /// The smallest value that was seen.
    Min,
    /// The largest value that was seen.
    Max,
}

/// What runs say of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The statistic of what was measured.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The number of runs behind it.
    pub runs: usize,
    /// The number of values in all.
    pub samples: usize,
    /// As how many independent values these count for the statistic: of a mean the runs, of a quantile
    /// fewer than all values where those of a run are alike. It takes [`samples_to_bound`] of these.
    pub independent: f64,
}

/// A confidence interval. An end is `None` where the values leave it open: of 30 values, none need lie
/// above the 99th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Runs {
    /// The runs that have values; those without are left out.
    ///
    /// # Errors
    /// [`StatsError::Empty`] if none has, [`StatsError::OutOfRange`] for a value that is not finite;
    /// its place is counted over all runs.
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

    /// The number of runs, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one run")]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// The statistic and its 95 % interval:
    ///
    /// - of the mean, that of the runs' means ([`mean_interval`](crate::mean_interval));
    /// - of a quantile, that of order statistics ([`order_statistics`]), for as many independent values
    ///   as the runs' count: those which share a run's misfortunes count as fewer (E. L. Korn and B. I.
    ///   Graubard, Survey Methodology 24, 1998). With one value in each run it is exact;
    /// - of the smallest and largest value, that value: what was seen was seen.
    ///
    /// With one run there is no telling how runs differ: the interval of a quantile is open, that of a
    /// mean is the mean. `docs/statistics.md` says how often they cover.
    ///
    /// # Errors
    /// [`StatsError::BadProbability`] if a quantile's is not strictly between 0 and 1.
    pub fn estimate(&self, statistic: Statistic) -> Result<Estimate, StatsError> {
        let all: Vec<usize> = (0..self.runs.len()).collect();
        let value = self.of(statistic, &all)?;
        let interval = match statistic {
            Statistic::Mean => {
                let [low, high] = interval_of_mean(&Sample::new(&self.means())?, 0.95);
                Interval { low: Some(low), high: Some(high) }
            }
            Statistic::Min | Statistic::Max => Interval { low: Some(value), high: Some(value) },
            Statistic::Quantile(p) => self.quantile_interval(p),
        };
        let (runs, samples) = (self.runs.len(), self.pooled.len());
        let independent = match statistic {
            Statistic::Mean => runs as f64,
            Statistic::Quantile(p) if runs > 1 && runs < samples => {
                clustered::independent_values(&self.runs, &self.pooled, p)
            }
            Statistic::Quantile(_) | Statistic::Min | Statistic::Max => samples as f64,
        };
        Ok(Estimate { value, interval, runs, samples, independent })
    }

    fn quantile_interval(&self, p: f64) -> Interval {
        match self.runs.len() {
            1 => Interval { low: None, high: None },
            runs if runs == self.pooled.len() => order_statistics_of(&self.pooled, p),
            _ => clustered::interval(&self.runs, &self.pooled, p),
        }
    }

    /// The BCa interval of a statistic of runs, which are drawn with replacement. It reaches as much
    /// farther as Student's t does, with n in the divisor as resamples have it (T. C. Hesterberg, "What
    /// teachers should know about the bootstrap", The American Statistician 69, 2015, section 5.1).
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

    /// As many resamples as keep the time within bounds, however many values there are.
    fn resamples(&self) -> usize {
        let log = |len: usize| (usize::BITS - len.leading_zeros()) as usize;
        let longest = self.runs.iter().map(Vec::len).max().unwrap_or(1);
        let steps = 2 * self.runs.len() * log(self.pooled.len()) * log(longest);
        (STEPS_MAX / steps).min(crate::DEFAULT_RESAMPLES)
    }

    /// The statistic of the `chosen` runs, each as often as it stands there.
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

    /// The type 7 quantile of the values of the chosen runs together, which are not put together for
    /// it: a value's rank is the sum of its ranks in the runs.
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

    /// The value with `rank` others before it, if run k is there `times[k]` times.
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
            match up_to(values[middle]) > rank {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        values[low]
    }
}

/// The statistic of `cell` minus `factor` times that of `against`, over the runs that both have: entry
/// k of each is run k, and `None` one that failed. Runs are drawn in pairs, so what a run did to both
/// cancels. An end is open where one of the two has too few values on that side, and both are where too
/// few runs show what does not cancel.
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
    let closed = |[low, high]: [f64; 2]| Interval { low: Some(low), high: Some(high) };
    let interval = match statistic {
        Statistic::Mean => {
            let means = cell.means().into_iter().zip(against.means());
            let differences: Vec<f64> = means.map(|(x, y)| x - factor * y).collect();
            closed(interval_of_mean(&Sample::new(&differences)?, 0.95))
        }
        Statistic::Min | Statistic::Max => closed([value; 2]),
        Statistic::Quantile(_) if runs == 1 => Interval { low: None, high: None },
        Statistic::Quantile(p) => quantile_difference([&cell, &against], p, factor, value),
    };
    let independent = if statistic == Statistic::Mean { runs } else { samples } as f64;
    Ok(Estimate { value, interval, runs, samples, independent })
}

/// The interval of the difference of two quantiles, by resampling pairs of runs.
///
/// An end is open where one of the sides has too few values, as if they were independent: not as few as
/// the runs' dependence would have them count, for what a run did to both cancels. But then some runs must
/// show what does not cancel: both ends are open where fewer than [`MIN_PAIRS`] runs have unlike numbers
/// of values below the two quantiles, unless each side has an interval by itself.
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
    let closed = |interval: Interval| interval.low.is_some() && interval.high.is_some();
    let scale = largest(cell.pooled.sorted()).max(factor * largest(against.pooled.sorted()));
    let cancels = without_rounding(high - low, scale) == 0.0;
    if !cancels && unlike < MIN_PAIRS && !sides.iter().all(|side| closed(side.quantile_interval(p)))
    {
        return Interval { low: None, high: None };
    }
    let [x, y] = sides.map(|side| order_statistics_of(&side.pooled, p));
    Interval { low: x.low.and(y.high).map(|_| low), high: x.high.and(y.low).map(|_| high) }
}

/// The exact 95 % interval of the quantile at `p` of whatever distribution independent values come
/// from: between two of the values, so chosen that each end is on the wrong side with 2.5 % at most (H.
/// A. David and H. N. Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1). An end is open
/// where even the outermost value is on the wrong side more often: the 99th percentile has an upper end
/// from 368 values on.
///
/// # Errors
/// [`StatsError::BadProbability`] if `p` is not strictly between 0 and 1.
pub fn order_statistics(sample: &Sample, p: f64) -> Result<Interval, StatsError> {
    match p > 0.0 && p < 1.0 {
        true => Ok(order_statistics_of(sample, p)),
        false => Err(StatsError::BadProbability(p)),
    }
}

/// [`order_statistics`] at a probability that is known to be one.
fn order_statistics_of(sample: &Sample, p: f64) -> Interval {
    let values = sample.sorted();
    let (below, above) = binomial::central(values.len(), p, TAIL);
    Interval { low: below.map(|index| values[index]), high: above.map(|index| values[index]) }
}

/// How many independent values it takes until the interval of the quantile at `p` has an upper end, or
/// for `p` below a half a lower one; see [`order_statistics`].
///
/// # Errors
/// [`StatsError::BadProbability`] if `p` is not strictly between 0 and 1.
pub fn samples_to_bound(p: f64) -> Result<usize, StatsError> {
    if !(p > 0.0 && p < 1.0) {
        return Err(StatsError::BadProbability(p));
    }
    Ok((libm::log(TAIL) / libm::log(p.max(1.0 - p))).ceil() as usize)
}

/// What each end may miss.
const TAIL: f64 = 0.025;

/// Steps of a search for one interval: about half a second.
const STEPS_MAX: usize = 50_000_000;

#[cfg(test)]
mod tests;
