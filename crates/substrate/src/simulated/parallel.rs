//! Many runs at once.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, mpsc};
use std::thread;

use trackbed_core::Time;

use crate::run::{Cancel, RunError, panic};

/// Executes `job` for each of `jobs`, at most `at_most` at once, and passes each result to
/// `finished` as soon as it is ready. Results do not depend on `at_most`; the order in which they
/// come does. A job that was not started because of `cancel` has no result.
///
/// `job` usually calls [`Simulation::run`](super::Simulation::run); if it panics itself, that is
/// its result. `finished` is called on the caller's thread, and when it falls behind, jobs wait for
/// it: memory does not depend on the number of jobs.
pub fn parallel<J: Send, T: Send>(
    jobs: impl Iterator<Item = J> + Send,
    at_most: NonZeroUsize,
    cancel: &Cancel,
    job: impl Fn(&J) -> Result<T, RunError> + Sync,
    mut finished: impl FnMut(J, Result<T, RunError>),
) {
    let workers = jobs.size_hint().1.unwrap_or(usize::MAX).min(at_most.get());
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().expect("an iterator of jobs does not panic").next();
    let (sender, receiver) = mpsc::sync_channel(WAITING_MAX);
    let work = |sender: mpsc::SyncSender<(J, Result<T, RunError>)>| {
        while !cancel.is_cancelled() {
            let Some(input) = next() else { return };
            let result = guarded(|| job(&input));
            if sender.send((input, result)).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        receiver.into_iter().for_each(|(input, result)| finished(input, result));
    });
}

/// Results that may wait for the caller; a run of many phones is large.
const WAITING_MAX: usize = 64;

fn guarded<T>(job: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|payload| {
        let message = panic::message(&*payload);
        Err(RunError::Panicked { at: Time::ZERO, message, location: None })
    })
}
