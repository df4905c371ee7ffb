//! Differences between medians: of pairs of runs, by order statistics.

use crate::{ComparisonVerdict, Sample, StatsError, order_statistics};

/// How a second configuration typically differs from a first one when run k of both had the same seed.
/// Every number is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianDifference {
    /// The median of second minus first, over the pairs in which both succeeded.
    pub value: f64,
    /// The 95 % interval of that median by order statistics; `None` below [`MIN_PAIRS`](crate::MIN_PAIRS)
    /// pairs, where no two of the values enclose it so often.
    pub ci95: Option<[f64; 2]>,
    /// The number of pairs in which both succeeded, at least 1.
    pub n: usize,
    /// Whether the second is lower, higher or undecided: the sign test at 5 %.
    pub verdict: ComparisonVerdict,
}

/// Compares medians pair by pair; `None` is a failed run. The order of the pairs has no influence.
///
/// The interval holds for any distribution (H. A. David and H. N. Nagaraja, "Order Statistics", 3rd
/// edition, 2003, section 7.1). It excludes zero exactly where the two-sided sign test rejects.
///
/// # Errors
/// [`StatsError::LengthMismatch`], [`StatsError::OutOfRange`] for a value that is not finite, and
/// [`StatsError::Empty`] if in no pair both succeeded.
pub fn paired_median(
    first: &[Option<f64>],
    second: &[Option<f64>],
) -> Result<MedianDifference, StatsError> {
    if first.len() != second.len() {
        return Err(StatsError::LengthMismatch { first: first.len(), second: second.len() });
    }
    let pairs = first.iter().zip(second).filter_map(|(first, second)| Some((*second)? - (*first)?));
    let differences = Sample::new(&pairs.collect::<Vec<_>>())?;
    let ci95 = order_statistics(&differences, 0.5)?.closed();
    Ok(MedianDifference {
        value: differences.quantile(0.5)?,
        ci95,
        n: differences.len(),
        verdict: match ci95 {
            Some([_, high]) if high < 0.0 => ComparisonVerdict::Lower,
            Some([low, _]) if low > 0.0 => ComparisonVerdict::Higher,
            _ => ComparisonVerdict::Undecided,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::all;
    use ComparisonVerdict::{Higher, Lower, Undecided};

    /// Of 30 values the 10th and the 21st enclose the median in 95.7 % (binomial tables).
    #[test]
    fn the_interval_lies_between_order_statistics() {
        let second: Vec<f64> = (1..=30).map(f64::from).collect();
        let found = paired_median(&all(&[0.0; 30]), &all(&second)).unwrap();
        assert_eq!((found.value, found.ci95), (15.5, Some([10.0, 21.0])));
        assert_eq!((found.n, found.verdict), (30, Higher));
    }

    /// One run in ten takes a second longer: the median does not notice, a mean's interval would.
    #[test]
    fn a_tail_does_not_move_it() {
        let first = all(&[100.0; 20]);
        let mut second = [90.0; 20];
        (second[3], second[11]) = (1090.0, 1100.0);
        let found = paired_median(&first, &all(&second)).unwrap();
        assert_eq!((found.value, found.ci95), (-10.0, Some([-10.0, -10.0])));
        assert_eq!(found.verdict, Lower);
    }

    /// 2 * 0.5^5 is 6.25 %, 2 * 0.5^6 3.1 %.
    #[test]
    fn it_takes_six_pairs() {
        let of = |n: usize| {
            let mut second = all(&vec![2.0; n]);
            second.push(None);
            paired_median(&all(&vec![1.0; n + 1]), &second).unwrap()
        };
        assert_eq!((of(5).ci95, of(5).verdict, of(5).n), (None, Undecided, 5));
        assert_eq!((of(6).ci95, of(6).verdict), (Some([1.0, 1.0]), Higher));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let mismatch = paired_median(&all(&[1.0]), &[]);
        assert_eq!(mismatch, Err(StatsError::LengthMismatch { first: 1, second: 0 }));
        assert_eq!(paired_median(&[None], &all(&[1.0])), Err(StatsError::Empty));
    }
}
