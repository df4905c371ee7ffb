//! Groups: `[group.NAME]` tables, each the traffic of some clients beside that of the others.
//!
//! A group takes the keys of the ends, an access link and a workload; what it does not set it has
//! from the scenario. To the rest of this crate a group is a *view*: a scenario whose keys are those
//! of the group, with the axes of all.

use std::collections::BTreeSet;
use std::time::Duration;

use trackbed_core::parameter::{FromValue as _, Value};

use crate::field::{Field, kebab};
use crate::plan::Cell;
use crate::problem::{Place, Problems};
use crate::schedule::{Arrivals, PARAMETERS, Schedule};
use crate::spec::{Choice, Selected, Setting, Spec};
use crate::tree::{Content, Table};
use crate::{endpoint, environment, inference_keys, radio};

/// The key of the tables that make groups, and the factor that names them.
pub const GROUP: &str = "group";

/// Whether a key belongs to groups alone.
fn is_own(key: &str) -> bool {
    PARAMETERS.iter().any(|parameter| kebab(parameter.name) == key)
}

/// The keys of a group: its own, those of the ends, and these tables.
pub(crate) fn fields(tables: Vec<Field>) -> Vec<Field> {
    [PARAMETERS, &endpoint::parameters()].concat().iter().map(Field::swept).chain(tables).collect()
}

/// Gives the workload of each group that names no kind that of the scenario.
pub(crate) fn fill_kinds(scenario: &mut Table) {
    let kind = scenario.get("workload").and_then(|entry| match &entry.node.content {
        Content::Table(workload) => workload.get("kind").cloned(),
        Content::Scalar(_) | Content::List(_) => None,
    });
    let (Some(kind), Some(groups)) = (kind, scenario.get_mut(GROUP)) else { return };
    let Content::Table(groups) = &mut groups.node.content else { return };
    for group in &mut groups.entries {
        let Content::Table(group) = &mut group.node.content else { continue };
        let Some(workload) = group.get_mut("workload") else { continue };
        if let Content::Table(workload) = &mut workload.node.content
            && workload.get("kind").is_none()
        {
            workload.entries.push(kind.clone());
        }
    }
}

impl Spec {
    /// The scenario as each of its groups sees it; itself if it has none.
    pub(crate) fn views(&self) -> Vec<Spec> {
        match self.groups.is_empty() {
            true => vec![self.clone()],
            false => self.groups.iter().map(|(name, place)| self.view(name, place)).collect(),
        }
    }

    fn view(&self, name: &str, place: &Place) -> Spec {
        let prefix = format!("{GROUP}.{name}.");
        let own = self.settings.iter().filter_map(|setting| {
            let path = setting.path.strip_prefix(&prefix).filter(|key| !is_own(key))?;
            Some(Setting { path: path.to_owned(), ..setting.clone() })
        });
        let own: Vec<Setting> = own.collect();
        let kind = |settings: &[Setting]| {
            let kind = settings.iter().find(|setting| setting.path == "workload.kind");
            kind.map(|setting| setting.choices[0].chosen.text())
        };
        let is_other_work = kind(&own).is_some_and(|own| Some(own) != kind(&self.settings));
        let is_shown = |setting: &&Setting| {
            let key = setting.path.strip_prefix(&prefix);
            let is_of_other_work = is_other_work && setting.path.starts_with("workload.");
            key.is_none_or(is_own) && !is_of_other_work
        };
        let replaced = |path: &str| own.iter().find(|own| own.path == path);
        let common = self.settings.iter().filter(is_shown);
        let common = common.map(|setting| replaced(&setting.path).unwrap_or(setting));
        let is_new = |own: &&Setting| self.get(&own.path).is_none_or(|common| !is_shown(&common));
        let mut settings: Vec<Setting> = common.chain(own.iter().filter(is_new)).cloned().collect();
        // What varies for others alone is a condition here, by the name of one of them.
        let is_missing = |axis: usize| settings.iter().all(|one| one.axis != Some(axis));
        let theirs = self.settings.iter().filter(|one| one.axis.is_some_and(is_missing));
        let theirs = theirs.filter_map(|one| {
            let place = |other: &str, path: &str| format!("{GROUP}.{other}.{path}");
            let works = |other: &str| self.get(&place(other, "workload.kind"));
            let takes = |other: &str| match works(other).zip(self.get("workload.kind")) {
                Some((own, common)) if one.path.starts_with("workload.") => {
                    own.choices[0].chosen.text() == common.choices[0].chosen.text()
                }
                _ => true,
            };
            let (other, _) = self.groups.iter().find(|(other, _)| {
                other != name && takes(other) && self.get(&place(other, &one.path)).is_none()
            })?;
            Some(Setting { path: place(other, &one.path), ..one.clone() })
        });
        settings.extend(theirs.collect::<Vec<Setting>>());
        let tables = own.iter().filter_map(|own| own.path.split('.').next().map(str::to_owned));
        Spec {
            part: self.part.clone(),
            part_begins: if place.origin == 0 { place.span.start } else { self.part_begins },
            axes: self.axes.clone(),
            written: self.written.iter().cloned().chain(tables).collect(),
            groups: self.groups.clone(),
            group: Some(name.to_owned()),
            settings,
        }
    }

