//! Needs: what they are, and how they are read.
//!
//! ```text
//! need       = all { "or" all }
//! all        = one { "and" one }
//! one        = "(" need ")" | comparison
//! comparison = [ statistic ] metric relation bound
//! statistic  = "mean" | "median" | "p50" | "p95" | "p99" | any "pNN" | "min" | "max"
//! relation   = "<" | "<=" | ">" | ">=" | "="
//! bound      = number [ unit ] | [ number ] "baseline" | number "%" "of" "baseline"
//! ```
//!
//! A metric is named as in results, `rtt_ms`, or without its unit, `rtt`; several words may stand for
//! the underscores. Without a statistic, the mean is meant.

mod error;
mod expression;
mod names;
mod parser;
mod token;
mod unit;

pub use error::NeedError;
pub use expression::{Bound, Comparison, Need, Relation};
pub use names::Names;
pub(crate) use unit::split_unit;

impl Need {
    /// Reads a need over the metrics called `names`.
    ///
    /// # Errors
    /// If it is not one; the error points at the place and says what to write instead.
    pub fn parse(text: &str, names: &Names) -> Result<Need, NeedError> {
        parser::parse(text, names)
    }

    /// Every comparison in it, from left to right.
    pub fn comparisons(&self) -> Vec<&Comparison> {
        match self {
            Need::Compare(comparison) => vec![comparison],
            Need::Any(parts) | Need::All(parts) => {
                parts.iter().flat_map(Need::comparisons).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
