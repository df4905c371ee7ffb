//! Pure statistics on slices: quantiles, intervals, comparisons of result sets, and when to stop.
//!
//! The crate knows no network and no units. Numbers enter through [`Sample`] (or the functions that
//! build one), which rejects non-finite values; after that no function can return NaN or an
//! infinity. Everything random is drawn from a seed, and results do not depend on the order of the
//! input.
#![forbid(unsafe_code)]

pub mod abc;
mod beta;
mod binomial;
mod bisection;
mod bootstrap;
mod clustered;
mod compare;
mod equivalence;
mod error;
mod homogeneity;
mod multiple;
mod normal;
mod outliers;
mod pivot;
mod power;
mod runs;
mod sample;
mod stopping;
mod student;
#[cfg(test)]
mod testing;

pub use bootstrap::Bootstrap;
pub use compare::{
    Better, Center, Comparison, ComparisonVerdict, Margin, MeanRatio, Regression,
    RegressionVerdict, RelativeDifference, Terms, compare_paired, compare_unpaired, paired,
};
pub use equivalence::{
    CONFIDENCE, Equivalence, EquivalenceVerdict, equivalence, look_error, pairs_at,
};
pub use error::{MAX_MAGNITUDE, MIN_PAIRS, StatsError};
pub use homogeneity::alike;
pub use multiple::{holm, runs_to_decide};
pub use outliers::outliers;
pub use pivot::mean_interval;
pub use power::{POWER, Planned};
pub use runs::{
    Estimate, Interval, Runs, Statistic, TAIL, order_statistics, samples_to_bound,
    scaled_difference,
};
pub use sample::Sample;
pub use stopping::{Criterion, Looks, Precision};
