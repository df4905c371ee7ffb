//! Parts of a scenario: each lays its own keys over the common ones, and has its own cells.
//!
//! `[[part]]` makes a part; without one the whole scenario is one. `[quick]`, at the top or in a
//! part, contains the smaller values of the quick form (`--quick`). Keys are laid over one another
//! in the order: the scenario's, the part's, `[quick]`, the part's quick ones, the command line's.

use crate::field::{Field, Shape, kebab};
use crate::overrides::Override;
use crate::problem::{Place, Problems};
use crate::schema::{SCHEMA, USEFUL};
use crate::tree::{Content, Entry, Node, Table};

/// The key of the tables that make parts, of the factor that names them, and of the setting that
/// chooses one (`--part`).
pub const PART: &str = "part";

/// The key of the tables that hold for the quick form, and of the setting that asks for it
/// (`--quick`).
pub(crate) const QUICK: &str = "quick";

/// Keys that hold for the scenario as a whole.
const OF_THE_WHOLE: [&str; 7] = ["summary", "paper", "substrate", "seed", PART, "name", USEFUL];

/// One part with everything laid over one another but the command line's settings.
pub(crate) struct Part {
    /// `None` where the scenario has no parts.
    pub name: Option<String>,
    /// The byte of the file at which it begins; 0 where the scenario has no parts.
    pub begins: usize,
    /// Its keys.
    pub table: Table,
}

/// What the command line asks for besides keys.
#[derive(Default)]
struct Choice {
    quick: bool,
    /// The names of the parts that are wanted, each with its place; all if there are none.
    wanted: Vec<(String, Place)>,
}

/// Whether a setting chooses among parts, and sets no key.
pub(crate) fn is_choice(setting: &Override) -> bool {
    [PART, QUICK].contains(&setting.key.as_str())
}

/// The kind of a part's workload, which the command line may replace.
pub(crate) fn workload_kind(part: &Table, overrides: &[Override]) -> Option<String> {
    let by_command = overrides.iter().rev().find(|one| one.key == "workload.kind");
    if let Some(setting) = by_command {
        return Some(setting.value.clone());
    }
    let Content::Table(workload) = &part.get("workload")?.node.content else { return None };
    match &workload.get("kind")?.node.content {
        Content::Scalar(kind) => Some(kind.clone()),
        Content::List(_) | Content::Table(_) => None,
    }
}

/// Whether a setting is a key of a workload that a part with the workload `kind` does not have, but
/// another part does.
pub(crate) fn is_for_others(
    setting: &Override,
    kind: &Option<String>,
    kinds: &[Option<String>],
) -> bool {
    let Some(key) = setting.key.strip_prefix("workload.") else { return false };
    let has = |kind: &Option<String>| {
        let fields = kind.as_ref().and_then(|kind| SCHEMA.workloads.get(kind.as_str()));
        fields.is_some_and(|fields| fields.iter().any(|field| field.name == kebab(key)))
    };
    !has(kind) && kinds.iter().any(has)
}

/// The parts of `scenario` that the choices among `overrides` leave.
pub(crate) fn of(
    mut scenario: Table,
    overrides: &[Override],
    problems: &mut Problems,
) -> Vec<Part> {
    let choice = Choice::of(overrides, problems);
    let parts = scenario.remove(PART);
    let quick = scenario.remove(QUICK);
    let quick = quick.and_then(|entry| table_of(entry, problems));
    let bodies = parts.map_or_else(Vec::new, |entry| tables_of(entry, problems));
    let mut has_quick = quick.is_some();
    let mut all: Vec<Part> = Vec::new();
    for (mut body, place) in bodies {
        let name = part_name(&mut body, &place, &all, problems);
        let own_quick = body.remove(QUICK).and_then(|entry| table_of(entry, problems));
        has_quick |= own_quick.is_some();
        check_keys(&body, problems);
        let mut table = scenario.clone();
        lay(&mut table, body, &SCHEMA.top);
        for quick in [quick.clone(), own_quick].into_iter().flatten().filter(|_| choice.quick) {
            lay(&mut table, quick, &SCHEMA.top);
        }
        all.push(Part { name, begins: place.span.start, table });
    }
    if all.is_empty() {
        quick.into_iter().filter(|_| choice.quick).for_each(|quick| {
            lay(&mut scenario, quick, &SCHEMA.top);
        });
        all.push(Part { name: None, begins: 0, table: scenario });
    }
    if choice.quick && !has_quick {
        let help = "leave --quick out, or make it smaller with --set and --runs";
        problems.add_missing("the scenario has no quick form", help);
    }
    choice.filter(all, problems)
}

impl Choice {
    fn of(overrides: &[Override], problems: &mut Problems) -> Choice {
        let mut choice = Choice::default();
        for (index, setting) in overrides.iter().enumerate() {
            let place = setting.value_place(index + 1);
            match setting.key.as_str() {
                PART => choice.wanted.push((setting.value.clone(), place)),
                QUICK => match setting.value.parse() {
                    Ok(quick) => choice.quick = quick,
                    Err(_) => problems.add_with_help(&place, "no yes or no", "write true or false"),
                },
                _ => {}
            }
        }
        choice
    }

