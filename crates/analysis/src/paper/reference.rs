//! The files in which papers' figures and claims stand: `scenarios/reference/*.toml`.

use std::fmt;

use serde::Deserialize;
use trackbed_measure::results::CellResult;

/// What a paper found.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    pub title: String,
    /// Values that the paper prints.
    #[serde(default)]
    pub figure: Vec<ReferenceFigure>,
    /// What it concludes, one cell against another.
    #[serde(default)]
    pub claim: Vec<ReferenceClaim>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceFigure {
    pub metric: String,
    pub cell: Selector,
    pub value: f64,
}

/// How much more or less of `metric` `cell` has than `against`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceClaim {
    pub text: String,
    pub metric: String,
    pub cell: Selector,
    pub against: Selector,
    /// By how much, in percent of `against`. The sign alone counts, unless there is a margin.
    #[serde(default)]
    pub percent: Option<f64>,
    /// How far from `percent` the difference may lie, in percent points.
    #[serde(default)]
    pub margin: Option<f64>,
    /// Where the paper gives no number: in which direction.
    #[serde(default)]
    pub direction: Option<Direction>,
    /// With it, the claim is that the relative difference goes beyond the one that there is where
    /// these factors have these values: a gap that widens. What the paper says then is about the
    /// change of the quotient of the two cells.
    #[serde(default)]
    pub beyond: Option<Selector>,
    /// The claim is made once for each of these sets of factors, in addition to the cells' own.
    #[serde(default)]
    pub at: Vec<Selector>,
}

/// What a paper says of a difference: see the fields of [`ReferenceClaim`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Says {
    pub percent: Option<f64>,
    pub margin: Option<f64>,
    pub direction: Option<Direction>,
}

/// Which way a difference goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    Less,
    More,
}

/// Factors and the values that single out a cell, in the order of the file.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Selector(toml::Table);

impl Reference {
    /// # Panics
    /// If the file is not valid; it is built in.
    pub fn parse(text: &str) -> Reference {
        toml::from_str(text).expect("the built-in reference is valid")
    }
}

impl ReferenceClaim {
    pub fn says(&self) -> Says {
        let &ReferenceClaim { percent, margin, direction, .. } = self;
        Says { percent, margin, direction }
    }

    /// The claims that this one stands for.
    pub fn each(&self) -> Vec<ReferenceClaim> {
        if self.at.is_empty() {
            return vec![self.clone()];
        }
        let at = |place: &Selector| ReferenceClaim {
            text: format!("{} (at {place})", self.text),
            cell: self.cell.with(place),
            against: self.against.with(place),
            at: Vec::new(),
            ..self.clone()
        };
        self.at.iter().map(at).collect()
    }
}

impl Says {
    /// Between which bounds the difference lies, in percent.
    pub fn bounds(&self) -> [f64; 2] {
        let less = [f64::NEG_INFINITY, -f64::MIN_POSITIVE];
        let more = [f64::MIN_POSITIVE, f64::INFINITY];
        match (self.percent, self.margin, self.direction) {
            (Some(percent), Some(margin), _) => [percent - margin, percent + margin],
            (Some(percent), None, _) if percent < 0.0 => less,
            (None, _, Some(Direction::Less)) => less,
            _ => more,
        }
    }
}

/// `-15 %`, `less`, `0 % (give or take 5)`
impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.percent, self.margin, self.direction) {
            (Some(0.0), Some(margin), _) => write!(f, "equal (give or take {margin:.0} %)"),
            (Some(percent), Some(margin), _) => {
                write!(f, "{percent:+.0} % (give or take {margin:.0})")
            }
            (Some(percent), None, _) => write!(f, "{percent:+.0} %"),
            (None, _, Some(Direction::Less)) => f.write_str("less"),
            (None, _, _) => f.write_str("more"),
        }
    }
}

impl Selector {
    /// The same with `more` in addition, or instead.
    pub fn with(&self, more: &Selector) -> Selector {
        let mut all = self.0.clone();
        all.extend(more.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        Selector(all)
    }

    /// The first cell that has all of the factors.
    pub fn find(&self, cells: &[CellResult]) -> Option<usize> {
        cells.iter().position(|cell| {
            self.0.iter().all(|(name, value)| cell.factor_text(name) == plain(value))
        })
    }

    /// The values alone: `quic 1.3 new`.
    pub fn values(&self) -> String {
        self.0.values().map(plain).collect::<Vec<_>>().join(" ")
    }
}

/// `loss 0.2, delay_ms 100`
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.0.iter().map(|(name, value)| format!("{name} {}", plain(value)));
        f.write_str(&pairs.collect::<Vec<_>>().join(", "))
    }
}

/// As results write it: without quotes, whole numbers without a point.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
