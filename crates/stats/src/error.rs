//! Why a statistic cannot be computed.

use std::fmt;

/// The fewest pairs on which a verdict is given. If nothing differed, all of five differences would
/// still share a sign with probability 2 x 0.5^5 = 6.25 %, which is more than the 5 % that the
/// interval allows; with six it is 3.1 %.
pub const MIN_PAIRS: usize = 6;

/// The largest magnitude of a value. Cubes of deviations, which the bootstrap needs, then stay
/// finite, and no quantity of a network comes near.
pub const MAX_MAGNITUDE: f64 = 1e90;

/// Why a statistic cannot be computed from the numbers given.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StatsError {
    /// There is no value (or no pair in which both runs succeeded).
    Empty,
    /// A value is NaN, infinite, or larger in magnitude than [`MAX_MAGNITUDE`].
    OutOfRange {
        /// Its place in the input, counted from 0.
        index: usize,
        /// The value itself.
        value: f64,
    },
    /// Two lists that should be paired run by run differ in length.
    LengthMismatch {
        /// The length of the first list.
        first: usize,
        /// The length of the second list.
        second: usize,
    },
    /// A probability outside 0..=1.
    BadProbability(f64),
    /// Something that happened more often than it was tried.
    BadCount {
        /// How often it happened.
        count: u64,
        /// How often it was tried.
        trials: u64,
    },
    /// A margin that is no number from 0 on.
    BadMargin(f64),
    /// A target of precision that is no number above 0.
    BadTarget(f64),
    /// A schedule of looks that begins with too few runs, or ends before it begins.
    BadSchedule {
        /// The runs before the first look.
        runs_min: usize,
        /// The runs after which it ends.
        runs_max: usize,
    },
    /// The statistic given as a function returned this value: NaN, infinite, or larger in
    /// magnitude than [`MAX_MAGNITUDE`].
    StatisticOutOfRange(f64),
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatsError::Empty => f.write_str(
                "there is no value to compute a statistic from; check why every run failed",
            ),
            StatsError::OutOfRange { index, value } => write!(
                f,
                "value {value} at place {index} is not a finite number within {MAX_MAGNITUDE:e}; \
                 leave it out and count it as failed"
            ),
            StatsError::LengthMismatch { first, second } => write!(
                f,
                "lists of {first} and {second} runs cannot be paired; give one entry per run, \
                 None for a failed one"
            ),
            StatsError::BadProbability(p) => {
                write!(f, "{p} is not a probability; give a number from 0 to 1")
            }
            StatsError::BadCount { count, trials } => {
                write!(
                    f,
                    "{count} of {trials} is no proportion; count what happened among the trials"
                )
            }
            StatsError::BadMargin(margin) => {
                write!(f, "{margin} is not a margin; give a number from 0 on, such as 0.03 for 3 %")
            }
            StatsError::BadTarget(target) => write!(
                f,
                "{target} is not a precision; give a number above 0, such as 0.05 for half-widths of 5 %"
            ),
            StatsError::BadSchedule { runs_min, runs_max } => write!(
                f,
                "runs cannot be judged from {runs_min} to {runs_max}; begin with at least \
                 {MIN_PAIRS}, and do not end before"
            ),
            StatsError::StatisticOutOfRange(value) => write!(
                f,
                "the statistic returned {value} on a resample; use one that is a finite number for \
                 every selection of the values"
            ),
        }
    }
}

impl std::error::Error for StatsError {}
