//! The numbers that a statement claims, and the verdict of an interval on it.

use trackbed_stats::MIN_PAIRS;

use super::outcome::Verdict;
use crate::number::short;

/// What runs gave for a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub value: f64,
    /// None where too few runs close it.
    pub ci95: Option<[f64; 2]>,
    pub runs: usize,
}

/// The numbers that a statement claims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Says {
    /// A value of a cell, within a margin.
    Value { value: f64, margin: f64 },
    /// A difference in percent, within a margin in points, on its side of zero.
    Size { percent: f64, margin: f64 },
    /// No difference beyond a margin, in percentage points.
    Equal { margin: f64 },
    /// Less than zero; within the margin, in percentage points, there is no difference.
    Less { margin: f64 },
    /// More than zero, with the same margin.
    More { margin: f64 },
}

impl Says {
    /// A difference of this percentage, with the margin that the page states: a quarter of it, and one
    /// point at the least.
    pub fn size(percent: f64, margin: Option<f64>) -> Says {
        Says::Size { percent, margin: margin.unwrap_or((percent.abs() / 4.0).max(1.0)) }
    }

    /// A value, give or take a tenth of it.
    pub fn value(value: f64, margin: Option<f64>) -> Says {
        Says::Value { value, margin: margin.unwrap_or(value.abs() / 10.0) }
    }

    /// The study's number.
    pub fn number(self) -> Option<f64> {
        match self {
            Says::Value { value, .. } => Some(value),
            Says::Size { percent, .. } => Some(percent),
            Says::Equal { .. } => Some(0.0),
            Says::Less { .. } | Says::More { .. } => None,
        }
    }

    /// The ranges of numbers that cover the line, each with its verdict; the first one that holds an interval
    /// decides.
    fn ranges(self) -> Vec<([f64; 2], Verdict)> {
        use Verdict::{Contradicted, Holds, SameDirection};
        const ALL: f64 = f64::INFINITY;
        let around = |[low, high]: [f64; 2], below, above| {
            vec![([-ALL, low], below), ([low, high], Holds), ([high, ALL], above)]
        };
        match self {
            Says::Value { value, margin } => {
                around([value - margin, value + margin], Contradicted, Contradicted)
            }
            Says::Equal { margin } => around([-margin, margin], Contradicted, Contradicted),
            Says::Less { margin } | Says::More { margin } => {
                let (below, above) = match self {
                    Says::Less { .. } => (Holds, Contradicted),
                    _ => (Contradicted, Holds),
                };
                vec![([-ALL, 0.0], below), ([0.0, ALL], above), ([-margin, margin], Contradicted)]
            }
            Says::Size { percent, margin } => {
                let (least, most) = ((percent.abs() - margin).max(0.0), percent.abs() + margin);
                let none = least.min(SAME);
                let ranges = [
                    ([-ALL, 0.0], Contradicted),
                    ([0.0, least], SameDirection),
                    ([least, most], Holds),
                    ([most, ALL], SameDirection),
                    ([-none, none], Contradicted),
                ];
                let mirrored =
                    |[low, high]: [f64; 2]| if percent < 0.0 { [-high, -low] } else { [low, high] };
                ranges.map(|(range, verdict)| (mirrored(range), verdict)).to_vec()
            }
        }
    }

    /// The verdict of `found` on it; if undecided, also the number of runs that would probably
    /// decide.
    pub fn verdict(self, found: Found) -> (Verdict, Option<u64>) {
        let Some([low, high]) = found.ci95.filter(|_| found.runs >= MIN_PAIRS) else {
            return (Verdict::Undecided, None);
        };
        // An interval that begins at an edge is beyond it only if it has a width, or is no edge's number.
        let holds = |range: &[f64; 2]| range[0] <= low && high <= range[1];
        let ranges = self.ranges();
        let is_zero_alone = low == high && low == 0.0 && !matches!(self, Says::Equal { .. });
        match ranges.iter().find(|(range, _)| holds(range)) {
            Some(_) if is_zero_alone && !matches!(self, Says::Value { .. }) => {
                (Verdict::Contradicted, None)
            }
            Some((_, verdict)) => (*verdict, None),
            None => (Verdict::Undecided, self.runs_needed(found, [low, high])),
        }
    }

    /// The interval shrinks with the root of the number of runs; it has to fit into one of the ranges.
    fn runs_needed(self, found: Found, [low, high]: [f64; 2]) -> Option<u64> {
        let Found { value, runs, .. } = found;
        let fits = |([from, until], _): ([f64; 2], Verdict)| {
            let sides = [(value - low) / (value - from), (high - value) / (until - value)];
            let is_within = from < value && value < until;
            is_within.then(|| sides[0].max(sides[1]).max(1.0).powi(2))
        };
        let factor = self.ranges().into_iter().filter_map(fits).fold(f64::INFINITY, f64::min);
        let runs = (runs as f64 * factor).ceil();
        (runs < RUNS_MAX).then_some(runs as u64)
    }

    /// `+21 % (16 to 26)`, `less`, `equal (within 10 %)`, `130 (117 to 143)`
    pub fn words(self) -> String {
        match self {
            Says::Value { value, margin } => {
                format!("{} ({} to {})", short(value), short(value - margin), short(value + margin))
            }
            Says::Size { percent, .. } => {
                let ranges = self.ranges();
                let holds = ranges.iter().find(|(_, verdict)| *verdict == Verdict::Holds);
                let [low, high] = holds.map_or([f64::NAN; 2], |(range, _)| *range);
                format!("{percent:+.1} % ({low:.1} to {high:.1})")
            }
            Says::Equal { margin } => format!("equal (within {margin} %)"),
            Says::Less { .. } => "less".to_owned(),
            Says::More { .. } => "more".to_owned(),
        }
    }
}

