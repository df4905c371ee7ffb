//! Verification on several threads: tasks with deadlines in, verdicts out.
//!
//! [`Split::Static`] gives each worker its share in advance, as OpenMP does by default: on cores of
//! unequal speed the fast ones wait for the slow ones. [`Split::Dynamic`] lets all workers take
//! from one queue, ordered by deadline, in batches that are small when little is queued and that
//! take every worker about the same time ([`batching`]). No worker waits for a batch to fill.
//!
//! The workers' share of the machine can be limited ([`Options::budget_permille`]), and cores of
//! unequal speed can be emulated on equal ones ([`Options::slowdown_permille`]). [`model`] runs the
//! same rules in virtual time, for other machines.

pub mod batching;
mod clock;
pub mod model;
mod queue;
mod tables;
mod task;
mod worker;

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::Path;

pub use clock::{monotonic_nanos, thread_cpu_nanos};
pub use queue::Full;
use queue::Queue;
pub use tables::LaterTables;
pub use task::{Done, Task};
use worker::Worker;

/// How tasks are assigned to workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// In turn: each worker has its own queue.
    Static,
    /// To any free worker.
    Dynamic,
}

/// The options of an engine.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads, from 1 on.
    pub workers: usize,
    /// How tasks are assigned to them.
    pub split: Split,
    /// Their path; the portable one if the processor does not support it.
    pub path: Path,
    /// The maximum number of waiting tasks; more are refused.
    pub queue_max: usize,
    /// Whether to drop tasks whose deadline has passed at their turn.
    pub drops_late: bool,
    /// The share of all processors that all workers may take, in thousandths, from 1 to 1000.
    pub budget_permille: u32,
    /// The slowdown of each worker, 1000 (unchanged) or more; 1000 for the rest.
    pub slowdown_permille: Vec<u32>,
}

/// Statistics of an engine.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Processor time of each worker, in nanoseconds.
    pub cpu_nanos: Vec<u64>,
    /// Tasks that each worker has verified.
    pub verified: Vec<u64>,
}

/// Workers and their queues.
pub struct Engine {
    /// One for all, or one for each.
    queues: Vec<Arc<Queue>>,
    workers: Vec<JoinHandle<worker::Account>>,
    next: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 1,
            split: Split::Dynamic,
            path: Path::fastest(),
            queue_max: 65_536,
            drops_late: false,
            budget_permille: 1000,
            slowdown_permille: Vec::new(),
        }
    }
}

impl Engine {
    /// Starts the workers. Each calls `on_done` for every task, as soon as its batch is done.
    ///
    /// # Errors
    /// The system's, if the thread cannot be started.
    pub fn start(
        options: &Options,
        on_done: impl Fn(Done) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let count = options.workers.max(1);
        let (queues, sharing) = match options.split {
            Split::Static => (count, 1),
            Split::Dynamic => (1, count),
        };
        let queue_max = (options.queue_max / queues).max(1);
        let queues: Vec<Arc<Queue>> =
            (0..queues).map(|_| Arc::new(Queue::new(queue_max))).collect();
        let on_done: Arc<dyn Fn(Done) + Send + Sync> = Arc::new(on_done);
        let rates = Arc::new(batching::Rates::new(count));
        let mut engine = Self { queues, workers: Vec::new(), next: 0 };
        for number in 0..count {
            let worker = Worker {
                number,
                queue: Arc::clone(&engine.queues[number % engine.queues.len()]),
                sharing,
                path: options.path,
                drops_late: options.drops_late,
                slowdown_permille: options.slowdown_permille.get(number).copied().unwrap_or(1000),
                share_permille: worker_share(options.budget_permille, count),
                rates: Arc::clone(&rates),
                on_done: Arc::clone(&on_done),
            };
            let builder = std::thread::Builder::new().name(format!("verify-{number}"));
            match builder.spawn(move || worker.run()) {
                Ok(worker) => engine.workers.push(worker),
                Err(error) => {
                    engine.finish();
                    return Err(error);
                }
            }
        }
        Ok(engine)
    }

    /// Passes a task to the workers.
    ///
    /// # Errors
    /// [`Full`] if the queue is full.
    pub fn submit(&mut self, task: Task) -> Result<(), Full> {
        self.next = (self.next + 1) % self.queues.len();
        self.queues[self.next].push(task)
    }

    /// Passes many tasks at once, before any worker starts; with a static split, each worker gets
    /// consecutive tasks. Returns the number of refused tasks.
    pub fn submit_all(&mut self, tasks: Vec<Task>) -> usize {
        let share = tasks.len().div_ceil(self.queues.len()).max(1);
        let mut tasks = tasks.into_iter();
        self.queues.iter().map(|queue| queue.push_all(tasks.by_ref().take(share))).sum()
    }

    /// The number of waiting tasks.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queues.iter().map(|queue| queue.len()).sum()
    }

    /// Ends the workers once they have finished the queued tasks.
    pub fn finish(mut self) -> Summary {
        for queue in &self.queues {
            queue.close();
        }
        let mut summary = Summary::default();
        for worker in std::mem::take(&mut self.workers) {
            // A worker that has panicked reports nothing.
            let account = worker.join().unwrap_or_default();
            summary.cpu_nanos.push(account.cpu_nanos);
            summary.verified.push(account.verified);
        }
        summary
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for queue in &self.queues {
            queue.close();
        }
    }
}

/// The share of a processor for one of `workers`, in thousandths.
fn worker_share(budget_permille: u32, workers: usize) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let share = u64::from(budget_permille.clamp(1, 1000)) * processors / workers as u64;
    u32::try_from(share).unwrap_or(1000).clamp(1, 1000)
}

#[cfg(test)]
mod tests;
