//! A statement over all settings that are compatible with its study.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outcome::Verdict;
use super::reference::Unknown;

/// What the study's statements came to in a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InSetting {
    /// The value of each unknown.
    pub values: BTreeMap<String, String>,
    /// What runs gave for each statement, by its number.
    pub found: BTreeMap<String, FoundThere>,
}

/// What runs gave for a statement in a setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundThere {
    /// Our value, in the unit of the statement.
    pub value: f64,
    /// Its 95 % confidence interval.
    pub ci95: Option<[f64; 2]>,
    /// The verdict in this setting.
    pub verdict: Verdict,
}

/// What a statement comes to over the settings that are compatible with what its study gives.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OverSettings {
    /// Settings in which the whole interval lies within the margin.
    pub holds: usize,
    /// Settings in which a difference has the study's sign and another size.
    pub same_direction: usize,
    /// Settings in which the runs contradict it.
    pub contradicted: usize,
    /// Settings in which the runs decide nothing.
    pub undecided: usize,
    /// Settings that were tried but contradict a figure that the study gives.
    pub incompatible: usize,
    /// The unknown on whose value it depends most, if it depends on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<String>,
    /// With which of its values it holds, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds_with: Option<String>,
}

/// The verdict over all settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OverVerdict {
    /// In none of them do the runs contradict it.
    Holds,
    /// The same, but in most the difference has another size.
    SameDirection,
    /// In some it holds, in others not.
    Depends,
    /// It holds in none.
    Contradicted,
    /// The runs decide it in none.
    Undecided,
}

impl OverSettings {
    pub(super) fn of(
        unknowns: &[Unknown],
        anchors: &[&str],
        settings: &[InSetting],
        statement: &str,
    ) -> Option<OverSettings> {
        // A figure cannot be evidence of itself.
        let anchors: Vec<&str> = anchors.iter().copied().filter(|one| *one != statement).collect();
        let fits = |setting: &&InSetting| fits(&anchors, setting);
        let there = |setting: &&InSetting| setting.found.contains_key(statement);
        let known: Vec<&InSetting> = settings.iter().filter(there).collect();
        let compatible: Vec<&InSetting> = known.iter().copied().filter(fits).collect();
        if known.is_empty() {
            return None;
        }
        let verdict = |setting: &InSetting| setting.found[statement].verdict;
        let count =
            |wanted: Verdict| compatible.iter().filter(|one| verdict(one) == wanted).count();
        let mut over = OverSettings {
            holds: count(Verdict::Holds),
            same_direction: count(Verdict::SameDirection),
            contradicted: count(Verdict::Contradicted),
            undecided: count(Verdict::Undecided),
            incompatible: known.len() - compatible.len(),
            depends_on: None,
            holds_with: None,
        };
        if over.verdict() == OverVerdict::Depends {
            let shares = |unknown: &Unknown| shares(unknown, &compatible, &verdict);
            let spread = |shares: &[Option<f64>]| {
                let known = || shares.iter().flatten().copied();
                known().fold(0.0, f64::max) - known().fold(1.0, f64::min)
            };
            let all = unknowns.iter().map(|unknown| (unknown, shares(unknown)));
            let most = all.max_by(|one, other| spread(&one.1).total_cmp(&spread(&other.1)));
            if let Some((unknown, shares)) = most.filter(|(_, shares)| spread(shares) >= DECIDES) {
                over.depends_on = Some(unknown.name.clone());
                let how = if over.holds > 0 { "holds" } else { "same direction" };
                over.holds_with = with_which(unknown, &shares, how);
            }
        }
        Some(over)
    }

    /// The verdict.
    pub fn verdict(&self) -> OverVerdict {
        let agree = self.holds + self.same_direction;
        match (agree, self.contradicted) {
            (0, 0) => OverVerdict::Undecided,
            (0, _) => OverVerdict::Contradicted,
            (_, 0) if self.holds < self.same_direction => OverVerdict::SameDirection,
            (_, 0) => OverVerdict::Holds,
            _ => OverVerdict::Depends,
        }
    }

    /// The number of compatible settings.
    pub fn compatible(&self) -> usize {
        self.holds + self.same_direction + self.contradicted + self.undecided
    }
}

/// Whether a setting contradicts none of the figures `anchors`.
pub(super) fn fits(anchors: &[&str], setting: &InSetting) -> bool {
    let is_off =
        |verdict: Verdict| matches!(verdict, Verdict::Contradicted | Verdict::SameDirection);
    let found = anchors.iter().filter_map(|anchor| setting.found.get(*anchor));
    !found.into_iter().any(|found| is_off(found.verdict))
}

/// An unknown decides if the share of settings in which a statement holds differs by so much between its values.
const DECIDES: f64 = 0.4;

