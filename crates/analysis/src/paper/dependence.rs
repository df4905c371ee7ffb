//! On what a study's statements depend, as a document.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::over_settings::{InSetting, OverSettings, OverVerdict, fits};
use super::reference::{Given, Unknown};
use super::unknowns::Unknowns;

/// The output of `trackbed paper NAME --unknowns --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UnknownsDocument {
    /// The answer in a sentence or two.
    pub answer: String,
    /// What the study gives.
    pub given: Vec<Given>,
    /// What it leaves out: the plausible values, the page's first.
    pub unknowns: BTreeMap<String, Vec<String>>,
    /// Of these, the values that occur in settings that fit what the study gives.
    pub fitting: BTreeMap<String, Vec<String>>,
    /// What each statement comes to, in the order of the study.
    pub statements: Vec<StatementOver>,
    /// What each statement came to in each setting that was tried.
    pub settings: Vec<InSetting>,
}

/// A statement over settings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatementOver {
    /// Its number and place.
    pub id: String,
    /// What it comes to.
    #[serde(flatten)]
    pub over: OverSettings,
}

impl UnknownsDocument {
    /// The document for settings that were tried.
    pub fn new(unknowns: &Unknowns, tried: &[InSetting]) -> UnknownsDocument {
        let values = unknowns.all().iter().map(|one| (one.name.clone(), one.values.clone()));
        let over = |id: String| Some(StatementOver { over: unknowns.over(tried, &id)?, id });
        let anchors = unknowns.anchors();
        let fits: Vec<&InSetting> = tried.iter().filter(|one| fits(&anchors, one)).collect();
        let fitting = |unknown: &Unknown| {
            let has = |value: &&String| fits.iter().any(|one| one.values[&unknown.name] == **value);
            (unknown.name.clone(), unknown.values.iter().filter(has).cloned().collect())
        };
        let mut document = UnknownsDocument {
            answer: String::new(),
            given: unknowns.given().to_vec(),
            unknowns: values.collect(),
            fitting: unknowns.all().iter().map(fitting).collect(),
            statements: unknowns.statements().into_iter().filter_map(over).collect(),
            settings: tried.to_vec(),
        };
        document.answer = document.answer();
        document
    }

    /// The number of statements that depend most on an unknown.
    pub fn decided_by(&self, unknown: &str) -> usize {
        let by = |one: &&StatementOver| one.over.depends_on.as_deref() == Some(unknown);
        self.statements.iter().filter(by).count()
    }

    /// Whether any setting that was tried has this value.
    pub fn has_tried(&self, unknown: &str, value: &String) -> bool {
        self.settings.iter().any(|setting| setting.values.get(unknown) == Some(value))
    }

    /// How many statements hold whatever the study leaves out, and which unknown to ask its authors for.
    fn answer(&self) -> String {
        if self.settings.is_empty() {
            let count = self.unknowns.len();
            return format!(
                "The study leaves {count} things out. No setting was tried; add --settings N."
            );
        }
        let count = |wanted: &[OverVerdict]| {
            self.statements.iter().filter(|one| wanted.contains(&one.over.verdict())).count()
        };
        let holds = count(&[OverVerdict::Holds, OverVerdict::SameDirection]);
        let mut text = format!(
            "Of {} statements, {holds} hold in all of {} settings that fit what the study gives (the direction, \
             where it states a difference), {} depend on what it leaves out, {} are contradicted in all, {} are \
             undecided.",
            self.statements.len(),
            self.statements.iter().map(|one| one.over.compatible()).max().unwrap_or(0),
            count(&[OverVerdict::Depends]),
            count(&[OverVerdict::Contradicted]),
            count(&[OverVerdict::Undecided]),
        );
        let most = self.unknowns.keys().map(|name| (self.decided_by(name), name)).max();
        if let Some((decided, name)) = most.filter(|(decided, _)| *decided > 0) {
            let _ = write!(
                text,
                " The unknown to ask its authors for is {name}: it decides {decided} of them."
            );
        }
        text
    }
}
