//! The waker of a run's main future.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use super::context;

/// Puts the main future into the run queue of its thread, at most once at a time.
pub(super) struct MainTask {
    executor: u64,
    is_queued: AtomicBool,
}

impl MainTask {
    /// Puts it into the queue for the first time.
    pub(super) fn queued() -> Arc<MainTask> {
        context::schedule_main();
        Arc::new(MainTask { executor: context::current_id(), is_queued: AtomicBool::new(true) })
    }

    pub(super) fn clear(&self) {
        self.is_queued.store(false, Ordering::Relaxed);
    }
}

impl Wake for MainTask {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Wakes after the run have no effect: the future is gone.
    fn wake_by_ref(self: &Arc<Self>) {
        if context::is_current(self.executor) && !self.is_queued.swap(true, Ordering::Relaxed) {
            context::schedule_main();
        }
    }
}
