//! Outlying runs, which deserve a closer look.

use crate::compare::check;
use crate::sample::quantile_of_sorted;
use crate::{Sample, StatsError};

/// With fewer values, outliers cannot be recognised.
const VALUES_MIN: usize = 8;

/// The indexes of outlying values, the farthest first. Entry k is run k, and `None` is a failed
/// run. Outliers must not be dropped: they belong to the measurement and to every mean.
///
/// A value is an outlier if it is more than three interquartile ranges away from the middle half
/// (J. W. Tukey, "Exploratory Data Analysis", 1977, section 2E). On the side to which values are
/// skewed this limit is widened by their medcouple (M. Hubert and E. Vandervieren, "An adjusted
/// boxplot for skewed distributions", Comput. Statist. Data Anal. 52, 2008), so that long tails
/// alone do not make outliers: sets of 30 normal values hardly have any, of 30 log-normal ones
/// (sigma 1) one set in 6 does.
///
/// If the middle half consists of equal values, all others are outliers. With fewer than 8 values
/// there are none.
///
/// # Errors
/// [`StatsError::OutOfRange`] for a value that is not finite.
pub fn outliers(values: &[Option<f64>]) -> Result<Vec<usize>, StatsError> {
    check(values)?;
    let present: Vec<f64> = values.iter().flatten().copied().collect();
    if present.len() < VALUES_MIN {
        return Ok(Vec::new());
    }
    let fences = Fences::around(&Sample::new(&present)?);
    let beyond = |(place, value): (usize, &Option<f64>)| {
        value.map(|value| (place, fences.beyond(value))).filter(|(_, distance)| *distance > 0.0)
    };
    let mut found: Vec<(usize, f64)> = values.iter().enumerate().filter_map(beyond).collect();
    found.sort_by(|x, y| y.1.total_cmp(&x.1));
    Ok(found.into_iter().map(|(place, _)| place).collect())
}

struct Fences {
    low: f64,
    high: f64,
}

impl Fences {
    fn around(sample: &Sample) -> Fences {
        let [lower, upper] = [0.25, 0.75].map(|p| quantile_of_sorted(sample.sorted(), p));
        let reach = FAR_OUT * (upper - lower);
        let lean = medcouple(sample);
        // Shrinking would only report values within Tukey's own fence.
        let stretch = [-STRETCH * lean, STRETCH * lean].map(|by| libm::exp(by.max(0.0)));
        Fences { low: lower - reach * stretch[0], high: upper + reach * stretch[1] }
    }

    /// The distance of a value beyond a fence; zero within.
    fn beyond(&self, value: f64) -> f64 {
        (self.low - value).max(value - self.high).max(0.0)
    }
}

/// The skewness of the values, from -1 to 1: the median, over all pairs of a value not below and
/// one not above the median, of the relative difference of their distances from the median (G.
/// Brys, M. Hubert and A. Struyf, "A robust measure of skewness", J. Comput. Graph. Statist. 13,
/// 2004). Large samples are represented by quantiles, to limit the number of pairs.
fn medcouple(sample: &Sample) -> f64 {
    let count = sample.len().min(VALUES_MAX);
    let thinned = |place: usize| match count == sample.len() {
        true => sample.sorted()[place],
        false => quantile_of_sorted(sample.sorted(), place as f64 / (count - 1) as f64),
    };
    let values: Vec<f64> = (0..count).map(thinned).collect();
    let median = quantile_of_sorted(&values, 0.5);
    let above: Vec<f64> = values.iter().filter(|x| **x >= median).map(|x| x - median).collect();
    let below: Vec<f64> = values.iter().filter(|x| **x <= median).map(|x| median - x).collect();
    let ties = above.iter().filter(|x| **x == 0.0).count();
    let mut kernels = Vec::with_capacity(above.len() * below.len());
    // Pairs of two medians count equally for both sides.
    let halves = (ties * ties).saturating_sub(ties) / 2;
    kernels.resize(halves, -1.0);
    kernels.resize(2 * halves, 1.0);
    kernels.resize(2 * halves + ties, 0.0);
    for x in &above {
        let apart = below.iter().filter(|y| *x + **y > 0.0);
        kernels.extend(apart.map(|y| (x - y) / (x + y)));
    }
    kernels.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&kernels, 0.5)
}

