//! How long a server waits for a client's first request.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use trackbed_substrate::Standing;

use super::Stream;
use crate::alarm::Alarm;

/// Runs `serving` to its end, or resets the connection if the client takes longer than `limit` for
/// its handshake, or from its first byte to its first request.
pub(super) async fn in_time(
    stream: Stream,
    standing: Standing,
    limit: Duration,
    serving: impl Future<Output = ()>,
) {
    let mut serving = pin!(serving);
    let mut alarm = Alarm::default();
    poll_fn(|cx| {
        if serving.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        // All changes to this happen in this task.
        let since = if standing.has_asked() { None } else { stream.opening_since() };
        if !alarm.has_fired(since.map(|since| since + limit), cx) {
            return Poll::Pending;
        }
        stream.abort();
        Poll::Ready(())
    })
    .await;
}
