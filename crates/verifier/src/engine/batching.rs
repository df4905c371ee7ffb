//! How many tasks a worker takes at once. Pure rules, shared with [`super::model`].

use std::sync::atomic::{AtomicU64, Ordering};

/// Larger batches gain nothing.
pub const BATCH_MAX: usize = 128;
/// The maximum duration of a batch, in nanoseconds.
pub const BATCH_NANOS_MAX: u64 = 1_000_000;

/// The recent speed of each worker.
#[derive(Debug)]
pub struct Rates {
    /// Picoseconds that a task takes each worker; zero while unknown.
    task_picos: Vec<AtomicU64>,
}

impl Rates {
    /// Of workers that have not worked yet.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self { task_picos: (0..workers).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Records that `worker` did `tasks` in `nanos`.
    pub fn record(&self, worker: usize, tasks: usize, nanos: u64) {
        let Some(rate) = self.task_picos.get(worker) else { return };
        let Some(now) = nanos.saturating_mul(1_000).checked_div(tasks as u64) else { return };
        let before = rate.load(Ordering::Relaxed);
        // An eighth of each new value: an average over some batches, in which one interrupted batch
        // matters little.
        let after = if before == 0 { now } else { before - before / 8 + now / 8 };
        rate.store(after.max(1), Ordering::Relaxed);
    }

    /// How many of `queued` tasks `worker` takes, if `sharing` workers take from the queue: half of
    /// its part, less if it is slower than the average, so that all finish together, and at most
    /// what it verifies in [`BATCH_NANOS_MAX`]. At least one.
    #[must_use]
    pub fn batch(&self, worker: usize, sharing: usize, queued: usize) -> usize {
        let part = (queued / (2 * sharing.max(1))).clamp(1, BATCH_MAX) as u64;
        let own = self.task_picos.get(worker).map_or(0, |rate| rate.load(Ordering::Relaxed));
        if own == 0 {
            return 1;
        }
        let in_time = (BATCH_NANOS_MAX * 1_000 / own).max(1);
        let scaled = match self.mean_picos(sharing) {
            Some(mean) => {
                u64::try_from(u128::from(part) * u128::from(mean) / u128::from(own)).unwrap_or(part)
            }
            None => part,
        };
        let batch = scaled.clamp(1, BATCH_MAX as u64).min(in_time).min(queued.max(1) as u64);
        usize::try_from(batch).unwrap_or(1)
    }

    /// The average time of a task for the workers that share a queue; none for a single worker.
    fn mean_picos(&self, sharing: usize) -> Option<u64> {
        if sharing < 2 {
            return None;
        }
        let known = self.task_picos.iter().map(|rate| rate.load(Ordering::Relaxed));
        let (sum, count) = known
            .filter(|picos| *picos > 0)
            .fold((0u64, 0u64), |(sum, count), picos| (sum.saturating_add(picos), count + 1));
        sum.checked_div(count)
    }
}
