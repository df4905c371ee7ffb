//! The engine in virtual time: the same rules on a machine with other cores.
//!
//! A [`Model`] takes tasks and the time, and returns when it must be called again; it verifies
//! nothing. [`Task::nanos`] is the cost of a task, [`Core`] the speed of a core.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use super::batching::Rates;
use super::{Full, Split};

/// A core, and with it a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Core {
    /// The fixed cost of a batch, in nanoseconds of a core of speed 1000.
    pub batch_nanos: u64,
    /// Its slowdown relative to the reference core, in thousandths: 2000 is half as fast.
    pub slowdown_permille: u32,
    /// The size from which on a batch is worth its fixed cost; 1 for a core of the CPU. A device, with more, takes all
    /// that wait, up to [`DEVICE_BATCH_MAX`].
    pub least: usize,
}

/// The largest batch of a device.
pub const DEVICE_BATCH_MAX: usize = 65_536;

/// A signature to verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    /// For queries.
    pub tag: u64,
    /// The deadline of the verdict.
    pub deadline_nanos: u64,
    /// Its time on a core without slowdown.
    pub nanos: u64,
}

/// A finished task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The task's.
    pub tag: u64,
    /// False if it was dropped because its deadline had passed before its turn.
    pub is_verified: bool,
    /// The time of the verdict.
    pub finished_nanos: u64,
}

/// The options of a model; like [`super::Options`], with one worker per core.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// How tasks are assigned to workers.
    pub split: Split,
    /// The maximum number of waiting tasks; more are refused.
    pub queue_max: usize,
    /// Whether to drop tasks whose deadline has passed at their turn.
    pub drops_late: bool,
    /// The share of its core that each worker may take, in thousandths, from 1 to 1000.
    pub share_permille: u32,
}

/// The result of a closed loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Until the last worker was done.
    pub makespan_nanos: u64,
    /// How long each worker worked.
    pub busy_nanos: Vec<u64>,
}

/// Workers, and the queues that they take from, at some time.
#[derive(Debug)]
pub struct Model {
    rules: Rules,
    workers: Vec<Worker>,
    /// One for all, or one for each: tasks by their deadline, then by how many came before.
    queues: Vec<BinaryHeap<Reverse<(u64, u64, Task)>>>,
    queue_max: usize,
    /// The idle workers.
    idle: BTreeSet<usize>,
    /// When each of the others has.
    events: BinaryHeap<Reverse<(u64, usize)>>,
    rates: Rates,
    next: usize,
    sequence: u64,
    done: VecDeque<Done>,
}

#[derive(Debug)]
struct Worker {
    core: Core,
    /// Its current batch and its duration; empty while it rests.
    batch: Vec<Task>,
    used_nanos: u64,
    rests_until: u64,
    busy_nanos: u64,
}

impl Core {
    /// A core of full speed without a fixed cost per batch.
    pub const PLAIN: Core = Core { batch_nanos: 0, slowdown_permille: 1000, least: 1 };

    fn takes(&self, tasks: &[Task]) -> u64 {
        let work = tasks.iter().fold(self.batch_nanos, |sum, task| sum.saturating_add(task.nanos));
        let slowed = u128::from(work) * u128::from(self.slowdown_permille.max(1)) / 1000;
        u64::try_from(slowed).unwrap_or(u64::MAX)
    }
}

impl Rules {
    /// Full use of the cores and an unlimited queue.
    #[must_use]
    pub const fn unbounded(split: Split) -> Rules {
        Rules { split, queue_max: usize::MAX, drops_late: false, share_permille: 1000 }
    }
}

impl Model {
    /// Idle workers on these cores; at least one.
    #[must_use]
    pub fn new(cores: &[Core], rules: Rules) -> Model {
        let worker = |core: &Core| Worker {
            core: *core,
            batch: Vec::new(),
            used_nanos: 0,
            rests_until: 0,
            busy_nanos: 0,
        };
        let mut workers: Vec<Worker> = cores.iter().map(worker).collect();
        if workers.is_empty() {
            workers.push(worker(&Core::PLAIN));
        }
        let count = workers.len();
        let queues = match rules.split {
            Split::Static => count,
            Split::Dynamic => 1,
        };
        Model {
            rules,
            workers,
            queues: (0..queues).map(|_| BinaryHeap::new()).collect(),
            queue_max: (rules.queue_max / queues).max(1),
            idle: (0..count).collect(),
            events: BinaryHeap::new(),
            rates: Rates::new(count),
            next: 0,
            sequence: 0,
            done: VecDeque::new(),
        }
    }

    /// Passes a task to the workers at `now`, which never decreases.
    ///
    /// # Errors
    /// [`Full`] if the queue is full.
    pub fn submit(&mut self, now: u64, task: Task) -> Result<(), Full> {
        self.advance(now);
        self.next = (self.next + 1) % self.queues.len();
        let queue = self.next;
        if self.queues[queue].len() >= self.queue_max {
            return Err(Full);
        }
        self.push(queue, task);
        self.wake(now);
        Ok(())
    }

