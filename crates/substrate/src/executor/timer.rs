//! Timers on the run's clock.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use trackbed_core::Time;

use super::context::{self, Wait};
use super::timer_queue::TimerQueue;
use crate::clock;

/// A timer that is due `span` from now.
///
/// # Panics
/// Outside a run.
pub fn sleep(span: Duration) -> Timer {
    sleep_until(clock::now() + span)
}

/// A timer that is due at `deadline`; at once if that has passed.
///
/// # Panics
/// Outside a run.
pub fn sleep_until(deadline: Time) -> Timer {
    let executor = context::current_id();
    let key = TIMERS.with_borrow_mut(|timers| timers.insert(RANK, None));
    let mut timer = Timer { executor, key, deadline };
    timer.reset(deadline);
    timer
}

/// A future that resolves at a point in time. It may be polled again after that, and set again at
/// any time; moving it later, as transports do for every packet, is nearly free.
#[derive(Debug)]
pub struct Timer {
    executor: u64,
    key: u32,
    deadline: Time,
}

impl Timer {
    /// Moves the deadline. A task that waits for the timer is woken at the new one.
    pub fn reset(&mut self, deadline: Time) {
        self.check();
        self.deadline = deadline;
        TIMERS.with_borrow_mut(|timers| timers.set(self.key, Some(deadline)));
    }

    /// When the timer is due.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    fn check(&self) {
        assert!(context::is_current(self.executor), "a timer was used outside its run's thread");
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.check();
        if self.deadline <= clock::now() {
            return Poll::Ready(());
        }
        TIMERS.with_borrow_mut(|timers| match timers.payload(self.key) {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            waker => *waker = Some(cx.waker().clone()),
        });
        context::note(Wait::Timer(self.deadline));
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if context::is_current(self.executor) {
            let waker = TIMERS.with_borrow_mut(|timers| timers.remove(self.key));
            drop(waker);
        }
    }
}

/// The output of `future`, or `None` if it has none by `deadline`; the future is then dropped. An
/// output that comes at the very deadline counts.
pub async fn before<F: Future>(deadline: Time, future: F) -> Option<F::Output> {
    let (mut future, mut timer) = (pin!(future), sleep_until(deadline));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Pin::new(&mut timer).poll(cx).map(|()| None),
    })
    .await
}

pub(crate) fn next_deadline() -> Option<Time> {
    TIMERS.with_borrow_mut(TimerQueue::next)
}

/// Wakes the tasks whose timer is due at `now`, and returns the number of timers.
pub(crate) fn fire_due(now: Time) -> u64 {
    let mut fired = 0;
    loop {
        let due = TIMERS
            .with_borrow_mut(|timers| timers.pop_due(now).map(|key| timers.payload(key).take()));
        match due {
            Some(waker) => {
                fired += 1;
                waker.into_iter().for_each(Waker::wake);
            }
            None => return fired,
        }
    }
}

thread_local! {
    static TIMERS: RefCell<TimerQueue<Option<Waker>>> = const { RefCell::new(TimerQueue::new()) };
}

/// All timers of tasks rank alike.
const RANK: u32 = 0;
