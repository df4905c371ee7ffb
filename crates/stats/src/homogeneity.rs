//! Whether several configurations are alike: Friedman's test.

use crate::beta;

/// The probability of columns this unlike if none differed: `columns[c][k]` is run k of
/// configuration c, and `None` is a failed run.
///
/// In each run the configurations that have a value are ranked; ties share a rank. For complete
/// runs this is M. Friedman's test (J. Amer. Statist. Assoc. 32, 1937) in the form of R. L. Iman
/// and J. M. Davenport (Commun. Statist. 9, 1980). It holds for any distribution. 1 if there is
/// nothing to rank.
///
/// It protects comparisons with the best of many: the best was chosen by the same runs, so it looks
/// better than it is, even where all are alike.
pub fn alike(columns: &[&[Option<f64>]]) -> f64 {
    let runs = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    let mut sums = vec![[0.0_f64; 2]; columns.len()];
    let mut blocks = 0.0;
    for run in 0..runs {
        let value = |(index, column): (usize, &&[Option<f64>])| Some((index, (*column.get(run)?)?));
        let mut present: Vec<(usize, f64)> = columns.iter().enumerate().filter_map(value).collect();
        if present.len() < 2 {
            continue;
        }
        blocks += 1.0;
        present.sort_by(|a, b| a.1.total_cmp(&b.1));
        let middle = 0.5 * (present.len() - 1) as f64;
        let mut squares = 0.0;
        let mut first = 0;
        for tied in present.chunk_by(|a, b| a.1 == b.1) {
            let rank = first as f64 + 0.5 * (tied.len() - 1) as f64 - middle;
            squares += rank * rank * tied.len() as f64;
            tied.iter().for_each(|(index, _)| sums[*index][0] += rank);
            first += tied.len();
        }
        let variance = squares / (present.len() - 1) as f64;
        present.iter().for_each(|(index, _)| sums[*index][1] += variance);
    }
    let ranked: Vec<&[f64; 2]> = sums.iter().filter(|[_, variance]| *variance > 0.0).collect();
    let degrees = ranked.len() as f64 - 1.0;
    if degrees < 1.0 || blocks < 2.0 {
        return 1.0;
    }
    let chi: f64 = ranked.iter().map(|[sum, variance]| sum * sum / variance).sum();
    // With Iman and Davenport's F = (blocks - 1) chi / (blocks degrees - chi).
    let rest = (1.0 - chi / (blocks * degrees)).max(0.0);
    beta::regularized(rest, 0.5 * (blocks - 1.0) * degrees, 0.5 * degrees)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::all;

    /// Sums of ranks of 8, 8, 9 and 15: Friedman's statistic is 12/80 x 434 - 60 = 5.1, so F = 3 x
    /// 5.1 / (12 - 5.1) = 2.217, above which it is in 15.555 % with 3 and 9 degrees of freedom.
    #[test]
    fn it_is_friedmans_test() {
        let columns = [
            [1.0, 2.0, 3.0, 7.0],
            [2.0, 3.0, 4.0, 4.0],
            [5.0, 1.0, 5.0, 5.0],
            [9.0, 8.0, 7.0, 6.0],
        ];
        let columns = columns.map(|column| all(&column));
        let columns: Vec<&[Option<f64>]> = columns.iter().map(Vec::as_slice).collect();
        assert!((alike(&columns) - 0.155_548_478).abs() < 1e-8, "{}", alike(&columns));
    }

    /// Equal values, a single configuration and a single run show nothing.
    #[test]
    fn what_cannot_be_ranked_is_alike() {
        let same = all(&[3.0; 9]);
        assert_eq!(alike(&[&same, &same]), 1.0);
        assert_eq!(alike(&[&same]), 1.0);
        assert_eq!(alike(&[&same[..1], &all(&[4.0])]), 1.0);
        assert_eq!(alike(&[&[None, None], &same[..2]]), 1.0);
    }
}
