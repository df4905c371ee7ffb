//! Compares our arithmetic with NumPy, our model with ONNX's own checker, our ONNX Runtime with
//! Python's. Python with `numpy`, `onnx` and `onnxruntime` comes from the active virtual
//! environment, from `TRACKBED_PYTHON`, or from `PATH`; without it these tests are skipped.

mod frames;
mod images;
mod model;
#[path = "../../../../tests/src/programs.rs"]
mod programs;

use std::fs;
use std::path::PathBuf;

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
        Some(programs::answer_of_python(&programs::python(packages)?, program, self.0.path(), ""))
    }
}
