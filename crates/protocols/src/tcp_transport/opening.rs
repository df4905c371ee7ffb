//! How long a server waits for a client's first request.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Poll, ready};
use std::time::Duration;

use trackbed_substrate::{Standing, sleep_until};

use super::Stream;

/// Runs `serving` to its end, or resets the connection if the client takes longer than `limit` for
/// its handshake, or from its first byte to its first request.
pub(super) async fn in_time(
    stream: Stream,
    standing: Standing,
    limit: Duration,
    serving: impl Future<Output = ()>,
) {
    let mut serving = pin!(serving);
    let mut timer = None;
    poll_fn(|cx| {
        if serving.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        // All changes to this happen in this task.
        let since = if standing.has_asked() { None } else { stream.opening_since() };
        let Some(due) = since.map(|since| since + limit) else {
            timer = None;
            return Poll::Pending;
        };
        let timer = timer.get_or_insert_with(|| sleep_until(due));
        if timer.deadline() != due {
            timer.reset(due);
        }
        ready!(Pin::new(timer).poll(cx));
        stream.abort();
        Poll::Ready(())
    })
    .await;
}
