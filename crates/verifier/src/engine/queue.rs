//! Waiting tasks, ordered by deadline, for any number of workers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::task::Task;

/// The queue is full, and the task is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("as many tasks wait as may")]
pub struct Full;

pub(super) struct Queue {
    state: Mutex<State>,
    has_more: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    /// When each is due, how many came before it, and its place: the first of them first. The tasks
    /// themselves stay in place, because a heap moves its elements at every operation, and a worker
    /// that takes a batch keeps the others waiting.
    order: BinaryHeap<Reverse<(u64, u64, usize)>>,
    places: Vec<Option<Task>>,
    /// Places that hold nothing.
    free: Vec<usize>,
    sequence: u64,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        Self { state: Mutex::default(), has_more: Condvar::new(), most }
    }

    /// Adds a task; if the queue is full, the task is gone.
    pub(super) fn push(&self, task: Task) -> Result<(), Full> {
        let mut state = self.lock();
        if state.order.len() >= self.most {
            return Err(Full);
        }
        state.push(task);
        drop(state);
        self.has_more.notify_one();
        Ok(())
    }

    /// Adds the tasks that fit; returns how many did not.
    pub(super) fn push_all(&self, tasks: impl Iterator<Item = Task>) -> usize {
        let mut refused = 0;
        let mut state = self.lock();
        for task in tasks {
            if state.order.len() < self.most {
                state.push(task);
            } else {
                refused += 1;
            }
        }
        drop(state);
        self.has_more.notify_all();
        refused
    }

    /// Waits for tasks, and takes the number that `size` returns; false if the queue is closed and
    /// empty.
    pub(super) fn take(&self, size: impl Fn(usize) -> usize, batch: &mut Vec<Task>) -> bool {
        batch.clear();
        let mut state = self.lock();
        while state.order.is_empty() {
            if state.is_closed {
                return false;
            }
            state = self.has_more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = size(state.order.len());
        while batch.len() < count
            && let Some(task) = state.pop()
        {
            batch.push(task);
        }
        let is_more = !state.order.is_empty();
        drop(state);
        // Several may have come while only one was woken.
        if is_more {
            self.has_more.notify_one();
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        self.lock().order.len()
    }

    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.has_more.notify_all();
    }

    /// The queue is consistent after any panic elsewhere: nothing here can panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, task: Task) {
        self.sequence += 1;
        let deadline_nanos = task.deadline_nanos;
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.places.push(None);
                self.places.len() - 1
            }
        };
        self.places[place] = Some(task);
        self.order.push(Reverse((deadline_nanos, self.sequence, place)));
    }

    fn pop(&mut self) -> Option<Task> {
        let Reverse((_, _, place)) = self.order.pop()?;
        self.free.push(place);
        self.places[place].take()
    }
}
