//! A parsed scenario: every key is known, every value is of the right kind, and what varies is an
//! axis. Conflicts between keys are not checked yet.

use std::collections::BTreeSet;

use trackbed_core::parameter::Value;

use crate::field::{Field, Model, Shorthand};
use crate::problem::Place;

#[derive(Debug, Default)]
pub(crate) struct Spec {
    /// The part of the scenario, if it has several.
    pub part: Option<String>,
    /// The byte of the file at which the part begins; the text before the first part is common to
    /// all.
    pub part_begins: usize,
    pub settings: Vec<Setting>,
    /// What varies, in the order of the file.
    pub axes: Vec<Axis>,
    /// The top-level keys and tables that are written, valid or not.
    pub written: BTreeSet<String>,
}

#[derive(Debug)]
pub(crate) struct Setting {
    /// The dotted path, for example `link.up.delay`.
    pub path: String,
    pub field: &'static Field,
    /// The axis along which it varies; otherwise there is one choice.
    pub axis: Option<usize>,
    pub choices: Vec<Choice>,
    /// The position of the key.
    pub place: Place,
}

/// Something that varies from cell to cell.
#[derive(Debug)]
pub(crate) struct Axis {
    pub path: String,
    /// The position of each value.
    pub places: Vec<Place>,
}

#[derive(Debug)]
pub(crate) struct Choice {
    pub chosen: Chosen,
    pub place: Place,
}

#[derive(Debug)]
pub(crate) enum Chosen {
    Value(Value),
    /// A plain value that stands for a model.
    Shorthand(&'static Shorthand, Value),
    /// One or more models of a stage, in the order in which a packet passes them.
    Models(Vec<ModelUse>),
}

#[derive(Debug)]
pub(crate) struct ModelUse {
    pub model: &'static Model,
    pub settings: Vec<Setting>,
    pub place: Place,
}

impl Spec {
    pub fn get(&self, path: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.path == path)
    }

    /// The value of a plain key for value `selection[i]` of each axis `i`.
    pub fn value(&self, path: &str, selection: &[usize]) -> Option<&Value> {
        match &self.get(path)?.pick(selection).chosen {
            Chosen::Value(value) | Chosen::Shorthand(_, value) => Some(value),
            Chosen::Models(_) => None,
        }
    }

    /// The settings of a table.
    pub fn below(&self, section: &str) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(move |one| one.path.split('.').next() == Some(section))
    }

    /// The positions of files and folders.
    pub fn files(&self) -> impl Iterator<Item = &Place> {
        self.settings.iter().flat_map(Setting::files)
    }
}

impl Setting {
    fn files(&self) -> Vec<&Place> {
        let of_choice = |choice: &'_ Choice| match &choice.chosen {
            Chosen::Value(value) | Chosen::Shorthand(_, value) => {
                matches!(value, Value::File(_) | Value::Folder(_))
            }
            Chosen::Models(uses) => {
                let settings = uses.iter().flat_map(|model| &model.settings);
                settings.into_iter().any(|setting| !setting.files().is_empty())
            }
        };
        self.choices.iter().filter(|choice| of_choice(choice)).map(|choice| &choice.place).collect()
    }

    /// The choice in a cell, which has value `selection[i]` of each axis `i`.
    pub fn pick(&self, selection: &[usize]) -> &Choice {
        &self.choices[self.axis.map_or(0, |axis| selection[axis])]
    }
}

impl Chosen {
    /// The choice as text; equal choices give equal texts.
    pub fn text(&self) -> String {
        match self {
            Chosen::Value(value) => value.to_string(),
            Chosen::Shorthand(shorthand, value) => match shorthand.word {
                Some(word) => format!("{value} {word}"),
                None => value.to_string(),
            },
            Chosen::Models(uses) => {
                let model = |model: &ModelUse| {
                    let settings: Vec<String> = model.settings.iter().map(setting_text).collect();
                    match settings.is_empty() {
                        true => model.model.name.clone(),
                        false => format!("{} ({})", model.model.name, settings.join(", ")),
                    }
                };
                uses.iter().map(model).collect::<Vec<_>>().join(" + ")
            }
        }
    }
}

fn setting_text(setting: &Setting) -> String {
    let choices: Vec<String> = setting.choices.iter().map(|choice| choice.chosen.text()).collect();
    format!("{} = {}", setting.field.name, choices.join(" | "))
}
