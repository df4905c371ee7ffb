//! The syntax tree of a need.

use trackbed_stats::Statistic;

/// An expression over metrics.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// At least one of them.
    Any(Vec<Need>),
    /// Every one of them.
    All(Vec<Need>),
    /// A metric compared with a bound.
    Compare(Comparison),
}

/// A metric compared with a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The statistic of the metric.
    pub statistic: Statistic,
    /// Its name in results, with the unit.
    pub metric: String,
    /// The required relation to the bound.
    pub relation: Relation,
    /// The bound.
    pub bound: Bound,
}

/// A relation between a value and a bound.
#[derive(Clone, Copy, Debug, strum::Display, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    #[strum(serialize = "<")]
    Below,
    /// `<=`
    #[strum(serialize = "<=")]
    AtMost,
    /// `>`
    #[strum(serialize = ">")]
    Above,
    /// `>=`
    #[strum(serialize = ">=")]
    AtLeast,
    /// `=`
    #[strum(serialize = "=")]
    Equal,
}

/// A bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A number in the metric's unit.
    Value(f64),
    /// This multiple of the same statistic of the baseline's cell; above zero.
    Baseline(f64),
}

impl Relation {
    /// Whether the relation favours lower values; `None` for equality.
    pub fn less_is_better(self) -> Option<bool> {
        match self {
            Relation::Below | Relation::AtMost => Some(true),
            Relation::Above | Relation::AtLeast => Some(false),
            Relation::Equal => None,
        }
    }
}
