//! The common part of runs on every substrate: how they end and how they are stopped.

mod cancel;
pub(crate) mod diagnosis;
mod error;
pub(crate) mod panic;

pub use cancel::Cancel;
pub use error::RunError;

use crate::clock;
use crate::executor::{Stall, StallReason};

pub(crate) fn result<T>(outcome: std::thread::Result<Result<T, Stall>>) -> Result<T, RunError> {
    let at = clock::now();
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Stall { reason: StallReason::Cancelled, .. })) => Err(RunError::Cancelled { at }),
        Ok(Err(Stall { reason, diagnosis })) => Err(RunError::Stalled { at, reason, diagnosis }),
        Err(payload) => Err(panic::error(&*payload)),
    }
}
