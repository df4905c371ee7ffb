//! A running program, and the environment variables that it gets.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{env, io};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use trackbed_core::Time;
use trackbed_emulator::Clock;
use trackbed_emulator::enclosure::{Account, Enclosed, Enclosure, Output, Reaped, Usage};
use trackbed_emulator::namespace::{NetNamespace, set_sysctl};
use trackbed_linux::unprivileged::User;

use crate::channel::Channel;
use crate::error::ProgramError;
use crate::folder::Folder;
use crate::listening::is_listening;
use crate::program::{Launch, Listens};
use crate::tree;

/// A program with all its descendants, in a network namespace. It ends when this is dropped, and
/// when this process ends, however that happens.
#[derive(Debug)]
pub struct Running {
    name: String,
    enclosure: Enclosure,
    /// Becomes readable when it ends.
    end: OwnedFd,
    folder: Arc<Folder>,
    /// Prefix of its output files.
    label: &'static str,
    /// Its usage when it became ready.
    before: Duration,
    ended: Option<Reaped>,
}

impl Running {
    /// Starts `executable` in `namespace` as described by `launch`, with the other ends of `channel`
    /// if there is one. Its output goes to files in `folder` whose names start with `label`.
    ///
    /// # Errors
    /// If its files cannot be written, or the machine does not allow the namespaces.
    pub fn start(
        namespace: &NetNamespace,
        executable: &Path,
        launch: &Launch,
        folder: &Arc<Folder>,
        label: &'static str,
        channel: Option<&Channel>,
    ) -> Result<Running, ProgramError> {
        for (name, content) in &launch.files {
            folder.write(name, content.as_bytes())?;
        }
        let output = Output {
            stdout: folder.create(&stdout(label))?,
            stderr: folder.create(&stderr(label))?,
        };
        let mut command = vec![executable.into()];
        command.extend(launch.arguments.iter().cloned());
        if let Some(channel) = channel {
            command = channel.enclose(command);
        }
        let user = folder.user();
        let mut environment = environment(user);
        if user.is_some() {
            environment.push(("HOME".into(), folder.scratch().into()));
            namespace.run(open_to_all_users).map_err(ProgramError::Start)?;
        }
        environment.extend(launch.environment.iter().cloned());
        let enclosed = Enclosed { command, environment, resolver: None, user };
        let enclosure =
            Enclosure::start_apart(namespace, &enclosed, output).map_err(ProgramError::Start)?;
        let end = descriptor(enclosure.root()).map_err(ProgramError::Lost)?;
        let name = executable.file_name().unwrap_or(executable.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let folder = Arc::clone(folder);
        Ok(Running { name, enclosure, end, folder, label, before: Duration::ZERO, ended: None })
    }

    /// Its process ID on this machine; all that it has started is below it.
    pub fn process(&self) -> u32 {
        self.enclosure.root()
    }

    /// Waits until it listens.
    ///
    /// # Errors
    /// If it ends before that, or does not listen within ten seconds.
    pub fn wait_until_ready(&mut self, wanted: Listens) -> Result<(), ProgramError> {
        let begin = Clock::start();
        let mut period = PERIOD;
        while !is_listening(self.enclosure.root(), wanted) {
            self.check()?;
            if begin.now() > READY_MAX {
                let seconds = READY_MAX.as_nanos() / 1_000_000_000;
                self.enclosure.end();
                return Err(ProgramError::NotReady {
                    name: self.name.clone(),
                    what: format!("does not listen on {wanted} after {seconds} s"),
                    last_words: self.last_words(),
                });
            }
            // For each check, the kernel goes through all its sockets.
            self.wait_for_end(period);
            period = (period * 2).min(PERIOD_MAX);
        }
        self.before = tree::processor(self.enclosure.root());
        Ok(())
    }

    /// Checks that it is still running.
    ///
    /// # Errors
    /// If it has ended, or has written too much output and was stopped for that.
    pub fn check(&mut self) -> Result<(), ProgramError> {
        let said = [stdout(self.label), stderr(self.label)].map(|name| self.folder.length(&name));
        if said.into_iter().any(|length| length > OUTPUT_MAX) {
            self.enclosure.end();
            return Err(ProgramError::Talkative {
                name: self.name.clone(),
                limit: OUTPUT_MAX,
                last_words: self.last_words(),
            });
        }
        match self.look()? {
            None => Ok(()),
            Some(reaped) => Err(ProgramError::Ended {
                name: self.name.clone(),
                status: reaped.status,
                last_words: self.last_words(),
            }),
        }
    }

    /// Waits until it has ended, or for this time.
    pub fn wait_for_end(&self, limit: Duration) {
        let limit = Timespec::try_from(limit).ok();
        // The caller checks the state and calls again, even after an interruption.
        let _ = poll(&mut [PollFd::new(&self.end, PollFlags::IN)], limit.as_ref());
    }

    /// Waits until it has written to `channel` or ended, or for this time.
    pub fn wait_for_word(&self, channel: &Channel, limit: Duration) {
        let limit = Timespec::try_from(limit).ok();
        let mut both = [PollFd::new(&self.end, PollFlags::IN), PollFd::new(channel, PollFlags::IN)];
        let _ = poll(&mut both, limit.as_ref());
    }

    /// Its standard output so far.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn output(&self) -> Result<Vec<u8>, ProgramError> {
        let path = self.folder.path().join(stdout(self.label));
        std::fs::read(path).map_err(ProgramError::Lost)
    }

