//! Pure statistics on slices: quantiles, seeded bootstrap intervals, paired differences.
//!
//! The crate knows no network and no unit. Numbers enter through [`Sample`] (or the functions
//! that build one), which refuses what is not finite; behind it no function can return NaN or an
//! infinity. Everything random is drawn from a seed, and every result is the same for any order
//! of the input.
#![forbid(unsafe_code)]

mod binomial;
mod bootstrap;
mod equivalence;
mod error;
mod normal;
mod paired;
mod runs;
mod sample;
mod summary;

pub use bootstrap::{Bootstrap, DEFAULT_RESAMPLES, DEFAULT_SEED};
pub use equivalence::{Equivalence, EquivalenceVerdict, equivalence};
pub use error::StatsError;
pub use paired::{MIN_PAIRS, PairedDifference, RelativeDifference, Verdict, paired};
pub use runs::{
    Estimate, Interval, Runs, Statistic, order_statistics, samples_to_bound, scaled_difference,
};
pub use sample::{MAX_MAGNITUDE, Sample};
pub use summary::Summary;
