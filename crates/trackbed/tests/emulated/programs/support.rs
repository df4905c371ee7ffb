//! Helpers of the tests.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::{Pid, Signal, kill_process};
use trackbed_linux::processes::family;

use crate::Scratch;
use crate::support::skip;

impl Scratch {
    /// A folder with `scenario` as `a.toml`. `None` if the system allows no namespaces or lacks one of these
    /// `programs`.
    pub fn with(programs: &[&str], scenario: &str) -> Option<Scratch> {
        let mut scratch = Scratch::new().filter(|_| programs.iter().all(|name| is_there(name)))?;
        scratch.scenario = Some("a.toml");
        // Browsers create sockets in it, whose paths have at most 107 bytes (unix(7)).
        fs::create_dir(scratch.path("tmp")).unwrap();
        // Programs run as another user than root, who has to get there.
        fs::set_permissions(scratch.folder(), Permissions::from_mode(0o711)).unwrap();
        scratch.write("a.toml", scenario);
        Some(scratch)
    }

    pub fn left_over(&self) -> Vec<std::path::PathBuf> {
        self.entries("tmp")
    }
}

/// All descendants of process `root`, with their commands' names.
pub fn descendants(root: u32) -> Vec<(u32, String)> {
    let named = |pid| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some((pid, name.trim_end().to_owned()))
    };
    family(root).into_iter().skip(1).filter_map(named).collect()
}

pub fn is_alive(pid: u32) -> bool {
    // A zombie counts as ended.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")))
}

pub fn command_line(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

pub fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

fn is_there(program: &str) -> bool {
    let server = trackbed_programs::find(program);
    let client = trackbed_programs::clients::find(program);
    let names = server.map(|server| server.executables());
    let names = names.or_else(|| client.map(|client| client.executables()));
    let names = names.unwrap_or_else(|| vec![program]);
    let package = server.and_then(|server| server.about().package);
    let package = package.or_else(|| client.and_then(|client| client.about().package));
    match trackbed_programs::find_executable(&names, package) {
        Ok(_) => true,
        Err(missing) => {
            skip(missing);
            false
        }
    }
}
