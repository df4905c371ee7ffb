//! Compares our arithmetic with NumPy, our model with ONNX's own checker, our ONNX Runtime with
//! Python's. Python with `numpy`, `onnx` and `onnxruntime` comes from the active virtual
//! environment, from `TRACKBED_PYTHON`, or from `PATH`; without it these tests are skipped.

mod frames;
mod images;
mod model;

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes floats as NumPy's `fromfile` reads them.
    fn write_floats(&self, name: &str, values: &[f32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read_floats(&self, name: &str) -> Vec<f32> {
        let bytes = fs::read(self.path(name)).unwrap();
        let values = bytes.chunks_exact(4);
        values.map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
    }

    /// Runs a Python program in the folder and returns its output; `None` with a message if any of
    /// these `packages` is missing.
    fn python(&self, packages: &[&str], program: &str) -> Option<String> {
        let python = python();
        let imports: Vec<String> = packages.iter().map(|name| format!("import {name}")).collect();
        let mut probe = Command::new(&python);
        probe.args(["-c", &imports.join("\n")]).stdout(Stdio::null()).stderr(Stdio::null());
        if !probe.status().is_ok_and(|status| status.success()) {
            let missing = packages.join(" ");
            skip(format_args!("Python has not all of these packages: pip install {missing}"));
            return None;
        }
        let mut child = Command::new(python)
            .arg("-")
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the reference failed: {}", output.status);
        Some(String::from_utf8(output.stdout).unwrap())
    }
}

/// Reports that a test cannot run here; with `CI=true` that is a failure.
fn skip(why: impl std::fmt::Display) {
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!in_ci, "CI=true allows no skipped test: {why}");
    eprintln!("skipped: {why}");
}

fn python() -> OsString {
    let environment = std::env::var_os("VIRTUAL_ENV")
        .map(|folder| PathBuf::from(folder).join("bin/python3").into_os_string());
    std::env::var_os("TRACKBED_PYTHON").or(environment).unwrap_or_else(|| "python3".into())
}
