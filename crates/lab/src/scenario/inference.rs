//! What computes beside the communication, from the keys of `[inference]`.

use std::path::PathBuf;

use trackbed_core::parameter::{Kind, Parameter, Value};

use super::factors;
use super::files::Files;
use super::plan::{Inference, Work};
use super::problem::Problems;
use super::schema::{Field, kebab};
use super::spec::{Setting, Spec};
use super::tree::{Content, Table};

/// The table's name, and that of the factor that says the kind.
pub(super) const SECTION: &str = "inference";

/// The key that says the kind.
pub(super) const KIND: &str = "inference.kind";

/// The keys of the table.
pub(super) fn fields() -> Vec<Field> {
    PARAMETERS.iter().map(Field::swept).collect()
}

/// Takes the names of files out of the table, for machines on which no inference is done.
pub(super) fn forget_files(scenario: &mut Table) {
    let entries = scenario.entries.iter_mut().filter(|entry| kebab(&entry.key) == SECTION);
    for entry in entries {
        if let Content::Table(own) = &mut entry.node.content {
            own.entries.retain(|entry| ![MODEL, FRAMES].contains(&entry.key.as_str()));
        }
    }
}

/// What is wrong with the table whatever the cell.
pub(super) fn check(spec: &Spec, problems: &mut Problems) {
    let kinds: Vec<String> = match spec.get(KIND) {
        Some(kind) => kind.choices.iter().map(|choice| factors::text(&choice.chosen)).collect(),
        None => vec![NONE.to_owned()],
    };
    for setting in settings(spec).filter(|setting| setting.path != KIND) {
        let wanted = if setting.field.target == COMMAND { COMMAND } else { DETECTOR };
        // A part without inference may lie over a table that says how others do it.
        let is_baseline = spec.get(KIND).is_some() && kinds.iter().any(|kind| kind == NONE);
        if !is_baseline && !kinds.iter().any(|kind| kind == wanted) {
            let message = format!("{} has no effect: nothing of this kind is run", setting.path);
            let help = format!("write kind = \"{wanted}\" below [{SECTION}], or remove it");
            problems.add_with_help(&setting.place, message, help);
        }
    }
    let command = spec.get(&path(COMMAND));
    if let Some(kind) = spec.get(KIND).filter(|_| command.is_none()) {
        let is_command = |choice: &&super::spec::Choice| factors::text(&choice.chosen) == COMMAND;
        if let Some(choice) = kind.choices.iter().find(is_command) {
            let help = "write command = \"./my-pipeline\" below it; it says a line for each frame";
            problems.add_with_help(&choice.place, "the command is missing", help);
        }
    }
}

/// The inference where axis `i` stands at `selection[i]`, and its canonical line if the scenario says
/// anything of it; `None` if something is wrong with it.
pub(super) fn resolve(
    spec: &Spec,
    selection: &[usize],
    files: &mut Files,
    problems: &mut Problems,
) -> Option<(Option<Inference>, Option<String>)> {
    if settings(spec).next().is_none() {
        return Some((None, None));
    }
    let kind = spec.value(KIND, selection).map_or_else(|| NONE.to_owned(), Value::to_string);
    let mut line = format!("{SECTION}: {kind}");
    let mut value = |name: &str| -> Result<Option<&Value>, ()> {
        let path = path(name);
        let Some(value) = spec.value(&path, selection) else { return Ok(None) };
        let place = &spec.get(&path).ok_or(())?.pick(selection).place;
        let text = files.canonical(value).map_err(|why| problems.add(place, why))?;
        line.push_str(&format!(" {name}={text}"));
        Ok(Some(value))
    };
    let work = match kind.as_str() {
        DETECTOR => {
            let (model, frames) = (value(MODEL).ok()?, value(FRAMES).ok()?);
            let threads = value(THREADS).ok()?;
            let threads = threads.and_then(trackbed_core::parameter::FromValue::from_value);
            Some(Work::Detector {
                model: model.and_then(file),
                frames: frames.and_then(file),
                threads: threads.map(|threads: u64| u32::try_from(threads).unwrap_or(u32::MAX)),
            })
        }
        COMMAND => Some(Work::Command(value(COMMAND).ok()??.to_string())),
        _ => None,
    };
    if let Some(Work::Detector { threads: Some(THREADS_OVER..), .. }) = &work {
        let setting = spec.get(&path(THREADS))?;
        let place = &setting.pick(selection).place;
        problems.add_with_help(place, "so many threads share no work", "write at most 1024");
        return None;
    }
    Some((Some(Inference { work }), Some(line)))
}

fn file(value: &Value) -> Option<PathBuf> {
    match value {
        Value::File(path) | Value::Folder(path) => Some(path.clone()),
        _ => None,
    }
}

fn settings(spec: &Spec) -> impl Iterator<Item = &Setting> {
    let below = |setting: &&Setting| setting.path.split('.').next() == Some(SECTION);
    spec.settings.iter().filter(below)
}

fn path(parameter: &str) -> String {
    format!("{SECTION}.{parameter}")
}

const NONE: &str = "none";
const DETECTOR: &str = "detector";
const COMMAND: &str = "command";
const MODEL: &str = "model";
const FRAMES: &str = "frames";
const THREADS: &str = "threads";
/// The least number that `trackbed infer` does not take.
const THREADS_OVER: u32 = 1_025;

const PARAMETERS: &[Parameter] = &[
    Parameter::with_default(
        "kind",
        Kind::Choice(&[NONE, DETECTOR, COMMAND]),
        NONE,
        "what is run: none (only what is used is read), detector (object detection by ONNX Runtime), \
         or command",
    ),
    Parameter::optional(
        MODEL,
        Kind::File,
        "detector: an ONNX model; without it a generated one of YOLO11n's size",
    ),
    Parameter::optional(
        FRAMES,
        Kind::Folder,
        "detector: a folder of .jpg and .png files, or of MOTChallenge; without it generated frames",
    ),
    Parameter::optional(
        THREADS,
        Kind::Count { min: 1 },
        "detector: threads that share the work of the model; without it as many as there are cores",
    ),
    Parameter::optional(
        COMMAND,
        Kind::Text,
        "command: what `sh -c` runs; it says a line when it is ready and then one for each frame",
    ),
];
