//! How long a client waits for a silent server, and a server for a slow client.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use trackbed_connection::{Body, Error, Result, Step, body};
use trackbed_core::Time;
use trackbed_substrate::{Standing, Timer, now, sleep_until};

use super::Stream;
use crate::alarm::Alarm;
use crate::config::ServerLimits;

/// The idle timeout of a connection, if it has one, and when it last took or gave bytes.
#[derive(Clone)]
pub(crate) struct Patience {
    pub(crate) protocol: &'static str,
    pub(super) progress: Rc<Cell<Time>>,
    pub(super) limit: Option<Duration>,
}

impl Patience {
    /// The output of `work`.
    ///
    /// # Errors
    /// If there is no progress for the limit, counted from now at the earliest.
    pub(crate) async fn wait<T>(&self, step: Step, work: impl Future<Output = T>) -> Result<T> {
        let (mut work, mut timer) = (pin!(work), self.begin());
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_end(&mut timer, step, cx).map(Err),
        })
        .await
    }

    /// The body whose pieces `poll` gives. It is given up if there is no progress for the limit while
    /// its reader waits.
    pub(crate) fn body(
        &self,
        poll: impl FnMut(&mut Context<'_>) -> Poll<Result<Option<Bytes>>> + 'static,
    ) -> Body {
        body::unfold((self.clone(), poll, None), async |(patience, poll, timer)| {
            poll_fn(|cx| {
                if let Poll::Ready(piece) = poll(cx) {
                    *timer = None;
                    return Poll::Ready(piece);
                }
                let timer = timer.get_or_insert_with(|| patience.begin());
                patience.poll_end(timer, Step::Receive, cx).map(Err)
            })
            .await
        })
    }

    fn begin(&self) -> Option<Timer> {
        self.progress.set(now());
        self.limit.map(|limit| sleep_until(now() + limit))
    }

    /// Ready, with an error, when the limit has passed without progress.
    fn poll_end(&self, timer: &mut Option<Timer>, step: Step, cx: &mut Context<'_>) -> Poll<Error> {
        let (Some(timer), Some(limit)) = (timer, self.limit) else { return Poll::Pending };
        while Pin::new(&mut *timer).poll(cx).is_ready() {
            let due = self.progress.get() + limit;
            if due <= now() {
                return Poll::Ready(Error::idle(self.protocol, step, limit));
            }
            timer.reset(due);
        }
        Poll::Pending
    }
}

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
