//! `trackbed link` as a command: what a command behind a link sees, and what is left afterwards. If the system
//! does not allow namespaces, these tests are skipped.

mod guests;
mod leftovers;
mod names;
mod outward;
mod packets;
mod roles;
mod status;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    Current,
    Nobody,
}

/// The users that can run a test on this machine: root can switch to any user.
fn users() -> Vec<User> {
    let mut users = Vec::new();
    if is_allowed(User::Current) {
        users.push(User::Current);
    }
    if rustix::process::getuid().is_root() && is_allowed(User::Nobody) {
        users.push(User::Nobody);
    }
    if users.is_empty() {
        eprintln!("SKIPPED: this machine allows no network namespaces");
    }
    users
}

fn is_allowed(user: User) -> bool {
    let output = trackbed(user, &["link", "--", "true"]).output().unwrap();
    let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || refusal.contains("does not let you"), "{refusal}");
    output.status.success()
}

fn trackbed(user: User, arguments: &[&str]) -> Command {
    let mut command = command(&PROGRAM, user);
    command.args(arguments);
    command
}

fn command(program: &Path, user: User) -> Command {
    let mut command = Command::new(program);
    command.current_dir(std::env::temp_dir()).stdin(Stdio::null());
    if user == User::Nobody {
        // An unprivileged user cannot read root's folders.
        command.uid(NOBODY).gid(NOBODY).env("PATH", "/usr/bin:/bin");
    }
    command
}

/// The exit status and the standard output of `trackbed link` with these arguments.
fn link(user: User, arguments: &[&str]) -> (i32, String) {
    let output = trackbed(user, &[&["link"], arguments].concat()).output().unwrap();
    let Output { status, stdout, stderr } = output;
    eprint!("{}", String::from_utf8_lossy(&stderr));
    (status.code().expect("it was not killed"), String::from_utf8(stdout).unwrap())
}

/// Runs a script in a namespace with its own ports, addresses and mounts, and without the machine's network.
fn in_a_machine_of_its_own(user: User, script: &str) -> Output {
    let mut command = command("unshare".as_ref(), user);
    // An unprivileged user is root there.
    command.args(["--mount", "--net", "--pid", "--fork", "--kill-child"]);
    if user == User::Nobody {
        command.arg("--map-root-user");
    }
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.args(["sh", "-c", script]).output().unwrap()
}

/// A copy of the program that all users may run: they may not have access to the build folder.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| copy(env!("CARGO_BIN_EXE_trackbed").into()));

/// A copy of this test, which can run a role inside a namespace (see `roles`).
static PLAYER: LazyLock<PathBuf> = LazyLock::new(|| copy(std::env::current_exe().unwrap()));

/// A folder for them. Statics are never dropped, so it outlives the process; the next process removes it.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let all = std::env::temp_dir();
    for entry in fs::read_dir(&all).unwrap().flatten() {
        let name = entry.file_name();
        let of = name.to_str().and_then(|name| name.strip_prefix("trackbed-link-"));
        let process = of.and_then(|of| of.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let folder = all.join(format!("trackbed-link-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    folder
});

fn copy(program: PathBuf) -> PathBuf {
    let copy = FOLDER.join(program.file_name().unwrap());
    fs::copy(&program, &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

const NOBODY: u32 = 65_534;