    /// Checks whether it has ended successfully; returns when it ran and its resource usage. Do not
    /// call it again after that.
    ///
    /// # Errors
    /// If it has failed.
    pub fn try_finish(&mut self) -> Result<Option<Account>, ProgramError> {
        // It looks once: a program may end between two looks.
        match self.check() {
            Err(ProgramError::Ended { status, .. }) if status.success() => {
                let account = self.enclosure.account();
                let lost = || ProgramError::Lost(io::ErrorKind::UnexpectedEof.into());
                account.ok_or_else(lost).map(Some)
            }
            running => running.map(|()| None),
        }
    }

    /// Asks it to end, and kills it if it does not within two seconds. All its descendants end as
    /// well. Returns the processor time since it listened, and the maximum resident memory of each of
    /// its processes, summed; shared pages count for each process.
    ///
    /// # Errors
    /// If it has ended before.
    pub fn stop(mut self) -> Result<Usage, ProgramError> {
        self.check()?;
        let memory_bytes = tree::memory_bytes(self.enclosure.root());
        let forward = self.enclosure.forwarder();
        forward(SIGTERM);
        let begin = Clock::start();
        while begin.now() < STOP_MAX && self.look()?.is_none() {
            self.wait_for_end(PERIOD);
        }
        self.enclosure.end();
        let reaped = loop {
            match self.look()? {
                Some(reaped) => break reaped,
                None => self.wait_for_end(PERIOD),
            }
        };
        // A process killed together with all others has left no account.
        let usage = self.enclosure.account().map_or(reaped.usage, |account| account.usage);
        Ok(Usage { processor: usage.processor.saturating_sub(self.before), memory_bytes })
    }

    fn look(&mut self) -> Result<Option<Reaped>, ProgramError> {
        if self.ended.is_none() {
            self.ended = self.enclosure.try_wait().map_err(ProgramError::Lost)?;
        }
        Ok(self.ended)
    }

    /// The last lines of its standard error or, if there are none, standard output.
    fn last_words(&self) -> String {
        let errors = self.folder.tail(&stderr(self.label));
        if errors.is_empty() { self.folder.tail(&stdout(self.label)) } else { errors }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.enclosure.end();
        while let Ok(None) = self.look() {
            self.wait_for_end(PERIOD);
        }
    }
}

/// Lets users other than root listen on ports below 1024, and send echo requests without raw sockets:
/// ip-sysctl.rst of the kernel. A kernel without such a setting has to do without.
fn open_to_all_users() {
    let _ = set_sysctl("ipv4/ip_unprivileged_port_start", "0");
    let _ = set_sysctl("ipv4/ping_group_range", "0 2147483647");
}

fn stdout(label: &str) -> String {
    format!("{label}.stdout")
}

fn stderr(label: &str) -> String {
    format!("{label}.stderr")
}

fn descriptor(process: u32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    Ok(pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?)
}

const SIGTERM: i32 = rustix::process::Signal::TERM.as_raw();

/// Maximum size of standard output, and of standard error, in bytes. The figures of `h2load` and a
/// day's logs are much smaller.
const OUTPUT_MAX: u64 = 100_000_000;
const READY_MAX: Time = Time::from_millis(10_000);
const STOP_MAX: Time = Time::from_millis(2_000);
const PERIOD: Duration = Duration::from_millis(2);
const PERIOD_MAX: Duration = Duration::from_millis(20);

/// The environment variables of this process that third-party programs receive. Others may be secrets.
/// Programs of another `user` do not receive the paths of this one.
pub fn environment(user: Option<User>) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &str| is_plain(name) && (user.is_none() || !OF_ONE_USER.contains(&name));
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)).collect()
}

fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name) || name.starts_with("LC_")
}

const PLAIN: [&str; 8] =
    ["PATH", "HOME", "LANG", "TMPDIR", "TERM", "TZ", "VIRTUAL_ENV", "LD_LIBRARY_PATH"];

/// Folders that another user may not enter.
const OF_ONE_USER: [&str; 2] = ["HOME", "TMPDIR"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_user_gets_no_folders_of_ours() {
        let has = |user, name: &str| environment(user).iter().any(|(other, _)| other == name);
        assert!(has(None, "PATH") && has(Some(User::OVERFLOW), "PATH"));
        assert!(!has(Some(User::OVERFLOW), "HOME") && !has(Some(User::OVERFLOW), "TMPDIR"));
    }

    #[test]
    fn third_party_programs_get_no_secrets() {
        for name in ["PATH", "LC_ALL", "LANG", "VIRTUAL_ENV"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
