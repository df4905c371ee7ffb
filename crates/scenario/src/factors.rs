//! The factors that distinguish the cells of a plan: their names and values in result documents.

use trackbed_core::parameter::{Kind, Value, frequency};
use trackbed_measure::results::FactorKind;

use crate::endpoint::{self, FACTORS, ignored_factor};
use crate::ends::Resolved;
use crate::plan::Factor;
use crate::spec::{Chosen, Selected, Setting, Spec};
use crate::{inference_keys, preset};

pub(crate) struct Column<'a> {
    pub name: String,
    setting: &'a Setting,
    /// All values are quantities of one unit, or all are words; otherwise they are shown as text.
    uniform: bool,
}

/// The names of all factors of a scenario, the same in each of its parts.
pub(crate) struct Names<'a>(Vec<(&'a Setting, String)>);

impl<'a> Names<'a> {
    pub fn of(specs: &'a [Spec]) -> Names<'a> {
        let mut all = Vec::new();
        specs.iter().for_each(|spec| collect(&spec.settings, &mut all));
        let mut settings: Vec<&Setting> = Vec::new();
        for setting in all {
            if !settings.iter().any(|known| are_one_factor(known, setting)) {
                settings.push(setting);
            }
        }
        let names = unique_names(&settings);
        Names(settings.into_iter().zip(names).collect())
    }

    fn name(&self, setting: &Setting) -> String {
        let known = self.0.iter().find(|(known, _)| are_one_factor(known, setting));
        known.map(|(_, name)| name.clone()).unwrap_or_default()
    }
}

/// Whether two settings, of different parts, are the same factor in the same unit.
fn are_one_factor(one: &Setting, other: &Setting) -> bool {
    one.path == other.path && suffix(one) == suffix(other)
}

/// The factors of a part in the order of the file: the keys that are always factors, and all that
/// varies.
pub(crate) fn columns<'a>(spec: &'a Spec, names: &Names<'_>) -> Vec<Column<'a>> {
    let mut settings = Vec::new();
    collect(&spec.settings, &mut settings);
    let column = |setting: &'a Setting| Column {
        name: names.name(setting),
        setting,
        uniform: suffix(setting).is_some(),
    };
    settings.into_iter().map(column).collect()
}

impl Column<'_> {
    /// What its values are.
    pub fn kind(&self) -> FactorKind {
        let (kind, word) = match &self.setting.choices[0].chosen {
            _ if !self.uniform => (None, ""),
            Chosen::Models(_) => (None, ""),
            Chosen::Value(_) => (self.setting.field.shape.kind(), ""),
            Chosen::Shorthand(shorthand, _) => (Some(shorthand.kind), shorthand.word.unwrap_or("")),
        };
        let (kind, unit) = match kind {
            Some(Kind::Rate) => ("rate", "Mbit/s"),
            Some(Kind::Time) => ("time", "ms"),
            Some(Kind::Size) => ("size", "B"),
            Some(Kind::Frequency) => ("frequency", "1/s"),
            Some(Kind::Share) => ("share", ""),
            Some(Kind::Number) => ("number", word),
            Some(Kind::Decibels { .. }) => ("number", "dB"),
            Some(Kind::Count { .. }) => ("count", word),
            _ => ("text", ""),
        };
        let suffix = suffix(self.setting).unwrap_or_default();
        let title = self.name.strip_suffix(&suffix).unwrap_or(&self.name).replace('_', " ");
        FactorKind { title, kind: kind.to_owned(), unit: unit.to_owned() }
    }

    /// The dotted path of the key.
    pub fn path(&self) -> &str {
        &self.setting.path
    }

    /// The same in a scenario of groups: what this one ignores is a condition if another one there uses it.
    pub fn value_among(&self, at: Selected<'_>, resolved: &Resolved, groups: &[Spec]) -> Factor {
        let varies = self.setting.axis.is_some() && resolved.ignored.contains(&self.path());
        let uses = |group: &&Spec| {
            let there = Selected { spec: group, ..at };
            group.schedule(there).is_none_or(|schedule| schedule.count > 0)
                && endpoint::resolve(there)
                    .is_some_and(|it| it.is_ok_and(|it| !it.ignored.contains(&self.path())))
        };
        match groups.iter().filter(|_| varies).find(uses).and_then(|group| group.group.as_ref()) {
            Some(name) => {
                Factor::Text(format!("{} in {name}", at.pick(self.setting).chosen.text()))
            }
            None => self.value(at, resolved),
        }
    }

    /// The factor of a combination with these endpoints.
    pub fn value(&self, at: Selected<'_>, resolved: &Resolved) -> Factor {
        if resolved.ignored.contains(&self.path()) {
            return Factor::Text(ignored_factor(self.path(), &resolved.endpoint).to_owned());
        }
        let chosen = &at.pick(self.setting).chosen;
        match chosen.value().filter(|_| self.uniform) {
            Some(value) => factor(value),
            None => Factor::Text(chosen.text()),
        }
    }
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