    fn filter(self, all: Vec<Part>, problems: &mut Problems) -> Vec<Part> {
        let names: Vec<&str> = all.iter().filter_map(|part| part.name.as_deref()).collect();
        for (name, place) in &self.wanted {
            if !names.contains(&name.as_str()) {
                let help = match names.is_empty() {
                    true => "the scenario has no parts; leave --part out".to_owned(),
                    false => format!("its parts are \"{}\"", names.join("\", \"")),
                };
                problems.add_with_help(place, format!("there is no part \"{name}\""), help);
            }
        }
        let is_wanted = |part: &Part| {
            let mut wanted = self.wanted.iter();
            self.wanted.is_empty() || wanted.any(|(name, _)| part.name.as_ref() == Some(name))
        };
        all.into_iter().filter(is_wanted).collect()
    }
}

/// The name of a part, which no part before it has.
fn part_name(
    body: &mut Table,
    place: &Place,
    others: &[Part],
    problems: &mut Problems,
) -> Option<String> {
    let Some(entry) = body.remove("name") else {
        let help = "write name = \"...\" below [[part]]; results show it";
        return problems.refuse(place, "this part has no name", help);
    };
    let Content::Scalar(name) = entry.node.content else {
        return problems.refuse(&entry.node.place, "this is no name", "write name = \"...\"");
    };
    if name.trim().is_empty() {
        problems.add_with_help(&entry.node.place, "this is no name", "write some words");
    }
    if others.iter().any(|other| other.name.as_ref() == Some(&name)) {
        let message = format!("an earlier part is called \"{name}\" too");
        problems.add_with_help(&entry.node.place, message, "give each part a different name");
    }
    Some(name)
}

fn check_keys(body: &Table, problems: &mut Problems) {
    let misplaced = body.entries.iter().filter(|e| OF_THE_WHOLE.contains(&kebab(&e.key).as_str()));
    for entry in misplaced {
        let message = format!("\"{}\" holds for the whole scenario, not for a part", entry.key);
        let help = "write it before the first table of the scenario";
        problems.add_with_help(&entry.key_place, message, help);
    }
}

fn table_of(entry: Entry, problems: &mut Problems) -> Option<Table> {
    match entry.node.content {
        Content::Table(table) => Some(table),
        Content::Scalar(_) | Content::List(_) => {
            let help = format!("write its keys below a line [{}]", entry.key);
            problems.refuse(&entry.key_place, format!("{} is a table", entry.key), help)
        }
    }
}

/// The tables of a list of nothing else, each with its place.
fn tables_of(entry: Entry, problems: &mut Problems) -> Vec<(Table, Place)> {
    let help = format!("write each below a line [[{}]]", entry.key);
    let Content::List(items) = entry.node.content else {
        problems.add_with_help(&entry.key_place, "parts are a list of tables", help);
        return Vec::new();
    };
    let mut tables = Vec::new();
    for Node { content, place } in items {
        match content {
            Content::Table(table) => tables.push((table, place)),
            Content::Scalar(_) | Content::List(_) => {
                problems.add_with_help(&place, "a part is a table", &help);
            }
        }
    }
    tables
}

/// Lays `over` over `base`: tables of keys are laid over one another, anything else is replaced in
/// its place, and so is a workload by one of another kind.
fn lay(base: &mut Table, over: Table, fields: &[Field]) {
    for entry in over.entries {
        let name = kebab(&entry.key);
        let Some(under) = base.entries.iter_mut().find(|under| kebab(&under.key) == name) else {
            base.entries.push(entry);
            continue;
        };
        let field = fields.iter().find(|field| field.name == name);
        if let (Some(Shape::Named(fields)), Content::Table(below), Content::Table(above)) =
            (field.map(|field| &field.shape), &mut under.node.content, &entry.node.content)
        {
            lay_named(below, above.clone(), fields);
            continue;
        }
        let inner: Option<&[Field]> = match field.map(|field| &field.shape) {
            Some(Shape::Section(fields)) => Some(fields),
            Some(Shape::Workload) => Some(&[]),
            _ => None,
        };
        match (inner, &mut under.node.content, entry.node.content) {
            (Some(fields), Content::Table(below), Content::Table(above))
                if !is_other_kind(below, &above) =>
            {
                lay(below, above, fields);
            }
            (_, _, content) => {
                under.key_place = entry.key_place;
                under.node = Node { content, place: entry.node.place };
            }
        }
    }
}

/// Lays tables under names of the user's over those of the same names.
fn lay_named(base: &mut Table, over: Table, fields: &[Field]) {
    for entry in over.entries {
        match (base.get_mut(&entry.key).map(|under| &mut under.node.content), entry.node.content) {
            (Some(Content::Table(below)), Content::Table(above)) => lay(below, above, fields),
            (Some(under), content) => *under = content,
            (None, content) => {
                let node = Node { content, place: entry.node.place };
                base.entries.push(Entry { node, ..entry });
            }
        }
    }
}

fn is_other_kind(below: &Table, above: &Table) -> bool {
    let kind = |table: &Table| match table.get("kind").map(|entry| &entry.node.content) {
        Some(Content::Scalar(kind)) => Some(kind.clone()),
        _ => None,
    };
    kind(above).is_some_and(|above| kind(below) != Some(above))
}
