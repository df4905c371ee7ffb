//! The engine in virtual time: what a machine with other cores would do with the same rules.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Split;
use super::batching::Rates;

/// What batches cost a core, in nanoseconds of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Of a batch, whatever is in it.
    pub batch_nanos: u64,
    /// Of each task in it.
    pub task_nanos: u64,
}

/// What came of a closed loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Until the last worker was done.
    pub makespan_nanos: u64,
    /// How long each worker worked.
    pub busy_nanos: Vec<u64>,
    /// Tasks that each worker did.
    pub done: Vec<u64>,
}

impl Cost {
    /// Of so many tasks at once.
    #[must_use]
    pub const fn of(&self, tasks: usize) -> u64 {
        self.batch_nanos.saturating_add(self.task_nanos.saturating_mul(tasks as u64))
    }
}

/// Lets workers with these costs do `tasks` that all are there at the beginning.
#[must_use]
pub fn closed_loop(tasks: usize, workers: &[Cost], split: Split) -> Outcome {
    let count = workers.len();
    let mut outcome =
        Outcome { makespan_nanos: 0, busy_nanos: vec![0; count], done: vec![0; count] };
    if count == 0 {
        return outcome;
    }
    // One queue for all, or one for each, where the first ones may have a task more.
    let mut queues = match split {
        Split::Dynamic => vec![tasks],
        Split::Static => {
            let share = tasks.div_ceil(count);
            (0..count).map(|worker| share.min(tasks.saturating_sub(worker * share))).collect()
        }
    };
    let sharing = if queues.len() == 1 { count } else { 1 };
    let rates = Rates::new(count);
    // Who is free next, the first one first.
    let mut free: BinaryHeap<Reverse<(u64, usize)>> =
        (0..count).map(|worker| Reverse((0, worker))).collect();
    while let Some(Reverse((now, worker))) = free.pop() {
        outcome.makespan_nanos = outcome.makespan_nanos.max(now);
        let place = worker % queues.len();
        let queue = &mut queues[place];
        if *queue == 0 {
            continue;
        }
        let batch = rates.batch(worker, sharing, *queue);
        *queue -= batch;
        let nanos = workers[worker].of(batch);
        rates.record(worker, batch, nanos);
        outcome.busy_nanos[worker] += nanos;
        outcome.done[worker] += batch as u64;
        free.push(Reverse((now + nanos, worker)));
    }
    outcome
}
