//! Stopping runs from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that stops runs: running ones end with [`Cancelled`](crate::RunError::Cancelled), and
/// no new one starts. Clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A switch that has not been used yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops the runs. May be called from a signal handler's thread.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the runs must stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