/// Tukey's term for values beyond his outer fences.
const FAR_OUT: f64 = 3.0;

/// Hubert and Vandervieren's constant for the side to which values are skewed.
const STRETCH: f64 = 3.0;

/// There are a quarter of its square pairs.
const VALUES_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{AIR_CONDITIONING, all};

    /// `statsmodels.stats.stattools.medcouple`, statsmodels 0.15.0; the second one has ties at its
    /// median.
    #[test]
    fn the_medcouple_agrees_with_statsmodels() {
        for (values, expected) in [
            (&AIR_CONDITIONING[..], -0.2835365853658537),
            (&[1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 6.0, 9.0][..], 0.10000000000000002),
            (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0][..], 0.0),
            (&[-9.0, -6.0, -4.0, -3.0, -3.5, -2.0, -1.0, -0.5][..], -0.049999999999999996),
        ] {
            let found = medcouple(&Sample::new(values).unwrap());
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }

    /// The representatives of many values have the same skewness: for exponential values, at the
    /// quantiles of 20,000.
    #[test]
    fn many_values_lean_as_their_quantiles_do() {
        let exponential = |n: usize| {
            let at = |i: usize| -libm::log(1.0 - (i as f64 + 0.5) / n as f64);
            Sample::new(&(0..n).map(at).collect::<Vec<f64>>()).unwrap()
        };
        let [few, many] = [exponential(500), exponential(20_000)].map(|sample| medcouple(&sample));
        assert!((few - many).abs() < 0.01, "{few} {many}");
        // Brys, Hubert and Struyf's value for the exponential distribution is 0.333.
        assert!((many - 0.333).abs() < 0.01, "{many}");
    }

    /// 1 to 20: the quartiles are 5.75 and 15.25, the fences 28.5 beyond them.
    #[test]
    fn fences_are_where_hand_arithmetic_has_them() {
        let mut values: Vec<f64> = (1..=20).map(f64::from).collect();
        let fences = Fences::around(&Sample::new(&values).unwrap());
        assert!((fences.low + 22.75).abs() < 1e-9 && (fences.high - 43.75).abs() < 1e-9);
        assert_eq!(outliers(&all(&values)), Ok(vec![]));
        (values[3], values[11]) = (400.0, -300.0);
        assert_eq!(outliers(&all(&values)), Ok(vec![3, 11]));
    }

    #[test]
    fn failed_runs_keep_their_places() {
        let mut values = all(&[5.0, 5.1, 5.2, 5.0, 4.9, 5.1, 5.05, 4.95, 5.0, 50.0]);
        values.insert(2, None);
        assert_eq!(outliers(&values), Ok(vec![10]));
        assert_eq!(outliers(&values[4..]), Ok(vec![]));
        assert_eq!(outliers(&[]), Ok(vec![]));
        values[1] = Some(f64::NAN);
        assert!(matches!(outliers(&values), Err(StatsError::OutOfRange { index: 1, .. })));
    }

    #[test]
    fn what_differs_from_equal_values_stands_out() {
        let mut values = vec![Some(7.0); 30];
        assert_eq!(outliers(&values), Ok(vec![]));
        (values[4], values[9]) = (Some(7.5), Some(3.0));
        assert_eq!(outliers(&values), Ok(vec![9, 4]));
    }

    /// Sets of 30 with any outlier: few for symmetric values, a minority for skewed ones.
    #[test]
    fn long_tails_are_no_outliers_for_being_long() {
        let mut rng = trackbed_core::Seed::of_run(1, 0).stream("outliers");
        let mut share = |draw: fn(&mut trackbed_core::Rng) -> f64| {
            let set = |_| {
                let values: Vec<Option<f64>> = (0..30).map(|_| Some(draw(&mut rng))).collect();
                u32::from(!outliers(&values).unwrap().is_empty())
            };
            f64::from((0..1_000).map(set).sum::<u32>()) / 1_000.0
        };
        let normal = share(|rng| rng.normal());
        let log_normal = share(|rng| libm::exp(rng.normal()));
        assert!(normal < 0.04, "{normal}");
        assert!((0.1..0.4).contains(&log_normal), "{log_normal}");
    }
}