    /// The value of a key of this group's own, or its default.
    fn own(&self, at: Selected<'_>, key: &str) -> Option<Value> {
        let path = format!("{GROUP}.{}.{key}", self.group.as_deref()?);
        let parameter = PARAMETERS.iter().find(|parameter| parameter.name == key)?;
        let default = || parameter.kind.parse(parameter.otherwise.default_text()?).ok();
        at.value(&path).cloned().or_else(default)
    }

    /// How the members of this view's group begin; `None` without groups.
    pub(crate) fn schedule(&self, at: Selected<'_>) -> Option<Schedule> {
        self.group.as_ref()?;
        let count = |key: &str| self.own(at, key).as_ref().and_then(u64::from_value);
        let time = |key: &str| self.own(at, key).as_ref().and_then(Duration::from_value);
        let word = |key: &str| self.own(at, key).as_ref().map(Value::to_string);
        Some(Schedule {
            count: u32::try_from(count("count")?).unwrap_or(u32::MAX),
            start: time("start")?,
            every: time("every")?,
            arrivals: Arrivals::from_name(&word("arrivals")?)?,
            stop: time("stop"),
            on: word("on"),
            priority: u8::try_from(count("priority")?).unwrap_or(u8::MAX),
        })
    }
}

/// Errors of the groups that do not depend on the cell.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    if spec.groups.is_empty() {
        return;
    }
    let alone = [radio::SECTION, environment::SECTION, inference_keys::SECTION];
    let programs = ["server", "client", "server-command", "client-command"];
    let mut told = BTreeSet::new();
    for setting in &spec.settings {
        let section = setting.path.split('.').next().unwrap_or_default();
        let key = setting.path.rsplit('.').next().unwrap_or_default();
        let is_program = programs.contains(&key) && !setting.path.contains("workload.");
        if (alone.contains(&section) || is_program) && told.insert(section) {
            let message = format!("{} cannot be combined with groups", setting.path);
            let help = "remove it, or the tables [group.NAME]";
            problems.add_with_help(&setting.place, message, help);
        }
        if let Some((group, "on")) =
            setting.path.strip_prefix("group.").and_then(|own| own.split_once('.'))
        {
            let names = spec.groups.iter().map(|(name, _)| name.as_str());
            let earlier: Vec<&str> = names.take_while(|name| *name != group).collect();
            let unknown = |one: &&Choice| !earlier.contains(&one.chosen.text().as_str());
            for choice in setting.choices.iter().filter(unknown) {
                let message =
                    format!("no group before {group} is called \"{}\"", choice.chosen.text());
                let help = match earlier.is_empty() {
                    true => "remove it, or move the other group before this one".to_owned(),
                    false => format!("name one of {}", earlier.join(", ")),
                };
                problems.add_with_help(&choice.place, message, help);
            }
        }
        if let Some(own) = setting.path.strip_prefix("group.")
            && let Some((name, key @ ("count" | "priority"))) = own.split_once('.')
        {
            let most = if key == "count" { COUNT_MAX } else { u64::from(u8::MAX) };
            let values =
                setting.choices.iter().filter_map(|one| u64::from_value(one.chosen.value()?));
            if let Some(value) = values.max().filter(|value| *value > most) {
                let message = format!("{key} of the group {name} is {value}");
                problems.add_with_help(&setting.place, message, format!("write at most {most}"));
            }
        }
    }
}

/// Refuses runs without members or with too many phones, and a workload with more phones than the group
/// has on whose phones it is.
pub(crate) fn check_phones(spec: &Spec, cells: &[Cell], problems: &mut Problems) {
    if cells.is_empty() {
        problems.add_missing("no group has members", "write a count of at least 1");
    }
    for cell in cells {
        let Some(place) = &cell.place else { continue };
        let phones = |one: &Cell| {
            let members = one.place.as_ref().map_or(1, |place| place.schedule.count);
            u64::from(members) * u64::from(one.workload.phones())
        };
        let all: u64 = cell.beside.iter().chain([cell]).map(phones).sum();
        if all > PHONES_MAX {
            let message = format!("{all} phones in all groups together");
            problems.add_missing(message, format!("write fewer members, for at most {PHONES_MAX}"));
            return;
        }
        let Some(on) = &place.schedule.on else { continue };
        let is_host = |group: &&Cell| group.place.as_ref().is_some_and(|place| place.name == *on);
        let needed = cell.workload.phones();
        let there = cell.beside.iter().find(is_host).map(|host| host.workload.phones());
        if let Some(there) = there.filter(|there| *there < needed)
            && let Some(setting) = spec.get(&format!("{GROUP}.{}.on", place.name))
        {
            let message = format!("{} needs {needed} phones, and {on} has {there}", place.name);
            let help = "give both workloads the same number of phones";
            problems.add_with_help(&setting.place, message, help);
        }
    }
}

/// Each member has a port of its own.
const COUNT_MAX: u64 = 10_000;

/// What a run of phones alone can have, and twice as many.
const PHONES_MAX: u64 = 20_000;
