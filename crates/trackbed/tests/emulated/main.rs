//! `trackbed run --substrate emulated`: the same scenarios on the kernel, in real time, also with third-party
//! servers and clients. Where the machine does not allow namespaces, or lacks a program, these tests say so
//! and pass; with `CI=true` a missing program is a failure.

mod captures;
mod inference;
mod programs;
mod runs;
#[path = "../support/mod.rs"]
mod support;
mod v2x;

use std::fs;
use std::ops::Deref;
use std::process::Command;

use serde_json::Value;
use support::Ended;

/// A folder for runs on the kernel.
struct Scratch {
    folder: support::Scratch,
    /// The scenario that is run there, if it is always the same.
    scenario: Option<&'static str>,
}

impl Scratch {
    /// `None` if the system does not allow namespaces.
    fn new() -> Option<Scratch> {
        let folder = support::Scratch::new();
        let probe = folder.trackbed("link -- true");
        if probe.status == 0 {
            return Some(Scratch { folder, scenario: None });
        }
        assert!(probe.stderr.contains("does not let you"), "{}", probe.stderr);
        eprintln!("SKIPPED: this machine allows no network namespaces");
        None
    }

    /// An emulated run with these arguments, separated by spaces.
    fn emulated(&self, words: &str) -> Command {
        // A busy machine may be late; this does not affect the tested properties.
        let mut command = self
            .command("run --substrate emulated --allow-commands --keep-invalid --out out --json");
        if let Some(scenario) = self.scenario {
            // Users do not always have /usr/sbin in their PATH.
            command.arg(scenario).env("TMPDIR", self.path("tmp")).env("PATH", "/usr/bin:/bin");
        }
        command.args(words.split_whitespace());
        command
    }

    fn run(&self, words: &str) -> Ended {
        let _ = fs::remove_dir_all(self.path("out"));
        Ended::of(&mut self.emulated(words))
    }

    /// The document of a campaign in which every run succeeds.
    fn document(&self, words: &str) -> Value {
        let ended = self.run(words);
        ended.says(0, &[]);
        ended.json()
    }

    fn cells(&self, words: &str) -> Vec<Value> {
        self.document(words)["cells"].as_array().unwrap().clone()
    }
}

impl Deref for Scratch {
    type Target = support::Scratch;

    fn deref(&self) -> &support::Scratch {
        &self.folder
    }
}

fn factor<'a>(cell: &'a Value, name: &str) -> &'a str {
    cell["factors"][name].as_str().unwrap_or_default()
}

fn metric(cell: &Value, name: &str, which: &str) -> f64 {
    cell["metrics"][name][which].as_f64().unwrap_or_else(|| panic!("{name} in {cell}"))
}

fn least(cell: &Value, name: &str) -> f64 {
    metric(cell, name, "min")
}

/// Checks that one of a cell's two runs failed, and that the other has this metric.
fn one_of_two_failed(ended: &Ended, metric: &str) {
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let cell = &ended.cells()[0];
    assert_eq!((&cell["failed"], &cell["metrics"][metric]["n"]), (&1.into(), &1.into()));
}
