//! Verification on several threads: tasks with deadlines in, verdicts out.
//!
//! [`Split::Static`] gives each worker its share beforehand, as OpenMP does by default: on cores of
//! unequal speed the fast ones wait for the slow. [`Split::Dynamic`] lets all workers take from one
//! queue, ordered by deadline, in batches that are small when little is queued and that take every
//! worker about the same time ([`batching`]). No worker waits for a batch to fill.
//!
//! What the workers may take of the machine can be limited ([`Options::budget_permille`]), and cores
//! of unequal speed can be emulated on equal ones ([`Options::slowdown_permille`]). [`model`] runs the
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
use queue::Queue;
pub use tables::LaterTables;
pub use task::{Done, Task};
use worker::Worker;

/// How tasks come to workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// In turn, whoever is free.
    Static,
    /// To whoever is free.
    Dynamic,
}

/// How an engine works.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads, from 1 on.
    pub workers: usize,
    /// How tasks come to them.
    pub split: Split,
    /// The path that they go; the portable one if the processor cannot.
    pub path: Path,
    /// Tasks that wait, at most; more are refused.
    pub queue_max: usize,
    /// Whether a task is dropped whose deadline has passed when it is its turn.
    pub drops_late: bool,
    /// What all workers may take of all processors together, from 1 to 1000.
    pub budget_permille: u32,
    /// For each worker how much slower it is to be, from 1000 (as it is) on; 1000 for the rest.
    pub slowdown_permille: Vec<u32>,
}

/// What an engine has done.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Processor time of each worker, in nanoseconds.
    pub cpu_nanos: Vec<u64>,
    /// Tasks that each worker has verified.
    pub verified: Vec<u64>,
    /// Tasks that were dropped because they came too late to their turn.
    pub late: u64,
    /// Tasks that were refused because too many waited.
    pub refused: u64,
}

/// The queue is full, and the task is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("as many tasks wait as may")]
pub struct Full;

/// Workers, and the queues that they take from.
pub struct Engine {
    /// One for all, or one for each.
    queues: Vec<Arc<Queue>>,
    workers: Vec<JoinHandle<worker::Account>>,
    next: usize,
    refused: u64,
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
    /// The system's, if it gives no thread.
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
        let mut engine = Self { queues, workers: Vec::new(), next: 0, refused: 0 };
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

    /// Hands a task to the workers.
    ///
    /// # Errors
    /// [`Full`] if as many wait as may.
    pub fn submit(&mut self, task: Task) -> Result<(), Full> {
        self.next = (self.next + 1) % self.queues.len();
        if self.queues[self.next].push(task) {
            return Ok(());
        }
        self.refused += 1;
        Err(Full)
    }

    /// Hands many tasks over at once, before any worker begins with one; statically split, each
    /// worker gets a run of tasks that follow one another. Returns how many were refused.
    pub fn submit_all(&mut self, tasks: Vec<Task>) -> usize {
        let share = tasks.len().div_ceil(self.queues.len()).max(1);
        let mut tasks = tasks.into_iter();
        let mut refused = 0;
        for queue in &self.queues {
            refused += queue.push_all(tasks.by_ref().take(share));
        }
        self.refused += refused as u64;
        refused
    }

    /// Tasks that wait.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queues.iter().map(|queue| queue.len()).sum()
    }

    /// Lets the workers finish what is queued, and ends them.
    pub fn finish(mut self) -> Summary {
        for queue in &self.queues {
            queue.close();
        }
        let mut summary = Summary { refused: self.refused, ..Summary::default() };
        for worker in std::mem::take(&mut self.workers) {
            // A worker that has panicked has done nothing that could be counted.
            let account = worker.join().unwrap_or_default();
            summary.cpu_nanos.push(account.cpu_nanos);
            summary.verified.push(account.verified);
            summary.late += account.late;
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

/// What one of `workers` may take of a processor, in thousandths.
fn worker_share(budget_permille: u32, workers: usize) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let share = u64::from(budget_permille.clamp(1, 1000)) * processors / workers as u64;
    u32::try_from(share).unwrap_or(1000).clamp(1, 1000)
}

#[cfg(test)]
mod tests;
