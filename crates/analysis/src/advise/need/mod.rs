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
mod names;
mod parser;
mod token;
mod unit;

use std::fmt;

pub use error::NeedError;
pub use names::Names;
use trackbed_stats::Statistic;
pub(crate) use unit::split_unit;

/// An expression over metrics.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// At least one of them.
    Any(Vec<Need>),
    /// Every one of them.
    All(Vec<Need>),
    /// A metric against a bound.
    Compare(Comparison),
}

/// A metric against a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is asked of the metric.
    pub statistic: Statistic,
    /// Its name in results, with the unit.
    pub metric: String,
    /// How it must stand to the bound.
    pub relation: Relation,
    /// What it is compared with.
    pub bound: Bound,
}

/// How a value must stand to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `=`
    Equal,
}

/// What a metric is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A number in the metric's unit.
    Value(f64),
    /// So many times the same statistic of the baseline's cell; above zero.
    Baseline(f64),
}

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

impl Relation {
    /// Whether less of the metric is better by it: `None` where neither is.
    pub fn less_is_better(self) -> Option<bool> {
        match self {
            Relation::Below | Relation::AtMost => Some(true),
            Relation::Above | Relation::AtLeast => Some(false),
            Relation::Equal => None,
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Below => "<",
            Relation::AtMost => "<=",
            Relation::Above => ">",
            Relation::AtLeast => ">=",
            Relation::Equal => "=",
        })
    }
}

#[cfg(test)]
mod tests;
