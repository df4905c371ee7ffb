//! Why a statistic cannot be computed.

/// The fewest pairs on which a verdict is given. If nothing differed, all of five differences would
/// still share a sign with probability 2 x 0.5^5 = 6.25 %, which is more than the 5 % that the
/// interval allows; with six it is 3.1 %.
pub const MIN_PAIRS: usize = 6;

/// The largest magnitude of a value. Cubes of deviations, which the bootstrap needs, then stay
/// finite, and no quantity of a network comes near.
pub const MAX_MAGNITUDE: f64 = 1e90;

/// Why a statistic cannot be computed from the numbers given.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// There is no value (or no pair in which both runs succeeded).
    #[error("there is no value to compute a statistic from; check why every run failed")]
    Empty,
    /// A value is NaN, infinite, or larger in magnitude than [`MAX_MAGNITUDE`].
    #[error(
        "value {value} at place {index} is not a finite number within {MAX_MAGNITUDE:e}; leave it \
         out and count it as failed"
    )]
    OutOfRange {
        /// Its place in the input, counted from 0.
        index: usize,
        /// The value itself.
        value: f64,
    },
    /// Two lists that should be paired run by run differ in length.
    #[error(
        "lists of {first} and {second} runs cannot be paired; give one entry per run, None for a \
         failed one"
    )]
    LengthMismatch {
        /// The length of the first list.
        first: usize,
        /// The length of the second list.
        second: usize,
    },
    /// A probability outside 0..=1.
    #[error("{0} is not a probability; give a number from 0 to 1")]
    BadProbability(f64),
    /// Something that happened more often than it was tried.
    #[error("{count} of {trials} is no proportion; count what happened among the trials")]
    BadCount {
        /// How often it happened.
        count: u64,
        /// How often it was tried.
        trials: u64,
    },
    /// A margin that is no number from 0 on.
    #[error("{0} is not a margin; give a number from 0 on, such as 0.03 for 3 %")]
    BadMargin(f64),
    /// A target of precision that is no number above 0.
    #[error("{0} is not a precision; give a number above 0, such as 0.05 for half-widths of 5 %")]
    BadTarget(f64),
    /// A schedule of looks that begins with too few runs, or ends before it begins.
    #[error(
        "runs cannot be judged from {runs_min} to {runs_max}; begin with at least {MIN_PAIRS}, \
         and do not end before"
    )]
    BadSchedule {
        /// The runs before the first look.
        runs_min: usize,
        /// The runs after which it ends.
        runs_max: usize,
    },
    /// The statistic given as a function returned this value: NaN, infinite, or larger in
    /// magnitude than [`MAX_MAGNITUDE`].
    #[error(
        "the statistic returned {0} on a resample; use one that is a finite number for every \
         selection of the values"
    )]
    StatisticOutOfRange(f64),
}
