//! One run on the kernel's sockets, from its start to its result.

use std::future::Future;

use trackbed_core::Time;

use super::host::Machine;
use super::origin::{self, Origin};
use super::reactor::KernelReactor;
use super::world::{self, World};
use crate::run::{self, Cancel, RunError, panic};
use crate::{clock, executor};

/// How a run on the kernel's sockets is executed.
#[derive(Clone, Debug)]
pub struct Execution {
    origin: Origin,
    time_limit: Time,
    cancel: Cancel,
}

impl Execution {
    /// A run whose time counts from `origin`, limited to one hour.
    pub fn new(origin: Origin) -> Execution {
        Execution { origin, time_limit: Time::from_millis(3_600_000), cancel: Cancel::default() }
    }

    /// The same with another time limit, beyond which a run counts as stalled.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Time) -> Execution {
        Execution { time_limit, ..self }
    }

    /// The same, stopped by `cancel`: within about 50 ms, or once the running task returns.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Execution {
        Execution { cancel, ..self }
    }

    /// Executes one run on this thread: `main` is called with this machine, and its future is
    /// executed to its end, together with the tasks that it spawns. The run ends with it: tasks
    /// that are left are dropped, and sockets are closed as the kernel does.
    ///
    /// The network is that of the thread's namespace; the thread must not leave it during the run.
    ///
    /// # Errors
    /// If the run stalls, panics or is cancelled, or the kernel refuses what it needs.
    ///
    /// # Panics
    /// Inside another run.
    pub fn run<T, M, F>(&self, main: M) -> Result<T, RunError>
    where
        M: FnOnce(Machine) -> F,
        F: Future<Output = T>,
    {
        panic::install_hook();
        // Each socket is one.
        trackbed_linux::allow_descriptors();
        let executor = executor::enter();
        let _time_of_day = clock::ask_time_of_day(origin::time_of_day);
        clock::set(self.origin.elapsed());
        let world = World::new(executor.id(), self.origin).map_err(RunError::System)?;
        world::replace(Some(world));
        let mut reactor = KernelReactor {
            run: executor.id(),
            origin: self.origin,
            time_limit: self.time_limit,
            cancel: &self.cancel,
            since_look: 0,
        };
        // Time always passes, so tasks cannot keep it at one instant.
        let result = run::execute(&mut reactor, u64::MAX, || main(Machine::new(executor.id())));
        executor.drop_tasks();
        // Handles that outlive the run find their sockets closed.
        drop(world::replace(None));
        result
    }
}
