//! What a study gives, what it leaves out, and what its statements come to over all plausible values of that.

use std::collections::{BTreeMap, BTreeSet};

use trackbed_archive::{Counted, DirectoryError, Results};
use trackbed_core::Seed;
use trackbed_scenario::papers::SETTINGS;
use trackbed_scenario::{Override, Plan};

use super::estimate::Ours;
use super::over_settings::{FoundThere, InSetting, OverSettings};
use super::reference::{Given, Reference, ReferenceStatement, Selector, Statistics, Unknown};
use super::verdict::Found;

/// The unknowns of a study.
#[derive(Clone, Debug)]
pub struct Unknowns {
    reference: Reference,
    stored: Vec<InSetting>,
}

/// A value of each unknown, by its index.
pub type Choice = Vec<usize>;

impl Unknowns {
    /// Those of the study called `name`; none if there is no such study.
    pub fn of(name: &str) -> Option<Unknowns> {
        let stored = SETTINGS.iter().find(|(paper, _)| *paper == name).map_or("", |(_, text)| text);
        let stored = stored.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Some(Unknowns { reference: super::reference(name)?, stored })
    }

    /// What the study gives.
    pub fn given(&self) -> &[Given] {
        &self.reference.given
    }

    /// What it leaves out.
    pub fn all(&self) -> &[Unknown] {
        &self.reference.unknown
    }

    /// The numbers of the statements that decide which settings are compatible with the study.
    pub fn anchors(&self) -> Vec<&str> {
        let anchors = self.reference.statement.iter().filter(|one| one.anchor);
        anchors.map(|statement| statement.id.as_str()).collect()
    }

    /// At most `count` settings: the page's, each other value of an unknown alone, then random combinations.
    pub fn settings(&self, count: usize) -> Vec<Choice> {
        let unknowns = self.all();
        let page = vec![0; unknowns.len()];
        let mut all = vec![page.clone()];
        for (index, unknown) in unknowns.iter().enumerate() {
            for value in 1..unknown.values.len() {
                let mut alone = page.clone();
                alone[index] = value;
                all.push(alone);
            }
        }
        let mut rng = Seed::of_run(0, 0).stream("settings");
        let mut known: BTreeSet<Choice> = all.iter().cloned().collect();
        let combinations =
            unknowns.iter().fold(1_usize, |product, one| product.saturating_mul(one.values.len()));
        while all.len() < count.min(combinations) {
            let draw = |unknown: &Unknown| rng.below(unknown.values.len() as u64) as usize;
            let choice: Choice = unknowns.iter().map(draw).collect();
            if known.insert(choice.clone()) {
                all.push(choice);
            }
        }
        all.truncate(count);
        all
    }

    /// The settings of a scenario that a choice means.
    pub fn overrides(&self, choice: &Choice) -> Vec<Override> {
        let of = |(unknown, value): (&Unknown, &usize)| -> Vec<Override> {
            match &unknown.key {
                _ if *value == 0 => Vec::new(),
                Some(key) => {
                    vec![Override { key: key.clone(), value: unknown.values[*value].clone() }]
                }
                None => {
                    let settings = unknown.set.get(*value).into_iter().flatten();
                    settings.filter_map(|one| one.parse().ok()).collect()
                }
            }
        };
        self.all().iter().zip(choice).flat_map(of).collect()
    }

    /// The values of a choice in words.
    pub fn values(&self, choice: &Choice) -> BTreeMap<String, String> {
        let pairs = self.all().iter().zip(choice);
        pairs
            .map(|(unknown, value)| (unknown.name.clone(), unknown.values[*value].clone()))
            .collect()
    }

    fn statements_in(&self, choice: &Choice) -> Vec<ReferenceStatement> {
        let mut all: Vec<ReferenceStatement> =
            self.reference.statement.iter().flat_map(ReferenceStatement::each).collect();
        for (unknown, value) in self.all().iter().zip(choice) {
            if unknown.statistic {
                let value = Statistics::named(&unknown.values[*value]);
                let stated = all.iter_mut().filter(|one| one.statistic != Statistics::Mean);
                stated.for_each(|one| one.statistic = value.unwrap_or(one.statistic));
            }
            let Some(factor) = &unknown.factor else { continue };
            let chosen = Selector::of(factor, &unknown.values[*value]);
            for statement in &mut all {
                let sides = [Some(&mut statement.cell), statement.against.as_mut()];
                for side in sides.into_iter().flatten() {
                    if side.factor(factor).is_some() && side.has(&unknown.of) {
                        *side = side.with(&chosen);
                    }
                }
            }
        }
        all
    }

