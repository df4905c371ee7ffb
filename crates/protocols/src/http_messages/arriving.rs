//! Incoming message bodies.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;
use trackbed_connection::{Body, Response, Result, Step, body};
use trackbed_substrate::spawn;

use super::failed;
use crate::ledger::UnderWay;
use crate::tcp_transport::Open;

/// The body of a request; a client that is silent is left to the transport.
pub(crate) fn stream(protocol: &'static str, body: Incoming) -> Body {
    body::unfold(body, async move |body| poll_fn(|cx| poll_data(protocol, body, cx)).await)
}

/// The same where a request must be read to its end before the next one can come: the rest of a
/// dropped body is read and discarded, so that its sender gets the response.
pub(crate) fn drained_stream(protocol: &'static str, body: Incoming) -> Body {
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

    body::unfold(Drained(Some(body)), async move |drained| {
        let Some(body) = &mut drained.0 else { return Ok(None) };
        let piece = poll_fn(|cx| poll_data(protocol, body, cx)).await?;
        if piece.is_none() {
            drained.0 = None;
        }
        Ok(piece)
    })
}

/// Waits for the head of an answer; its body holds `running` and the stream to its end.
pub(crate) async fn response(
    open: &Open,
    answer: impl Future<Output = hyper::Result<http::Response<Incoming>>>,
    running: UnderWay,
) -> Result<Response> {
    let protocol = open.patience.protocol;
    let answer = open.patience.wait(Step::Receive, answer).await?;
    let answer = answer.map_err(|error| failed(protocol, Step::Receive, &error))?;
    let status = answer.status().as_u16();
    let mut incoming = answer.into_body();
    let held = (running, open.stream.clone());
    let body = open.patience.body(move |cx| {
        let _held = &held;
        poll_data(protocol, &mut incoming, cx)
    });
    Ok(Response { status, body })
}

/// The next data; trailers are ignored.
fn poll_data(
    protocol: &'static str,
    body: &mut Incoming,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>>> {
    while let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(cx) {
        let Some(frame) = frame else { return Poll::Ready(Ok(None)) };
        let frame = frame.map_err(|error| failed(protocol, Step::Receive, &error))?;
        if let Ok(piece) = frame.into_data() {
            return Poll::Ready(Ok(Some(piece)));
        }
    }
    Poll::Pending
}
