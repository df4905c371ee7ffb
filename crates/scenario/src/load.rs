//! Reads a scenario's text step by step into a plan.

use std::collections::BTreeSet;
use std::path::Path;

use trackbed_core::parameter::{Kind, Value};
use trackbed_measure::results::UsefulDifference;

use crate::files::Copies;
use crate::overrides::Override;
use crate::plan::{Cell, Home, Plan};
use crate::problem::{Origin, Problems, ScenarioError};
use crate::source::Source;
use crate::spec::Spec;
use crate::{files, inference, parts, reader, resolve, schema, suggest, tree};

/// Reads a scenario, applies `overrides` (the last one of a key wins), and resolves it.
///
/// # Errors
/// If the scenario is invalid; as many errors as possible are reported together.
pub fn load(source: &Source, overrides: &[Override]) -> Result<Plan, ScenarioError> {
    load_from(source, overrides, Path::new(""), &Copies::new())
}

/// The same with `current` as the current folder of the settings, to which files that they name are
/// relative, and with `copies` of files in place of those that are named.
pub(crate) fn load_from(
    source: &Source,
    overrides: &[Override],
    current: &Path,
    copies: &Copies,
) -> Result<Plan, ScenarioError> {
    plan(source, overrides, (current, copies), true)
}

/// The same for an untrusted scenario from elsewhere: naming a file or folder of this machine is an
/// error, and none is read. Files of an inference are ignored, because none is done here.
pub(crate) fn load_without_files(
    source: &Source,
    overrides: &[Override],
) -> Result<Plan, ScenarioError> {
    plan(source, overrides, (Path::new(""), &Copies::new()), false)
}

fn plan(
    source: &Source,
    overrides: &[Override],
    (current, copies): (&Path, &Copies),
    reads_files: bool,
) -> Result<Plan, ScenarioError> {
    let text = source.read()?;
    let mut origins = vec![Origin { name: text.name, text: text.text, is_file: true }];
    origins.extend(overrides.iter().map(Override::origin));
    let table = tree::parse_document(&origins[0])?;
    if table.entries.is_empty() && overrides.is_empty() {
        let help = "write a scenario, for example by copying a built-in one";
        let message = format!("{} is empty", origins[0].name);
        return Err(ScenarioError::about_file(message, Some(help.to_owned())));
    }
    let mut problems = Problems::default();
    let folders = reader::Folders { scenario: &text.folder, current, looks: reads_files, copies };
    let mut specs = Vec::new();
    let mut parts = parts::of(table, overrides, &mut problems);
    unset(&mut parts, overrides, &mut problems);
    let kinds: Vec<Option<String>> =
        parts.iter().map(|part| parts::workload_kind(&part.table, overrides)).collect();
    let mut notes = Vec::new();
    for (mut part, kind) in parts.into_iter().zip(&kinds) {
        for (index, setting) in overrides.iter().enumerate() {
            if parts::is_choice(setting) || setting.is_unset() {
                continue;
            }
            match parts::is_for_others(setting, kind, &kinds) {
                true => notes.push(format!(
                    "left out {} in the part \"{}\", whose workload has no such key",
                    setting.key,
                    part.name.as_deref().unwrap_or_default()
                )),
                false => setting.apply(index + 1, &mut part.table, &mut problems),
            }
        }
        if !reads_files {
            inference::forget_files(&mut part.table);
        }
        let spec = reader::read(&mut part.table, folders, &mut problems);
        specs.push(Spec { part: part.name, part_begins: part.begins, ..spec });
    }
    if !reads_files {
        let help = "only the machine that runs the clients reads files; remove this key";
        for place in specs.iter().flat_map(Spec::files) {
            let message = "a scenario from another machine must not name files";
            problems.add_with_help(place, message, help);
        }
        std::mem::take(&mut problems).check(&origins)?;
    }
    let resolved = resolve::cells(&specs, &mut problems);
    // The keys of the whole scenario are the same in each of its parts.
    let nothing = Spec::default();
    let spec = specs.first().unwrap_or(&nothing);
    let seed = schema::count(spec, "seed");
    check_runs(spec, &resolved.cells, &mut problems);
    check_name(spec, &mut problems);
    let useful_difference = useful_difference(spec, &mut problems);
    problems.check(&origins)?;
    let words = |path: &str| spec.value(path).map(Value::to_string);
    let digest = |canonical: &[String]| {
        let text = format!("seed {seed}\n\n{}\n", canonical.join("\n\n"));
        files::digest(text.as_bytes())
    };
    let (hash, hash_of_ends) = (digest(&resolved.canonical), digest(&resolved.canonical_of_ends));
    Ok(Plan {
        name: words("name").unwrap_or(text.stem),
        summary: words("summary").unwrap_or_default(),
        paper: words("paper"),
        home: words("substrate").and_then(|name| Home::from_name(&name)).unwrap_or_default(),
        seed,
        runs: resolved.cells.iter().map(|cell| cell.runs).max().unwrap_or(1),
        cells: resolved.cells,
        conditions: resolved.conditions,
        factors: resolved.factors,
        useful_difference,
        source_text: origins.swap_remove(0).text,
        hash,
        hash_of_ends,
        inputs: resolved.files.inputs(),
        notes: [notes, resolved.notes].concat(),
        commands: match source {
            Source::BuiltIn(_) => Vec::new(),
            Source::File(_) | Source::Text { .. } => commands(&specs),
        },
    })
}

