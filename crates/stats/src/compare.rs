//! Compares two result sets: what differs, what is equivalent within a margin, what is worse.

mod fieller;
mod location;

use crate::pivot::check_confidence;
use crate::sample::check_range;
use crate::{MIN_PAIRS, StatsError};
pub use location::Center;
use location::{Location, Sides};

/// The terms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The confidence of intervals and verdicts, strictly between 0 and 1; the default is 0.95.
    pub confidence: f64,
    /// The difference that does not matter.
    pub margin: Margin,
    /// Which values are better, if any.
    pub better: Option<Better>,
    /// What is compared.
    pub center: Center,
}

impl Default for Terms {
    /// 95 %, 3 % of the first mean, and no preference.
    fn default() -> Terms {
        let (margin, center) = (Margin::Relative(0.03), Center::Mean);
        Terms { confidence: 0.95, margin, better: None, center }
    }
}

/// The deviation of the second mean from the first that does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// This share of the first mean: 0.03 for 3 %. Zero if that mean is zero.
    Relative(f64),
    /// This amount, in the values' unit: for values that may be zero.
    Absolute(f64),
}

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Lower ones: times, losses, work.
    Lower,
    /// Higher ones: rates, throughput.
    Higher,
}

/// The difference of a second result set from a first one. Every number is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The two means or medians: over complete pairs if paired, otherwise over successful runs.
    pub centers: [f64; 2],
    /// The second mean minus the first; of medians, the median of the differences.
    pub difference: f64,
    /// The confidence interval of the difference, at the confidence of the terms, never beyond the
    /// outermost difference. Below [`MIN_PAIRS`] values a median's is that of all differences, and
    /// a mean's may end beyond them.
    pub difference_interval: [f64; 2],
    /// The second mean over the first; `None` unless the first mean and its confidence interval are
    /// on one side of zero.
    pub ratio: Option<MeanRatio>,
    /// The probability of a difference this large if there were none (two-sided). The verdicts of a
    /// family of comparisons use adjusted p-values: [`holm`](crate::holm), then
    /// [`Comparison::judged_by`].
    pub p_value: f64,
    /// The probability of means this close if they were a margin or more apart: the larger p-value
    /// of two one-sided tests (D. J. Schuirmann, J. Pharmacokin. Biopharm. 15, 1987).
    pub p_equivalent: f64,
    /// The verdict at the terms' confidence.
    pub verdict: ComparisonVerdict,
    /// Whether the second is worse; `None` if the terms do not say what is better.
    pub regression: Option<Regression>,
    /// The number of values behind each mean, at least 1; if paired, both are the number of pairs.
    /// Many pairs that were left out favour the side that failed more.
    pub n: [usize; 2],
    /// Whether all values of both sides are equal: within each pair if paired, otherwise all of
    /// them.
    identical: bool,
    /// Whether all first values are above zero.
    is_positive: bool,
    confidence: f64,
}

/// A ratio of means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanRatio {
    /// The second mean over the first; 1.02 is "2 % more". For medians, the median of the quotients.
    pub value: f64,
    /// The confidence interval of the ratio: all ratios that the test does not reject (E. C.
    /// Fieller, J. R. Statist. Soc. B 16, 1954), at the confidence of the terms.
    pub interval: [f64; 2],
}

/// A difference as a fraction of the first mean; -0.1 is "10 % less".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeDifference {
    /// The mean difference divided by the mean of the first.
    pub mean: f64,
    /// Its confidence interval, in which both means vary together; see [`MeanRatio`].
    pub interval: [f64; 2],
}

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// All values are exactly equal.
    Equal,
    /// The means are within the margin, by two one-sided tests; even if a difference within it is
    /// significant.
    Equivalent,
    /// The second mean is significantly lower, and not shown to be within the margin.
    Lower,
    /// The second mean is significantly higher, and not shown to be within the margin.
    Higher,
    /// No significant difference, but one that matters cannot be excluded; or there are fewer than
    /// [`MIN_PAIRS`] values on a side.
    Undecided,
}

