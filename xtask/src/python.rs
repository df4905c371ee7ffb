//! Python with the packages that tests use: for inference ONNX Runtime and the reference for our
//! arithmetic, for V2X another ASN.1 implementation and OpenSSL's signatures, for statistics SciPy,
//! for cluster jobs Kubernetes' own schemas, for object stores an S3 server, for results the usual
//! readers, for the Python package its tools, for kernels of GPUs their compiler.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The packages, and what they are imported as. About 1 GB on disc.
const PACKAGES: &str = include_str!("python.txt");

/// The names of the packages.
pub fn packages() -> Vec<&'static str> {
    PACKAGES.lines().filter_map(|line| Some(line.split_once(' ')?.0)).collect()
}

/// Whether `python3`, or our own environment, has all packages.
pub fn is_complete() -> bool {
    has_packages("python3".into()) || has_packages(environment().join("bin/python3"))
}

/// Creates our own virtual environment with the packages, and returns whether it succeeded.
pub fn install() -> bool {
    let folder = environment();
    succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))
        && succeeds(
            Command::new(folder.join("bin/python3"))
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .args(packages()),
        )
}

/// The virtual environment to activate for tests, if they need ours.
pub fn provided() -> Option<PathBuf> {
    let folder = environment();
    let wanted = !has_packages("python3".into()) && has_packages(folder.join("bin/python3"));
    wanted.then_some(folder)
}

/// The environment variable that activates it for a command, if it needs ours.
pub fn variable() -> Option<(&'static str, PathBuf)> {
    provided().map(|folder| ("VIRTUAL_ENV", folder))
}

fn environment() -> PathBuf {
    env::current_dir().unwrap_or_default().join("target/python")
}

/// Finding is enough: importing takes seconds.
fn has_packages(python: PathBuf) -> bool {
    let modules = PACKAGES.lines().filter_map(|line| Some(line.split_once(' ')?.1));
    let modules: Vec<&str> = modules.collect();
    let question = format!(
        "import importlib.util, sys\nsys.exit(not all(map(importlib.util.find_spec, {modules:?})))"
    );
    succeeds(Command::new(python).args(["-c", &question]).stderr(Stdio::null()))
}

/// Runs a command without input and output.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}
