//! Tasks beside the future of the test.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use trackbed_substrate::{Task, spawn_named};

/// Runs `future` concurrently with the caller, on the same thread, at most until the run ends.
/// Errors name the task by the line that calls this. If it panics, the run fails.
///
/// # Panics
/// Outside [`Track::run`](crate::Track::run).
///
/// ```
/// use trackbed_test::{Track, spawn};
///
/// let sum = Track::new(1).run(async { spawn(async { 1 + 1 }).await });
/// assert_eq!(sum, 2);
/// ```
#[track_caller]
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    let place = Location::caller();
    let name = format!("task of {}:{}", place.file(), place.line());
    JoinHandle(Some(spawn_named(name, future)))
}

/// A spawned task: a future of its output. Dropping it lets the task continue.
///
/// ```
/// use trackbed_test::{JoinHandle, Track, spawn};
///
/// let sum = Track::new(1).run(async {
///     let handle: JoinHandle<u8> = spawn(async { 1 + 1 });
///     handle.await
/// });
/// assert_eq!(sum, 2);
/// ```
#[derive(Debug)]
pub struct JoinHandle<T>(Option<Task<T>>);

impl<T> JoinHandle<T> {
    /// Stops the task at its next wait.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trackbed_test::{Track, sleep, spawn};
    ///
    /// Track::new(1).run(async {
    ///     spawn(async {
    ///         sleep(Duration::from_secs(1)).await;
    ///         unreachable!("it was stopped");
    ///     })
    ///     .abort();
    ///     sleep(Duration::from_secs(2)).await;
    /// });
    /// ```
    pub fn abort(mut self) {
        drop(self.0.take());
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(self.0.as_mut().expect("only its end takes the task")).poll(cx)
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.detach();
        }
    }
}
