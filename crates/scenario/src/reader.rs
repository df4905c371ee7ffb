//! Converts the tree to settings, driven by the tables of the schema: sections, keys, lists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::field::{Field, Shape, kebab};
use crate::files::{Copies, absolute};
use crate::problem::{Place, Problems};
use crate::schema::SCHEMA;
use crate::spec::{Axis, Choice, Chosen, Setting, Spec};
use crate::tree::{Content, Entry, Node, Table};
use crate::{groups, suggest, sweep, values};

/// The folders that files in settings are relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folders<'a> {
    /// For files that the scenario names.
    pub scenario: &'a Path,
    /// For files that the command line names.
    pub current: &'a Path,
    /// Whether files are looked up: an untrusted sender must not learn which files exist here.
    pub looks: bool,
    /// Files that are read in place of others.
    pub copies: &'a Copies,
}

impl Folders<'_> {
    /// The file itself, or its copy.
    pub fn copy(&self, path: PathBuf) -> PathBuf {
        self.copies.get(&absolute(&path)).cloned().unwrap_or(path)
    }
}

pub(crate) fn read(table: &mut Table, folders: Folders<'_>, problems: &mut Problems) -> Spec {
    groups::fill_kinds(table);
    let mut reader =
        Reader { folders, problems, axes: Vec::new(), groups: Vec::new(), in_list: false };
    let mut settings = Vec::new();
    let top = Section { prefix: String::new(), title: "a scenario".to_owned() };
    reader.section(&top, table, &SCHEMA.top, &mut settings);
    let written = table.entries.iter().map(|entry| kebab(&entry.key)).collect();
    let (axes, groups) = (reader.axes, reader.groups);
    Spec { part: None, part_begins: 0, settings, axes, written, groups, group: None }
}

pub(crate) struct Section {
    /// The path followed by a dot; empty at the top.
    pub prefix: String,
    /// Its name in messages.
    pub title: String,
}

impl Section {
    fn below(&self, name: &str) -> Section {
        let path = format!("{}{name}", self.prefix);
        Section { title: format!("[{path}]"), prefix: format!("{path}.") }
    }
}

pub(crate) struct Reader<'a> {
    pub folders: Folders<'a>,
    pub problems: &'a mut Problems,
    axes: Vec<Axis>,
    groups: Vec<(String, Place)>,
    /// Inside a list of models nothing else may vary.
    in_list: bool,
}

