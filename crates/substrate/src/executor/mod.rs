//! The single-threaded executor that all substrates share.
//!
//! Tasks run in the order in which they were woken (first in, first out), on the thread that
//! executes the run, and the clock stands still while they do. When none is left the executor
//! parks on its [`Reactor`], the part that differs between substrates: it moves the clock to the
//! next event. Everything due at one instant happens in a fixed order: first what the reactor
//! delivers, then timers, then the tasks that these woke.

mod context;
mod main_task;
mod task;
mod timer;
mod timer_queue;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use trackbed_core::Time;

use crate::clock;
use main_task::MainWaker;

pub use task::{Task, spawn, spawn_named};
pub use timer::{Timer, sleep, sleep_until};

pub(crate) use context::{Ready, SocketKind, SocketRef, Wait, note};
pub(crate) use timer_queue::TimerQueue;

/// What lies below the executor: a clock and a source of events.
pub(crate) trait Reactor {
    /// Lets time pass until the next event or until `deadline`, whichever is first, and wakes the
    /// tasks that the event concerns.
    ///
    /// # Errors
    /// If nothing can ever happen again, or time has run out.
    fn park(&mut self, deadline: Option<Time>) -> Result<Parked, StallReason>;
}

/// What [`Reactor::park`] did.
pub(crate) struct Parked {
    /// The time that it is now.
    pub(crate) now: Time,
    /// How many events it handled.
    pub(crate) events: u64,
}

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallReason {
    /// The main future waits, but no timer, packet or task is left that could wake it.
    NothingLeft,
    /// The run would go beyond its limit of time.
    TimeLimit,
    /// Too much happened at one instant: tasks wake one another without end.
    Livelock,
    /// The run was cancelled.
    Cancelled,
}

/// Executes `main` to its end, and the tasks that it spawns as long as it runs.
///
/// # Errors
/// If the run stalls. A livelock is `events_per_instant` polls and events at one instant.
pub(crate) fn run<T>(
    reactor: &mut dyn Reactor,
    events_per_instant: u64,
    main: impl Future<Output = T>,
) -> Result<T, StallReason> {
    let mut main = pin!(main);
    let waker = MainWaker::new();
    context::schedule_main();
    let mut events = 0;
    loop {
        while let Some(ready) = context::pop_ready() {
            events += 1;
            if events > events_per_instant {
                return Err(StallReason::Livelock);
            }
            match ready {
                Ready::Main => {
                    let polled = context::with_main(|| {
                        waker.clear();
                        main.as_mut().poll(&mut Context::from_waker(waker.as_waker()))
                    });
                    if let Poll::Ready(output) = polled {
                        return Ok(output);
                    }
                }
                Ready::Task(runnable) => {
                    runnable.run();
                }
            }
        }
        let before = clock::now();
        let parked = reactor.park(timer::next_deadline())?;
        debug_assert!(parked.now >= before, "time never runs backwards");
        clock::set(parked.now);
        if parked.now > before {
            events = 0;
        }
        events += parked.events + timer::fire_due(parked.now);
    }
}
