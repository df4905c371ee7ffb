//! How long a server waits for a client's first request, and for one that does not read.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use trackbed_substrate::Standing;

use super::Stream;
use crate::alarm::Alarm;
use crate::config::ServerLimits;

/// Runs `serving` to its end, or resets the connection if the client takes longer than the limits for
/// its handshake, from its first byte to its first request, or to take what waits for it.
pub(super) async fn in_time(
    stream: Stream,
    standing: Standing,
    limits: ServerLimits,
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
        let opened = since.map(|since| since + limits.opening);
        let written = stream.stuck_since().zip(limits.writing).map(|(since, limit)| since + limit);
        if !alarm.has_fired(opened.into_iter().chain(written).min(), cx) {
            return Poll::Pending;
        }
        stream.abort();
        Poll::Ready(())
    })
    .await;
}
