//! One thread: takes a batch, verifies it, reports it, and rests if necessary.

use std::sync::Arc;

use crate::{Clock, Item, Path, Verdict, Verifier};

use super::batching::Rates;
use super::clock::{monotonic_nanos, rest, thread_cpu_nanos};
use super::queue::Queue;
use super::task::{Done, Task};

pub(super) struct Worker {
    pub number: usize,
    pub queue: Arc<Queue>,
    /// Workers that take from the same queue.
    pub sharing: usize,
    pub path: Path,
    pub drops_late: bool,
    pub slowdown_permille: u32,
    /// Its share of a processor.
    pub share_permille: u32,
    pub rates: Arc<Rates>,
    pub on_done: Arc<dyn Fn(Done) + Send + Sync>,
}

#[derive(Debug, Default)]
pub(super) struct Account {
    pub cpu_nanos: u64,
    pub verified: u64,
}

impl Worker {
    pub(super) fn run(self) -> Account {
        let verifier = Verifier::with_path(self.path);
        let mut verifier =
            verifier.or_else(|_| Verifier::with_path(Path::Portable)).unwrap_or_default();
        let mut account = Account::default();
        let (mut batch, mut verdicts) = (Vec::new(), Vec::new());
        let (clock, most) = (verifier.clock(), verifier.preferred_batch());
        let size = |queued: usize| match clock {
            Clock::Thread => self.rates.batch(self.number, self.sharing, queued),
            // Its time hardly depends on the size.
            Clock::Elapsed => queued.clamp(1, most),
        };
        while self.queue.take(size, &mut batch) {
            let (begin, cpu_begin) = (monotonic_nanos(), thread_cpu_nanos());
            if self.drops_late {
                self.drop_late(&mut batch, begin);
            }
            self.verify(&mut verifier, &batch, &mut verdicts);
            account.verified += batch.len() as u64;
            self.slow_down(thread_cpu_nanos() - cpu_begin);
            let now = monotonic_nanos();
            for (task, verdict) in batch.iter().zip(&verdicts) {
                self.say(task, Some(*verdict), now);
            }
            let used = thread_cpu_nanos() - cpu_begin;
            account.cpu_nanos += used;
            let taken = match clock {
                Clock::Thread => used,
                Clock::Elapsed => monotonic_nanos() - begin,
            };
            self.rates.record(self.number, batch.len(), taken);
            self.keep_to_budget(used, begin);
        }
        account
    }

    /// Removes tasks whose deadline has passed from the batch, and reports them.
    fn drop_late(&self, batch: &mut Vec<Task>, now: u64) {
        batch.retain(|task| {
            let is_late = task.deadline_nanos < now;
            if is_late {
                self.say(task, None, now);
            }
            !is_late
        });
    }

    fn verify(&self, verifier: &mut Verifier, batch: &[Task], verdicts: &mut Vec<Verdict>) {
        let items: Vec<Item<'_>> = batch
            .iter()
            .map(|task| Item {
                key: task.key.as_key(),
                digest: &task.digest,
                signature: &task.signature,
            })
            .collect();
        verifier.verify(&items, verdicts);
    }

    /// Burns additional processor time to emulate a slower core.
    fn slow_down(&self, used: u64) {
        let more = u64::from(self.slowdown_permille.saturating_sub(1000));
        let until = thread_cpu_nanos() + used.saturating_mul(more) / 1000;
        while thread_cpu_nanos() < until {
            std::hint::spin_loop();
        }
    }

    fn say(&self, task: &Task, verdict: Option<Verdict>, now: u64) {
        (self.on_done)(Done {
            tag: task.tag,
            verdict,
            finished_nanos: now,
            deadline_nanos: task.deadline_nanos,
            worker: self.number,
        });
    }

    /// Rests until its processor time is within its share of the time since `begin`.
    fn keep_to_budget(&self, used: u64, begin: u64) {
        let share = u64::from(self.share_permille);
        if share >= 1000 {
            return;
        }
        let due = begin.saturating_add(used.saturating_mul(1000) / share);
        let now = monotonic_nanos();
        if due > now {
            rest(due - now);
        }
    }
}