impl Reader<'_> {
    pub fn section(
        &mut self,
        section: &Section,
        table: &Table,
        fields: &'static [Field],
        settings: &mut Vec<Setting>,
    ) {
        for entry in &table.entries {
            if self.problems.is_full() {
                return;
            }
            let name = kebab(&entry.key);
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                self.unknown_key(section, entry, fields);
                continue;
            };
            if settings.iter().any(|set| set.path == format!("{}{name}", section.prefix)) {
                let message = format!("\"{}\" is set twice", entry.key);
                self.problems.add_with_help(&entry.key_place, message, "remove one of the two");
                continue;
            }
            let inner = match &field.shape {
                Shape::Fixed(_) | Shape::Swept(_) | Shape::Models(_) => {
                    settings.extend(self.setting(section, entry, field));
                    continue;
                }
                Shape::Section(fields) | Shape::Named(fields) => Some(fields.as_slice()),
                Shape::Workload => None,
            };
            let Content::Table(table) = &entry.node.content else {
                let message = format!("[{}{name}] is a table", section.prefix);
                let path = format!("{}{name}", section.prefix);
                let help = match entry.node.place.origin {
                    0 => format!("write its keys below a line [{path}]"),
                    _ => format!("set one of its keys, for example --set {path}.rate=10mbit"),
                };
                self.problems.add_with_help(&entry.node.place, message, help);
                continue;
            };
            let below = section.below(&name);
            if let (Shape::Named(_), Some(fields)) = (&field.shape, inner) {
                self.named(&below, table, fields, settings);
                continue;
            }
            match inner.or_else(|| self.workload_fields(entry, table)) {
                Some(fields) => self.section(&below, table, fields, settings),
                None => continue,
            }
        }
    }

    /// The tables of the groups.
    fn named(
        &mut self,
        section: &Section,
        table: &Table,
        fields: &'static [Field],
        settings: &mut Vec<Setting>,
    ) {
        for entry in &table.entries {
            let name = &entry.key;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            match &entry.node.content {
                Content::Table(table) if name.chars().all(is_plain) => {
                    self.groups.push((name.clone(), entry.key_place.clone()));
                    self.section(&section.below(name), table, fields, settings);
                }
                Content::Table(_) => {
                    let message = format!("\"{name}\" cannot be the name of a group");
                    let help = "write letters, digits, - and _";
                    self.problems.add_with_help(&entry.key_place, message, help);
                }
                Content::Scalar(_) | Content::List(_) => {
                    let message = format!("[{}{name}] is a table", section.prefix);
                    let help = format!("write its keys below a line [{}NAME]", section.prefix);
                    self.problems.add_with_help(&entry.node.place, message, help);
                }
            }
        }
    }

    fn unknown_key(&mut self, section: &Section, entry: &Entry, fields: &[Field]) {
        // Two protocols may have parameters of one name.
        let mut seen = BTreeSet::new();
        let names = fields.iter().map(|field| field.name.as_str());
        let known: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
        let guess = suggest::key(&section.prefix, &kebab(&entry.key), &known);
        let list = match known.is_empty() {
            true => format!("{} has no keys", section.title),
            false if known.len() > LISTED_MAX => {
                let command =
                    format!("trackbed list keys {}", section.prefix.trim_end_matches('.'));
                format!("`{}` shows the keys", command.trim_end())
            }
            false => format!("{} takes {}", section.title, known.join(", ")),
        };
        let message = format!("unknown key \"{}\"", entry.key);
        let help = match guess.as_deref() {
            Some("link") if section.prefix.starts_with("group.") => {
                format!(
                    "groups share [link]; a link of this one's own is [{}access]",
                    section.prefix
                )
            }
            Some(top) if top == kebab(&entry.key) => {
                format!("it belongs to no table: in a file, write it above all of them; {list}")
            }
            guess
                if section.prefix == "workload."
                    && guess.is_none_or(|guess| !known.contains(&guess)) =>
            {
                of_other_kinds(&entry.key) + &list
            }
            guess => suggest::question(guess) + &list,
        };
        self.problems.add_with_help(&entry.key_place, message, help);
    }

    /// The keys of a `[workload]` table, by its `kind`.
    fn workload_fields(&mut self, entry: &Entry, table: &Table) -> Option<&'static [Field]> {
        let kinds: Vec<&str> = SCHEMA.workloads.keys().copied().collect();
        let quoted: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
        let help = format!("write kind = {}", quoted.join(" or "));
        let Some(kind) = table.get("kind") else {
            return self.problems.refuse(&entry.key_place, "[workload] has no kind", help);
        };
        let Content::Scalar(name) = &kind.node.content else {
            let message = "a scenario has only one kind of workload, as each has its own metrics";
            return self.problems.refuse(&kind.node.place, message, help);
        };
        let fields = SCHEMA.workloads.get(name.trim());
        if fields.is_none() {
            let message = format!("unknown workload \"{name}\"");
            let help = suggest::question(suggest::nearest(name, &kinds)) + &help;
            self.problems.add_with_help(&kind.node.place, message, help);
        }
        fields.map(Vec::as_slice)
    }

    pub fn setting(
        &mut self,
        section: &Section,
        entry: &Entry,
        field: &'static Field,
    ) -> Option<Setting> {
        let path = format!("{}{}", section.prefix, field.name);
        let place = &entry.node.place;
        let choices = match (&entry.node.content, &field.shape) {
            (Content::List(items), shape) if !shape.is_axis(items) => {
                return self.joined(path, field, items, entry);
            }
            (Content::List(_), _) if self.in_list => {
                let help = "list the model once for each value";
                return self.problems.refuse(place, "a list inside a list of models", help);
            }
            (Content::List(items), _) => self.alternatives(&path, field, items, place)?,
            (Content::Table(range), shape) if values::is_range(range, shape) => {
                self.range(field, range, place)?
            }
            (Content::Scalar(_) | Content::Table(_), _) => {
                let chosen = self.choice(&path, field, &entry.node)?;
                return Some(Setting::single(path, field, chosen, entry));
            }
        };
        self.axes.push(Axis { path: path.clone(), values: choices.len() });
        let (axis, place) = (Some(self.axes.len() - 1), entry.key_place.clone());
        Some(Setting { path, field, axis, choices, place })
    }

    /// A list that is one value, or stands where only one value is allowed.
    fn joined(
        &mut self,
        path: String,
        field: &'static Field,
        items: &[Node],
        entry: &Entry,
    ) -> Option<Setting> {
        let shorthand = match &field.shape {
            Shape::Models(slot) => slot.shorthands.first(),
            _ => None,
        };
        let kind = field.shape.kind().or(shorthand.map(|shorthand| shorthand.kind));
        let Some((kind, text)) = kind.filter(|kind| kind.is_list()).zip(list_text(items)) else {
            let message = match &field.shape {
                Shape::Fixed(_) => {
                    "this key takes a single value for the whole scenario, not a list"
                }
                _ => "this list is not a valid value",
            };
            let help = format!("write {} = {}", field.name, field.example());
            return self.problems.refuse(&entry.node.place, message, help);
        };
        let value = kind.parse(&text);
        let value = value.map_err(|why| self.problems.add(&entry.node.place, why)).ok()?;
        let chosen = match shorthand {
            Some(shorthand) => Chosen::Shorthand(shorthand, value),
            None => Chosen::Value(value),
        };
        Some(Setting::single(path, field, chosen, entry))
    }

    /// The values of a list that is an axis.
    fn alternatives(
        &mut self,
        path: &str,
        field: &'static Field,
        items: &[Node],
        place: &Place,
    ) -> Option<Vec<Choice>> {
        if items.is_empty() {
            let message = format!("the list of {} is empty, so nothing would run", field.name);
            let help = format!("write at least one value, for example [{}]", field.example());
            return self.problems.refuse(place, message, help);
        }
        if items.len() as u64 > sweep::CELLS_MAX {
            let message = format!("a list of {} values", items.len());
            let help = format!("write at most {} values", sweep::CELLS_MAX);
            return self.problems.refuse(place, message, help);
        }
        let mut choices: Vec<Choice> = Vec::new();
        let mut texts = BTreeSet::new();
        let mut complete = true;
        self.in_list = true;
        for item in items {
            let chosen = self.choice(path, field, item);
            match chosen {
                Some(chosen) if !texts.insert(chosen.text()) => {
                    let message = "duplicate value in the list";
                    self.problems.add_with_help(&item.place, message, "remove one of the two");
                }
                Some(chosen) => choices.push(Choice { chosen, place: item.place.clone() }),
                None => complete = false,
            }
        }
        self.in_list = false;
        complete.then_some(choices)
    }
}