/// In which share of the settings with each value the statement agrees; none where nothing is decided.
fn shares(
    unknown: &Unknown,
    settings: &[&InSetting],
    verdict: &dyn Fn(&InSetting) -> Verdict,
) -> Vec<Option<f64>> {
    let share = |value: &String| {
        let with = settings.iter().filter(|one| one.values.get(&unknown.name) == Some(value));
        let (mut agree, mut decided) = (0.0, 0.0);
        for verdict in with.map(|one| verdict(one)) {
            match verdict {
                Verdict::Holds | Verdict::SameDirection => {
                    (agree, decided) = (agree + 1.0, decided + 1.0)
                }
                Verdict::Contradicted => decided += 1.0,
                _ => {}
            }
        }
        (decided > 0.0).then(|| agree / decided)
    };
    unknown.values.iter().map(share).collect()
}

/// `holds with 64 KiB or 256 kB`: the values with which it does so in most settings, and more than with others.
fn with_which(unknown: &Unknown, shares: &[Option<f64>], how: &str) -> Option<String> {
    let pairs = unknown.values.iter().zip(shares);
    let least = shares.iter().flatten().copied().fold(1.0, f64::min);
    let values: Vec<&str> = pairs
        .filter(|(_, share)| share.is_some_and(|share| share >= 0.5 && share > least))
        .map(|(value, _)| value.as_str())
        .collect();
    let mostly = shares.iter().flatten().any(|share| (0.5..1.0).contains(share));
    let mostly = if mostly { "mostly " } else { "" };
    match values.split_last()? {
        (last, []) => Some(format!("{how} {mostly}with {last}")),
        (last, rest) => Some(format!("{how} {mostly}with {} or {last}", rest.join(", "))),
    }
}

/// `depends on receive buffer (holds with 64 KiB): holds in 12 of 40 settings, same direction in 3`
impl fmt::Display for OverSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.verdict(), &self.depends_on) {
            (OverVerdict::Holds, _) => {}
            (OverVerdict::SameDirection, _) => f.write_str("same direction: ")?,
            (OverVerdict::Contradicted, _) => f.write_str("contradicted: ")?,
            (OverVerdict::Undecided, _) => f.write_str("undecided: ")?,
            (OverVerdict::Depends, Some(unknown)) => write!(f, "depends on {unknown}")?,
            (OverVerdict::Depends, None) => f.write_str("depends on several unknowns")?,
        }
        if let Some(with) = &self.holds_with {
            write!(f, " ({with})")?;
        }
        if self.verdict() == OverVerdict::Depends {
            f.write_str(": ")?;
        }
        write!(f, "holds in {} of {} settings", self.holds, self.compatible())?;
        let counts = [
            (self.same_direction, "same direction in"),
            (self.contradicted, "contradicted in"),
            (self.undecided, "undecided in"),
        ];
        counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .try_for_each(|(count, words)| write!(f, ", {words} {count}"))?;
        match self.incompatible {
            0 => Ok(()),
            count => write!(f, "; {count} more do not fit the study's own figures"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(name: &str, values: &[&str]) -> Unknown {
        let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        let values = values.join(", ");
        toml::from_str(&format!("name = {name:?}\nkey = \"k\"\nvalues = [{values}]\nwhy = \"w\""))
            .unwrap()
    }

    fn setting(buffer: &str, queue: &str, verdict: Verdict, anchor: Verdict) -> InSetting {
        let found = |verdict| FoundThere { value: 1.0, ci95: None, verdict };
        InSetting {
            values: BTreeMap::from([
                ("buffer".into(), buffer.into()),
                ("queue".into(), queue.into()),
            ]),
            found: BTreeMap::from([("s-1".into(), found(verdict)), ("s-2".into(), found(anchor))]),
        }
    }

    fn over(settings: &[InSetting]) -> OverSettings {
        let unknowns = [unknown("buffer", &["64 kB", "1 MB"]), unknown("queue", &["a", "b"])];
        OverSettings::of(&unknowns, &["s-2"], settings, "s-1").unwrap()
    }

    #[test]
    fn a_statement_depends_on_the_unknown_that_splits_the_settings() {
        use Verdict::{Contradicted, Holds, SameDirection};
        let settings = [
            setting("64 kB", "a", Holds, Holds),
            setting("64 kB", "b", SameDirection, Holds),
            setting("1 MB", "a", Contradicted, Holds),
            setting("1 MB", "b", Contradicted, Verdict::Undecided),
            setting("1 MB", "b", Holds, SameDirection),
        ];
        let over = over(&settings);
        assert_eq!(
            over.to_string(),
            "depends on buffer (holds with 64 kB): holds in 1 of 4 settings, same direction in 1, contradicted \
             in 2; 1 more do not fit the study's own figures"
        );
        let over = self::over(&settings[1..4]);
        let expected = "depends on buffer (same direction with 64 kB): holds in 0 of 3 settings";
        assert!(over.to_string().starts_with(expected), "{over}");
    }

    #[test]
    fn what_no_setting_contradicts_holds() {
        use Verdict::{Contradicted, Holds, Undecided};
        let all = |verdicts: [Verdict; 2]| {
            over(&verdicts.map(|verdict| setting("64 kB", "a", verdict, Holds))).verdict()
        };
        assert_eq!(all([Holds, Undecided]), OverVerdict::Holds);
        assert_eq!(all([Contradicted, Undecided]), OverVerdict::Contradicted);
        assert_eq!(all([Undecided; 2]), OverVerdict::Undecided);
    }
}
