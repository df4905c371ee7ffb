//! Waiting with a deadline.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use trackbed_core::Time;

use crate::executor::sleep_until;

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
