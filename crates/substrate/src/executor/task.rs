//! Tasks: futures that the executor runs besides the main one.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::context::{self, Registration};

/// Runs `future` concurrently with the caller. It is first polled after everything already in the
/// run queue.
///
/// # Panics
/// Outside a run.
pub fn spawn<F: Future + 'static>(future: F) -> Task<F::Output> {
    start(None, future)
}

/// Like [`spawn`], with a name that the diagnosis of a stalled run shows.
///
/// # Panics
/// Outside a run.
pub fn spawn_named<F: Future + 'static>(name: impl Into<Rc<str>>, future: F) -> Task<F::Output> {
    start(Some(name.into()), future)
}

/// A spawned task; a future of its output. Dropping it cancels the task, at the latest at its next
/// turn.
#[derive(Debug)]
#[must_use = "dropping a task cancels it; call `detach` to keep it running"]
pub struct Task<T>(async_task::Task<T>);

impl<T> Task<T> {
    /// Detaches the task; it runs at most until the run ends.
    pub fn detach(self) {
        self.0.detach();
    }

    /// Whether the task has finished or was cancelled.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(cx)
    }
}

fn start<F: Future + 'static>(name: Option<Rc<str>>, future: F) -> Task<F::Output> {
    start_boxed(name, Box::pin(future))
}

/// In a box, so that the code of a task is compiled once for each type of output, and not for each of
/// a hundred futures.
fn start_boxed<T: 'static>(
    name: Option<Rc<str>>,
    future: Pin<Box<dyn Future<Output = T>>>,
) -> Task<T> {
    let executor = context::current_id();
    let registration = context::register(name);
    let key = registration.key;
    let (runnable, task) =
        async_task::spawn_local(Supervised { future, registration }, move |runnable| {
            context::schedule(executor, runnable)
        });
    context::set_waker(key, runnable.waker());
    runnable.schedule();
    Task(task)
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
