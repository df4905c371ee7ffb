//! Single values: quantities, models with their parameters, ranges, files.

use std::path::Path;

use trackbed_core::parameter::{FromValue, Kind, Value};

use crate::field::{Field, Model, Shape, Slot, kebab};
use crate::problem::Place;
use crate::reader::{Reader, Section};
use crate::spec::{Choice, Chosen, ModelUse};
use crate::suggest;
use crate::sweep::{self, Division};
use crate::tree::{Content, Entry, Node, Table};

impl Reader<'_> {
    /// `{ from = ..., to = ..., step = ... }`
    pub fn range(
        &mut self,
        field: &'static Field,
        table: &Table,
        place: &Place,
    ) -> Option<Vec<Choice>> {
        let advice = || {
            let example = field.example();
            format!(
                "write {{ from = {example}, to = ..., step = ... }}, or points = 5 instead of \
                     the step"
            )
        };
        let unknown = table.entries.iter().find(|e| !RANGE_KEYS.contains(&e.key.as_str()));
        if let Some(entry) = unknown {
            let message = format!("unknown key \"{}\" in a range", entry.key);
            return self.problems.refuse(&entry.key_place, message, advice());
        }
        let (from, to) = (table.get("from"), table.get("to"));
        let (step, points) = (table.get("step"), table.get("points"));
        let (Some(from), Some(to), true) = (from, to, step.is_some() != points.is_some()) else {
            return self.problems.refuse(place, "the range is incomplete", advice());
        };
        let from = self.scalar(field, &from.node)?;
        let to = self.scalar(field, &to.node)?;
        let division = match (step, points) {
            (Some(step), _) => Division::Step(self.scalar(field, &step.node)?.value()?.clone()),
            (None, Some(points)) => {
                let points = self.parse(Kind::Count { min: 2 }, &points.node)?;
                Division::Points(u64::from_value(&points)?)
            }
            (None, None) => return None,
        };
        let values = match (from.value(), to.value()) {
            (Some(from), Some(to)) => sweep::range(from, to, &division),
            _ => Err("only quantities can form a range; list the values".to_owned()),
        };
        let values = values.map_err(|why| self.problems.add(place, why)).ok()?;
        let choice = |value| Choice { chosen: from.like(value), place: place.clone() };
        Some(values.into_iter().map(choice).collect())
    }

    /// A single value or set of models.
    pub fn choice(&mut self, path: &str, field: &'static Field, node: &Node) -> Option<Chosen> {
        match (&node.content, &field.shape) {
            (Content::Table(table), Shape::Models(slot)) => self.models(path, slot, table, node),
            (Content::Scalar(_), _) => self.scalar(field, node),
            (Content::Table(_), Shape::Swept(Kind::Described(_))) => {
                Some(Chosen::Value(Value::Text(inline(node))))
            }
            (Content::Table(_) | Content::List(_), _) => {
                let what = match node.content {
                    Content::Table(_) => "table",
                    Content::List(_) | Content::Scalar(_) => "list inside a list",
                };
                let message = format!("{} takes a value, not a {what}", field.name);
                let help = format!("write {}", field.example());
                self.problems.refuse(&node.place, message, help)
            }
        }
    }

    /// `{ uniform = { least = "1 ms", most = "3 ms" } }`, `{ periodic = 100 }`, or the plain
    /// model's parameters without its name.
    fn models(
        &mut self,
        path: &str,
        slot: &'static Slot,
        table: &Table,
        node: &Node,
    ) -> Option<Chosen> {
        if table.entries.is_empty() {
            let help = format!("write {}", slot.examples());
            return self.problems.refuse(&node.place, "no model is named", help);
        }
        if let Some(plain) = slot.models.first().filter(|plain| is_of(table, plain, slot)) {
            let title = format!("the model {}", plain.name);
            let section = Section { prefix: format!("{path}."), title };
            let mut settings = Vec::new();
            self.section(&section, table, &plain.fields, &mut settings);
            let place = node.place.clone();
            return Some(Chosen::Models(vec![ModelUse { model: plain, settings, place }]));
        }
        let uses: Vec<ModelUse> =
            table.entries.iter().filter_map(|entry| self.model(path, slot, entry)).collect();
        (uses.len() == table.entries.len()).then_some(Chosen::Models(uses))
    }

    fn model(&mut self, path: &str, slot: &'static Slot, entry: &Entry) -> Option<ModelUse> {
        let name = kebab(&entry.key);
        let Some(model) = slot.models.iter().find(|model| model.name == name) else {
            let known: Vec<&str> = slot.models.iter().map(|m| m.name.as_str()).collect();
            let guess = suggest::question(suggest::nearest(&name, &known));
            let message = format!("unknown model \"{}\" for {path}", entry.key);
            let help = match path.rsplit_once('.') {
                Some((link, key)) if ["up", "down"].contains(&&*name) && is_link(link) => {
                    format!("for one direction, write {key} below a line [{link}.{name}]")
                }
                _ => format!("{guess}the models are {}", known.join(", ")),
            };
            return self.problems.refuse(&entry.key_place, message, help);
        };
        let title = format!("the model {name}");
        let section = Section { prefix: format!("{path}.{name}."), title };
        let mut settings = Vec::new();
        match (&entry.node.content, model.only_field()) {
            (Content::Table(range), Some(only)) if is_range(range, &only.shape) => {
                settings.extend(self.setting(&section, entry, only));
            }
            (Content::Table(parameters), _) => {
                self.section(&section, parameters, &model.fields, &mut settings);
            }
            (Content::Scalar(_) | Content::List(_), Some(only)) => {
                settings.extend(self.setting(&section, entry, only));
            }
            (Content::Scalar(_) | Content::List(_), None) => {
                let message = format!("{name} needs a table of parameters");
                let help = format!("write {}", model.example());
                self.problems.add_with_help(&entry.node.place, message, help);
            }
        }
        Some(ModelUse { model, settings, place: entry.key_place.clone() })
    }

    /// A value of the field's kind, or one that stands for a model.
    fn scalar(&mut self, field: &'static Field, node: &Node) -> Option<Chosen> {
        if let Some(kind) = field.shape.kind() {
            return self.parse(kind, node).map(Chosen::Value);
        }
        let Shape::Models(slot) = &field.shape else { return None };
        let Content::Scalar(text) = &node.content else {
            let help = format!("write {}", slot.examples());
            return self.problems.refuse(&node.place, "expected a single value", help);
        };
        if let Some(model) = slot.models.iter().find(|model| model.name == kebab(text.trim())) {
            let place = node.place.clone();
            return Some(Chosen::Models(vec![ModelUse { model, settings: Vec::new(), place }]));
        }
        let mut refusal = None;
        for shorthand in &slot.shorthands {
            let number = shorthand.word.and_then(|word| text.trim().strip_suffix(word));
            match shorthand.kind.parse(number.unwrap_or(text).trim()) {
                Ok(value) => {
                    let value = self.found(value, &node.place)?;
                    return Some(Chosen::Shorthand(shorthand, value));
                }
                Err(why) => refusal = Some(why),
            }
        }
        match (refusal, slot.other_models()) {
            (Some(why), models) if slot.shorthands.len() == 1 => {
                let help =
                    models.map(|models| format!("{} also takes a model: {models}", field.name));
                self.problems.report(&node.place, why, help);
            }
            _ => {
                let help = format!("{} takes {}", field.name, slot.examples());
                let message = format!("\"{text}\" is not a valid value");
                self.problems.add_with_help(&node.place, message, help);
            }
        }
        None
    }

    fn parse(&mut self, kind: Kind, node: &Node) -> Option<Value> {
        let Content::Scalar(text) = &node.content else {
            let help = format!("write {}", kind.example());
            return self.problems.refuse(&node.place, "expected a single value", help);
        };
        match kind.parse(text) {
            Ok(value) => self.found(value, &node.place),
            Err(why) => {
                let words: &[&str] = match kind {
                    Kind::Choice(words) | Kind::Described(words) => words,
                    _ => &[],
                };
                let guess = suggest::nearest(text, words);
                let help = guess.map(|guess| format!("did you mean \"{guess}\"?"));
                self.problems.report(&node.place, why, help);
                None
            }
        }
    }

    /// A file or folder relative to the right folder, where it must exist; other values as they are.
    fn found(&mut self, value: Value, place: &Place) -> Option<Value> {
        let (Value::File(path) | Value::Folder(path)) = &value else { return Some(value) };
        let is_file = matches!(value, Value::File(_));
        // Paths on the command line are relative to the current folder, not to the scenario.
        let (base, from) = match place.origin {
            0 => (self.folders.scenario, "the scenario's folder"),
            _ => (self.folders.current, "the current folder"),
        };
        let path = self.folders.copy(base.join(path));
        let what = if is_file { "file" } else { "folder" };
        if self.folders.looks
            && let Some(message) = trouble(&path, is_file, what)
        {
            let help = format!("write the path of a {what}, relative to {from}");
            return self.problems.refuse(place, message, help);
        }
        Some(if is_file { Value::File(path) } else { Value::Folder(path) })
    }
}

