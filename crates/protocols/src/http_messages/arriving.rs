//! Incoming bodies.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body::Body as _;
use hyper::body::Incoming;
use trackbed_connection::error::{Result, Step};
use trackbed_connection::{Body, Error};
use trackbed_substrate::spawn;

use super::failed;
use crate::tcp_transport::{Stream, Watchdog};
use crate::tls::Profile;

/// The body of a request; a client that is silent is left to the transport.
pub(crate) fn stream(profile: Profile, body: Incoming) -> Body {
    Box::pin(stream::try_unfold(body, move |mut body| async move {
        let piece = poll_fn(|cx| poll_data(profile, &mut body, cx)).await?;
        Ok(piece.map(|piece| (piece, body)))
    }))
}

/// The same where a request must be read to its end before the next one can come: the rest of a
/// dropped body is read and discarded, so that its sender gets the response.
pub(crate) fn drained_stream(profile: Profile, body: Incoming) -> Body {
    struct Drained(Option<Incoming>);

    impl Drop for Drained {
        fn drop(&mut self) {
            let Some(mut body) = self.0.take() else { return };
            let rest = async move {
                // It ends with the connection at the latest.
                while let Some(Ok(_)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {}
            };
            spawn(rest).detach();
        }
    }

    Box::pin(stream::try_unfold(Drained(Some(body)), move |mut drained| async move {
        let Some(body) = &mut drained.0 else { return Ok(None) };
        let piece = poll_fn(|cx| poll_data(profile, body, cx)).await?;
        if piece.is_none() {
            drained.0 = None;
        }
        Ok(piece.map(|piece| (piece, drained)))
    }))
}

/// The body of a response, given up if the connection is silent.
pub(crate) struct Arriving {
    profile: Profile,
    body: Incoming,
    stream: Stream,
    /// Runs while the body keeps its reader waiting.
    watchdog: Option<Watchdog>,
    idle_timeout: Duration,
    /// Shared by the exchanges that are under way.
    _running: Rc<()>,
}

impl Arriving {
    /// `body`, which comes on `stream`; `running` is held until it has come to its end.
    pub(crate) fn new(
        profile: Profile,
        body: Incoming,
        stream: Stream,
        idle_timeout: Duration,
        running: Rc<()>,
    ) -> Arriving {
        Arriving { profile, body, stream, watchdog: None, idle_timeout, _running: running }
    }

    pub(crate) fn into_body(self) -> Body {
        Box::pin(stream::try_unfold(self, Arriving::next))
    }

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
        watchdog.poll_bark(cx).map(|()| Err(silent(self.profile, self.idle_timeout)))
    }
}

/// The next data; trailers are ignored.
fn poll_data(
    profile: Profile,
    body: &mut Incoming,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>>> {
    while let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(cx) {
        let Some(frame) = frame else { return Poll::Ready(Ok(None)) };
        let frame = frame.map_err(|error| failed(profile, Step::Receive, &error))?;
        if let Ok(piece) = frame.into_data() {
            return Poll::Ready(Ok(Some(piece)));
        }
    }
    Poll::Pending
}

/// The error of an idle connection.
pub(crate) fn silent(profile: Profile, idle_timeout: Duration) -> Error {
    let reason = format!("no progress for {idle_timeout:?}");
    Error::transient(profile.protocol, Step::Receive, reason)
}
