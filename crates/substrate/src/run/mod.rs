//! The common part of runs on every substrate: how they end and how they are stopped.

pub(crate) mod diagnosis;
pub(crate) mod panic;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trackbed_core::Time;

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

/// A switch that stops runs: running ones end with [`Cancelled`](crate::RunError::Cancelled), and
/// no new one starts. Clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops the runs. May be called from a signal handler's thread.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the runs must stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum RunError {
    #[error("the run stalled at {at}: {reason}\n{diagnosis}")]
    Stalled {
        at: Time,
        reason: StallReason,
        /// The tasks and their waits: a readable text of several lines.
        diagnosis: String,
    },
    #[error("the run panicked at {at}{}: {message}", place(.location.as_deref()))]
    Panicked {
        at: Time,
        /// The message of the panic, cut to 4,096 bytes.
        message: String,
        /// The place in the source, as `file:line:column`, if it is known.
        location: Option<String>,
    },
    #[error("the run was cancelled at {at}")]
    Cancelled { at: Time },
    #[error("the thread of the run could not be started ({0}); use fewer parallel runs")]
    Thread(#[source] io::Error),
    #[error("the operating system refused a resource that a run needs: {0}")]
    System(#[source] io::Error),
}

fn place(location: Option<&str>) -> String {
    location.map(|location| format!(" in {location}")).unwrap_or_default()
}
