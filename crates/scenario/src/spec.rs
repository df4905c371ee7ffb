//! A parsed scenario: every key is known, every value is of the right kind, and what varies is an
//! axis. Conflicts between keys are not checked yet.

use std::collections::BTreeSet;

use trackbed_core::parameter::{FromValue, Value};

use crate::field::{Field, Model, Shorthand};
use crate::problem::Place;

#[derive(Clone, Debug, Default)]
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
    /// The names of the groups, each with its place, in the order of the file.
    pub groups: Vec<(String, Place)>,
    /// The group whose view this is.
    pub group: Option<String>,
}

#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub path: String,
    /// The number of its values.
    pub values: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub chosen: Chosen,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    Value(Value),
    /// A plain value that stands for a model.
    Shorthand(&'static Shorthand, Value),
    /// One or more models of a stage, in the order in which a packet passes them.
    Models(Vec<ModelUse>),
}

#[derive(Clone, Debug)]
pub(crate) struct ModelUse {
    pub model: &'static Model,
    pub settings: Vec<Setting>,
    pub place: Place,
}

/// A scenario with one value chosen on each axis.
#[derive(Clone, Copy)]
pub(crate) struct Selected<'a> {
    pub spec: &'a Spec,
    /// The index of the chosen value on each axis.
    pub selection: &'a [usize],
}

impl Spec {
    pub fn get(&self, path: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.path == path)
    }

    /// The value of a key that has one for the whole scenario.
    pub fn value(&self, path: &str) -> Option<&Value> {
        Selected { spec: self, selection: &[] }.value(path)
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
}

impl<'a> Selected<'a> {
    /// The index of a setting's choice.
    pub fn index(self, setting: &Setting) -> usize {
        setting.axis.map_or(0, |axis| self.selection[axis])
    }

    pub fn pick(self, setting: &Setting) -> &Choice {
        &setting.choices[self.index(setting)]
    }

    /// The value of a plain key.
    pub fn value(self, path: &str) -> Option<&'a Value> {
        self.pick(self.spec.get(path)?).chosen.value()
    }

    /// The same as another type.
    pub fn get<T: FromValue>(self, path: &str) -> Option<T> {
        T::from_value(self.value(path)?)
    }

    /// The value of a key that is one of several words.
    pub fn word(self, path: &str) -> Option<&'static str> {
        self.get(path)
    }

    /// The position of a key's value, or else of that of another setting.
    pub fn place(self, path: &str, otherwise: &'a Setting) -> &'a Place {
        &self.pick(self.spec.get(path).unwrap_or(otherwise)).place
    }
}

impl Chosen {
    /// The value, unless it is a model with parameters.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Chosen::Value(value) | Chosen::Shorthand(_, value) => Some(value),
            Chosen::Models(_) => None,
        }
    }

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
