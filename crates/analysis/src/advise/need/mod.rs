//! Needs and their syntax.
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
//! A metric is named as in results, `rtt_ms`, or without its unit, `rtt`; words may replace the
//! underscores. The default statistic is the mean.

mod error;
mod expression;
mod names;
mod parser;
mod token;
mod unit;

use trackbed_stats::Statistic;

pub use error::NeedError;
pub use expression::{Bound, Comparison, Need, Relation};
pub use names::Names;

impl Need {
    /// Parses a need over the metrics in `names`.
    ///
    /// # Errors
    /// If it is invalid; the error shows the position and what to write instead.
    pub fn parse(text: &str, names: &Names) -> Result<Need, NeedError> {
        parser::parse(text, names)
    }

    /// Parses a quantity such as `p99 rtt`: a statistic and a metric.
    ///
    /// # Errors
    /// As [`Need::parse`].
    pub fn quantity(text: &str, names: &Names) -> Result<(Statistic, String), NeedError> {
        let bound = parser::parse(&format!("{text} < baseline"), names)?;
        match bound {
            Need::Compare(comparison) => Ok((comparison.statistic, comparison.metric)),
            _ => Err(NeedError::new(text, (0, text.len()), "write one quantity, such as p99 rtt")),
        }
    }

    /// Its comparisons, from left to right.
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
