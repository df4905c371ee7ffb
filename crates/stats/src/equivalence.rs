//! Whether two ways of measuring agree, and when enough pairs are measured to say so.

use crate::sample::mean;
use crate::{MIN_PAIRS, Margin, StatsError, Terms, compare_paired};

/// The ratio of a second mean to a first one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// The means, over the pairs in which both succeeded.
    pub means: [f64; 2],
    /// The second mean over the first.
    pub ratio: f64,
    /// The interval of the ratio at the confidence asked for. If a 90 % interval lies within a margin, both
    /// one-sided tests at 5 % reject a ratio beyond the margin (D. J. Schuirmann, "A comparison of the two
    /// one-sided tests procedure and the power approach for assessing the equivalence of average
    /// bioavailability", J. Pharmacokin. Biopharm. 15, 1987). From 0 to 1e12 if the first mean could be
    /// close to zero.
    pub interval: [f64; 2],
    /// The number of pairs in which both succeeded.
    pub n: usize,
    /// Pearson's correlation of the pairs: how much of what happens in a run happens in both. `None` if
    /// one side does not vary.
    pub correlation: Option<f64>,
    /// The verdict for the given margin.
    pub verdict: EquivalenceVerdict,
}

/// The verdict on a margin around 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquivalenceVerdict {
    /// The ratio is within the margin.
    Equivalent,
    /// The ratio is beyond the margin.
    Different,
    /// The interval crosses the margin's limit, or there are too few values.
    Undecided,
}

/// Compares the means of two methods, for positive values: `first[k]` and `second[k]` come from the
/// same seed, and `None` is a missing run. `margin` is the maximum deviation of the ratio from 1,
/// for example 0.03; `confidence` is that of the interval, for example [`CONFIDENCE`].
///
/// The interval is that of [`compare_paired`]: what the same seed causes in both, such as the same
/// losses, cancels; the rest makes the interval as wide as for two independent samples. With fewer
/// than [`MIN_PAIRS`] pairs there is no verdict.
///
/// # Errors
/// [`StatsError::LengthMismatch`], [`StatsError::OutOfRange`] for a value that is not finite,
/// [`StatsError::Empty`] if no pair is complete, [`StatsError::BadMargin`], and
/// [`StatsError::StatisticOutOfRange`] if a value of the first is not above zero.
pub fn equivalence(
    first: &[Option<f64>],
    second: &[Option<f64>],
    margin: f64,
    confidence: f64,
) -> Result<Equivalence, StatsError> {
    let terms = Terms { confidence, margin: Margin::Relative(margin), ..Terms::default() };
    let found = compare_paired(first, second, &terms)?;
    let pairs = first.iter().zip(second).filter_map(|(first, second)| first.zip(*second));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    if let Some((bad, _)) = pairs.iter().find(|(first, _)| *first <= 0.0) {
        return Err(StatsError::StatisticOutOfRange(*bad));
    }
    let interval = found.ratio.map_or(UNKNOWN, |ratio| ratio.interval);
    let verdict = match interval {
        _ if found.n[0] < MIN_PAIRS => EquivalenceVerdict::Undecided,
        [low, high] if low >= 1.0 - margin && high <= 1.0 + margin => {
            EquivalenceVerdict::Equivalent
        }
        [low, high] if low > 1.0 + margin || high < 1.0 - margin => EquivalenceVerdict::Different,
        _ => EquivalenceVerdict::Undecided,
    };
    let ratio = found.centers[1] / found.centers[0];
    let correlation = correlation(&pairs);
    Ok(Equivalence { means: found.centers, ratio, interval, n: found.n[0], correlation, verdict })
}

impl Equivalence {
    /// How many pairs would probably decide, if means and spreads stay as they are: the interval must
    /// shrink to the distance between the ratio and the nearer limit of `margin`, and it shrinks with the
    /// root of the number. `None` with fewer than [`MIN_PAIRS`] pairs, or if the ratio is at the limit.
    pub fn pairs_to_decide(&self, margin: f64) -> Option<u64> {
        let half_width = 0.5 * (self.interval[1] - self.interval[0]);
        let distance = (margin - (self.ratio - 1.0).abs()).abs();
        let pairs = (self.n as f64 * (half_width / distance).powi(2) - 1e-6).ceil();
        (self.n >= MIN_PAIRS && pairs < PAIRS_MAX).then(|| (pairs as u64).max(self.n as u64 + 1))
    }
}

/// Pearson's correlation; `None` if a side does not vary.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (x, y) = (mean(&first), mean(&second));
    let sum = |of: fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|(first, second)| of(first - x, second - y)).sum()
    };
    let both = (sum(|dx, _| dx * dx) * sum(|_, dy| dy * dy)).sqrt();
    (both > 0.0).then(|| (sum(|dx, dy| dx * dy) / both).clamp(-1.0, 1.0))
}

/// The confidence of the interval of [`equivalence`] for one look: its two one-sided tests are at 5 %.
pub const CONFIDENCE: f64 = 0.9;

/// The permitted one-sided error of look `number`, from 0 on, if there are looks after `n` runs or pairs,
/// after half as many again, and so on ([`pairs_at`]), until there is a verdict.
///
/// Each look is another opportunity to err, so each spends a part of the 5 % (K. K. G. Lan and D. L.
/// DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70, 1983): a one-sided error of
/// 1.8 % at the first and four fifths of that before at each following one. Their sum is 9 %; since the
/// looks share most of their pairs, the probability that any look errs is below 5 % for any number of looks.
/// The tests simulate it.
pub fn look_error(number: u32) -> f64 {
    0.018 * 0.8_f64.powi(number.min(100) as i32)
}

/// The number of pairs at look `number`, if there are `first` at look 0.
pub fn pairs_at(first: u32, number: u32) -> u32 {
    (0..number).fold(first, |pairs, _| pairs.saturating_add(pairs.div_ceil(2)))
}

/// More pairs than this cannot be told apart from never.
const PAIRS_MAX: f64 = 1e6;

/// The interval of a ratio whose denominator could be close to zero.
const UNKNOWN: [f64; 2] = [0.0, 1e12];

#[cfg(test)]
mod tests;
