//! A command in a separate network namespace, with every process that it starts.
//!
//! Between this process and the command there is an init: the same program, started as the first
//! process of a new process namespace ([`init`]). When it exits, the kernel ends everything that
//! the command has started; and it exits when this process does, however that happens, because it
//! holds the reading end of a pipe whose only writing end is here.

mod account;
mod init;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};
use trackbed_linux::namespaces::{Kind, unshare};
use trackbed_linux::reaping::reap;
use trackbed_linux::unprivileged::User;

use crate::namespace::{NamespaceError, NetNamespace, Step};

pub use account::Account;
pub use init::init;
pub use trackbed_linux::reaping::{Reaped, Usage};

/// A command that runs in a namespace.
#[derive(Debug)]
pub struct Enclosure {
    init: Child,
    /// Closing it ends everything inside.
    lifeline: Option<OwnedFd>,
    /// The init writes the resources used by the command to it.
    account: OwnedFd,
}

/// What to run, and how.
#[derive(Clone, Debug, Default)]
pub struct Enclosed {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Variables added to its environment, or its whole environment if it runs apart.
    pub environment: Vec<(OsString, OsString)>,
    /// The text of its /etc/resolv.conf, if it differs from the machine's.
    pub resolver: Option<String>,
    /// As whom it runs, without any rights; without it, as we do.
    pub user: Option<User>,
}

/// The output files of a command that runs apart from our terminal.
#[derive(Debug)]
pub struct Output {
    /// Its standard output.
    pub stdout: File,
    /// Its standard error.
    pub stderr: File,
}

impl Enclosure {
    /// Starts a command in `namespace`, with our standard streams and terminal.
    ///
    /// # Errors
    /// If the machine does not allow the namespaces, or this program cannot be started again. A
    /// command that cannot be started gives an exit status, as in a shell: 127 or 126.
    pub fn start(
        namespace: &NetNamespace,
        enclosed: &Enclosed,
    ) -> Result<Enclosure, NamespaceError> {
        Enclosure::launch(namespace, enclosed, |init| init)
    }

    /// The same without our streams, terminal and environment: there is no input, and Ctrl-C does
    /// not reach it.
    ///
    /// # Errors
    /// As [`Enclosure::start`].
    pub fn start_apart(
        namespace: &NetNamespace,
        enclosed: &Enclosed,
        output: Output,
    ) -> Result<Enclosure, NamespaceError> {
        Enclosure::launch(namespace, enclosed, |init| {
            init.env_clear().stdin(Stdio::null()).stdout(output.stdout).stderr(output.stderr);
            init.process_group(0)
        })
    }

    fn launch(
        namespace: &NetNamespace,
        enclosed: &Enclosed,
        prepare: impl FnOnce(&mut Command) -> &mut Command + Send,
    ) -> Result<Enclosure, NamespaceError> {
        let failed = |why| NamespaceError::new(Step::Process, why);
        let (watched, lifeline) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|why| failed(why.into()))?;
        let (account, told) = pipe_with(PipeFlags::CLOEXEC).map_err(|why| failed(why.into()))?;
        let start = || {
            unshare(&[Kind::Pid, Kind::Mount]).map_err(failed)?;
            for handed_down in [&watched, &told] {
                fcntl_setfd(handed_down, FdFlags::empty()).map_err(|why| failed(why.into()))?;
            }
            let mut init = Command::new("/proc/self/exe");
            let resolver = enclosed.resolver.as_deref();
            prepare(&mut init)
                .args(init::arguments(
                    watched.as_raw_fd(),
                    told.as_raw_fd(),
                    resolver,
                    enclosed.user,
                ))
                .args(&enclosed.command)
                .envs(enclosed.environment.iter().map(|(name, value)| (name, value)))
                .spawn()
                .map_err(failed)
        };
        let init = namespace.run(start)??;
        Ok(Enclosure { init, lifeline: Some(lifeline), account })
    }

    /// Waits until the command has ended.
    ///
    /// # Errors
    /// If waiting fails.
    pub fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.init.wait()
    }

    /// Checks whether the command has ended, and the resources used inside; call neither this nor
    /// [`Enclosure::wait`] again once it has.
    ///
    /// # Errors
    /// If waiting fails.
    pub fn try_wait(&mut self) -> std::io::Result<Option<Reaped>> {
        reap(self.init.id())
    }

    /// The resources used by the command, once it has ended by itself.
    pub fn account(&self) -> Option<Account> {
        Account::read(&self.account)
    }

    /// The ancestor of the processes inside, as seen by this process.
    pub fn root(&self) -> u32 {
        self.init.id()
    }

    /// Kills everything inside; wait for it afterwards.
    pub fn end(&mut self) {
        self.lifeline = None;
    }

    /// A function that forwards signals to the command, from any thread.
    pub fn forwarder(&self) -> impl Fn(i32) + Send + use<> {
        let init = Pid::from_child(&self.init);
        move |signal| {
            // The command may just have ended.
            if let Some(signal) = Signal::from_named_raw(signal) {
                let _ = kill_process(init, signal);
            }
        }
    }
}
