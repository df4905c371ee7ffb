//! What the tests have in common.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A folder of the test's own, gone when it ends.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// With `scenario` as `a.toml`. `None` where the machine lets us make no namespaces or has not
    /// all of these `programs`.
    pub fn new(name: &str, programs: &[&str], scenario: &str) -> Option<Scratch> {
        if !is_allowed() || !programs.iter().all(|program| is_there(program)) {
            return None;
        }
        // Browsers make sockets in it, whose paths have 107 bytes at the most (unix(7)).
        let name = format!("tb-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("tmp")).unwrap();
        fs::write(path.join("a.toml"), scenario).unwrap();
        Some(Scratch(path))
    }

    /// The scenario on the emulated substrate, with further words.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = trackbed(&self.0);
        // A busy machine is late; what is tested here is not.
        command.args(["run", "a.toml", "--substrate", "emulated", "--keep-invalid"]);
        command.args(["--out", "out", "--json"]).args(words).stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        let _ = fs::remove_dir_all(self.0.join("out"));
        Ended::from(self.command(words).output().unwrap())
    }

    /// The cells of a campaign of which every run goes through.
    pub fn cells(&self, words: &[&str]) -> Vec<Value> {
        let ended = self.run(words);
        assert_eq!(ended.status, 0, "{words:?}: {}", ended.stderr);
        ended.cells()
    }

    /// The folders of programs that are left.
    pub fn left_over(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A command that has ended.
pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn from(output: Output) -> Ended {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            status: output.status.code().expect("it ends by itself"),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    pub fn cells(&self) -> Vec<Value> {
        let document: Value = serde_json::from_str(&self.stdout).unwrap();
        document["cells"].as_array().unwrap().clone()
    }
}

/// What became of a metric in a cell.
pub fn metric(cell: &Value, name: &str, which: &str) -> f64 {
    cell["metrics"][name][which].as_f64().unwrap_or_else(|| panic!("{name} in {cell}"))
}

pub fn factor<'a>(cell: &'a Value, name: &str) -> &'a str {
    cell["factors"][name].as_str().unwrap_or_default()
}

/// Everything that descends from process `root`, with its command's name.
pub fn descendants(root: u32) -> Vec<(u32, String)> {
    let all: Vec<(u32, u32, String)> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let (front, behind) = stat.rsplit_once(')')?;
            let name = front.split_once('(')?.1.to_owned();
            Some((pid, behind.split_whitespace().nth(1)?.parse().ok()?, name))
        })
        .collect();
    let mut found = vec![(root, String::new())];
    let mut next = 0;
    while let Some(&(parent, _)) = found.get(next) {
        let children = all.iter().filter(|(_, of, _)| *of == parent);
        found.extend(children.map(|(pid, _, name)| (*pid, name.clone())));
        next += 1;
    }
    found.split_off(1)
}

pub fn is_alive(pid: u32) -> bool {
    // A zombie whose parent has not looked yet is gone for our purposes.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")))
}

/// The words with which a process was started.
pub fn command_line(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

pub fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

pub fn eventually<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    for _ in 0..10_000 {
        if let Some(found) = look() {
            return found;
        }
        #[expect(clippy::disallowed_methods, reason = "these runs are in real time")]
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("not within ten seconds: {what}");
}

pub fn trackbed(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
    // Users do not always have /usr/sbin in their PATH.
    command.current_dir(folder).env("TMPDIR", folder.join("tmp")).env("PATH", "/usr/bin:/bin");
    command
}

fn is_allowed() -> bool {
    let probe = Command::new(env!("CARGO_BIN_EXE_trackbed")).args(["link", "--", "true"]).output();
    let probe = probe.unwrap();
    let refusal = String::from_utf8_lossy(&probe.stderr);
    assert!(probe.status.success() || refusal.contains("does not let you"), "{refusal}");
    if !probe.status.success() {
        eprintln!("SKIPPED: this machine allows no network namespaces");
    }
    probe.status.success()
}

fn is_there(program: &str) -> bool {
    let server = trackbed_programs::find(program);
    let client = trackbed_programs::clients::find(program);
    let names = server.map(|server| server.executables());
    let names = names.or_else(|| client.map(|client| client.executables()));
    let names = names.unwrap_or_else(|| vec![program]);
    let package = server.and_then(|server| server.package());
    let package = package.or_else(|| client.and_then(|client| client.package()));
    match trackbed_programs::find_executable(&names, package) {
        Ok(_) => true,
        Err(missing) => {
            let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!is_ci, "{missing}");
            eprintln!("SKIPPED: {missing}");
            false
        }
    }
}