    /// Passes many tasks before any worker starts; with a static split, each gets consecutive ones.
    /// Returns the number of refused tasks.
    pub fn submit_all(&mut self, now: u64, tasks: &[Task]) -> usize {
        self.advance(now);
        let share = tasks.len().div_ceil(self.queues.len()).max(1);
        let mut refused = 0;
        for (queue, tasks) in tasks.chunks(share).enumerate() {
            let room = self.queue_max.saturating_sub(self.queues[queue].len());
            tasks.iter().take(room).for_each(|task| self.push(queue, *task));
            refused += tasks.len().saturating_sub(room);
        }
        self.wake(now);
        refused
    }

    /// Advances the time to `now`.
    pub fn advance(&mut self, now: u64) {
        while let Some(Reverse((at, worker))) = self.events.peek().copied()
            && at <= now
        {
            self.events.pop();
            self.go_on(worker, at);
        }
    }

    /// The time of the next event.
    #[must_use]
    pub fn next_wake(&self) -> Option<u64> {
        self.events.peek().map(|Reverse((at, _))| *at)
    }

    /// The next finished task.
    pub fn next_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }

    /// The number of waiting tasks.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queues.iter().map(BinaryHeap::len).sum()
    }

    /// How long each worker has worked; the current batch counts when it is done.
    #[must_use]
    pub fn busy_nanos(&self) -> Vec<u64> {
        self.workers.iter().map(|worker| worker.busy_nanos).collect()
    }

    fn push(&mut self, queue: usize, task: Task) {
        self.sequence += 1;
        self.queues[queue].push(Reverse((task.deadline_nanos, self.sequence, task)));
    }

    fn wake(&mut self, now: u64) {
        for worker in self.idle.clone() {
            let waiting = self.queues[worker % self.queues.len()].len();
            if waiting >= self.workers[worker].core.least.max(1) {
                self.idle.remove(&worker);
                self.begin(worker, now);
            }
        }
    }

    /// A worker's batch is done, or its rest is over.
    fn go_on(&mut self, number: usize, now: u64) {
        let worker = &mut self.workers[number];
        if !worker.batch.is_empty() {
            worker.busy_nanos += worker.used_nanos;
            if worker.core.least <= 1 {
                self.rates.record(number, worker.batch.len(), worker.used_nanos);
            }
            let done = |task: Task| Done { tag: task.tag, is_verified: true, finished_nanos: now };
            self.done.extend(worker.batch.drain(..).map(done));
            if worker.rests_until > now {
                self.events.push(Reverse((worker.rests_until, number)));
                return;
            }
        }
        self.begin(number, now);
    }

    fn begin(&mut self, number: usize, now: u64) {
        let place = number % self.queues.len();
        let sharing = if self.queues.len() == 1 { self.workers.len() } else { 1 };
        let (queue, worker) = (&mut self.queues[place], &mut self.workers[number]);
        let least = worker.core.least.max(1);
        while queue.len() >= least {
            let size = match least {
                1 => self.rates.batch(number, sharing, queue.len()),
                _ => DEVICE_BATCH_MAX,
            };
            while worker.batch.len() < size
                && let Some(Reverse((_, _, task))) = queue.pop()
            {
                if self.rules.drops_late && task.deadline_nanos < now {
                    self.done.push_back(Done {
                        tag: task.tag,
                        is_verified: false,
                        finished_nanos: now,
                    });
                } else {
                    worker.batch.push(task);
                }
            }
            if !worker.batch.is_empty() {
                let used = worker.core.takes(&worker.batch);
                let share = u64::from(self.rules.share_permille.clamp(1, 1000));
                worker.used_nanos = used;
                worker.rests_until = now.saturating_add(used.saturating_mul(1000) / share);
                self.events.push(Reverse((now.saturating_add(used), number)));
                return;
            }
        }
        self.idle.insert(number);
    }
}

/// Runs `tasks` of `nanos` each, all queued at the start, on workers on these cores.
#[must_use]
pub fn closed_loop(tasks: usize, nanos: u64, cores: &[Core], rules: Rules) -> Outcome {
    let mut model = Model::new(cores, rules);
    let task = |number: usize| Task { tag: number as u64, deadline_nanos: u64::MAX, nanos };
    model.submit_all(0, &(0..tasks).map(task).collect::<Vec<_>>());
    let mut makespan_nanos = 0;
    while let Some(now) = model.next_wake() {
        model.advance(now);
        if let Some(done) = model.done.drain(..).next_back() {
            makespan_nanos = done.finished_nanos;
        }
    }
    Outcome { makespan_nanos, busy_nanos: model.busy_nanos() }
}
