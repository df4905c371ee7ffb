//! The metrics that needs can refer to.

use std::collections::BTreeSet;

use trackbed_measure::metrics::split_unit;

/// The measured metrics, and other known ones.
#[derive(Clone, Debug, Default)]
pub struct Names {
    measured: BTreeSet<String>,
    /// Metrics that results can have, measured or not.
    elsewhere: BTreeSet<String>,
}

/// The metric that a word refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resolved {
    One(String),
    Several(Vec<String>),
    /// A known metric that was not measured here.
    Unmeasured(String),
    /// None; these are similar.
    None(Vec<String>),
}

impl Names {
    /// The metrics `measured`; those in `elsewhere` are known but have no values here.
    pub fn new(
        measured: impl IntoIterator<Item = impl Into<String>>,
        elsewhere: impl IntoIterator<Item = impl Into<String>>,
    ) -> Names {
        Names {
            measured: measured.into_iter().map(Into::into).collect(),
            elsewhere: elsewhere.into_iter().map(Into::into).collect(),
        }
    }

    /// The names of the measured metrics, in one line.
    pub(super) fn list(&self) -> String {
        self.measured.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// The metric called `written`, with or without its unit.
    pub(super) fn resolve(&self, written: &str) -> Resolved {
        let written = written.to_lowercase().replace('-', "_");
        match matching(&self.measured, &written).as_slice() {
            [one] => return Resolved::One((*one).clone()),
            [] => {}
            several => {
                return Resolved::Several(several.iter().map(|name| (*name).clone()).collect());
            }
        }
        if let [one, ..] = matching(&self.elsewhere, &written).as_slice() {
            return Resolved::Unmeasured((*one).clone());
        }
        Resolved::None(self.near(&written))
    }

    fn near(&self, written: &str) -> Vec<String> {
        let has_word = |name: &&String| name.split('_').any(|word| word == written);
        let with_word: Vec<String> = self.measured.iter().filter(has_word).cloned().collect();
        if !with_word.is_empty() || written.chars().count() > WORD_MAX {
            return with_word;
        }
        let distance = |name: &String| {
            let [full, base] = [name.as_str(), split_unit(name).0];
            [full, base].map(|known| strsim::damerau_levenshtein(written, known)).into_iter().min()
        };
        let scored = self.measured.iter().filter_map(|name| Some((distance(name)?, name)));
        let nearest = scored.min().filter(|(distance, name)| *distance <= name.len().max(3) / 3);
        nearest.map(|(_, name)| name.clone()).into_iter().collect()
    }
}

/// The name itself, or those that equal it without their unit, or whose unit it is.
fn matching<'a>(names: &'a BTreeSet<String>, written: &str) -> Vec<&'a String> {
    if let Some(name) = names.get(written) {
        return vec![name];
    }
    let by = |part: fn(&str) -> &str| -> Vec<&'a String> {
        names.iter().filter(|name| part(name) == written).collect()
    };
    match by(|name| split_unit(name).0) {
        none if none.is_empty() => by(|name| split_unit(name).1),
        found => found,
    }
}

/// Longer words take long to compare, and no metric has such a name.
const WORD_MAX: usize = 64;