/// Why this is no file, or else no folder; `what` names it.
fn trouble(path: &Path, is_file: bool, what: &str) -> Option<String> {
    let is_right = match std::fs::metadata(path) {
        Ok(found) if is_file => found.is_file(),
        Ok(found) => found.is_dir(),
        Err(why) if is_file => return Some(format!("cannot read {}: {why}", path.display())),
        Err(_) => false,
    };
    (!is_right).then(|| format!("{} is not a {what}", path.display()))
}

impl Chosen {
    /// The same kind of choice with another value.
    fn like(&self, value: Value) -> Chosen {
        match self {
            Chosen::Shorthand(shorthand, _) => Chosen::Shorthand(shorthand, value),
            Chosen::Value(_) | Chosen::Models(_) => Chosen::Value(value),
        }
    }
}

/// In one line of TOML; numbers are whole.
fn inline(node: &Node) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match &node.content {
        Content::Scalar(text) if text.parse::<u64>().is_ok() => text.clone(),
        Content::Scalar(text) => format!("{text:?}"),
        Content::List(items) => format!("[{}]", list(items.iter().map(inline).collect())),
        Content::Table(table) => {
            let entries = table.entries.iter();
            let entry = |entry: &Entry| format!("{} = {}", entry.key, inline(&entry.node));
            format!("{{ {} }}", list(entries.map(entry).collect()))
        }
    }
}

/// A table with one of a range's keys, where no model of that name can stand.
pub(crate) fn is_range(table: &Table, shape: &Shape) -> bool {
    matches!(shape, Shape::Swept(_) | Shape::Models(_))
        && table.entries.iter().any(|entry| RANGE_KEYS.contains(&entry.key.as_str()))
}

/// Whether a table has the tables of both directions.
fn is_link(path: &str) -> bool {
    path.ends_with("link") || path.ends_with("access")
}

/// A table of the plain model's parameters, without its name.
fn is_of(table: &Table, plain: &Model, slot: &Slot) -> bool {
    let another = |key: &str| slot.models.iter().skip(1).any(|model| model.name == key);
    let mut keys = table.entries.iter().map(|entry| (kebab(&entry.key), &entry.node.content));
    let own = |(key, content): (String, &Content)| {
        let named = plain.name == key && matches!(content, Content::Table(_));
        !named && plain.fields.iter().any(|field| field.name == key)
    };
    !keys.clone().any(|(key, _)| another(&key)) && keys.any(own)
}

const RANGE_KEYS: [&str; 4] = ["from", "to", "step", "points"];
