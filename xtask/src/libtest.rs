//! Runs tests and reads their output: prints only failures, and counts skips.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::ledger::Ledger;

/// Runs `cargo test`, and prints its output without what successful tests print. Ends it if there
/// is none any more.
pub fn run(mut cargo: Command, ledger: &mut Ledger) -> Result<(), String> {
    let started = cargo.stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|why| format!("cannot start cargo: {why}"))?;
    let mut reader = Reader::default();
    let output = lines(child.stdout.take().expect("it is piped"));
    loop {
        // Before the first test executable runs, the compiler may take any time.
        let quiet_max = if reader.has_begun { QUIET_MAX } else { Duration::MAX };
        let line = match output.recv_timeout(quiet_max) {
            Ok(line) => line?,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                kill_all(child.id());
                let _status = child.wait();
                let minutes = QUIET_MAX.as_secs() / 60;
                let slow: String = reader.slow.iter().map(|test| format!("\n    {test}")).collect();
                return Err(format!("cargo test: no output for {minutes} minutes; slow:{slow}"));
            }
        };
        if reader.shows(&line, ledger) {
            println!("{line}");
        }
    }
    let status = child.wait().map_err(|why| why.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("cargo test: {status}")) }
}

/// Its lines as they come, or why it cannot be read; closed at its end.
fn lines(output: ChildStdout) -> Receiver<Result<String, String>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n') {
            let line = line.map(|line| String::from_utf8_lossy(&line).into_owned());
            let line = line.map_err(|why| format!("the output of cargo cannot be read: {why}"));
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

/// Kills a process and its descendants, which any of its threads may have started.
fn kill_all(process: u32) {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children: Vec<String> = threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .collect();
    let _status = Command::new("kill").args(["-KILL", &process.to_string()]).status();
    let children = children.iter().flat_map(|list| list.split_whitespace());
    children.filter_map(|child| child.parse().ok()).for_each(kill_all);
}

/// Longer than any single test is silent.
const QUIET_MAX: Duration = Duration::from_secs(30 * 60);

/// Reads the output of test executables, line by line.
#[derive(Debug, Default)]
struct Reader {
    /// Within the list of what successful tests have printed (`--show-output`).
    in_successes: bool,
    /// A test executable has started.
    has_begun: bool,
    /// The tests that have run for a minute, and not ended.
    slow: Vec<String>,
}

impl Reader {
    /// Evaluates a line, and returns whether to print it.
    fn shows(&mut self, line: &str, ledger: &mut Ledger) -> bool {
        if line.starts_with("running ") {
            self.has_begun = true;
            self.slow.clear();
        }
        if let Some(test) = line.strip_prefix("test ") {
            let name = test.split(' ').next().unwrap_or(test);
            match test.contains(" has been running for over ") {
                true => self.slow.push(name.to_owned()),
                false => self.slow.retain(|slow| slow != name),
            }
        }
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.in_successes = false;
            ledger.passed += count(counts, "passed");
            ledger.failed += count(counts, "failed");
            ledger.ignored += count(counts, "ignored");
            // Executables of which everything was filtered out.
            return count(counts, "passed") + count(counts, "failed") > 0;
        }
        if MARKS.iter().any(|mark| line.starts_with(mark)) {
            ledger.skip(line.split_once([':', ' ']).map_or(line, |(_, why)| why));
            return false;
        }
        match line {
            "successes:" => self.in_successes = true,
            "failures:" => self.in_successes = false,
            _ => {}
        }
        let is_routine = line.is_empty()
            || line.starts_with("running ")
            || line.starts_with("test ")
                && (line.ends_with(" ok") || line.contains(" ... ignored"));
        !self.in_successes && !is_routine
    }
}

/// The prefix of the line that a test prints instead of failing if the machine lacks something.
const MARKS: [&str; 3] = ["SKIPPED:", "SKIPPED ", "skipped:"];

/// The number before a word of a summary.
pub fn count(counts: &str, word: &str) -> u64 {
    let words: Vec<&str> = counts.split([' ', ';', ',']).filter(|word| !word.is_empty()).collect();
    let before = words.windows(2).find(|pair| pair[1] == word).map(|pair| pair[0]);
    before.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_and_sums_are_printed_and_skips_are_counted() {
        let output = include_str!("libtest/output.txt");
        let (mut reader, mut ledger) = (Reader::default(), Ledger::default());
        let shown: Vec<&str> = output.lines().filter(|it| reader.shows(it, &mut ledger)).collect();
        assert_eq!(shown[0], "test closes ... FAILED");
        assert_eq!(shown[2], "test loops has been running for over 60 seconds");
        assert_eq!(shown[3..6], ["failures:", "---- closes stdout ----", "left: 1"]);
        assert_eq!(reader.slow, ["loops"]);
        assert!(shown.last().unwrap().starts_with("test result"));
        assert_eq!((ledger.passed, ledger.failed, ledger.ignored), (1, 1, 1));
        assert_eq!(ledger.skips(), 1);
        assert!(ledger.to_string().contains("no curl"), "{ledger}");
    }
}