impl Setting {
    fn single(path: String, field: &'static Field, chosen: Chosen, entry: &Entry) -> Setting {
        let choices = vec![Choice { chosen, place: entry.node.place.clone() }];
        Setting { path, field, axis: None, choices, place: entry.key_place.clone() }
    }
}

/// The text form of a list that is one value.
fn list_text(items: &[Node]) -> Option<String> {
    let scalar = |node: &Node| match &node.content {
        Content::Scalar(text) => Some(text.clone()),
        Content::List(_) | Content::Table(_) => None,
    };
    let row = |node: &Node| match &node.content {
        Content::List(pair) => match &pair[..] {
            [first, second] => Some(format!("{}: {}", scalar(first)?, scalar(second)?)),
            _ => None,
        },
        Content::Scalar(_) | Content::Table(_) => scalar(node),
    };
    let rows: Vec<String> = items.iter().map(row).collect::<Option<_>>()?;
    (!rows.is_empty()).then(|| rows.join(", "))
}

/// More keys are no help in a message.
const LISTED_MAX: usize = 15;

/// `kind = "telemetry" has it; `
fn of_other_kinds(key: &str) -> String {
    let has = |fields: &Vec<Field>| fields.iter().any(|field| field.name == kebab(key));
    let kinds = SCHEMA.workloads.iter().filter(|(_, fields)| has(fields));
    kinds.map(|(kind, _)| format!("kind = \"{kind}\" has it; ")).collect()
}
