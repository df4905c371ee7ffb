//! The inference process of a run: this program, started again.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use trackbed_core::Time;
use trackbed_core::event::{Event, Record};
use trackbed_inference::tail;
use trackbed_linux::parent::die_with_parent;
use trackbed_linux::unprivileged::{User, demote};

use trackbed_scenario::Work;

pub(super) struct Inference {
    child: Child,
    said: Receiver<Said>,
    errors: Option<JoinHandle<String>>,
    frames: Vec<Frame>,
}

/// A line of `trackbed infer --events`.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Said {
    Ready {
        /// The process that does the work.
        process: u32,
    },
    Frame(Frame),
    End {
        reason: String,
    },
}

#[derive(Debug, Deserialize)]
struct Frame {
    frame: u64,
    begin_ns: u64,
    end_ns: u64,
}

impl Inference {
    /// Starts the process.
    pub fn start(work: &Work) -> Result<Inference, String> {
        let mut command = Command::new("/proc/self/exe");
        command.args(["infer", "--events", "--duration", FOREVER, "--warm-up", "0 s"]);
        tell(work, &mut command);
        // Ctrl-C lets a run that has begun finish.
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |why| format!("the inference could not be started: {why}");
        let mut child = die_with_parent(&mut command).spawn().map_err(failed)?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let (sender, said) = mpsc::channel();
        let mut inference = Inference { child, said, errors: None, frames: Vec::new() };
        let thread = || thread::Builder::new().name("inference".to_owned());
        if let (Some(output), Some(errors)) = (output, errors) {
            thread().spawn(move || listen(output, &sender)).map_err(failed)?;
            inference.errors = Some(thread().spawn(|| tail::read(errors)).map_err(failed)?);
        }
        Ok(inference)
    }

    /// Waits until it is ready; returns the process that does the work.
    pub fn wait_until_ready(&mut self) -> Result<u32, String> {
        match self.said.recv_timeout(READY_MAX) {
            Ok(Said::Ready { process }) => Ok(process),
            Err(RecvTimeoutError::Timeout) => {
                let limit = READY_MAX.as_secs() / 60;
                Err(format!("the inference was not ready after {limit} minutes"))
            }
            Ok(Said::Frame(_) | Said::End { .. }) | Err(RecvTimeoutError::Disconnected) => {
                Err(self.exit_reason(None))
            }
        }
    }

    /// Reads what it has reported; an error if it has ended.
    pub fn check(&mut self) -> Result<(), String> {
        loop {
            match self.said.try_recv() {
                Ok(Said::Frame(frame)) => self.frames.push(frame),
                Ok(Said::Ready { .. }) => {}
                Ok(Said::End { reason }) => return Err(self.exit_reason(Some(&reason))),
                Err(mpsc::TryRecvError::Empty) => return Ok(()),
                Err(mpsc::TryRecvError::Disconnected) => return Err(self.exit_reason(None)),
            }
        }
    }

    /// Ends it; returns its frames as events of a run that began at `origin`.
    pub fn end(mut self, origin: u64) -> Result<Vec<Record>, String> {
        self.check()?;
        self.stop();
        let time = |monotonic: u64| Time::from_nanos(monotonic.saturating_sub(origin));
        // Frames before the run are not part of it.
        let frames = self.frames.iter().filter(|frame| frame.begin_ns >= origin);
        let record = |frame: &Frame| {
            let event = Event::Inferred { frame: frame.frame, begin: time(frame.begin_ns) };
            Record { at: time(frame.end_ns), event }
        };
        Ok(frames.map(record).collect())
    }

    /// Asks it to end, and kills it if that takes long: a frame of a large model may.
    fn stop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        // Keep reading its output until it has ended.
        loop {
            match self.said.recv_timeout(END_MAX) {
                Ok(Said::Frame(frame)) => self.frames.push(frame),
                Ok(Said::Ready { .. } | Said::End { .. }) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn exit_reason(&mut self, reason: Option<&str>) -> String {
        self.stop();
        let words = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let words = words.strip_prefix("error: ").unwrap_or(&words);
        match (words, reason) {
            ("", Some("frames")) => "the inference ended before the run: its program printed no \
                                     more lines\n  help: let it run until it is stopped"
                .to_owned(),
            ("", Some(reason)) => format!("the inference ended before the run ({reason})"),
            ("", None) => "the inference ended before the run, without an error message".to_owned(),
            (words, _) => format!("the inference: {words}"),
        }
    }
}

impl Drop for Inference {
    fn drop(&mut self) {
        // A process that was already reaped must not be signalled.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.stop();
        }
    }
}

fn tell(work: &Work, command: &mut Command) {
    match work {
        Work::Detector { runtime, model, frames, threads } => {
            for (name, value) in [
                ("--runtime", runtime.as_ref().map(OsString::from)),
                ("--model", model.as_ref().map(OsString::from)),
                ("--frames", frames.as_ref().map(OsString::from)),
                ("--threads", threads.map(|threads| threads.to_string().into())),
            ] {
                if let Some(value) = value {
                    command.arg(name).arg(value);
                }
            }
        }
        Work::Command(text) => {
            let user = User::in_place_of_root();
            command.env_clear().envs(trackbed_programs::environment(user));
            if let Some(user) = user {
                demote(command, user);
            }
            command.args(["--exec", "--", "sh", "-c", text]);
        }
    }
}

/// Forwards its messages until its output ends or the receiver is gone.
fn listen(output: ChildStdout, said: &Sender<Said>) {
    for line in BufReader::new(output).lines() {
        let Some(words) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else {
            return;
        };
        if said.send(words).is_err() {
            return;
        }
    }
}

/// Longer than any run: those take at most a day.
const FOREVER: &str = "48 h";

/// A command may take ten minutes to become ready.
const READY_MAX: Duration = Duration::from_secs(660);

/// Maximum silence while it ends.
const END_MAX: Duration = Duration::from_secs(10);
