//! Differences between two configurations that met the same misfortunes.

use crate::bootstrap::{acceleration, bca, check_estimates, jackknife_influence};
use crate::sample::check_range;
use crate::{Bootstrap, DEFAULT_SEED, Sample, StatsError};

/// The fewest pairs on which a verdict is given. If nothing differed, all of five differences would
/// still share a sign with probability 2 x 0.5^5 = 6.25 %, which is more than the 5 % that the
/// interval allows; with six it is 3.1 %.
pub const MIN_PAIRS: usize = 6;

/// How a second configuration differs from a first one when run k of both had the same seed
/// (common random numbers). Every number is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// The mean of second minus first, over the pairs in which both succeeded.
    pub mean: f64,
    /// The 95 % confidence interval of that mean, see [`Bootstrap`].
    pub ci95: [f64; 2],
    /// The difference as a fraction of the mean of the first. `None` unless every first value is
    /// above zero by so much that the fraction stays a number of ordinary size.
    pub relative: Option<RelativeDifference>,
    /// The number of pairs in which both succeeded, at least 1.
    pub n: usize,
    /// The number of pairs left out because the first failed, the second, or both. If it is not
    /// small, the rest is a selection of the easier runs and the difference flatters the one that
    /// failed more often.
    pub dropped: usize,
    /// Which of the two is lower, as far as the pairs tell.
    pub verdict: Verdict,
}

/// A difference as a fraction of the first configuration's mean; -0.1 is "10 % less".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeDifference {
    /// The mean difference divided by the mean of the first.
    pub mean: f64,
    /// Its 95 % confidence interval, in which both means vary together.
    pub ci95: [f64; 2],
}

/// Which of two configurations is faster, for values that are times.
///
/// For values of which more is better (a rate), swap the two lists or read it the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The second takes less: the interval of the difference lies below zero.
    Faster,
    /// The second takes more: the interval lies above zero.
    Slower,
    /// The interval holds zero, or there are fewer than [`MIN_PAIRS`] pairs.
    Undecided,
}

/// Compares run by run: `first[k]` and `second[k]` come from the same seed, and `None` is a failed
/// run. The order of the pairs has no influence.
///
/// # Errors
/// [`StatsError::LengthMismatch`], [`StatsError::OutOfRange`] for a value that is not finite, and
/// [`StatsError::Empty`] if in no pair both succeeded.
pub fn paired(
    first: &[Option<f64>],
    second: &[Option<f64>],
) -> Result<PairedDifference, StatsError> {
    let pairs = complete_pairs(first, second)?;
    let differences: Vec<f64> = pairs.iter().map(|pair| pair.difference).collect();
    let sample = Sample::new(&differences)?;
    let bootstrap = Bootstrap::new(DEFAULT_SEED);
    let ci95 = bootstrap.mean_ci95(&sample);
    Ok(PairedDifference {
        mean: sample.mean(),
        ci95,
        relative: relative(&pairs, &bootstrap),
        n: pairs.len(),
        dropped: first.len() - pairs.len(),
        verdict: verdict(ci95, pairs.len()),
    })
}

#[derive(Clone, Copy)]
struct Pair {
    first: f64,
    difference: f64,
}

/// The pairs in which both succeeded, sorted so that their order in the input cannot show.
fn complete_pairs(first: &[Option<f64>], second: &[Option<f64>]) -> Result<Vec<Pair>, StatsError> {
    if first.len() != second.len() {
        return Err(StatsError::LengthMismatch { first: first.len(), second: second.len() });
    }
    for list in [first, second] {
        for (index, value) in list.iter().enumerate() {
            check_range(index, value.unwrap_or(0.0))?;
        }
    }
    let both = first.iter().zip(second).filter_map(|(first, second)| first.zip(*second));
    let mut pairs: Vec<Pair> =
        both.map(|(first, second)| Pair { first, difference: second - first }).collect();
    pairs.sort_unstable_by(|x, y| {
        x.difference.total_cmp(&y.difference).then(x.first.total_cmp(&y.first))
    });
    Ok(pairs)
}

/// The relative difference, unless a first value is not above zero or so close to it that the
/// quotients leave the range of [`Sample`].
fn relative(pairs: &[Pair], bootstrap: &Bootstrap) -> Option<RelativeDifference> {
    if pairs.iter().any(|pair| pair.first <= 0.0) {
        return None;
    }
    let estimate = ratio_of_sums(pairs);
    check_estimates(&[estimate]).ok()?;
    if pairs.len() == 1 {
        return Some(RelativeDifference { mean: estimate, ci95: [estimate; 2] });
    }
    let (differences, firsts) = sums(pairs);
    let jackknife: Vec<f64> =
        pairs.iter().map(|pair| (differences - pair.difference) / (firsts - pair.first)).collect();
    let mut replicates = bootstrap.replicate(pairs, ratio_of_sums);
    check_estimates(&jackknife).and(check_estimates(&replicates)).ok()?;
    let acceleration = acceleration(&jackknife_influence(&jackknife));
    let ci95 = bca(estimate, &mut replicates, acceleration);
    Some(RelativeDifference { mean: estimate, ci95 })
}

/// The mean difference over the mean of the first; the number of pairs cancels.
fn ratio_of_sums(pairs: &[Pair]) -> f64 {
    let (differences, firsts) = sums(pairs);
    differences / firsts
}

fn sums(pairs: &[Pair]) -> (f64, f64) {
    pairs.iter().fold((0.0, 0.0), |(differences, firsts), pair| {
        (differences + pair.difference, firsts + pair.first)
    })
}

fn verdict([low, high]: [f64; 2], pairs: usize) -> Verdict {
    if pairs < MIN_PAIRS {
        Verdict::Undecided
    } else if high < 0.0 {
        Verdict::Faster
    } else if low > 0.0 {
        Verdict::Slower
    } else {
        Verdict::Undecided
    }
}

#[cfg(test)]
mod tests;