/// Takes out of the parts what is to be removed: first of all, and from each part that has it.
fn unset(parts: &mut [parts::Part], overrides: &[Override], problems: &mut Problems) {
    for (index, setting) in overrides.iter().enumerate().filter(|(_, one)| one.is_unset()) {
        let place = setting.key_place(index + 1);
        if let Some(other) = overrides.iter().find(|one| !one.is_unset() && setting.removes(one)) {
            let message = format!("{} is both set and removed", other.key);
            problems.add_with_help(&place, message, "leave out --set or --unset of this key");
            continue;
        }
        let mut known: Vec<String> = parts.iter().flat_map(|part| part.table.paths()).collect();
        known.sort();
        known.dedup();
        let removed =
            parts.iter_mut().filter_map(|part| setting.remove_from(&mut part.table).then_some(()));
        if removed.count() == 0 {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = match suggest::nearest(&setting.key, &names) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("it sets {}", names.join(", ")),
            };
            let message = format!("the scenario does not set {}", setting.key);
            problems.add_with_help(&place, message, help);
        }
    }
}

fn commands(specs: &[Spec]) -> Vec<String> {
    let keys = ["server-command", "client-command", "inference.command"];
    let settings = specs.iter().flat_map(|spec| keys.iter().filter_map(|key| spec.get(key)));
    let choices = settings.flat_map(|setting| &setting.choices);
    let of_file = choices.filter(|choice| choice.place.origin == 0);
    let texts: BTreeSet<String> = of_file.map(|choice| choice.chosen.text()).collect();
    texts.into_iter().collect()
}

/// Results are stored in a folder of the scenario's name.
fn check_name(spec: &Spec, problems: &mut Problems) {
    let Some(setting) = spec.get("name") else { return };
    let name = spec.value("name").map(Value::to_string).unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
    if !name.chars().all(plain) || name.starts_with('.') || name.chars().count() > NAME_CHARS_MAX {
        let help =
            format!("write at most {NAME_CHARS_MAX} letters and digits, separated by - or _");
        let message = "results cannot be stored under this name";
        problems.add_with_help(&setting.choices[0].place, message, help);
    }
}

/// The smallest difference that matters: what is not written has its default.
fn useful_difference(spec: &Spec, problems: &mut Problems) -> UsefulDifference {
    let mut useful = UsefulDifference::default();
    let Some(setting) = spec.get(schema::USEFUL) else { return useful };
    let text = spec.value(schema::USEFUL).map(Value::to_string).unwrap_or_default();
    for part in text.split(',').map(str::trim) {
        match (Kind::Share.parse(part), Kind::Time.parse(part)) {
            (Ok(Value::Share(share)), _) => useful.percent = share.as_f64() * 100.0,
            (_, Ok(Value::Time(time))) => useful.ms = time.as_secs_f64() * 1e3,
            _ => {
                let message = format!("{} is \"{text}\"", schema::USEFUL);
                let help = "write a share, a time, or both: \"1 %, 1 ms\"";
                problems.add_with_help(&setting.choices[0].place, message, help);
            }
        }
    }
    useful
}

/// Refuses more runs than a plan can number.
fn check_runs(spec: &Spec, cells: &[Cell], problems: &mut Problems) {
    let all: u64 = cells.iter().map(|cell| u64::from(cell.runs)).sum();
    if all <= RUNS_MAX {
        return;
    }
    let message = format!("{all} runs of {} cells", cells.len());
    let help = format!("a plan has at most {RUNS_MAX} runs in all; write fewer");
    match spec.get("runs") {
        Some(setting) => problems.add_with_help(&setting.choices[0].place, message, help),
        None => problems.add_missing(message, help),
    }
}

const NAME_CHARS_MAX: usize = 64;

/// The maximum number of runs of all cells. Results are on the disk; 16 bytes of each run stay in
/// memory.
pub const RUNS_MAX: u64 = 10_000_000;
