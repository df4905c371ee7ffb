//! What the document of results says of factors and of differences, besides the results themselves.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest difference that matters: of a share, so many percentage points; of a time, the larger of both;
/// of anything else, the percentage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsefulDifference {
    /// In percent of the best value.
    pub percent: f64,
    /// In milliseconds.
    pub ms: f64,
}

impl Default for UsefulDifference {
    fn default() -> UsefulDifference {
        UsefulDifference { percent: 1.0, ms: 1.0 }
    }
}

/// `1 % or 1 ms`
impl fmt::Display for UsefulDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsefulDifference { percent, ms: 0.0 } => write!(f, "{percent} %"),
            UsefulDifference { percent: 0.0, ms } => write!(f, "{ms} ms"),
            UsefulDifference { percent, ms } => write!(f, "{percent} % or {ms} ms"),
        }
    }
}

/// A percentage (`3%`) or, for times, an amount (`2ms`).
impl FromStr for UsefulDifference {
    type Err = String;

    fn from_str(text: &str) -> Result<UsefulDifference, String> {
        let amount = |unit: &str| text.trim().strip_suffix(unit)?.trim_end().parse::<f64>().ok();
        match (amount("ms"), amount("%").or_else(|| text.trim().parse().ok())) {
            (Some(ms), _) if (0.0..=1e9).contains(&ms) => Ok(UsefulDifference { percent: 0.0, ms }),
            (_, Some(percent)) if (0.0..=1e3).contains(&percent) => {
                Ok(UsefulDifference { percent, ms: 0.0 })
            }
            _ => Err("write a percentage or a time, for example 3% or 2ms".to_owned()),
        }
    }
}

/// A factor: what its values are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactorKind {
    /// Its name without the unit, for display.
    pub title: String,
    /// The kind of its values: `rate`, `time`, `size`, `frequency`, `share`, `count`, `number` or `text`.
    pub kind: String,
    /// The unit of its numbers; empty for shares, which are from 0 to 1, and where there is none.
    pub unit: String,
}

impl FactorKind {
    /// What the name of a factor suggests, in directories of earlier versions.
    pub fn named(name: &str) -> FactorKind {
        let split =
            name.rsplit_once('_').and_then(|(title, end)| Some((title, written_unit(end)?)));
        let (title, unit) = split.unwrap_or((name, ""));
        let kind = if title.ends_with("loss") && unit.is_empty() { "share" } else { "number" };
        let title = title.replace(['_', '-'], " ");
        FactorKind { title, kind: kind.to_owned(), unit: unit.to_owned() }
    }
}

/// A unit as people write it, by the end of a name.
pub fn written_unit(end: &str) -> Option<&'static str> {
    let mut units = UNITS.split(' ').filter_map(|unit| unit.split_once('='));
    units.find(|(short, _)| *short == end).map(|(_, written)| written)
}

const UNITS: &str = "ns=ns us=µs ms=ms s=s bytes=B mbps=Mbit/s kbps=kbit/s bps=bit/s hz=1/s mhz=MHz percent=% \
                     celsius=°C watts=W m=m kmh=km/h mps=m/s dbm=dBm";

/// Whether the name of another factor ends with the same word, as of `up_queue` and `down_queue`.
pub fn has_kin<'a>(name: &str, names: impl IntoIterator<Item = &'a String>) -> bool {
    let last = |name: &str| name.rsplit('_').next().map(str::to_owned);
    names.into_iter().any(|other| other != name && last(other) == last(name))
}
