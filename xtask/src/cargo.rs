//! Cargo, called by a chore.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::files::told;

/// The features of a released program.
pub const RELEASE_FEATURES: &str = "store,parquet,rten";

/// `cargo` as started from a user's shell. The cargo that runs this program describes this
/// program's package in the environment; build scripts further down that watch these variables
/// (ring's does) would rebuild at every switch between manual builds and chores.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// The standard output of a program; empty if it fails or does not exist.
pub fn said(program: &str, words: &[&str]) -> String {
    let output =
        Command::new(program).args(words).stdin(Stdio::null()).stderr(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        _ => String::new(),
    }
}

/// Runs a command that has to succeed.
pub fn succeed(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(told(format!("cannot start {program}")))?;
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

/// The standard output of a command that has to succeed.
pub fn printed(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(told(format!("cannot start {program}")))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(printed),
        false => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(format!("{program}: {}\n{printed}{errors}", output.status))
        }
    }
}

/// Where Cargo keeps what it has fetched.
pub fn home() -> PathBuf {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default()
}

/// Where Cargo puts what it has built.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from)
}
