//! The single-threaded executor that all substrates share.
//!
//! Tasks run in the order in which they were woken (first in, first out), on the thread that
//! executes the run, and the clock stands still while each does. When no task is ready the executor
//! parks on its [`Reactor`], the part that differs between substrates: it moves the clock to the
//! next event. Everything due at one instant happens in a fixed order: first the reactor's events,
//! then timers, then the tasks that these woke.

mod context;
mod task;
mod timer;
mod timer_queue;
mod waiter;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use context::Ready;
use trackbed_core::{Time, named};

use crate::clock;

/// A spawned task; a future of its output. Dropping it cancels the task, at the latest at its next
/// turn; a detached one runs at most until the run ends.
pub use async_task::Task;
pub use task::{spawn, spawn_named, yield_now};
pub use timer::{Timer, before, sleep, sleep_until};

pub(crate) use context::{
    SocketKind, SocketRef, describe_tasks, enter, is_running, note_pending, stamp_ready,
};
pub(crate) use timer::next_deadline as next_timer;
pub(crate) use timer_queue::TimerQueue;
pub(crate) use waiter::Waiter;

/// What lies below the executor: a clock and a source of events.
pub(crate) trait Reactor {
    /// Waits for the next event or for `deadline`, whichever is first, moves the clock there, and
    /// wakes the affected tasks. Returns the number of events.
    fn park(&mut self, deadline: Option<Time>) -> Result<u64, StallReason>;

    /// Called before each task. If time passes while tasks run, it moves the clock. At intervals it
    /// also wakes tasks for new events, so that busy tasks do not starve the others. Returns
    /// whether it checked for events.
    fn tick(&mut self) -> Result<bool, StallReason> {
        Ok(false)
    }

    /// Called before a task that has been ready for this long since [`stamp_ready`].
    fn runs(&mut self, _waited: Duration) {}

    /// A readable list of tasks and their waits.
    fn diagnose(&self) -> String;
}

named! {
    /// Why a run cannot continue.
    pub enum StallReason {
        /// The main future waits, but no timer, packet or task is left that could wake it.
        NothingLeft = "nothing is left that could wake the main future",
        /// The run would exceed its time limit.
        TimeLimit = "the time limit is reached",
        /// Too much happened at one instant: tasks wake one another without end.
        Livelock = "too many events at one instant; do tasks wake one another?",
        /// The run was cancelled.
        Cancelled = "it was cancelled",
    }
}

pub(crate) struct Stall {
    pub(crate) reason: StallReason,
    pub(crate) diagnosis: String,
}

/// Executes `main` to its end, and the tasks that it spawns as long as it runs.
pub(crate) fn run<T>(
    reactor: &mut dyn Reactor,
    events_per_instant: u64,
    main: impl Future<Output = T>,
) -> Result<T, Stall> {
    let mut main = pin!(main);
    // Described while `main` still exists, with its waits.
    let stall = |reactor: &dyn Reactor, reason| Stall { reason, diagnosis: reactor.diagnose() };
    let main_task = MainTask::queued();
    let waker = Waker::from(Arc::clone(&main_task));
    let mut events = 0;
    loop {
        loop {
            match reactor.tick() {
                Ok(false) => {}
                Ok(true) => events += timer::fire_due(clock::now()),
                Err(reason) => return Err(stall(reactor, reason)),
            }
            let Some((since, ready)) = context::pop_ready() else { break };
            reactor.runs(clock::now().since(since));
            events += 1;
            if events > events_per_instant {
                return Err(stall(reactor, StallReason::Livelock));
            }
            match ready {
                Ready::Main => {
                    let polled = context::with_task(context::MAIN, || {
                        main_task.clear();
                        main.as_mut().poll(&mut Context::from_waker(&waker))
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
        let arrived = match reactor.park(timer::next_deadline()) {
            Ok(arrived) => arrived,
            Err(reason) => return Err(stall(reactor, reason)),
        };
        let now = clock::now();
        debug_assert!(now >= before, "time never runs backwards");
        if now > before {
            events = 0;
        }
        events += arrived + timer::fire_due(now);
    }
}

/// Puts the main future into the run queue of its thread, at most once at a time.
struct MainTask {
    executor: u64,
    is_queued: AtomicBool,
}

impl MainTask {
    /// Puts it into the queue for the first time.
    fn queued() -> Arc<MainTask> {
        context::schedule_main();
        Arc::new(MainTask { executor: context::current_id(), is_queued: AtomicBool::new(true) })
    }

    fn clear(&self) {
        self.is_queued.store(false, Ordering::Relaxed);
    }
}

impl Wake for MainTask {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Wakes after the run have no effect: the future is gone.
    fn wake_by_ref(self: &Arc<Self>) {
        if context::is_current(self.executor) && !self.is_queued.swap(true, Ordering::Relaxed) {
            context::schedule_main();
        }
    }
}
