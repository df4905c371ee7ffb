//! Tasks that wait, ordered by deadline, for any number of workers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Task;

/// A bounded queue.
pub(super) struct Queue {
    state: Mutex<State>,
    has_more: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    tasks: BinaryHeap<Waiting>,
    sequence: u64,
    is_closed: bool,
}

/// A task; the greatest is the one that is due first, and came first.
struct Waiting {
    order: Reverse<(u64, u64)>,
    task: Task,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        Self { state: Mutex::default(), has_more: Condvar::new(), most }
    }

    /// Adds a task; false if the queue is full, and the task is gone.
    pub(super) fn push(&self, task: Task) -> bool {
        let mut state = self.lock();
        if state.tasks.len() >= self.most {
            return false;
        }
        state.push(task);
        drop(state);
        self.has_more.notify_one();
        true
    }

    /// Adds all tasks that there is room for; returns how many there was none for.
    pub(super) fn push_all(&self, tasks: impl Iterator<Item = Task>) -> usize {
        let mut refused = 0;
        let mut state = self.lock();
        for task in tasks {
            if state.tasks.len() < self.most {
                state.push(task);
            } else {
                refused += 1;
            }
        }
        drop(state);
        self.has_more.notify_all();
        refused
    }

    /// Waits for tasks, and takes as many as `size` says of those that wait; false if the queue is
    /// closed and empty.
    pub(super) fn take(&self, size: impl Fn(usize) -> usize, batch: &mut Vec<Task>) -> bool {
        batch.clear();
        let mut state = self.lock();
        while state.tasks.is_empty() {
            if state.is_closed {
                return false;
            }
            state = self.has_more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = size(state.tasks.len());
        while batch.len() < count
            && let Some(waiting) = state.tasks.pop()
        {
            batch.push(waiting.task);
        }
        let is_more = !state.tasks.is_empty();
        drop(state);
        // Several may have come while only one was woken.
        if is_more {
            self.has_more.notify_one();
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        self.lock().tasks.len()
    }

    /// No more tasks will come.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.has_more.notify_all();
    }

    /// What is in the queue is whole whoever panicked meanwhile: nothing here can.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, task: Task) {
        self.sequence += 1;
        self.tasks.push(Waiting { order: Reverse((task.deadline_nanos, self.sequence)), task });
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Waiting {}
