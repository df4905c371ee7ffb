//! What our runs say about a claim.

use trackbed_measure::reference::ClaimVerdict;
use trackbed_stats::{MIN_PAIRS, paired};

/// A difference in percent, run by run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub percent: f64,
    pub ci95: [f64; 2],
    pub pairs: usize,
}

/// A metric's mean in each run of a cell; `None` where the run failed.
pub(super) type Runs = Vec<Option<f64>>;

/// By how much `cell` has more than `against`.
pub(super) fn difference(cell: &Runs, against: &Runs) -> Option<Found> {
    let pairs = paired(against, cell).ok()?;
    let relative = pairs.relative?;
    let ci95 = relative.ci95.map(|end| end * 100.0);
    Some(Found { percent: relative.mean * 100.0, ci95, pairs: pairs.n })
}

/// By how much the quotient of the first two is larger than that of the others: the difference of
/// the logarithms, run by run.
pub(super) fn widening(there: [&Runs; 2], here: [&Runs; 2]) -> Option<Found> {
    let logarithms = |[cell, against]: [&Runs; 2]| -> Runs {
        let quotient = |(cell, against): (&Option<f64>, &Option<f64>)| {
            Some(logarithm((*cell)?)? - logarithm((*against)?)?)
        };
        cell.iter().zip(against).map(quotient).collect()
    };
    let pairs = paired(&logarithms(here), &logarithms(there)).ok()?;
    let percent = |logarithm: f64| (logarithm.exp() - 1.0) * 100.0;
    Some(Found { percent: percent(pairs.mean), ci95: pairs.ci95.map(percent), pairs: pairs.n })
}

/// Of what is above zero.
fn logarithm(value: f64) -> Option<f64> {
    (value > 0.0).then(|| value.ln())
}

/// The whole interval must lie between the bounds.
pub(super) fn verdict([least, most]: [f64; 2], found: Option<Found>) -> ClaimVerdict {
    let Some(Found { ci95: [low, high], pairs, .. }) = found else {
        return ClaimVerdict::NotMeasured;
    };
    if pairs < MIN_PAIRS {
        ClaimVerdict::Undecided
    } else if least <= low && high <= most {
        ClaimVerdict::Holds
    } else if high < least || most < low {
        ClaimVerdict::Contradicted
    } else {
        ClaimVerdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::Says;
    use super::*;

    fn bounds(percent: f64, margin: Option<f64>) -> [f64; 2] {
        Says { percent: Some(percent), margin, direction: None }.bounds()
    }

    fn found(ci95: [f64; 2], pairs: usize) -> Option<Found> {
        Some(Found { percent: (ci95[0] + ci95[1]) / 2.0, ci95, pairs })
    }

    #[test]
    fn without_a_margin_the_interval_must_lie_on_the_claimed_side() {
        let of = |claimed, ci95| verdict(bounds(claimed, None), found(ci95, 6));
        assert_eq!(of(-15.0, [-16.0, -10.0]), ClaimVerdict::Holds);
        assert_eq!(of(-15.0, [-16.0, 1.0]), ClaimVerdict::Undecided);
        assert_eq!(of(-15.0, [-16.0, 0.0]), ClaimVerdict::Undecided);
        assert_eq!(of(-15.0, [2.0, 3.0]), ClaimVerdict::Contradicted);
        assert_eq!(of(27.0, [2.0, 3.0]), ClaimVerdict::Holds);
        assert_eq!(of(27.0, [-3.0, -2.0]), ClaimVerdict::Contradicted);
        assert_eq!(verdict(bounds(27.0, None), None), ClaimVerdict::NotMeasured);
        assert_eq!(verdict(bounds(27.0, None), found([2.0, 3.0], 5)), ClaimVerdict::Undecided);
    }

    #[test]
    fn with_a_margin_it_must_lie_around_the_claim() {
        let of = |claimed, ci95| verdict(bounds(claimed, Some(5.0)), found(ci95, 6));
        assert_eq!(of(0.0, [-1.0, 4.0]), ClaimVerdict::Holds);
        assert_eq!(of(0.0, [3.0, 6.0]), ClaimVerdict::Undecided);
        assert_eq!(of(0.0, [6.0, 9.0]), ClaimVerdict::Contradicted);
        assert_eq!(of(-50.0, [-52.0, -46.0]), ClaimVerdict::Holds);
        assert_eq!(of(-50.0, [-30.0, -20.0]), ClaimVerdict::Contradicted);
    }

    /// Half as much without loss, a quarter with it: the quotient halves.
    #[test]
    fn a_gap_widens_by_the_change_of_the_quotient() {
        let runs = |factor: f64| -> Runs { (1..=6).map(|k| Some(f64::from(k) * factor)).collect() };
        let (two, four, one) = (runs(2.0), runs(4.0), runs(1.0));
        let found = widening([&one, &four], [&two, &four]).unwrap();
        assert!((found.percent + 50.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.pairs, 6);
        let same = widening([&two, &four], [&one, &two]).unwrap();
        assert!(same.percent.abs() < 1e-9, "{same:?}");
        let nothing: Runs = vec![Some(0.0); 6];
        assert_eq!(widening([&nothing, &one], [&one, &one]), None);
    }
}
