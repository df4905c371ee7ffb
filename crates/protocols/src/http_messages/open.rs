//! A client's open connection.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_channel::oneshot;
use futures_util::stream;
use hyper::body::Incoming;
use trackbed_connection::error::{Result, Step};
use trackbed_connection::{Error, Response};
use trackbed_substrate::spawn;

use super::arriving::poll_data;
use super::failed;
use crate::tcp_transport::{Stream, Watchdog};
use crate::tls::Profile;

/// What the exchanges of a connection share.
pub(crate) struct Open {
    profile: Profile,
    pub(crate) stream: Stream,
    idle_timeout: Duration,
    running: Running,
    ended: Cell<Option<oneshot::Receiver<()>>>,
}

/// Shared with every exchange that is under way or waits.
pub(crate) type Running = Rc<()>;

impl Open {
    /// Runs hyper's `connection` in a separate task. The exchanges see how it ends.
    pub(crate) fn new<T>(
        profile: Profile,
        stream: Stream,
        idle_timeout: Duration,
        connection: impl Future<Output = T> + 'static,
    ) -> Open {
        let (end, ended) = oneshot::channel();
        let until_the_end = async move {
            let _seen_by_the_exchanges = connection.await;
            let _unless_unawaited = end.send(());
        };
        spawn(until_the_end).detach();
        let ended = Cell::new(Some(ended));
        Open { profile, stream, idle_timeout, running: Rc::new(()), ended }
    }

    /// Counts an exchange as under way until the result is dropped.
    pub(crate) fn begin(&self) -> Running {
        Rc::clone(&self.running)
    }

    pub(crate) fn is_busy(&self) -> bool {
        Rc::strong_count(&self.running) > 1
    }

    /// The error of an exchange after the connection was closed.
    pub(crate) fn is_closed(&self) -> Error {
        Error::transient(self.profile.protocol, Step::Send, "the connection is closed")
    }

    pub(crate) async fn ended(&self) {
        if let Some(ended) = self.ended.take() {
            let _either_way = ended.await;
        }
    }

    /// Waits for the head of an answer; its body holds `running` to its end.
    pub(crate) async fn response(
        &self,
        answer: impl Future<Output = hyper::Result<http::Response<Incoming>>>,
        running: Running,
    ) -> Result<Response> {
        let Open { profile, idle_timeout, .. } = *self;
        let mut watchdog = self.stream.progress().watchdog(idle_timeout);
        let answer = watchdog.guard(answer).await;
        let answer =
            answer.ok_or_else(|| Error::idle(profile.protocol, Step::Receive, idle_timeout))?;
        let answer = answer.map_err(|error| failed(profile, Step::Receive, &error))?;
        let (status, stream) = (answer.status().as_u16(), self.stream.clone());
        let body = answer.into_body();
        let arriving =
            Arriving { profile, body, stream, watchdog: None, idle_timeout, _running: running };
        Ok(Response { status, body: Box::pin(stream::try_unfold(arriving, Arriving::next)) })
    }
}

/// The body of a response, given up if the connection is silent.
struct Arriving {
    profile: Profile,
    body: Incoming,
    stream: Stream,
    /// Runs while the body keeps its reader waiting.
    watchdog: Option<Watchdog>,
    idle_timeout: Duration,
    _running: Running,
}

impl Arriving {
    async fn next(mut self) -> Result<Option<(Bytes, Arriving)>> {
        let piece = poll_fn(|cx| self.poll_piece(cx)).await?;
        Ok(piece.map(|piece| (piece, self)))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        if let Poll::Ready(piece) = poll_data(self.profile, &mut self.body, cx) {
            self.watchdog = None;
            return Poll::Ready(piece);
        }
        let fresh = || self.stream.progress().watchdog(self.idle_timeout);
        let watchdog = self.watchdog.get_or_insert_with(fresh);
        let idle = || Error::idle(self.profile.protocol, Step::Receive, self.idle_timeout);
        watchdog.poll_bark(cx).map(|()| Err(idle()))
    }
}
