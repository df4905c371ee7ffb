//! How long runs may take whose user waits.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use trackbed_substrate::Cancel;

/// Cancels runs when a time is over. A scenario from elsewhere may have runs without end.
pub struct Patience {
    cancel: Cancel,
    _until_dropped: Sender<()>,
}

impl Patience {
    /// Begins to wait.
    pub fn begin(limit: Duration) -> Patience {
        let cancel = Cancel::new();
        let (until_dropped, dropped) = mpsc::channel::<()>();
        let ours = cancel.clone();
        thread::spawn(move || {
            if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                ours.cancel();
            }
        });
        Patience { cancel, _until_dropped: until_dropped }
    }

    /// What is cancelled in the end.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
