//! The waker of a run's main future.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use super::context;

/// Puts the main future into the run queue of its thread, at most once at a time.
pub(super) struct MainWaker {
    waker: Waker,
    shared: Arc<Shared>,
}

impl MainWaker {
    /// The waker of a main future that is in the queue already.
    pub(super) fn new() -> MainWaker {
        let executor = context::current_id();
        let shared = Arc::new(Shared { executor, queued: AtomicBool::new(true) });
        MainWaker { waker: Waker::from(Arc::clone(&shared)), shared }
    }

    pub(super) fn clear(&self) {
        self.shared.queued.store(false, Ordering::Relaxed);
    }

    pub(super) fn as_waker(&self) -> &Waker {
        &self.waker
    }
}

struct Shared {
    executor: u64,
    queued: AtomicBool,
}

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Wakes after the run have no effect: the future is gone.
    fn wake_by_ref(self: &Arc<Self>) {
        if context::is_current(self.executor) && !self.queued.swap(true, Ordering::Relaxed) {
            context::schedule_main();
        }
    }
}
