//! How many runs a comparison needs, judged by a few pilot runs.

use crate::binomial::at_most;
use crate::{MIN_PAIRS, Sample, StatsError, binomial, normal, student};

/// A comparison that is planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// The true difference that it is to find, in the values' unit; above zero.
    pub difference: f64,
    /// Whether [`compare_paired`](crate::compare_paired) compares medians, or else means.
    pub by_median: bool,
    /// The two-sided probability of error: 5 % over the number of comparisons, if there are several.
    pub error: f64,
}

impl Planned {
    /// How many pairs find the difference in [`POWER`] of all cases, if the differences of pairs are normally
    /// distributed and spread as those of the `pilot` pairs do; and how many if they spread as widely as the
    /// pilot allows (the 90 % limit of its standard deviation). `None` for more than a million.
    ///
    /// Means: n pairs have the difference between their Student's interval and zero (J. Cohen, "Statistical
    /// Power Analysis for the Behavioral Sciences", 1988, chapter 2). Medians: the exact power of the sign test.
    /// The spread of a median is that of the middle half, so that a rare timeout does not count.
    ///
    /// # Errors
    /// [`StatsError::BadMargin`] for a difference that is not above zero, and [`StatsError::BadProbability`].
    pub fn pairs(&self, pilot: &Sample) -> Result<[Option<u64>; 2], StatsError> {
        if !(self.difference > 0.0 && self.difference.is_finite()) {
            return Err(StatsError::BadMargin(self.difference));
        }
        if !(self.error > 0.0 && self.error < 1.0) {
            return Err(StatsError::BadProbability(self.error));
        }
        let deviation = match self.by_median {
            true => (pilot.quantile(0.75)? - pilot.quantile(0.25)?) / MIDDLE_HALF,
            false => pilot.standard_deviation(),
        };
        // The lower tenth of chi-squared, by E. B. Wilson and M. M. Hilferty, Proc. Nat. Acad. Sci. 17, 1931.
        let freedom = (pilot.len() - 1).max(1) as f64;
        let part = 2.0 / (9.0 * freedom);
        let chi_squared = freedom * (1.0 - part + normal::quantile(0.1) * part.sqrt()).powi(3);
        let widest = deviation * (freedom / chi_squared.max(f64::MIN_POSITIVE)).sqrt();
        // Where most differences are equal, those count that are farther from the others than the difference.
        let median = pilot.quantile(0.5)?;
        let beyond = |sign: f64| {
            pilot.sorted().iter().filter(|x| sign * (*x - median) >= self.difference).count()
        };
        let rare = match deviation == 0.0 {
            true => (beyond(1.0).max(beyond(-1.0)) as f64 + 0.5) / (pilot.len() + 1) as f64,
            false => 0.0,
        };
        Ok([deviation, widest].map(|spread| self.pairs_for(self.difference / spread, rare)))
    }

    /// The pairs for a difference of so many standard deviations (infinitely many where nothing varies), if at
    /// least a share of `rare` is on the wrong side of its median.
    fn pairs_for(&self, effect: f64, rare: f64) -> Option<u64> {
        let is_enough = |pairs: u64| match self.by_median {
            true => {
                let (low, _) = binomial::central(pairs as usize, 0.5, 0.5 * self.error);
                let wrong = normal::cdf(-effect).max(rare);
                low.is_some_and(|low| at_most(pairs as usize, wrong, low) >= POWER)
            }
            false => {
                let freedom = (pairs - 1) as f64;
                let points = [0.5 * self.error, 1.0 - POWER];
                let [point, reach] = points.map(|tail| student::upper_point(tail, freedom));
                // No p is smaller than signs allow.
                let signs = 0.5_f64.powi(pairs.min(1_000) as i32 - 1);
                effect * (pairs as f64).sqrt() >= point + reach && signs <= self.error
            }
        };
        let mut ends = [MIN_PAIRS as u64 - 1, MIN_PAIRS as u64];
        while !is_enough(ends[1]) {
            ends = [ends[1], 2 * ends[1]];
            if ends[1] > PAIRS_MAX {
                return None;
            }
        }
        while ends[1] - ends[0] > 1 {
            let middle = ends[0].midpoint(ends[1]);
            ends[usize::from(is_enough(middle))] = middle;
        }
        Some(ends[1])
    }
}

/// The probability with which a planned comparison finds its difference.
pub const POWER: f64 = 0.8;

