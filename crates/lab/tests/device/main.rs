//! The model of a device in virtual time, compared with arithmetic.
#![forbid(unsafe_code)]

mod arithmetic;
mod reproducibility;
mod unmeasured;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trackbed_core::event::Record;
use trackbed_lab::backend::{Backend as _, Virtual};
use trackbed_lab::run::Runner;
use trackbed_measure::results::Outcome;
use trackbed_scenario::{self as scenario, Plan, Source};
use trackbed_substrate::Cancel;

fn plan(text: &str) -> Plan {
    let plan = scenario::load(&Source::recorded("a.toml", text), &[]);
    plan.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn samples(text: &str) -> BTreeMap<String, Vec<f64>> {
    let plan = plan(text);
    Virtual::default().check(&plan).unwrap();
    match Virtual::default().execute(&plan, &[0], 0).unwrap().remove(0).outcome {
        Outcome::Samples(samples) => samples,
        Outcome::Failed(why) => panic!("{why}\n{text}"),
    }
}

fn events(text: &str) -> Vec<Record> {
    let plan = plan(text);
    let events = Runner::new(Cancel::default()).events(&plan.cells[0], plan.seed, 0);
    events.unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// A file with frames of this serial and parallel work, in nanoseconds, for this number of threads.
fn durations(name: &str, threads: u32, frames: &[(u64, u64)]) -> PathBuf {
    let folder = format!("device-{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    let lines = frames.iter().map(|(serial, parallel)| format!("frame {serial} {parallel}\n"));
    let text = format!("trackbed-durations 1\nthreads {threads}\n{}", lines.collect::<String>());
    std::fs::write(&file, text).unwrap();
    file
}

/// Telemetry over `protocol`, with these lines in the table of the inference.
fn telemetry(protocol: &str, inference: &str, workload: &str) -> String {
    format!(
        "protocol = \"{protocol}\"\n[link]\ndelay = \"5 ms\"\n[inference]\n{inference}\n\
         [workload]\nkind = \"telemetry\"\nduration = \"8 s\"\nwarm-up = \"2 s\"\n{workload}\n"
    )
}

fn costs(message: &str, packet: &str, kilobyte: &str) -> String {
    format!(
        "message-cost = \"{message}\"\npacket-cost = \"{packet}\"\nkilobyte-cost = \"{kilobyte}\""
    )
}
