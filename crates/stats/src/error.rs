//! Why a statistic cannot be computed.

/// The minimum number of pairs for a verdict. If nothing differed, five differences would all have
/// the same sign with probability 2 x 0.5^5 = 6.25 %, more than the 5 % that the interval allows;
/// with six it is 3.1 %.
pub const MIN_PAIRS: usize = 6;

/// The largest magnitude of a value. Cubes of deviations, which the bootstrap needs, then stay
/// finite, and no network quantity comes near it.
pub const MAX_MAGNITUDE: f64 = 1e90;

/// Why a statistic cannot be computed from these numbers.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum StatsError {
    /// There is no value (or no pair in which both runs succeeded).
    #[error("there is no value to compute a statistic from; check why every run failed")]
    Empty,
    #[error(
        "value {value} at index {index} is not a finite number within {MAX_MAGNITUDE:e}; leave it \
         out and count it as failed"
    )]
    OutOfRange {
        /// Its index in the input, counted from 0.
        index: usize,
        value: f64,
    },
    #[error(
        "lists of {first} and {second} runs cannot be paired; give one entry per run, None for a \
         failed one"
    )]
    LengthMismatch { first: usize, second: usize },
    #[error("{0} is not a probability; give a number from 0 to 1")]
    BadProbability(f64),
    #[error("{0} is not a margin; give a number from 0 on, such as 0.03 for 3 %")]
    BadMargin(f64),
    #[error("{0} is not a precision; give a number above 0, such as 0.05 for half-widths of 5 %")]
    BadTarget(f64),
    #[error(
        "invalid range of runs, {runs_min} to {runs_max}; start with at least {MIN_PAIRS}, and do \
         not end before the start"
    )]
    BadSchedule { runs_min: usize, runs_max: usize },
    #[error(
        "the statistic returned {0} on a resample; use one that is a finite number for every \
         selection of the values"
    )]
    StatisticOutOfRange(f64),
}