/// The middle half of a normal distribution is this many standard deviations wide.
const MIDDLE_HALF: f64 = 1.348_979_500_392_163_6;

const PAIRS_MAX: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::all;
    use crate::{Center, ComparisonVerdict, Margin, Terms, compare_paired};
    use trackbed_core::Seed;

    fn planned(by_median: bool, error: f64) -> Planned {
        Planned { difference: 1.0, by_median, error }
    }

    /// `statsmodels.stats.power.TTestPower().solve_power(effect, alpha=0.05, power=0.8)`, rounded up, and tables
    /// of Cohen's: 199, 34 and 15 pairs.
    #[test]
    fn the_pairs_of_means_are_those_of_tables() {
        for (effect, pairs) in [(0.2, 199), (0.5, 34), (0.8, 15), (1.0, 10)] {
            assert_eq!(planned(false, 0.05).pairs_for(effect, 0.0), Some(pairs), "{effect}");
        }
        assert_eq!(planned(false, 0.05).pairs_for(f64::INFINITY, 0.0), Some(6));
        // 2^(1 - n) is at most 0.05 / 24 from 10 pairs on.
        assert_eq!(planned(false, 0.05 / 24.0).pairs_for(f64::INFINITY, 0.0), Some(10));
        assert_eq!(planned(false, 0.05).pairs_for(1e-9, 0.0), None);
    }

    /// With one standard deviation, 15.9 % of the pairs are on the wrong side. 17 pairs may have 4 of these, and
    /// have not more in 88 %; 16 may have 3, and have not more in 76 % (exact sums). For a small difference of
    /// normal values a median needs pi / 2 times as many pairs as a mean.
    #[test]
    fn the_pairs_of_medians_are_those_of_the_sign_test() {
        let pairs = |effect: f64| planned(true, 0.05).pairs_for(effect, 0.0).unwrap();
        assert_eq!([pairs(f64::INFINITY), pairs(1.0)], [6, 17]);
        let ratio = pairs(0.05) as f64 / planned(false, 0.05).pairs_for(0.05, 0.0).unwrap() as f64;
        assert!((ratio / std::f64::consts::FRAC_PI_2 - 1.0).abs() < 0.02, "{ratio}");
    }

    /// Of 1,000 campaigns with the planned number of pairs, the tests themselves find the difference in about 80 %.
    #[test]
    fn so_many_pairs_find_the_difference_in_four_of_five_campaigns() {
        let mut rng = Seed::of_run(1, 0).stream("power");
        for (by_median, effect) in [(false, 0.5), (false, 0.8), (true, 0.5), (true, 0.8)] {
            let pairs = planned(by_median, 0.05).pairs_for(effect, 0.0).unwrap() as usize;
            let found = (0..1_000).filter(|_| {
                let second: Vec<f64> = (0..pairs).map(|_| effect + rng.normal()).collect();
                let (first, second) = (all(&vec![0.0; pairs]), all(&second));
                let center = if by_median { Center::Median } else { Center::Mean };
                let terms = Terms { center, margin: Margin::Absolute(0.0), ..Terms::default() };
                let found = compare_paired(&first, &second, &terms).unwrap();
                found.verdict == ComparisonVerdict::Higher
            });
            let share = found.count() as f64 / 1_000.0;
            assert!((0.75..0.9).contains(&share), "{by_median} {effect}: {share}");
        }
    }

    /// Nine degrees of freedom: the lower tenth of chi-squared is 4.168, so the spread may be 1.469 times as wide.
    #[test]
    fn a_small_pilot_leaves_the_number_open() {
        let pilot: Vec<f64> = (0..10).map(|value| f64::from(value % 2)).collect();
        let pilot = Sample::new(&pilot).unwrap();
        let plan = Planned { difference: pilot.standard_deviation(), ..planned(false, 0.05) };
        assert_eq!(plan.pairs(&pilot).unwrap(), [Some(10), plan.pairs_for(1.0 / 1.469, 0.0)]);
        // Of ten equal differences, one half in eleven is taken to be elsewhere: of 9 pairs at most 1 in 94 %.
        let equal = Sample::new(&[7.0; 10]).unwrap();
        assert_eq!(planned(true, 0.05).pairs(&equal).unwrap(), [Some(9); 2]);
        let bad = Planned { difference: 0.0, ..plan };
        assert_eq!(bad.pairs(&pilot), Err(StatsError::BadMargin(0.0)));
    }
}
