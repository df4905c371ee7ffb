//! Tasks: futures that the executor runs besides the main one.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use async_task::Task;

use super::context::{self, Registration};

/// Runs `future` concurrently with the caller. It is first polled behind the whole run queue.
///
/// # Panics
/// Outside a run.
pub fn spawn<F: Future + 'static>(future: F) -> Task<F::Output> {
    start(None, Box::pin(future))
}

/// Like [`spawn`], with a name that the diagnosis of a stalled run shows.
///
/// # Panics
/// Outside a run.
pub fn spawn_named<F: Future + 'static>(name: impl Into<Rc<str>>, future: F) -> Task<F::Output> {
    start(Some(name.into()), Box::pin(future))
}

/// In a box, so that a task is compiled once for each type of output, not of future.
fn start<T: 'static>(name: Option<Rc<str>>, future: Pin<Box<dyn Future<Output = T>>>) -> Task<T> {
    let executor = context::current_id();
    let registration = context::register(name);
    let key = registration.key;
    let (runnable, task) =
        async_task::spawn_local(Supervised { future, registration }, move |runnable| {
            context::schedule(executor, runnable)
        });
    context::set_waker(key, runnable.waker());
    runnable.schedule();
    task
}

/// Yields to every other ready task.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A future whose waits are recorded under its task's name.
struct Supervised<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
    registration: Registration,
}

impl<T> Future for Supervised<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let key = self.registration.key;
        context::with_task(key, || self.future.as_mut().poll(cx))
    }
}
