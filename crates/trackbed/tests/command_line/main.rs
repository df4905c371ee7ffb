//! The program as its users meet it: the real binary, its output, its files and its exit status.

mod advise;
mod bad_input;
mod captures;
mod compare;
mod continuing;
mod damage;
mod export;
mod files;
mod handover;
mod infer;
mod kubernetes;
mod live;
mod merging;
mod reference;
mod report;
mod results;
mod schemas;
mod slurm;
mod store;
mod sweeps;
mod v2x;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A scenario of two messages over a clean link: 3 round trips of 10 ms.
const SCENARIO: &str = "\
protocol = \"quic\"
runs = 2
[link]
rate = \"50 Mbit/s\"
delay = \"5 ms\"
[workload]
kind = \"messages\"
count = 2
";

/// A folder of the test's own, gone when it ends, in which commands are run.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("trackbed-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }

    /// `trackbed` with `words`, ready to run here.
    fn command(&self, words: &str) -> Command {
        command(&self.0, words)
    }

    fn trackbed(&self, words: &str) -> Ended {
        Ended::from(self.command(words).output().unwrap())
    }

    /// The command must end with status 0.
    fn succeed(&self, words: &str) -> Ended {
        let ended = self.trackbed(words);
        assert_eq!(ended.status, 0, "{words}: {}", ended.stderr);
        ended
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `trackbed` with `words`, which blanks separate, ready to run in `folder`.
fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackbed"));
    command.args(words.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command
}

/// What a command left.
struct Ended {
    status: i32,
    stdout: String,
    stderr: String,
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
