//! The thread's executor: its run queue, its tasks, and what each of them waits for.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};

use async_task::Runnable;
use slab::Slab;
use trackbed_core::Time;

use crate::clock;
use crate::run::diagnosis::Lines;

pub(crate) enum Ready {
    Main,
    Task(Runnable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Timer(Time),
    /// An operation on a socket, for example "to read from".
    Socket(&'static str, SocketRef),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketRef {
    pub(crate) kind: SocketKind,
    pub(crate) key: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketKind {
    Udp,
    Tcp,
    Listener,
    Pipe,
}

/// Opens an executor on this thread, until the guard is dropped.
pub(crate) fn enter() -> Entered {
    CURRENT.with(|context| {
        assert!(context.id.get() == NO_EXECUTOR, "a run cannot start inside another run");
        context.id.set(NEXT_ID.fetch_add(1, Ordering::Relaxed));
        context.tasks.borrow_mut().insert(Entry::new(Some("main".into())));
    });
    clock::set(Time::ZERO);
    Entered(())
}

pub(crate) struct Entered(());

impl Entered {
    pub(crate) fn id(&self) -> u64 {
        current_id()
    }

    /// Drops tasks and what they own until nothing is left: destructors may still spawn, wake and
    /// use timers. The others run even if one panics.
    pub(crate) fn drop_tasks(&self) {
        loop {
            // A task that is woken lands in the queue; dropped there, it drops its future.
            let wakers: Vec<Waker> = CURRENT.with(|context| {
                context.tasks.borrow_mut().iter_mut().filter_map(|(_, t)| t.waker.take()).collect()
            });
            let idle = wakers.is_empty();
            wakers.into_iter().for_each(Waker::wake);
            let mut dropped = false;
            while let Some(ready) = pop_ready() {
                dropped = true;
                let _ = catch_unwind(AssertUnwindSafe(|| drop(ready)));
            }
            if idle && !dropped {
                return;
            }
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|context| {
            context.id.set(NO_EXECUTOR);
            context.tasks.borrow_mut().clear();
        });
    }
}

/// The executor of this thread, by a number that no other executor of the process has.
pub(crate) fn current_id() -> u64 {
    let id = CURRENT.with(|context| context.id.get());
    assert!(id != NO_EXECUTOR, "{NO_RUN}");
    id
}

pub(crate) fn is_current(id: u64) -> bool {
    CURRENT.with(|context| context.id.get()) == id
}

/// Whether this thread executes a run. Cheap; may be called anywhere, also while a thread ends.
pub(crate) fn is_running() -> bool {
    CURRENT.try_with(|context| context.id.get() != NO_EXECUTOR).unwrap_or(false)
}

/// Notes that what has become ready since the last call is ready since `now`.
pub(crate) fn stamp_ready(now: Time) {
    CURRENT.with(|context| {
        let mut ready = context.ready.borrow_mut();
        let new = ready.iter_mut().rev().take_while(|(since, _)| *since == NOT_STAMPED);
        new.for_each(|(since, _)| *since = now);
    });
}

/// The next task, and since when it is ready according to [`stamp_ready`].
pub(crate) fn pop_ready() -> Option<(Time, Ready)> {
    CURRENT.with(|context| context.ready.borrow_mut().pop_front())
}

pub(crate) fn schedule_main() {
    CURRENT.with(|context| context.ready.borrow_mut().push_back((NOT_STAMPED, Ready::Main)));
}

/// Puts a task of executor `id` at the end of the queue.
pub(crate) fn schedule(id: u64, runnable: Runnable) {
    if is_current(id) {
        let ready = (NOT_STAMPED, Ready::Task(runnable));
        CURRENT.with(|context| context.ready.borrow_mut().push_back(ready));
    } else {
        // Dropping it here would run its destructor on the wrong thread.
        std::mem::forget(runnable);
        panic!("a task was woken from a thread other than its run's; keep its work on that thread");
    }
}

/// Records what the polled task waits for, until its next poll.
pub(crate) fn note(wait: Wait) {
    CURRENT.with(|context| {
        let mut tasks = context.tasks.borrow_mut();
        if let Some(entry) = tasks.get_mut(context.running.get())
            && entry.waits.len() < WAITS_MAX
        {
            entry.waits.push(wait);
        }
    });
}

/// Passes on the result of an operation on a socket; if it is pending, the polled task waits.
pub(crate) fn note_pending<T>(
    polled: Poll<T>,
    what: &'static str,
    kind: SocketKind,
    key: u32,
) -> Poll<T> {
    if polled.is_pending() {
        note(Wait::Socket(what, SocketRef { kind, key }));
    }
    polled
}

/// Runs `poll` as the task `key`, so that its waits are recorded there.
pub(crate) fn with_task<R>(key: usize, poll: impl FnOnce() -> R) -> R {
    let outer = CURRENT.with(|context| {
        if let Some(entry) = context.tasks.borrow_mut().get_mut(key) {
            entry.waits.clear();
            entry.since = clock::now();
        }
        context.running.replace(key)
    });
    let result = poll();
    CURRENT.with(|context| context.running.set(outer));
    result
}

pub(crate) fn register(name: Option<Rc<str>>) -> Registration {
    CURRENT.with(|context| Registration {
        executor: context.id.get(),
        key: context.tasks.borrow_mut().insert(Entry::new(name)),
    })
}

/// Keeps the waker with which the executor reaches the task `key` when the run ends.
pub(crate) fn set_waker(key: usize, waker: Waker) {
    CURRENT.with(|context| {
        if let Some(entry) = context.tasks.borrow_mut().get_mut(key) {
            entry.waker = Some(waker);
        }
    });
}

/// A task's place in the register, given back on drop.
pub(crate) struct Registration {
    executor: u64,
    pub(crate) key: usize,
}

impl Drop for Registration {
    fn drop(&mut self) {
        CURRENT.with(|context| {
            if context.id.get() == self.executor {
                let entry = context.tasks.borrow_mut().try_remove(self.key);
                drop(entry);
            }
        });
    }
}

/// The waits of unfinished tasks, one line each, named ones first; `socket` names a socket.
pub(crate) fn describe_tasks(socket: &dyn Fn(SocketRef) -> String) -> String {
    CURRENT.with(|context| {
        let tasks = context.tasks.borrow();
        let (named, unnamed): (Vec<_>, Vec<_>) =
            tasks.iter().map(|(_, entry)| entry).partition(|entry| entry.name.is_some());
        let mut lines = Lines::default();
        named.iter().chain(&unnamed).for_each(|entry| lines.add(&entry.describe(socket)));
        lines.to_string()
    })
}

const NOT_STAMPED: Time = Time::MAX;

struct Current {
    id: Cell<u64>,
    /// With the time since when, if it was stamped.
    ready: RefCell<VecDeque<(Time, Ready)>>,
    tasks: RefCell<Slab<Entry>>,
    running: Cell<usize>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            id: Cell::new(NO_EXECUTOR),
            ready: RefCell::new(VecDeque::new()),
            tasks: RefCell::new(Slab::new()),
            running: Cell::new(MAIN),
        }
    };
}

struct Entry {
    name: Option<Rc<str>>,
    waker: Option<Waker>,
    waits: Vec<Wait>,
    since: Time,
}

impl Entry {
    fn new(name: Option<Rc<str>>) -> Entry {
        Entry { name, waker: None, waits: Vec::new(), since: clock::now() }
    }

    fn describe(&self, socket: &dyn Fn(SocketRef) -> String) -> String {
        let waits: Vec<String> = self
            .waits
            .iter()
            .map(|wait| match *wait {
                Wait::Timer(at) => format!("for the time {at}"),
                Wait::Socket(what, reference) => format!("{what} {}", socket(reference)),
            })
            .collect();
        let what = match waits.is_empty() {
            true => "for something inside the program (another task or a channel)".to_owned(),
            false => waits.join(", or "),
        };
        let name = self.name.as_deref().unwrap_or("(unnamed)");
        format!("{name}: waits since {} {what}", self.since)
    }
}

/// Numbers executors; the numbers never show in a result.
static NEXT_ID: AtomicU64 = AtomicU64::new(NO_EXECUTOR + 1);

const NO_EXECUTOR: u64 = 0;

/// The main future's place in the register: it is always entered first.
pub(crate) const MAIN: usize = 0;

/// More waits of one task are not listed.
const WAITS_MAX: usize = 8;

const NO_RUN: &str = "this needs a running executor: call it inside a run";
