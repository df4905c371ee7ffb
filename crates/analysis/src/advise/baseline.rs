//! Finds the baseline of a cell.

use std::fmt;
use std::str::FromStr;

use trackbed_measure::lists::distinct;

use crate::advise::cells::Cells;

/// Marks baseline cells: a factor with a certain value.
///
/// A cell's baseline is the marked cell that differs from it only in the marking factors, in the
/// part of the scenario, and in factors that are `none` (without a protocol there is no cipher to
/// compare). If there are several, it is the one that has most in common with the cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    marks: Vec<(String, String)>,
}

impl Default for Baseline {
    /// Cells without a protocol, and cells without inference.
    fn default() -> Baseline {
        let mark = |factor: &str| (factor.to_owned(), NONE.to_owned());
        Baseline { marks: ["protocol", "inference"].map(mark).to_vec() }
    }
}

impl Baseline {
    /// Marked by any of these.
    pub fn any(of: impl IntoIterator<Item = Baseline>) -> Baseline {
        Baseline { marks: of.into_iter().flat_map(|baseline| baseline.marks).collect() }
    }

    pub(crate) fn marks(&self, cells: &Cells<'_>, cell: usize) -> bool {
        let is = |(factor, value): &(String, String)| cells.get(cell).factor_text(factor) == *value;
        self.marks.iter().any(is)
    }

    /// An error about a mark that no cell has.
    pub(crate) fn unknown(&self, cells: &Cells<'_>) -> Option<String> {
        let nowhere = |(factor, value): &&(String, String)| {
            !(0..cells.len()).any(|cell| cells.get(cell).factor_text(factor) == *value)
        };
        self.marks.iter().find(nowhere).map(|(factor, value)| {
            let known = values(cells, factor);
            match known.is_empty() {
                true => format!(
                    "no cell has a factor {factor:?}; available: {}",
                    cells.factors.join(", ")
                ),
                false => format!("no cell has {factor} = {value}; available: {}", known.join(", ")),
            }
        })
    }

    pub(crate) fn of(&self, cells: &Cells<'_>, cell: usize, metric: &str) -> Option<usize> {
        let text = |cell: usize, factor: &str| cells.get(cell).factor_text(factor);
        let is_mark = |factor: &String| self.marks.iter().any(|(marked, _)| marked == factor);
        let shared = |other: usize| -> Option<usize> {
            let mut count = 0;
            for factor in &cells.factors {
                let theirs = text(other, factor);
                match theirs == text(cell, factor) {
                    true => count += 1,
                    false if is_mark(factor) || factor == PART => {}
                    false if theirs.is_empty() || theirs == NONE => {}
                    false => return None,
                }
            }
            Some(count)
        };
        let candidates = (0..cells.len())
            .filter(|&other| other != cell && self.marks(cells, other) && cells.has(other, metric));
        let counted = candidates.filter_map(|other| Some((shared(other)?, other)));
        counted.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, other)| other)
    }
}

/// `factor=value`.
impl FromStr for Baseline {
    type Err = String;

    fn from_str(text: &str) -> Result<Baseline, String> {
        let parts = text.split_once('=').map(|(factor, value)| (factor.trim(), value.trim()));
        match parts {
            Some((factor, value)) if !factor.is_empty() && !value.is_empty() => {
                Ok(Baseline { marks: vec![(factor.to_owned(), value.to_owned())] })
            }
            _ => Err(format!(
                "{text:?} is not of the form factor=value; write for example protocol=none"
            )),
        }
    }
}

/// `protocol=none or inference=none`
impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = self.marks.iter().map(|(factor, value)| format!("{factor}={value}"));
        f.write_str(&marks.collect::<Vec<_>>().join(" or "))
    }
}

fn values(cells: &Cells<'_>, factor: &str) -> Vec<String> {
    let texts = cells.document.cells.iter().map(|cell| cell.factor_text(factor));
    distinct(texts.filter(|text| !text.is_empty()))
}

const NONE: &str = "none";

/// The factor that names the part of a scenario.
const PART: &str = "part";
