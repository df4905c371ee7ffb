//! Inference by a third-party program that prints a line per frame: a TensorRT or Hailo pipeline,
//! or a language model that prints its tokens.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use trackbed_core::time::nanos;
use trackbed_linux::parent::die_with_parent;

use crate::clock::{is_ready, monotonic_nanos};
use crate::detector::Frame;
use crate::tail::Tail;

/// A program in a separate process group. Dropping it ends the whole group; when the thread that
/// started it ends, however that happens, the program itself is killed.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    group: Pid,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    lines: std::collections::VecDeque<u64>,
    begin_ns: Option<u64>,
    count: u64,
    last_words: Tail,
    ended: Option<ExitStatus>,
}

/// The result of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A frame is complete.
    Frame(Frame),
    /// Nothing within this time.
    Nothing,
    /// The program has ended successfully, or closed its output.
    End,
}

/// Why a program failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum ProgramError {
    #[error("cannot start {0}: {1}")]
    Start(String, io::Error),
    #[error("cannot read the output of {0}: {1}")]
    Lost(String, io::Error),
    #[error("{0} ended without output: it must print a line for each frame")]
    Silent(String),
    #[error("{name} failed ({status}){}", said(.last_words))]
    Failed { name: String, status: ExitStatus, last_words: String },
}

impl Program {
    /// Starts `command`: a program, and its arguments.
    ///
    /// # Errors
    /// If it is empty or cannot be started.
    pub fn start(command: &[OsString]) -> Result<Program, ProgramError> {
        let Some((program, arguments)) = command.split_first() else {
            let empty = io::Error::new(io::ErrorKind::InvalidInput, "no program was given");
            return Err(ProgramError::Start("--exec".to_owned(), empty));
        };
        let name = program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = die_with_parent(&mut command).spawn();
        let mut child = started.map_err(|why| ProgramError::Start(name.clone(), why))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Ok(Program {
            name,
            group: Pid::from_child(&child),
            child,
            stdout,
            stderr,
            lines: std::collections::VecDeque::new(),
            begin_ns: None,
            count: 0,
            last_words: Tail::default(),
            ended: None,
        })
    }

    /// Its process, and the process group of all its children.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the first line, at most `limit`; returns when it arrived, or `None`.
    ///
    /// # Errors
    /// If the program has ended before, successfully or not.
    pub fn wait_until_ready(&mut self, limit: Duration) -> Result<Option<u64>, ProgramError> {
        if self.begin_ns.is_none() {
            if self.lines.is_empty() && self.stdout.is_some() {
                self.listen(limit).map_err(|why| ProgramError::Lost(self.name.clone(), why))?;
            }
            self.begin_ns = self.lines.pop_front();
            if self.begin_ns.is_none() && self.stdout.is_none() {
                self.finish()?;
                return Err(ProgramError::Silent(self.name.clone()));
            }
        }
        Ok(self.begin_ns)
    }

    /// Waits for the next frame, at most `limit`. A frame lasts from one line to the next: the
    /// first line says that the program is ready, and is not a frame.
    ///
    /// # Errors
    /// If the program has failed.
    pub fn step(&mut self, limit: Duration) -> Result<Step, ProgramError> {
        let end = monotonic_nanos().saturating_add(nanos(limit));
        loop {
            while let Some(end_ns) = self.lines.pop_front() {
                if let Some(begin_ns) = self.begin_ns.replace(end_ns) {
                    self.count += 1;
                    let number = self.count;
                    let frame = Frame { number, begin_ns, end_ns, stages: None, detections: None };
                    return Ok(Step::Frame(frame));
                }
            }
            if self.stdout.is_none() {
                return self.finish().map(|()| Step::End);
            }
            let left = end.saturating_sub(monotonic_nanos());
            if left == 0 {
                return Ok(Step::Nothing);
            }
            self.listen(Duration::from_nanos(left))
                .map_err(|why| ProgramError::Lost(self.name.clone(), why))?;
        }
    }

