//! Virtual time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use trackbed_core::Time;
use trackbed_substrate::{Timer, before, from_std_instant, to_std_instant};

/// The virtual time, for code that takes an [`Instant`]. It stands still while a task is polled.
///
/// ```
/// use std::time::Duration;
/// use trackbed_test::{Track, now, sleep};
///
/// Track::new(1).run(async {
///     let begin = now();
///     sleep(Duration::from_secs(3600)).await;
///     assert_eq!(now() - begin, Duration::from_secs(3600));
/// });
/// ```
pub fn now() -> Instant {
    to_std_instant(trackbed_substrate::now())
}

/// The virtual time since the run began.
///
/// ```
/// use std::time::Duration;
/// use trackbed_test::{Track, elapsed, sleep};
///
/// Track::new(1).run(async {
///     sleep(Duration::from_millis(5)).await;
///     assert_eq!(elapsed(), Duration::from_millis(5));
/// });
/// ```
pub fn elapsed() -> Duration {
    trackbed_substrate::now().since(Time::ZERO)
}

/// Waits for `span`.
///
/// # Panics
/// Outside [`Track::run`](crate::Track::run).
///
/// ```
/// # use std::time::Duration;
/// # use trackbed_test::{Track, sleep};
///
/// Track::new(1).run(async { sleep(Duration::from_secs(60)).await });
/// ```
pub fn sleep(span: Duration) -> Sleep {
    sleep_until(now() + span)
}

/// Waits until `deadline`.
///
/// # Panics
/// Outside [`Track::run`](crate::Track::run).
///
/// ```
/// # use std::time::Duration;
/// # use trackbed_test::{Track, now, sleep_until};
///
/// Track::new(1).run(async { sleep_until(now() + Duration::from_secs(60)).await });
/// ```
pub fn sleep_until(deadline: Instant) -> Sleep {
    let timer = trackbed_substrate::sleep_until(from_std_instant(deadline));
    Sleep { timer, has_waited: false }
}

/// The future of [`sleep`]. It may be polled again after its end.
///
/// ```
/// # use std::time::Duration;
/// # use trackbed_test::{Sleep, Track, sleep};
///
/// Track::new(1).run(async {
///     let timer: Sleep = sleep(Duration::from_secs(1));
///     timer.await;
/// });
/// ```
#[derive(Debug)]
pub struct Sleep {
    timer: Timer,
    has_waited: bool,
}

impl Sleep {
    /// Moves the deadline.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use trackbed_test::{Track, elapsed, now, sleep};
    ///
    /// Track::new(1).run(async {
    ///     let mut timer = sleep(Duration::from_secs(1));
    ///     timer.reset(now() + Duration::from_secs(9));
    ///     timer.await;
    ///     assert_eq!(elapsed(), Duration::from_secs(9));
    /// });
    /// ```
    pub fn reset(&mut self, deadline: Instant) {
        self.timer.reset(from_std_instant(deadline));
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Others run first, also without a time to wait: a loop that sleeps for no time then ends
        // with an error, because too much happens at one instant.
        if !std::mem::replace(&mut self.has_waited, true)
            && self.timer.deadline() <= trackbed_substrate::now()
        {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.timer).poll(cx)
    }
}

/// The output of `future`, if it has one within `span`.
///
/// # Errors
/// If it has none.
///
/// ```
/// # use std::time::Duration;
/// # use trackbed_test::{Track, timeout};
///
/// Track::new(1).run(async {
///     let second = Duration::from_secs(1);
///     assert!(timeout(second, std::future::pending::<()>()).await.is_err());
/// });
/// ```
pub async fn timeout<F: Future>(span: Duration, future: F) -> Result<F::Output, Elapsed> {
    before(trackbed_substrate::now() + span, future).await.ok_or(Elapsed)
}

/// The error of [`timeout`].
///
/// ```
/// # use std::time::Duration;
/// # use trackbed_test::{Elapsed, Track, timeout};
///
/// let late = timeout(Duration::ZERO, std::future::pending::<()>());
/// assert_eq!(Track::new(1).run(late), Err(Elapsed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl std::fmt::Display for Elapsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the time limit of this future has passed")
    }
}

impl std::error::Error for Elapsed {}
