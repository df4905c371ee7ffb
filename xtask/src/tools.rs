//! Third-party programs that some tests use.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The programs that tests use if they are installed, each with the Debian package that holds it:
/// `capinfos` and `tshark` read our captures back, `strace` lets calls fail; the others are servers
/// and clients at the ends of a run, or a library, listed by the path of a file.
const TOOLS: &str = include_str!("tools.txt");

fn tools() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOOLS.lines().filter_map(|line| line.split_once(' '))
}

/// The Debian packages of missing programs.
pub fn missing() -> Vec<&'static str> {
    tools().filter(|(program, _)| !is_there(program)).map(|(_, package)| package).collect()
}

/// Installs packages if this is Debian, as root, and returns whether it succeeded.
pub fn install(packages: &[&str]) -> bool {
    let mut words = vec!["install", "-y", "--no-install-recommends"];
    words.extend(packages);
    is_root() && is_there("apt-get") && apt(&["update"]) && apt(&words)
}

/// The Debian package of a program in the list.
pub fn package(program: &str) -> Option<&'static str> {
    tools().find(|(known, _)| *known == program).map(|(_, package)| package)
}

/// Whether it is in a folder of `PATH`, or of those where Debian keeps servers. Servers are not
/// started to check this: some run despite unknown arguments.
pub fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let servers = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(servers).any(|folder| folder.join(program).is_file())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn apt(words: &[&str]) -> bool {
    Command::new("apt-get")
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
