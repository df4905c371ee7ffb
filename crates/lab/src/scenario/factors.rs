//! What tells the cells of a plan apart: names and values for result documents.

use super::endpoint::{FACTORS, ignored_factor};
use super::form::{Datum, Form};
use super::plan::Factor;
use super::schema::Shape;
use super::spec::{Chosen, Setting, Spec};

/// A factor: a setting that is shown in results.
pub(super) struct Column<'a> {
    pub name: String,
    setting: &'a Setting,
    /// All values are quantities of one unit, or all are words; otherwise they are shown as text.
    uniform: bool,
}

/// The factors of a scenario in the order of the file: the keys that tell cells apart by nature,
/// and all that varies.
pub(super) fn columns(spec: &Spec) -> Vec<Column<'_>> {
    let mut settings = Vec::new();
    collect(&spec.settings, &mut settings);
    let names = unique_names(&settings);
    let column = |(setting, name)| Column { name, setting, uniform: suffix(setting).is_some() };
    settings.into_iter().zip(names).map(column).collect()
}

impl Column<'_> {
    /// The dotted path of the key.
    pub fn path(&self) -> &str {
        &self.setting.path
    }

    /// The value where axis `i` stands at `selection[i]`, for a protocol that has no use for the
    /// keys in `ignored`.
    pub fn value(&self, selection: &[usize], ignored: &[&str]) -> Factor {
        if ignored.contains(&self.path()) {
            return Factor::Text(ignored_factor(self.path()).to_owned());
        }
        let chosen = &self.setting.pick(selection).chosen;
        match chosen {
            Chosen::Datum(datum) | Chosen::Shorthand(_, datum) if self.uniform => datum.factor(),
            chosen => Factor::Text(text(chosen)),
        }
    }
}

/// A choice as text; equal choices give equal texts.
pub(super) fn text(chosen: &Chosen) -> String {
    match chosen {
        Chosen::Datum(datum) => datum.to_string(),
        Chosen::Shorthand(shorthand, datum) => match shorthand.word {
            Some(word) => format!("{datum} {word}"),
            None => datum.to_string(),
        },
        Chosen::Models(uses) => {
            let model = |model: &super::spec::ModelUse| {
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

fn setting_text(setting: &Setting) -> String {
    let choices: Vec<String> = setting.choices.iter().map(|choice| text(&choice.chosen)).collect();
    format!("{} = {}", setting.field.name, choices.join(" | "))
}

fn collect<'a>(settings: &'a [Setting], columns: &mut Vec<&'a Setting>) {
    for setting in settings {
        if setting.axis.is_some() || FACTORS.contains(&setting.path.as_str()) {
            columns.push(setting);
        }
        for choice in setting.choices.iter().filter(|_| setting.axis.is_none()) {
            if let Chosen::Models(uses) = &choice.chosen {
                uses.iter().for_each(|model| collect(&model.settings, columns));
            }
        }
    }
}

/// The last component of each path with the unit behind it, and as many more components in front
/// as it takes to tell them apart.
fn unique_names(settings: &[&Setting]) -> Vec<String> {
    let mut components = vec![1; settings.len()];
    loop {
        let names: Vec<String> = settings
            .iter()
            .zip(&components)
            .map(|(setting, count)| {
                let parts: Vec<&str> = setting.path.split('.').collect();
                let parts = parts[parts.len().saturating_sub(*count)..].join("_");
                format!("{}{}", parts.replace('-', "_"), suffix(setting).unwrap_or_default())
            })
            .collect();
        let mut clear = true;
        for (index, name) in names.iter().enumerate() {
            let shared = names.iter().filter(|other| *other == name).count() > 1;
            if shared && components[index] < settings[index].path.split('.').count() {
                components[index] += 1;
                clear = false;
            }
        }
        if clear {
            return names;
        }
    }
}

/// The unit of a setting's values, if they share one.
fn suffix(setting: &Setting) -> Option<String> {
    let mut suffixes = setting.choices.iter().map(|choice| match &choice.chosen {
        Chosen::Datum(Datum::Text(_)) | Chosen::Models(_) => None,
        Chosen::Datum(_) => match &setting.field.shape {
            Shape::Fixed(form) | Shape::Swept(form) => Some(form.suffix().to_owned()),
            Shape::Models(_) | Shape::Section(_) | Shape::Workload => None,
        },
        Chosen::Shorthand(shorthand, _) => match (shorthand.word, shorthand.form) {
            (Some(word), _) => Some(format!("_{word}")),
            (None, Form::List(_) | Form::Text) => None,
            (None, form) => Some(form.suffix().to_owned()),
        },
    });
    let first = suffixes.next().flatten()?;
    suffixes.all(|suffix| suffix.as_ref() == Some(&first)).then_some(first)
}
