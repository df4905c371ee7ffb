//! The common part of runs on every substrate: how they end and how they are stopped.

mod cancel;
pub(crate) mod diagnosis;
mod error;
pub(crate) mod panic;

pub use cancel::Cancel;
pub use error::RunError;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::clock;
use crate::executor::{self, Reactor, Stall, StallReason};

/// Executes the future that `main` returns, to its end. A panic of either is an error.
pub(crate) fn execute<T, F: Future<Output = T>>(
    reactor: &mut dyn Reactor,
    events_per_instant: u64,
    main: impl FnOnce() -> F,
) -> Result<T, RunError> {
    let act = || executor::run(reactor, events_per_instant, main());
    let outcome = catch_unwind(AssertUnwindSafe(act));
    let at = clock::now();
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Stall { reason: StallReason::Cancelled, .. })) => Err(RunError::Cancelled { at }),
        Ok(Err(Stall { reason, diagnosis })) => Err(RunError::Stalled { at, reason, diagnosis }),
        Err(payload) => Err(panic::error(&*payload)),
    }
}
