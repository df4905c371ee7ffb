//! The inference beside the communication, from the keys of `[inference]`.

use std::path::PathBuf;

use trackbed_core::parameter::{Parameter, Value};
use trackbed_core::parameters;

use crate::cell::CellReader;
use crate::device::{self, Measurements};
use crate::field::{Field, kebab};
use crate::inference_keys::{KIND, Reader, SECTION};
use crate::plan::{Endpoint, Inference, Work};
use crate::problem::Problems;
use crate::spec::{Choice, Spec};
use crate::tree::{Content, Table};

pub(crate) fn fields() -> Vec<Field> {
    PARAMETERS.iter().chain(device::PARAMETERS).map(Field::swept).collect()
}

/// Removes the names of files from the table, for machines that do no inference.
pub(crate) fn forget_files(scenario: &mut Table) {
    let entries = scenario.entries.iter_mut().filter(|entry| kebab(&entry.key) == SECTION);
    for entry in entries {
        if let Content::Table(own) = &mut entry.node.content {
            let files = [MODEL, FRAMES, device::DURATIONS, device::COSTS];
            own.entries.retain(|entry| !files.contains(&entry.key.as_str()));
        }
    }
}

/// Errors of the table that do not depend on the cell.
pub(crate) fn check(spec: &Spec, problems: &mut Problems) {
    let kinds: Vec<String> = match spec.get(KIND) {
        Some(kind) => kind.choices.iter().map(|choice| choice.chosen.text()).collect(),
        None => vec![NONE.to_owned()],
    };
    for setting in spec.below(SECTION).filter(|setting| setting.path != KIND) {
        let wanted = match setting.field.target {
            COMMAND => COMMAND,
            device::DURATIONS if kinds.iter().any(|kind| kind == COMMAND) => COMMAND,
            MODEL | FRAMES | RUNTIME | THREADS | device::DURATIONS => DETECTOR,
            // This holds for a device without inference too.
            _ => continue,
        };
        // A part without inference may override a table that configures it for other parts.
        let is_baseline = spec.get(KIND).is_some() && kinds.iter().any(|kind| kind == NONE);
        if !is_baseline && !kinds.iter().any(|kind| kind == wanted) {
            let message =
                format!("{} has no effect: it needs another kind of inference", setting.path);
            let help = format!("write kind = \"{wanted}\" below [{SECTION}], or remove it");
            problems.add_with_help(&setting.place, message, help);
        }
    }
    let command = spec.get("inference.command");
    if let Some(kind) = spec.get(KIND).filter(|_| command.is_none()) {
        let is_command = |choice: &&Choice| choice.chosen.text() == COMMAND;
        if let Some(choice) = kind.choices.iter().find(is_command) {
            let help = "write command = \"./my-pipeline\" below it; the program must print a line \
                        for each frame";
            problems.add_with_help(&choice.place, "the command is missing", help);
        }
    }
}

/// The inference of a cell with these endpoints, if the scenario has one; `None` if there is an
/// error.
pub(crate) fn resolve(
    cell: &mut CellReader<'_>,
    endpoint: &Endpoint,
    shared: &mut Measurements,
) -> Option<Option<Inference>> {
    if cell.at.spec.below(SECTION).next().is_none() {
        return Some(None);
    }
    let kind = cell.at.word(KIND).unwrap_or(NONE);
    let line = format!("{SECTION}: {kind}");
    let mut reader = Reader { cell, line };
    let work = match kind {
        DETECTOR => {
            let (model, frames) = (reader.value(MODEL)?, reader.value(FRAMES)?);
            let threads = reader.read::<u64>(THREADS)?;
            if threads.is_some_and(|threads| threads >= THREADS_OVER) {
                let message = "too many threads";
                return reader.refuse(THREADS, message, "write at most 1024");
            }
            let runtime = reader.value(RUNTIME)?.map(Value::to_string);
            Some(Work::Detector {
                runtime,
                model: model.and_then(file),
                frames: frames.and_then(file),
                threads: threads.map(|threads| u32::try_from(threads).unwrap_or(u32::MAX)),
            })
        }
        COMMAND => Some(Work::Command(reader.value(COMMAND)??.to_string())),
        _ => None,
    };
    let device = device::resolve(&mut reader, shared, (endpoint, work.as_ref()))?;
    let line = reader.line;
    cell.lines.push(line);
    Some(Some(Inference { work, device }))
}

fn file(value: &Value) -> Option<PathBuf> {
    match value {
        Value::File(path) | Value::Folder(path) => Some(path.clone()),
        _ => None,
    }
}

const NONE: &str = "none";
const DETECTOR: &str = "detector";
const COMMAND: &str = "command";
const MODEL: &str = "model";
const FRAMES: &str = "frames";
const RUNTIME: &str = "runtime";
const THREADS: &str = "threads";
/// The smallest number of threads that `trackbed infer` rejects.
const THREADS_OVER: u64 = 1_025;

const PARAMETERS: &[Parameter] = parameters! {
    "kind": Choice(&[NONE, DETECTOR, COMMAND]) = NONE =>
        "inference to run: none (only measure load), detector (object detection with an ONNX \
         model) or command";
    MODEL: File, optional =>
        "detector: ONNX model file; default: a generated model of YOLO11n's size";
    FRAMES: Folder, optional =>
        "detector: folder of .jpg and .png files, or a MOTChallenge folder; default: generated \
         frames";
    RUNTIME: Choice(&["onnxruntime", "rten"]), optional =>
        "detector: runtime of the model; default: ONNX Runtime if installed, else the built-in \
         rten";
    THREADS: Count { min: 1 }, optional =>
        "detector: threads for the model; default: one per core";
    COMMAND: Text, optional =>
        "command: shell command (`sh -c`); it prints one line when ready, then one line per frame";
};