    /// Reads available output, or waits for it at most `limit`.
    fn listen(&mut self, limit: Duration) -> io::Result<()> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        let wanted = PollFlags::IN;
        let mut both = Vec::with_capacity(2);
        both.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, wanted)));
        both.extend(self.stderr.as_ref().map(|pipe| PollFd::new(pipe, wanted)));
        match poll(&mut both, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => return Ok(()),
            other => other?,
        };
        let mut ready = both.iter().map(|pipe| !pipe.revents().is_empty());
        let spoken = self.stdout.is_some() && ready.next().unwrap_or(false);
        let complained = self.stderr.is_some() && ready.next().unwrap_or(false);
        let mut part = [0; 4096];
        if let (true, Some(pipe)) = (spoken, &mut self.stdout) {
            let count = pipe.read(&mut part)?;
            let now = monotonic_nanos();
            let lines = part[..count].iter().filter(|byte| **byte == b'\n');
            self.lines.extend(lines.map(|_| now));
            if count == 0 {
                self.stdout = None;
            }
        }
        if let (true, Some(pipe)) = (complained, &mut self.stderr) {
            let count = pipe.read(&mut part)?;
            self.last_words.push(&part[..count]);
            if count == 0 {
                self.stderr = None;
            }
        }
        Ok(())
    }

    /// Its output has ended: it has exited, or is given a moment to do so.
    fn finish(&mut self) -> Result<(), ProgramError> {
        let name = self.name.clone();
        let lost = |why| ProgramError::Lost(name.clone(), why);
        let status = match self.ended {
            Some(status) => status,
            // It closed its output but continues to run: there will be no more output.
            None if !wait(&mut self.child, END_MAX).map_err(lost)? => return Ok(()),
            None => self.bury().map_err(lost)?,
        };
        // No process of its group has its standard error open any more; others are not waited for.
        let limit = monotonic_nanos().saturating_add(nanos(END_MAX));
        while self.stderr.is_some() && monotonic_nanos() < limit {
            self.listen(END_MAX).map_err(lost)?;
        }
        match status.success() {
            true => Ok(()),
            false => Err(ProgramError::Failed {
                name: self.name.clone(),
                status,
                last_words: self.last_words.text(),
            }),
        }
    }

    /// Kills all processes of the group, and reaps the program.
    fn bury(&mut self) -> io::Result<ExitStatus> {
        // Until the program is reaped, no other process can have its number.
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = self.child.wait()?;
        self.ended = Some(status);
        Ok(status)
    }
}

/// Asks everything that it has started to end (SIGTERM), and kills what is left after two seconds.
impl Drop for Program {
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ = kill_process_group(self.group, Signal::TERM);
            let _ = wait(&mut self.child, END_MAX);
            let _ = self.bury();
        }
    }
}

fn said(last_words: &str) -> String {
    match last_words {
        "" => String::new(),
        words => format!("; its last output:\n{words}"),
    }
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<bool> {
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    is_ready(&end, monotonic_nanos().saturating_add(nanos(limit)))
}

const END_MAX: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::start(&["sh", "-c", script].map(OsString::from)).unwrap()
    }

    /// Whether a process of a group is alive; zombies do not count.
    fn is_alive(group: Pid) -> bool {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.into_iter().any(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            // State, parent, group: proc(5).
            let own = fields.get(2).and_then(|group| group.parse().ok());
            own == Some(group.as_raw_nonzero().get()) && fields[0] != "Z"
        })
    }

    fn frames(program: &mut Program) -> Result<Vec<Frame>, ProgramError> {
        let mut frames = Vec::new();
        loop {
            match program.step(Duration::from_secs(60))? {
                Step::Frame(frame) => frames.push(frame),
                Step::End => return Ok(frames),
                Step::Nothing => panic!("it should have printed a line or ended by now"),
            }
        }
    }

    #[test]
    fn a_frame_lasts_from_line_to_line() {
        let begin = monotonic_nanos();
        let mut program = shell("echo ready; sleep 0.2; echo a long line; sleep 0.05; echo");
        let found = frames(&mut program).unwrap();
        assert_eq!(found.iter().map(|frame| frame.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(found[0].end_ns, found[1].begin_ns);
        assert!(found[0].begin_ns > begin);
        // However late the test reads it, the last line is not written before the program has
        // slept.
        assert!(found[1].end_ns - begin >= 250_000_000, "{found:?}");
    }

    #[test]
    fn how_it_failed_is_said_with_its_last_words() {
        let mut program = shell("echo; echo; echo no such device >&2; exit 3");
        let error = frames(&mut program).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("no such device"), "{error}");
        let missing = Program::start(&["/no/such/program".into()]).unwrap_err().to_string();
        assert!(missing.starts_with("cannot start /no/such/program"), "{missing}");
        assert!(Program::start(&[]).is_err());
    }

    #[test]
    fn much_on_standard_error_does_not_block() {
        let mut program =
            shell("for i in 1 2 3 4 5 6 7 8; do head -c 65536 /dev/zero >&2; echo; done");
        assert_eq!(frames(&mut program).unwrap().len(), 7);
    }

    #[test]
    fn a_wait_has_an_end_and_so_has_everything_that_was_started() {
        let mut program = shell("trap '' TERM; sleep 600 & echo; wait; sleep 600");
        assert_eq!(program.step(Duration::from_millis(100)).unwrap(), Step::Nothing);
        let group = program.group;
        assert!(is_alive(group));
        drop(program);
        // Killing may take a moment.
        let end = monotonic_nanos() + 60_000_000_000;
        while is_alive(group) {
            assert!(monotonic_nanos() < end, "a process of the group is still alive");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_program_that_closes_its_output_and_lives_on_has_come_to_its_end() {
        let mut program = shell("echo; echo; exec >&-; sleep 600");
        assert_eq!(frames(&mut program).unwrap().len(), 1);
    }
}
