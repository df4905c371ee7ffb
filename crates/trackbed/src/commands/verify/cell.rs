//! One measurement: a number of verifications by one library on a number of threads.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{PoisonError, RwLock};
use std::thread::Builder;

use anyhow::{Context as _, anyhow};
use trackbed_verifier::division::Division;
use trackbed_verifier::engine::{Split, monotonic_nanos, thread_cpu_nanos};

use super::cores::Cores;

/// How a number of verifications is divided.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The cores on which the threads run.
    pub cores: &'a Cores,
    pub threads: usize,
    /// How they share the work.
    pub split: Split,
    /// The number of verifications that a thread takes at once.
    pub batch: usize,
}

/// The result of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    pub verified: usize,
    pub wrong: usize,
    /// From the start of the first thread to the end of the last.
    pub wall_nanos: u64,
    /// CPU time of all threads together.
    pub cpu_nanos: u64,
}

/// The work of a thread, and its times.
struct Account {
    verified: usize,
    wrong: usize,
    begin: u64,
    end: u64,
    cpu_nanos: u64,
}

/// Verifies `count` signatures. Every thread has created its worker before the first one begins.
pub fn measure<W: FnMut(Range<usize>) -> usize>(
    setting: Setting<'_>,
    count: usize,
    worker: impl Fn() -> anyhow::Result<W> + Sync,
) -> anyhow::Result<Outcome> {
    let Setting { cores, threads, split, batch } = setting;
    let division = Division::new(split, count, threads, batch);
    // Closed while threads prepare; then its value decides whether they begin.
    let (gate, is_over) = (RwLock::new(false), AtomicBool::new(false));
    let work = |thread, ready: Sender<()>| {
        cores.settle(thread)?;
        let worker = worker()?;
        // A failed send means that the receiver is gone, which the gate reports. A failed worker sends nothing.
        let _ = ready.send(());
        drop(ready);
        let goes_on = *gate.read().unwrap_or_else(PoisonError::into_inner);
        anyhow::Ok(verify(worker, division.batches(thread).take_while(|_| goes_on)))
    };
    std::thread::scope(|scope| {
        let mut may_begin = gate.write().unwrap_or_else(PoisonError::into_inner);
        let (sender, ready) = mpsc::channel();
        let start = |thread| {
            let (work, sender) = (&work, sender.clone());
            Builder::new().spawn_scoped(scope, move || work(thread, sender))
        };
        let workers: io::Result<Vec<_>> = (0..threads).map(start).collect();
        drop(sender);
        let slowed = cores.slow_down(threads, scope, &is_over);
        let are_ready = workers.is_ok() && ready.iter().take(threads).count() == threads;
        *may_begin = are_ready && slowed.is_ok();
        drop(may_begin);
        // All are joined before an error is returned: the scope panics for a thread that panicked unjoined.
        let ended = workers
            .map(|workers| workers.into_iter().map(|it| it.join()).collect::<Vec<_>>())
            .context("cannot start a thread");
        is_over.store(true, Ordering::Relaxed);
        slowed?;
        let account = |ended: std::thread::Result<_>| ended.map_err(|_| anyhow!(PANICKED))?;
        let accounts: anyhow::Result<Vec<Account>> = ended?.into_iter().map(account).collect();
        accounts.map(|accounts| sum(&accounts))
    })
}

const PANICKED: &str = "a worker panicked; this is a bug in Trackbed";

fn verify(
    mut worker: impl FnMut(Range<usize>) -> usize,
    batches: impl Iterator<Item = Range<usize>>,
) -> Account {
    let (mut verified, mut wrong) = (0, 0);
    let (begin, cpu) = (monotonic_nanos(), thread_cpu_nanos());
    for range in batches {
        verified += range.len();
        wrong += worker(range);
    }
    let (end, cpu_nanos) = (monotonic_nanos(), thread_cpu_nanos() - cpu);
    Account { verified, wrong, begin, end, cpu_nanos }
}

fn sum(accounts: &[Account]) -> Outcome {
    let begin = accounts.iter().map(|account| account.begin).min().unwrap_or(0);
    let end = accounts.iter().map(|account| account.end).max().unwrap_or(0);
    Outcome {
        verified: accounts.iter().map(|account| account.verified).sum(),
        wrong: accounts.iter().map(|account| account.wrong).sum(),
        wall_nanos: end.saturating_sub(begin).max(1),
        cpu_nanos: accounts.iter().map(|account| account.cpu_nanos).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(cores: &Cores, threads: usize, split: Split) -> Setting<'_> {
        Setting { cores, threads, split, batch: 32 }
    }

    #[test]
    fn every_item_is_verified_and_every_wrong_verdict_counted() {
        let cores = Cores::equal();
        for (threads, split) in [(1, Split::Static), (3, Split::Static), (5, Split::Dynamic)] {
            // One in ten is wrong.
            let worker = || Ok(|range: Range<usize>| range.filter(|item| item % 10 == 0).count());
            let outcome = measure(setting(&cores, threads, split), 1_001, worker).unwrap();
            assert_eq!((outcome.verified, outcome.wrong), (1_001, 101), "{threads} {split:?}");
        }
    }

    #[test]
    fn a_worker_that_fails_or_panics_ends_all() {
        let (cores, calls) = (Cores::equal(), AtomicBool::new(false));
        let first_fails = || {
            anyhow::ensure!(calls.swap(true, Ordering::Relaxed), "no key");
            Ok(|_| 0)
        };
        let failed = measure(setting(&cores, 4, Split::Dynamic), 1_000, first_fails);
        assert_eq!(failed.unwrap_err().to_string(), "no key");
        let panics = || Ok(|_| panic!("on purpose"));
        let failed = measure(setting(&cores, 2, Split::Static), 1_000, panics);
        assert_eq!(failed.unwrap_err().to_string(), PANICKED);
    }
}
