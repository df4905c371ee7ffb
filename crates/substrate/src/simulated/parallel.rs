//! Many runs at once.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use trackbed_core::Time;

use crate::run::{Cancel, RunError, panic};

/// Executes `job` for each of `jobs`, at most `at_most` at once, and returns the results in the
/// order of `jobs`: they do not depend on `at_most`. A job that was not started because of
/// `cancel` has no result.
///
/// `job` usually calls [`Simulation::run`](super::Simulation::run); if it panics itself, that is
/// its result. `finished` is called on the caller's thread with the place of each job that has
/// finished and its result, in the order in which they finish: for progress, and for saving
/// results before the last one is there.
pub fn parallel<J: Sync, T: Send>(
    jobs: &[J],
    at_most: NonZeroUsize,
    cancel: &Cancel,
    job: impl Fn(&J) -> Result<T, RunError> + Sync,
    mut finished: impl FnMut(usize, &Result<T, RunError>),
) -> Vec<Option<Result<T, RunError>>> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let work = |sender: mpsc::Sender<(usize, Result<T, RunError>)>| {
        while !cancel.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = jobs.get(index) else { return };
            if sender.send((index, guarded(|| job(input)))).is_err() {
                return;
            }
        }
    };
    let mut results: Vec<Option<Result<T, RunError>>> = jobs.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..at_most.get().min(jobs.len()) {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        for (index, result) in receiver {
            finished(index, &result);
            results[index] = Some(result);
        }
    });
    results
}

fn guarded<T>(job: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|payload| {
        let message = panic::message(&*payload);
        Err(RunError::Panicked { at: Time::ZERO, message, location: None })
    })
}
