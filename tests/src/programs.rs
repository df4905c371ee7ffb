//! Third-party programs that tests of several crates start, and what is said where they are missing.
#![allow(dead_code, reason = "not every crate needs all of it")]

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Reports that a test cannot run here; with `CI=true` that is a failure.
///
/// # Panics
/// With `CI=true`.
pub fn skip(why: impl Display) {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!is_ci, "CI=true allows no skipped test: {why}");
    eprintln!("SKIPPED: {why}");
}

/// The program called `name`, if it is in a folder of `PATH` or where Debian installs servers.
pub fn look_for(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub struct Kept(pub Child);

impl Drop for Kept {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// What a program of Wireshark prints about a capture; `None` with a message if it is not installed.
///
/// # Panics
/// If it does not accept the capture.
pub fn wireshark(tool: &str, arguments: &[&str], capture: &Path) -> Option<String> {
    let mut command = Command::new(tool);
    // `capinfos` takes the file last, `tshark` anywhere; a fixed locale keeps numbers as they are.
    match tool {
        "tshark" => command.arg("-r").arg(capture).args(arguments),
        _ => command.args(arguments).arg(capture),
    };
    match command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").output() {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{tool} refuses {}: {errors}", capture.display());
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(why) => {
            skip(format_args!("no {tool} ({why}); install the Debian package tshark"));
            None
        }
    }
}

/// Python of the active virtual environment, from `TRACKBED_PYTHON`, or from `PATH`; `None` with a message if
/// it has not all of these modules.
pub fn python(modules: &[&str]) -> Option<OsString> {
    let environment = std::env::var_os("VIRTUAL_ENV")
        .map(|folder| PathBuf::from(folder).join("bin/python3").into_os_string());
    let python =
        std::env::var_os("TRACKBED_PYTHON").or(environment).unwrap_or_else(|| "python3".into());
    // Finding is enough: importing takes seconds.
    let question = format!(
        "import importlib.util, sys\nsys.exit(not all(map(importlib.util.find_spec, {modules:?})))"
    );
    let mut probe = Command::new(&python);
    probe.args(["-c", &question]).stdout(Stdio::null()).stderr(Stdio::null());
    if probe.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    skip(format_args!("Python has not all of {modules:?}: see xtask/src/python.txt"));
    None
}

/// What Python prints that runs `program` in `folder` with `input`.
///
/// # Panics
/// If it fails.
pub fn answer_of_python(python: &OsString, program: &str, folder: &Path, input: &str) -> String {
    use std::io::Write as _;
    let mut command = Command::new(python);
    command.args(["-c", program]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it was found");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("Python reads");
    drop(stdin);
    let output = child.wait_with_output().expect("its end");
    assert!(output.status.success(), "the reference failed: {}", output.status);
    String::from_utf8(output.stdout).expect("text")
}
