//! Helpers of the program's tests: a folder to run it in, the result of a command, and programs that a machine
//! may lack.
#![allow(dead_code, unused_imports, reason = "not every executable uses every part")]

#[path = "../../../../tests/src/programs.rs"]
mod programs;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddrV4, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

pub use programs::{Kept, python, skip, wireshark};

/// A temporary folder in which commands are run.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::Builder::new().prefix("tb").tempdir().unwrap())
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub fn write(&self, name: &str, text: &(impl AsRef<[u8]> + ?Sized)) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }

    /// The JSON document in a file.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Changes the JSON document in a file.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut document = self.json(name);
        change(&mut document);
        self.write(name, &document.to_string());
    }

    /// Asserts that each of `files` has the same bytes in both folders.
    pub fn same(&self, one: &str, other: &str, files: &[&str]) {
        for file in files {
            let [one, other] = [one, other].map(|folder| fs::read(self.path(folder).join(file)));
            assert!(one.unwrap() == other.unwrap(), "{file}");
        }
    }

    /// The sorted paths in a folder.
    pub fn entries(&self, name: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(name)).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    /// `trackbed` with `words`, separated by spaces, ready to run here.
    pub fn command(&self, words: &str) -> Command {
        command(self.folder(), words)
    }

    pub fn trackbed(&self, words: &str) -> Ended {
        Ended::of(&mut self.command(words))
    }

    pub fn succeed(&self, words: &str) -> Ended {
        let ended = self.trackbed(words);
        assert_eq!(ended.status, 0, "{words}: {}", ended.stderr);
        ended
    }

    /// The command must be refused with one message that has all of these parts.
    pub fn refuse(&self, words: &str, parts: &[&str]) {
        println!("trackbed {words}");
        self.trackbed(words).refused(parts);
    }

    /// Each command of this section of `data/cases.txt` is refused as it says there, and those behind a `$` succeed.
    pub fn refuse_all(&self, section: &str) {
        for row in cases(section) {
            match row[0].strip_prefix("$ ") {
                Some(words) => drop(self.succeed(words)),
                None => self.refuse(row[0], &row[1..]),
            }
        }
    }
}

/// The rows of a section of `data/cases.txt`.
pub fn cases(section: &str) -> Vec<Vec<&'static str>> {
    let all = include_str!("../data/cases.txt").split_once(&format!("\n# {section}\n"));
    let rows = all.unwrap_or_else(|| panic!("no {section}")).1.lines();
    let cell = |cell: &str| &*cell.replace("\\n", "\n").leak();
    let rows = rows.take_while(|row| !row.is_empty());
    rows.map(|row| row.split(" | ").map(cell).collect()).collect()
}

/// `trackbed` with `words`, separated by spaces or between single quotation marks, ready to run in `folder`.
pub fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
    for (number, part) in words.split('\'').enumerate() {
        match number % 2 {
            0 => command.args(part.split_whitespace()),
            _ => command.arg(part),
        };
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn of(command: &mut Command) -> Ended {
        Ended::from(command.output().unwrap())
    }

    /// Asserts that the command failed without output, and that its single message has all of these parts.
    pub fn refused(&self, parts: &[&str]) {
        assert_eq!((self.status, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        let errors = self.stderr.lines().filter(|line| line.starts_with("error:")).count();
        assert_eq!(errors, 1, "{}", self.stderr);
        self.says(2, parts);
    }

    /// Asserts that it ended with this status, and that its messages have all of these parts.
    pub fn says(&self, status: i32, parts: &[&str]) {
        assert_eq!(self.status, status, "{}{}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        has(&self.stderr, parts);
    }

    /// Asserts that it ended with this status, and that its output has all of these parts.
    pub fn prints(&self, status: i32, parts: &[&str]) {
        self.says(status, &[]);
        has(&self.stdout, parts);
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    pub fn cells(&self) -> Vec<Value> {
        self.json()["cells"].as_array().unwrap().clone()
    }
}

/// Asserts that a text has all of these parts.
pub fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no \"{part}\" in:\n{text}");
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        Ended {
            status: output.status.code().expect("no signal ended it"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Starts a command whose output is read when it ends.
pub fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Starts a server that logs as JSON, and returns it with the address in its first line.
pub fn listening(mut command: Command) -> (Kept, String) {
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    (Kept(process), told["address"].as_str().unwrap().to_owned())
}

/// The packets of a pcapng file in the byte order of this machine, each as its Enhanced Packet Block
/// (draft-ietf-opsawg-pcapng section 4.3).
pub fn packets(mut file: &[u8]) -> Vec<&[u8]> {
    let mut packets = Vec::new();
    while file.len() >= 12 {
        let (block, rest) = file.split_at(number(file, 4) as usize);
        packets.extend((number(block, 0) == 6).then_some(block));
        file = rest;
    }
    packets
}

/// The number at a place of a block.
pub fn number(block: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(block[at..at + 4].try_into().unwrap())
}

/// Asks a SOCKS5 server for a connection to `to`, and returns the code of its answer.
pub fn ask_socks(mut server: &TcpStream, to: SocketAddrV4) -> u8 {
    server.write_all(&socks_request(to)).unwrap();
    let mut answer = [0; 12];
    server.read_exact(&mut answer).unwrap();
    assert_eq!(answer[..3], [5, 0, 5], "{answer:?}");
    answer[3]
}

/// The messages of a client that connects to `to` (RFC 1928 sections 3 and 4).
pub fn socks_request(to: SocketAddrV4) -> Vec<u8> {
    let (ip, port) = (to.ip().octets(), to.port().to_be_bytes());
    [b"\x05\x01\x00\x05\x01\x00\x01", &ip[..], &port].concat()
}

/// Waits until `look` finds something, for a minute at most.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(60, what, look)
}

fn within<T>(seconds: u32, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..1_000 * seconds {
        if let Some(found) = look() {
            return found;
        }
        #[expect(clippy::disallowed_methods, reason = "programs run in real time")]
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("not within {seconds} s: {what}");
}

/// As [`eventually`], for a condition.
pub fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    wait_within(60, what, is_so);
}

/// The same, for this many seconds at most.
pub fn wait_within(seconds: u32, what: &str, mut is_so: impl FnMut() -> bool) {
    within(seconds, what, || is_so().then_some(()));
}

/// The output of a program that must succeed.
pub fn printed(command: &mut Command) -> String {
    let ended = Ended::of(command.stdin(Stdio::null()));
    assert_eq!(ended.status, 0, "{command:?}: {}", ended.stderr);
    ended.stdout
}
