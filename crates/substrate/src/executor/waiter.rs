//! The task that waits for a socket.

use std::task::{Context, Waker};

/// Remembers the last poller. It keeps the waker between waits: nearly always the same task
/// returns, so waking costs neither a clone nor a drop.
#[derive(Debug, Default)]
pub(crate) struct Waiter {
    waker: Option<Waker>,
    waiting: bool,
}

impl Waiter {
    pub(crate) fn wait(&mut self, cx: &Context<'_>) {
        self.waiting = true;
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Wakes the task if one waits.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.waiting)
            && let Some(waker) = &self.waker
        {
            waker.wake_by_ref();
        }
    }
}
