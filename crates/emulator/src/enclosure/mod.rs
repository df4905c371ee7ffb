//! A command in a network namespace of its own, with every process that it starts.
//!
//! Between us and the command stands an init: this very program, called anew as the first process
//! of a new process namespace ([`init`]). When it goes, the kernel ends everything that the
//! command has started; and it goes when we do, however that happens, because it holds the reading
//! end of a pipe of which only we have the writing end.

mod init;
mod resolver;

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};
use trackbed_linux::namespaces::{Kind, unshare};

use crate::namespace::{NamespaceError, NetNamespace, Step};

pub use init::init;

/// A command that runs in a namespace.
#[derive(Debug)]
pub struct Enclosure {
    init: Child,
    /// What ends everything inside when it is closed.
    _lifeline: OwnedFd,
}

/// What to run, and how.
#[derive(Clone, Debug, Default)]
pub struct Enclosed {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What is added to its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What /etc/resolv.conf says to it, in place of what it says to others.
    pub resolver: Option<String>,
}

impl Enclosure {
    /// Starts a command in `namespace`, with our standard streams and terminal.
    ///
    /// # Errors
    /// If the machine does not allow the namespaces, or this program cannot be started anew. A
    /// command that cannot be started is an exit status, as with a shell: 127 or 126.
    pub fn start(
        namespace: &NetNamespace,
        enclosed: &Enclosed,
    ) -> Result<Enclosure, NamespaceError> {
        let failed = |why| NamespaceError::new(Step::Process, why);
        let (watched, lifeline) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|why| failed(why.into()))?;
        let start = || {
            unshare(&[Kind::Pid, Kind::Mount]).map_err(failed)?;
            fcntl_setfd(&watched, FdFlags::empty()).map_err(|why| failed(why.into()))?;
            Command::new("/proc/self/exe")
                .args(init::arguments(watched.as_raw_fd(), enclosed.resolver.as_deref()))
                .args(&enclosed.command)
                .envs(enclosed.environment.iter().map(|(name, value)| (name, value)))
                .spawn()
                .map_err(failed)
        };
        let init = namespace.run(start)??;
        Ok(Enclosure { init, _lifeline: lifeline })
    }

    /// Waits until the command has ended.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.init.wait()
    }

    /// What passes signals on to the command, from any thread.
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