/// Up to this percentage there is no difference, if the study states only a direction.
pub(super) const SAME: f64 = 5.0;

/// Beyond it, a number of runs is not useful advice.
const RUNS_MAX: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;

    const LESS: Says = Says::Less { margin: SAME };
    const MORE: Says = Says::More { margin: SAME };

    fn verdict(says: Says, ci95: [f64; 2]) -> Verdict {
        let value = (ci95[0] + ci95[1]) / 2.0;
        says.verdict(Found { value, ci95: Some(ci95), runs: 6 }).0
    }

    #[test]
    fn a_direction_holds_by_the_side_of_zero() {
        assert_eq!(verdict(LESS, [-16.0, -10.0]), Verdict::Holds);
        assert_eq!(verdict(LESS, [-16.0, 1.0]), Verdict::Undecided);
        assert_eq!(verdict(LESS, [2.0, 3.0]), Verdict::Contradicted);
        assert_eq!(verdict(MORE, [2.0, 3.0]), Verdict::Holds);
        assert_eq!(verdict(MORE, [0.0, 0.0]), Verdict::Contradicted);
    }

    /// Where the study has a direction and runs show that there is no difference worth speaking of.
    #[test]
    fn no_difference_is_not_the_direction_that_the_study_has() {
        assert_eq!(verdict(LESS, [-2.0, 3.0]), Verdict::Contradicted);
        assert_eq!(verdict(LESS, [-2.0, -1.0]), Verdict::Holds);
        assert_eq!(verdict(MORE, [-6.0, 3.0]), Verdict::Undecided);
        assert_eq!(verdict(Says::Less { margin: 1.0 }, [-2.0, 0.5]), Verdict::Undecided);
        let found = Found { value: 0.0, ci95: Some([-10.0, 10.0]), runs: 10 };
        assert_eq!(LESS.verdict(found), (Verdict::Undecided, Some(40)));
    }

    /// The study has +21 %: 2 % and 210 % are another size, -20 % contradicts it.
    #[test]
    fn a_size_holds_within_its_margin_alone() {
        let says = Says::size(21.0, None);
        assert_eq!(verdict(says, [16.0, 26.0]), Verdict::Holds);
        assert_eq!(verdict(says, [1.0, 3.0]), Verdict::SameDirection);
        assert_eq!(verdict(says, [155.0, 287.0]), Verdict::SameDirection);
        assert_eq!(verdict(says, [-21.0, -19.0]), Verdict::Contradicted);
        assert_eq!(verdict(says, [14.0, 20.0]), Verdict::Undecided);
        assert_eq!(verdict(says, [-3.0, 2.0]), Verdict::Contradicted);
        assert_eq!(verdict(says, [-6.0, 2.0]), Verdict::Undecided);
        assert_eq!(verdict(Says::size(-2.0, None), [-1.5, 0.5]), Verdict::Undecided);
        let less = Says::size(-2.0, Some(3.0));
        assert_eq!(verdict(less, [-4.0, -1.0]), Verdict::Holds);
        assert_eq!(verdict(less, [-9.0, -6.0]), Verdict::SameDirection);
        assert_eq!(verdict(less, [0.5, 0.9]), Verdict::Contradicted);
    }

    #[test]
    fn equality_and_values_have_margins() {
        let equal = Says::Equal { margin: 5.0 };
        assert_eq!(verdict(equal, [-1.0, 4.0]), Verdict::Holds);
        assert_eq!(verdict(equal, [0.0, 0.0]), Verdict::Holds);
        assert_eq!(verdict(equal, [3.0, 6.0]), Verdict::Undecided);
        assert_eq!(verdict(equal, [6.0, 9.0]), Verdict::Contradicted);
        let value = Says::value(130.0, None);
        assert_eq!(verdict(value, [129.0, 131.0]), Verdict::Holds);
        assert_eq!(verdict(value, [150.0, 160.0]), Verdict::Contradicted);
        assert_eq!(verdict(Says::value(0.0, Some(1.0)), [0.0, 0.0]), Verdict::Holds);
    }

    #[test]
    fn few_runs_and_open_intervals_decide_nothing() {
        let of = |ci95, runs| LESS.verdict(Found { value: -5.0, ci95, runs });
        assert_eq!(of(Some([-6.0, -4.0]), 5), (Verdict::Undecided, None));
        assert_eq!(of(None, 100), (Verdict::Undecided, None));
    }

    /// Twice as near as the interval reaches: four times the runs.
    #[test]
    fn an_undecided_statement_says_how_many_runs_would_decide() {
        let found = Found { value: -5.0, ci95: Some([-15.0, 5.0]), runs: 10 };
        assert_eq!(LESS.verdict(found), (Verdict::Undecided, Some(40)));
        let on_the_edge = Found { value: 10.0, ci95: Some([0.0, 20.0]), runs: 10 };
        let equal = Says::Equal { margin: 10.0 };
        assert_eq!(equal.verdict(on_the_edge), (Verdict::Undecided, None));
    }

    #[test]
    fn what_it_says_in_words() {
        assert_eq!(Says::size(20.785, None).words(), "+20.8 % (15.6 to 26.0)");
        assert_eq!(Says::value(0.22, None).words(), "0.22 (0.198 to 0.242)");
        assert_eq!(Says::value(2439.69, None).words(), "2440 (2196 to 2684)");
        assert_eq!(Says::Equal { margin: 10.0 }.words(), "equal (within 10 %)");
    }
}
