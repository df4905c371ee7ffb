//! A program that runs.

use std::path::Path;
use std::thread;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_emulator::Clock;
use trackbed_emulator::enclosure::{Enclosed, Enclosure, Output, Reaped};
use trackbed_emulator::namespace::NetNamespace;

use crate::error::ProgramError;
use crate::folder::Folder;
use crate::listening::is_listening;
use crate::program::{Launch, Listens};
use crate::tree;

/// A program with everything that it has started, in a network namespace. It ends when this is
/// dropped, and when this process ends, however that happens.
#[derive(Debug)]
pub struct Running<'f> {
    name: String,
    enclosure: Enclosure,
    folder: &'f Folder,
    /// How its files of output begin.
    label: &'static str,
    /// What it had used when it was ready.
    before: Duration,
    ended: Option<Reaped>,
}

/// What a program has used, with everything that it has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Processor time, in user and system mode: a server's from when it listened, a client's in
    /// all, the start of the process that watches over it included (about 1 ms).
    pub processor: Duration,
    /// The most memory that was resident at once, in bytes: of a server's processes together, of
    /// a client's largest.
    pub memory_bytes: u64,
}

impl<'f> Running<'f> {
    /// Starts `executable` in `namespace` as `launch` says. What it says goes to files of `folder`
    /// whose names begin with `label`.
    ///
    /// # Errors
    /// If its files cannot be written, or the machine does not allow the namespaces.
    pub fn start(
        namespace: &NetNamespace,
        executable: &Path,
        launch: &Launch,
        folder: &'f Folder,
        label: &'static str,
    ) -> Result<Running<'f>, ProgramError> {
        for (name, content) in &launch.files {
            folder.write(name, content.as_bytes())?;
        }
        let output = Output {
            stdout: folder.create(&stdout(label))?,
            stderr: folder.create(&stderr(label))?,
        };
        let mut command = vec![executable.into()];
        command.extend(launch.arguments.iter().cloned());
        let environment = launch.environment.clone();
        let enclosed = Enclosed { command, environment, resolver: None };
        let enclosure =
            Enclosure::start_apart(namespace, &enclosed, output).map_err(ProgramError::Start)?;
        let name = executable.file_name().unwrap_or(executable.as_os_str());
        let name = name.to_string_lossy().into_owned();
        Ok(Running { name, enclosure, folder, label, before: Duration::ZERO, ended: None })
    }

    /// Waits until it listens.
    ///
    /// # Errors
    /// If it ends before, or does not listen within ten seconds.
    pub fn wait_until_ready(&mut self, wanted: Listens) -> Result<(), ProgramError> {
        let begin = Clock::start();
        while !is_listening(self.enclosure.root(), wanted) {
            self.check()?;
            if begin.now() > READY_MAX {
                let seconds = READY_MAX.as_nanos() / 1_000_000_000;
                return Err(ProgramError::NotReady {
                    name: self.name.clone(),
                    what: format!("does not listen on {wanted} after {seconds} s"),
                    last_words: self.last_words(),
                });
            }
            pause();
        }
        self.before = tree::processor(self.enclosure.root());
        Ok(())
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// If it has ended.
    pub fn check(&mut self) -> Result<(), ProgramError> {
        match self.look()? {
            None => Ok(()),
            Some(reaped) => Err(ProgramError::Ended {
                name: self.name.clone(),
                status: reaped.status,
                last_words: self.last_words(),
            }),
        }
    }

    /// Looks whether it has come to its end by itself, with success; what it has used then.
    ///
    /// # Errors
    /// If it has failed.
    pub fn try_finish(&mut self) -> Result<Option<Used>, ProgramError> {
        match self.look()? {
            None => Ok(None),
            Some(Reaped { status, processor, memory_bytes }) if status.success() => {
                Ok(Some(Used { processor, memory_bytes }))
            }
            Some(_) => self.check().map(|()| None),
        }
    }

    /// Asks it to end, and ends it if it does not within two seconds. Everything that it has
    /// started ends as well.
    ///
    /// # Errors
    /// If it has ended before.
    pub fn stop(mut self) -> Result<Used, ProgramError> {
        self.check()?;
        let memory_bytes = tree::memory_bytes(self.enclosure.root());
        let forward = self.enclosure.forwarder();
        forward(SIGTERM);
        let begin = Clock::start();
        while begin.now() < STOP_MAX && self.look()?.is_none() {
            pause();
        }
        self.enclosure.end();
        let reaped = loop {
            match self.look()? {
                Some(reaped) => break reaped,
                None => pause(),
            }
        };
        Ok(Used { processor: reaped.processor.saturating_sub(self.before), memory_bytes })
    }

    fn look(&mut self) -> Result<Option<Reaped>, ProgramError> {
        if self.ended.is_none() {
            self.ended = self.enclosure.try_wait().map_err(ProgramError::Lost)?;
        }
        Ok(self.ended)
    }

    /// The last lines that it has said, to standard error or else to standard output.
    fn last_words(&self) -> String {
        let errors = self.folder.tail(&stderr(self.label));
        if errors.is_empty() { self.folder.tail(&stdout(self.label)) } else { errors }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.enclosure.end();
        while let Ok(None) = self.look() {
            pause();
        }
    }
}

fn stdout(label: &str) -> String {
    format!("{label}.stdout")
}

fn stderr(label: &str) -> String {
    format!("{label}.stderr")
}

fn pause() {
    #[expect(clippy::disallowed_methods, reason = "nothing here is simulated")]
    thread::sleep(PERIOD);
}

const SIGTERM: i32 = rustix::process::Signal::TERM.as_raw();

const READY_MAX: Time = Time::from_millis(10_000);
const STOP_MAX: Time = Time::from_millis(2_000);
const PERIOD: Duration = Duration::from_millis(2);