    /// The cells of `plan` that the statements need in a setting.
    pub fn cells(&self, plan: &Plan, choice: &Choice) -> BTreeSet<u32> {
        let statements = self.statements_in(choice);
        let selectors = statements.iter().flat_map(|statement| {
            let places = statement.beyond.iter().chain(&statement.over).cloned();
            let places: Vec<Selector> = places.chain([Selector::default()]).collect();
            let sides = [Some(&statement.cell), statement.against.as_ref()];
            let sides: Vec<Selector> = sides.into_iter().flatten().cloned().collect();
            places.into_iter().flat_map(move |place| {
                let at = |side: &Selector| side.with(&place);
                sides.iter().map(at).collect::<Vec<_>>()
            })
        });
        selectors
            .filter_map(|selector| selector.find_planned(&plan.cells))
            .map(|it| it as u32)
            .collect()
    }

    /// What the runs of a setting's plan give.
    ///
    /// # Errors
    /// If the results cannot be read.
    pub fn judge(
        &self,
        plan: &Plan,
        results: &dyn Results,
        choice: &Choice,
    ) -> Result<InSetting, DirectoryError> {
        let ours = Ours { counted: Counted { plan, results, keep_invalid: false } };
        let mut found = BTreeMap::new();
        for statement in self.statements_in(choice) {
            let Some((says, Found { value, ci95, runs })) =
                statement.says().zip(ours.found(&statement)?)
            else {
                continue;
            };
            let verdict = says.verdict(Found { value, ci95, runs }).0;
            found.insert(statement.id_and_place(), FoundThere { value, ci95, verdict });
        }
        Ok(InSetting { values: self.values(choice), found })
    }

    /// What tells each statement that is judged from all others, in the order of the study.
    pub fn statements(&self) -> Vec<String> {
        let all = self.reference.statement.iter().flat_map(ReferenceStatement::each);
        let is_judged = |one: &ReferenceStatement| one.not_testable.is_none() || one.anchor;
        all.filter(is_judged).map(|statement| statement.id_and_place()).collect()
    }

    /// What was stored of the settings that were tried.
    pub fn stored(&self) -> &[InSetting] {
        &self.stored
    }

    /// What a statement comes to over settings.
    pub fn over(&self, settings: &[InSetting], statement: &str) -> Option<OverSettings> {
        OverSettings::of(self.all(), &self.anchors(), settings, statement)
    }
}

#[cfg(test)]
mod tests {
    use trackbed_scenario::papers::PAPERS;
    use trackbed_scenario::{self as scenario, Source};

    use super::*;

    /// The first value of each unknown is what the scenario has, and every value can be loaded.
    #[test]
    fn unknowns_are_settings_of_their_scenarios() {
        for (name, _) in PAPERS {
            let unknowns = Unknowns::of(name).unwrap();
            let load = |choice: &Choice| {
                let parts = crate::paper::parts(name).into_iter();
                let parts = parts.map(|value| Override { key: "part".to_owned(), value });
                let overrides: Vec<Override> =
                    unknowns.overrides(choice).into_iter().chain(parts).collect();
                scenario::load(&Source::named(name), &overrides)
                    .unwrap_or_else(|why| panic!("{name}: {why}"))
            };
            let others = unknowns.all().iter().map(|unknown| unknown.values.len() - 1);
            let one_by_one = 1 + others.sum::<usize>();
            let page = load(&vec![0; unknowns.all().len()]).hash;
            for unknown in unknowns.all() {
                let Some(key) = &unknown.key else { continue };
                let first = Override { key: key.clone(), value: unknown.values[0].clone() };
                let parts = crate::paper::parts(name).into_iter();
                let parts = parts.map(|value| Override { key: "part".to_owned(), value });
                let overrides: Vec<Override> = [first].into_iter().chain(parts).collect();
                let plan = scenario::load(&Source::named(name), &overrides).unwrap();
                assert_eq!(plan.hash, page, "{name}: the page has another value of {key}");
            }
            for choice in unknowns.settings(one_by_one) {
                let plan = load(&choice);
                assert!(
                    !unknowns.cells(&plan, &choice).is_empty() || name == "edge" || name == "v2x",
                    "{name}"
                );
            }
            for unknown in unknowns.all() {
                assert!(
                    unknown.values.len() > 1 && !unknown.why.is_empty(),
                    "{name}: {}",
                    unknown.name
                );
            }
            for stored in unknowns.stored() {
                let known = |(unknown, value): (&String, &String)| {
                    unknowns
                        .all()
                        .iter()
                        .any(|one| one.name == *unknown && one.values.contains(value))
                };
                assert!(stored.values.iter().all(known), "{name}: {:?}", stored.values);
            }
        }
    }
}