/// Whether the second is worse than the first by more than the margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regression {
    /// The probability of a second mean this good if it were worse by the margin or more: the
    /// non-inferiority test (one-sided).
    pub p_no_worse: f64,
    /// The probability of a second mean this bad if it were worse by the margin at most
    /// (one-sided). In a family of comparisons, adjust it with [`holm`](crate::holm) before
    /// reporting a regression.
    pub p_worse: f64,
    /// The verdict at the terms' confidence.
    pub verdict: RegressionVerdict,
}

/// The verdict on a regression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegressionVerdict {
    /// Not worse by more than the margin.
    NoWorse,
    /// Worse by more than the margin.
    Worse,
    /// Neither is significant, or there are fewer than [`MIN_PAIRS`] values on a side.
    Undecided,
}

impl Comparison {
    /// The difference as a fraction of the first mean. `None` unless every first value is above zero,
    /// and their mean significantly so.
    pub fn relative(&self) -> Option<RelativeDifference> {
        self.fraction().filter(|_| self.is_positive)
    }

    /// The same, also where some of the first values are not above zero.
    pub fn fraction(&self) -> Option<RelativeDifference> {
        let ratio = self.ratio?;
        let mean = self.difference / self.centers[0];
        // An interval of zero width must stay one.
        let interval = ratio.interval.map(|end| mean + (end - ratio.value));
        Some(RelativeDifference { mean, interval })
    }

    /// The verdict with `p_value` instead of the comparison's own, adjusted for a family of
    /// comparisons. Equal and equivalent stay so.
    pub fn judged_by(&self, p_value: f64) -> ComparisonVerdict {
        let error = 1.0 - self.confidence;
        if self.identical {
            ComparisonVerdict::Equal
        } else if self.n.iter().any(|n| *n < MIN_PAIRS) {
            ComparisonVerdict::Undecided
        } else if self.p_equivalent <= error {
            ComparisonVerdict::Equivalent
        } else if p_value > error {
            ComparisonVerdict::Undecided
        } else if self.difference < 0.0 {
            ComparisonVerdict::Lower
        } else {
            ComparisonVerdict::Higher
        }
    }

    /// The verdict on a regression with `p_worse` instead of the comparison's own, adjusted for a
    /// family of comparisons.
    pub fn regression_judged_by(&self, p_worse: f64) -> Option<RegressionVerdict> {
        let regression = self.regression?;
        let error = 1.0 - self.confidence;
        let few = self.n.iter().any(|n| *n < MIN_PAIRS);
        Some(match () {
            () if self.identical => RegressionVerdict::NoWorse,
            () if few => RegressionVerdict::Undecided,
            () if regression.p_no_worse <= error => RegressionVerdict::NoWorse,
            () if p_worse <= error => RegressionVerdict::Worse,
            () => RegressionVerdict::Undecided,
        })
    }
}

/// Compares paired by run: entry k of both is run k with the same seed, and `None` is a failed run.
/// What affected both sides of a run cancels. The order of the pairs does not matter.
///
/// Tests and intervals are those of [`mean_interval`](crate::mean_interval) for the differences
/// within pairs: their mean for the difference, and (second - r x first) for a ratio r.
///
/// # Errors
/// [`StatsError::LengthMismatch`], [`StatsError::OutOfRange`] for a value that is not finite,
/// [`StatsError::Empty`] if no pair is complete, [`StatsError::BadProbability`] for the confidence and
/// [`StatsError::BadMargin`].
pub fn compare_paired(
    first: &[Option<f64>],
    second: &[Option<f64>],
    terms: &Terms,
) -> Result<Comparison, StatsError> {
    if first.len() != second.len() {
        return Err(StatsError::LengthMismatch { first: first.len(), second: second.len() });
    }
    [first, second].into_iter().try_for_each(check)?;
    let both = first.iter().zip(second).filter_map(|(first, second)| first.zip(*second));
    let mut pairs: Vec<(f64, f64)> = both.map(|(x, y)| (x + 0.0, y + 0.0)).collect();
    // The order of the input must not matter.
    pairs.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    Sides::new([first, second], true, terms.center).compare(terms)
}

