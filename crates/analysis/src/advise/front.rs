//! The Pareto front: cells that no other cell beats in all quantities of the needs.

/// A value with its interval; open ends are infinite. Less is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Cost {
    /// For a quantity of which more is better.
    pub(crate) fn negated(self) -> Cost {
        Cost { value: -self.value, low: -self.high, high: -self.low }
    }
}

/// For each row of costs, whether it is on the Pareto front. A row is not on the front if another
/// row is at least as good in every cost and significantly better in one (the intervals do not
/// touch), or if one of its costs is missing.
pub(crate) fn front(rows: &[Option<Vec<Cost>>]) -> Vec<bool> {
    let dominates = |a: &[Cost], b: &[Cost]| {
        a.iter().zip(b).all(|(a, b)| a.value <= b.value)
            && a.iter().zip(b).any(|(a, b)| a.high < b.low)
    };
    let is_on = |row: &Option<Vec<Cost>>| {
        let Some(row) = row.as_deref().filter(|row| !row.is_empty()) else { return false };
        !rows.iter().flatten().any(|other| dominates(other, row))
    };
    rows.iter().map(is_on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(value: f64, half: f64) -> Cost {
        Cost { value, low: value - half, high: value + half }
    }

    #[test]
    fn only_what_is_beaten_beyond_doubt_is_off_the_front() {
        let rows = |values: &[[f64; 2]], half: f64| -> Vec<bool> {
            let row = |[a, b]: &[f64; 2]| Some(vec![cost(*a, half), cost(*b, half)]);
            front(&values.iter().map(row).collect::<Vec<_>>())
        };
        let values = [[1.0, 5.0], [2.0, 3.0], [3.0, 4.0], [5.0, 1.0]];
        assert_eq!(rows(&values, 0.1), [true, true, false, true]);
        // The third is worse than the second in both, but not significantly.
        assert_eq!(rows(&values, 0.6), [true, true, true, true]);
        assert_eq!(rows(&[[1.0, 1.0], [1.0, 1.0]], 0.0), [true, true]);
        assert_eq!(rows(&[[1.0, 1.0], [1.0, 1.5]], 0.0), [true, false]);
        assert_eq!(
            front(&[None, Some(vec![cost(1.0, 0.0)]), Some(Vec::new())]),
            [false, true, false]
        );
        assert_eq!(cost(2.0, 0.5).negated(), cost(-2.0, 0.5));
    }
}
