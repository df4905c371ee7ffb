//! One simulated run, from its seed to its result, and many in parallel.

use std::cell::Cell;
use std::future::Future;
use std::hash::RandomState;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, mpsc};
use std::thread;

use trackbed_core::{Seed, Time};
use trackbed_net::Network;
use trackbed_tcp::Tick;

use super::host::Hosts;
use super::reactor::SimulatedReactor;
use super::world::{self, World};
use crate::run::{self, Cancel, RunError, panic};
use crate::{clock, executor};

/// The settings of runs. One simulation may execute any number of runs, also in parallel.
#[derive(Clone, Debug)]
pub struct Simulation {
    time_limit: Time,
    events_per_instant: u64,
    tick: Option<Tick>,
    cancel: Cancel,
}

impl Default for Simulation {
    /// Runs of at most one simulated hour, with at most 1,000,000 events (and 1,000 more for each
    /// node of the network) at one instant.
    fn default() -> Simulation {
        Simulation {
            time_limit: Time::from_millis(3_600_000),
            events_per_instant: 1_000_000,
            tick: None,
            cancel: Cancel::default(),
        }
    }
}

impl Simulation {
    /// The same with another limit of simulated time, beyond which a run counts as stalled.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Time) -> Simulation {
        Simulation { time_limit, ..self }
    }

    /// The same with another limit for the polls and events at one instant. A run that exceeds it
    /// counts as stalled: its tasks wake one another without letting time pass.
    #[must_use]
    pub fn with_events_per_instant(self, events_per_instant: u64) -> Simulation {
        Simulation { events_per_instant, ..self }
    }

    /// The same whose hosts have this clock tick, to which TCP rounds the timers of acknowledgments and
    /// retransmissions; by default, they are exact.
    #[must_use]
    pub fn with_tick(self, tick: Option<Tick>) -> Simulation {
        Simulation { tick, ..self }
    }

    /// The same, stopped by `cancel`.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Simulation {
        Simulation { cancel, ..self }
    }

    /// Executes one run: `main` is called with the hosts of `network`, and its future is executed
    /// to its end, together with the tasks that it spawns. The run ends with it: tasks and
    /// sockets that are left are dropped without a trace on the network.
    ///
    /// Every run has a fresh thread, because some libraries keep random state in thread-local
    /// variables. On it `fastrand` is seeded from `seed`.
    ///
    /// # Errors
    /// If the run stalls, panics or is cancelled. Other runs are not affected.
    pub fn run<T, M, F>(&self, seed: Seed, network: Network, main: M) -> Result<T, RunError>
    where
        T: Send,
        M: FnOnce(Hosts) -> F + Send,
        F: Future<Output = T>,
    {
        panic::install_hook();
        thread::scope(|scope| {
            let run = thread::Builder::new()
                .name("simulated run".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, || self.execute(seed, network, main))
                .map_err(RunError::Thread)?;
            run.join().unwrap_or_else(|payload| Err(panic::error(&*payload)))
        })
    }

    fn execute<T, M, F>(&self, seed: Seed, network: Network, main: M) -> Result<T, RunError>
    where
        M: FnOnce(Hosts) -> F,
        F: Future<Output = T>,
    {
        prepare_thread(&seed);
        SIMULATING.set(true);
        let executor = executor::enter();
        let nodes = network.nodes().len() as u64;
        let world = World::new(executor.id(), &seed, network, self.tick);
        let hosts = Hosts::new(&world);
        world::replace(Some(world));
        let events = self.events_per_instant.saturating_add(nodes.saturating_mul(EVENTS_PER_NODE));
        let (time_limit, cancel) = (self.time_limit, &self.cancel);
        let mut reactor = SimulatedReactor { run: executor.id(), time_limit, cancel };
        let result = run::execute(&mut reactor, events, || main(hosts));
        // The world is dropped first, so that socket operations of destructors reach no network.
        let world = world::replace(None);
        executor.drop_tasks();
        drop((world, executor));
        SIMULATING.set(false);
        result
    }
}

/// Whether this thread is executing a simulated run. Cheap, allocates nothing, and may be called
/// from anywhere, also while a thread starts or ends.
pub fn is_simulating() -> bool {
    SIMULATING.get()
}

/// The preparation of a thread for simulation: everything that reads a clock or draws randomness
/// once, outside the simulation.
fn prepare_thread(seed: &Seed) {
    clock::to_std_instant(Time::ZERO);
    // The standard library draws the keys of a thread's hash maps from the operating system.
    let _ = RandomState::new();
    fastrand::seed(seed.stream("fastrand").next_u64());
}

thread_local! {
    static SIMULATING: Cell<bool> = const { Cell::new(false) };
}

/// As the main thread of a program has on Linux: the futures of some libraries are large.
const STACK_BYTES: usize = 8 << 20;

/// All hosts may well start at the same instant.
const EVENTS_PER_NODE: u64 = 1_000;

/// Executes `job` for each of `jobs`, at most `at_most` at once, and passes each result to
/// `finished` as soon as it is ready. Results do not depend on `at_most`; the order in which they
/// come does. A job that was not started because of `cancel` has no result.
///
/// `job` usually calls [`Simulation::run`](super::Simulation::run); if it panics itself, that is
/// its result. `finished` is called on the caller's thread, and when it falls behind, jobs wait for
/// it: memory does not depend on the number of jobs.
pub fn parallel<J: Send, T: Send>(
    jobs: impl Iterator<Item = J> + Send,
    at_most: NonZeroUsize,
    cancel: &Cancel,
    job: impl Fn(&J) -> Result<T, RunError> + Sync,
    mut finished: impl FnMut(J, Result<T, RunError>),
) {
    let workers = jobs.size_hint().1.unwrap_or(usize::MAX).min(at_most.get());
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().expect("an iterator of jobs does not panic").next();
    let (sender, receiver) = mpsc::sync_channel(WAITING_MAX);
    let work = |sender: mpsc::SyncSender<(J, Result<T, RunError>)>| {
        while !cancel.is_cancelled() {
            let Some(input) = next() else { return };
            let result = guarded(|| job(&input));
            if sender.send((input, result)).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        receiver.into_iter().for_each(|(input, result)| finished(input, result));
    });
}

/// Results that may wait for the caller; a run of many phones is large.
const WAITING_MAX: usize = 64;

fn guarded<T>(job: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|payload| {
        let message = panic::message(&*payload);
        Err(RunError::Panicked { at: Time::ZERO, message, location: None })
    })
}