/// Compares paired by run, with 95 % confidence and without a margin.
///
/// # Errors
/// As [`compare_paired`].
pub fn paired(first: &[Option<f64>], second: &[Option<f64>]) -> Result<Comparison, StatsError> {
    compare_paired(first, second, &Terms { margin: Margin::Absolute(0.0), ..Terms::default() })
}

/// Compares two sets of runs without common seeds; `None` is a failed run. The order on each side
/// does not matter.
///
/// As [`compare_paired`], with Welch's standard error for two independent means.
///
/// # Errors
/// As [`compare_paired`], without [`StatsError::LengthMismatch`]; [`StatsError::Empty`] if all runs of a
/// side failed.
pub fn compare_unpaired(
    first: &[Option<f64>],
    second: &[Option<f64>],
    terms: &Terms,
) -> Result<Comparison, StatsError> {
    [first, second].into_iter().try_for_each(check)?;
    let sorted = |list: &[Option<f64>]| {
        let mut values: Vec<f64> = list.iter().flatten().map(|x| x + 0.0).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    Sides::new([sorted(first), sorted(second)], false, terms.center).compare(terms)
}

impl Sides {
    fn compare(&self, terms: &Terms) -> Result<Comparison, StatsError> {
        check_confidence(terms.confidence)?;
        let (Margin::Relative(margin) | Margin::Absolute(margin)) = terms.margin;
        if !(0.0..=crate::MAX_MAGNITUDE).contains(&margin) {
            return Err(StatsError::BadMargin(margin));
        }
        if self.first.is_empty() || self.second.is_empty() {
            return Err(StatsError::Empty);
        }
        let difference = self.location(1.0, 0.0);
        // The limits beyond which the second is too low or too high.
        let [too_low, too_high] = self.margins(terms.margin);
        let identical = match self.paired {
            true => self.first == self.second,
            false => self.first.iter().chain(&self.second).all(|x| *x == self.first[0]),
        };
        let mut found = Comparison {
            centers: [self.center_of(&self.first), self.center_of(&self.second)],
            difference: difference.estimate(),
            difference_interval: difference.interval(terms.confidence),
            ratio: fieller::ratio(self, terms.confidence),
            p_value: self.sure(difference.p_either()),
            p_equivalent: self.sure(too_low.p_above().max(too_high.p_below())),
            verdict: ComparisonVerdict::Undecided,
            regression: terms.better.map(|better| {
                let [p_no_worse, p_worse] = match better {
                    Better::Lower => [too_high.p_below(), too_high.p_above()],
                    Better::Higher => [too_low.p_above(), too_low.p_below()],
                };
                let verdict = RegressionVerdict::Undecided;
                let [p_no_worse, p_worse] = [p_no_worse, p_worse].map(|p| self.sure(p));
                Regression { p_no_worse, p_worse, verdict }
            }),
            n: [self.first.len(), self.second.len()],
            identical,
            is_positive: self.first.iter().all(|x| *x > 0.0),
            confidence: terms.confidence,
        };
        found.verdict = found.judged_by(found.p_value);
        if let Some(regression) = found.regression {
            let verdict = found.regression_judged_by(regression.p_worse);
            found.regression = verdict.map(|verdict| Regression { verdict, ..regression });
        }
        Ok(found)
    }

    /// The second side relative to the lower and the upper limit of the margin.
    fn margins(&self, margin: Margin) -> [Location<'_>; 2] {
        match margin {
            Margin::Absolute(shift) => [-shift, shift].map(|shift| self.location(1.0, shift)),
            Margin::Relative(share) => {
                // For a negative value, the larger multiple is the lower limit.
                let share = if self.center_of(&self.first) < 0.0 { -share } else { share };
                [1.0 - share, 1.0 + share].map(|ratio| self.location(ratio, 0.0))
            }
        }
    }

    /// A single value on a side shows no chance variation.
    fn sure(&self, p: f64) -> f64 {
        if self.first.len().min(self.second.len()) == 1 { 1.0 } else { p }
    }
}

/// Rejects values that [`Sample`](crate::Sample) does not allow.
pub(crate) fn check(list: &[Option<f64>]) -> Result<(), StatsError> {
    list.iter().enumerate().try_for_each(|(index, value)| check_range(index, value.unwrap_or(0.0)))
}

#[cfg(test)]
mod tests;
