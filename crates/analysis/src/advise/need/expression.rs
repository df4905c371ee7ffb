//! What a need is made of.

use std::fmt;

use trackbed_stats::Statistic;

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
