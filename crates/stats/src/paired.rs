//! Differences between two configurations with the same seeds.

use crate::{ComparisonVerdict, Margin, StatsError, Terms, compare_paired};

/// How a second configuration differs from a first one when run k of both had the same seed
/// (common random numbers). Every number is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// The mean of second minus first, over the pairs in which both succeeded.
    pub mean: f64,
    /// The 95 % confidence interval of that mean, see [`mean_interval`](crate::mean_interval).
    pub ci95: [f64; 2],
    /// The difference as a fraction of the first mean. `None` unless every first value is above
    /// zero, and their mean significantly so.
    pub relative: Option<RelativeDifference>,
    /// The number of pairs in which both succeeded, at least 1. If it is not nearly all, they are a
    /// selection of easier runs, and the difference favours the configuration that failed more often.
    pub n: usize,
    /// Which of the two is significantly lower, if any.
    pub verdict: ComparisonVerdict,
}

/// A difference as a fraction of the first configuration's mean; -0.1 is "10 % less".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeDifference {
    /// The mean difference divided by the mean of the first.
    pub mean: f64,
    /// Its 95 % confidence interval, in which both means vary together; see
    /// [`MeanRatio`](crate::MeanRatio).
    pub ci95: [f64; 2],
}

/// Compares paired by run: `first[k]` and `second[k]` come from the same seed, and `None` is a
/// failed run. The order of the pairs does not matter.
///
/// # Errors
/// [`StatsError::LengthMismatch`], [`StatsError::OutOfRange`] for a value that is not finite, and
/// [`StatsError::Empty`] if no pair is complete.
pub fn paired(
    first: &[Option<f64>],
    second: &[Option<f64>],
) -> Result<PairedDifference, StatsError> {
    let terms = Terms { margin: Margin::Absolute(0.0), ..Terms::default() };
    let found = compare_paired(first, second, &terms)?;
    let positive = |(first, second): (&Option<f64>, &Option<f64>)| {
        first.zip(*second).is_none_or(|(first, _)| first > 0.0)
    };
    let ratio = found.ratio.filter(|_| first.iter().zip(second).all(positive));
    Ok(PairedDifference {
        mean: found.difference,
        ci95: found.difference_interval,
        relative: ratio.map(|ratio| {
            let mean = found.difference / found.means[0];
            // An interval of zero width must stay one.
            RelativeDifference { mean, ci95: ratio.interval.map(|end| mean + (end - ratio.value)) }
        }),
        n: found.n[0],
        verdict: found.verdict,
    })
}

#[cfg(test)]
mod tests;