/// The last component of each path followed by its unit, with as many leading components as make
/// the names unique.
fn unique_names(settings: &[&Setting]) -> Vec<String> {
    // Two cells of one protocol may differ only in the software preset.
    // The rate of other traffic is no rate of the link.
    let is_others = |path: &str| path.contains(".background.") || path.starts_with("group.");
    let is_long = |path: &str| preset::is_key(path) || is_others(path);
    let least = |setting: &&Setting| if is_long(&setting.path) { 2 } else { 1 };
    let mut components: Vec<usize> = settings.iter().map(least).collect();
    loop {
        let names: Vec<String> = settings
            .iter()
            .zip(&components)
            .map(|(setting, count)| {
                let mut parts: Vec<&str> = known_as(&setting.path).split('.').collect();
                if let ["group", name, ..] = parts[..] {
                    let least = parts.len() - (*count - 1).min(parts.len() - 2);
                    parts.splice(..least, [name]);
                }
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

/// The path by which a factor is named: the factor of `inference.kind` is "inference", as "kind"
/// alone is ambiguous.
fn known_as(path: &str) -> &str {
    if path == inference_keys::KIND { inference_keys::SECTION } else { path }
}

fn suffix(setting: &Setting) -> Option<String> {
    let mut suffixes = setting.choices.iter().map(|choice| match &choice.chosen {
        Chosen::Models(_) => None,
        Chosen::Value(_) => setting.field.shape.kind().map(|kind| unit(kind).to_owned()),
        Chosen::Shorthand(shorthand, _) => Some(match shorthand.word {
            Some(word) => format!("_{word}"),
            None => unit(shorthand.kind).to_owned(),
        }),
    });
    let first = suffixes.next().flatten()?;
    suffixes.all(|suffix| suffix.as_ref() == Some(&first)).then_some(first)
}

/// The unit suffix of a factor of this kind, matching the unit of [`factor`].
fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Rate => "_mbps",
        Kind::Time => "_ms",
        Kind::Size => "_bytes",
        Kind::Frequency => "_hz",
        Kind::Decibels { .. } => "_db",
        Kind::Share | Kind::Count { .. } | Kind::Number => "",
        Kind::Choice(_) | Kind::Flag | Kind::Counts | Kind::Timetable => "",
        Kind::File | Kind::Folder | Kind::Text | Kind::Described(_) => "",
    }
}

/// The value as a factor: a number where it is a quantity.
fn factor(value: &Value) -> Factor {
    match value {
        Value::Rate(rate) => Factor::Number(rate.as_bps() as f64 / 1e6),
        Value::Time(span) => Factor::Number(span.as_nanos() as f64 / 1e6),
        Value::Share(share) => Factor::Number(share.as_f64()),
        Value::Size(size) => Factor::Number(size.as_bytes() as f64),
        Value::Count(count) => Factor::Number(*count as f64),
        Value::Number(number) | Value::Decibels(number) => Factor::Number(*number),
        Value::Period(period) => Factor::Number(frequency(*period)),
        Value::Choice(_) | Value::Flag(_) | Value::Counts(_) | Value::Timetable(_) => {
            Factor::Text(value.to_string())
        }
        Value::Text(text) if text.starts_with('{') => Factor::Text(name_in(text)),
        Value::File(_) | Value::Folder(_) | Value::Contents(_) | Value::Text(_) => {
            Factor::Text(value.to_string())
        }
    }
}

/// The name that a table gives itself, or all of it.
fn name_in(table: &str) -> String {
    let read = toml::from_str::<toml::Table>(&format!("table = {table}")).ok();
    let name = read.and_then(|read| Some(read["table"].get("name")?.as_str()?.to_owned()));
    name.unwrap_or_else(|| table.to_owned())
}
