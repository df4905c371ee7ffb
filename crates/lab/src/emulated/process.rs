//! A process of a run, seen from the one that started it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use trackbed_core::event::Record;
use trackbed_emulator::namespace::NetNamespace;

use super::conversation::{Job, Report};
use super::endpoint::ENDPOINT;

/// An end's process. It ends when this is dropped.
pub(super) struct Process {
    name: &'static str,
    child: Child,
    /// The end of its input tells it to stop.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts an end in `namespace`: this very program, called anew.
    pub fn start(
        namespace: &NetNamespace,
        name: &'static str,
        job: &Job,
    ) -> Result<Process, String> {
        let spawn = || {
            Command::new("/proc/self/exe")
                .arg(ENDPOINT)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                // Ctrl-C lets a run that has begun come to its end.
                .process_group(0)
                .spawn()
        };
        let spawned = namespace.run(spawn).map_err(|why| why.to_string())?;
        let mut child = spawned.map_err(|why| format!("{name} could not be started: {why}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut process = Process { name, child, input, output };
        let mut line = serde_json::to_vec(job).expect("a job is plain data");
        line.push(b'\n');
        match process.input.as_mut().expect("it was asked for").write_all(&line) {
            Ok(()) => Ok(process),
            Err(_) => Err(process.obituary()),
        }
    }

    /// Waits until it serves; returns its certificate.
    pub fn readiness(&mut self) -> Result<Option<Vec<u8>>, String> {
        match self.report()? {
            Report::Ready { trust } => Ok(trust),
            Report::Done(_) => Err(format!("{} ended before it began", self.name)),
            Report::Failed(why) => Err(why),
        }
    }

    /// Waits until it is done; returns its events.
    pub fn finish(&mut self) -> Result<Vec<Record>, String> {
        match self.report()? {
            Report::Done(records) => Ok(records),
            Report::Ready { .. } => Err(format!("{} said something unexpected", self.name)),
            Report::Failed(why) => Err(why),
        }
    }

    /// Tells it to stop.
    pub fn stop(&mut self) {
        self.input = None;
    }

    fn report(&mut self) -> Result<Report, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(1..) => serde_json::from_str(&line)
                .map_err(|why| format!("{} said something unexpected: {why}", self.name)),
            Ok(0) | Err(_) => Err(self.obituary()),
        }
    }

    /// What is known of a process that has ended without a word.
    fn obituary(&mut self) -> String {
        let _ = self.child.kill();
        let mut last_words = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            let _ = errors.read_to_string(&mut last_words);
        }
        let status = self.child.wait();
        let status = status.map_or_else(|why| why.to_string(), |status| status.to_string());
        format!("{} died ({status}): {}", self.name, last_words.trim())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
