//! Bodies: streams of bytes that are produced while they are sent and consumed while they arrive.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use futures_channel::mpsc;
use futures_core::Stream;
use futures_util::{StreamExt as _, stream};

use crate::error::Error;

/// The body of a request or a response, in pieces of any size. Nothing is read ahead beyond the
/// protocol's own windows, so a reader that does not poll blocks the sender. The body ends after
/// the first error.
pub type Body = Pin<Box<dyn Stream<Item = Result<Bytes, Error>>>>;

/// A body without bytes.
pub fn empty() -> Body {
    Box::pin(stream::empty())
}

/// A body of one piece.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    let bytes = bytes.into();
    if bytes.is_empty() { empty() } else { Box::pin(stream::iter([Ok(bytes)])) }
}

/// A body of `len` zero bytes, made from one shared piece of memory.
pub fn zeros(len: u64) -> Body {
    let piece = Bytes::from_static(&[0; PIECE_LEN]);
    Box::pin(stream::unfold(len, move |left| {
        let now = left.min(PIECE_LEN as u64);
        let next = (now > 0).then(|| (Ok(piece.slice(..now as usize)), left - now));
        std::future::ready(next)
    }))
}

/// A body of the pieces that `next` makes from `state`, up to its first error or `None`; then both are
/// dropped.
pub fn unfold<S: 'static>(
    state: S,
    next: impl AsyncFnMut(&mut S) -> Result<Option<Bytes>, Error> + 'static,
) -> Body {
    Box::pin(stream::try_unfold((state, next), async |(mut state, mut next)| {
        let piece = next(&mut state).await?;
        Ok(piece.map(|piece| (piece, (state, next))))
    }))
}

/// Reads a body to its end and returns it in one piece.
///
/// # Errors
/// The body's own error, or [`Error::TooLong`] if it has more than `limit` bytes.
pub async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Error> {
    let mut whole = Bytes::new();
    let mut pieces = BytesMut::new();
    while let Some(piece) = body.next().await.transpose()? {
        if whole.len() + pieces.len() + piece.len() > limit {
            return Err(Error::TooLong { limit_bytes: limit as u64 });
        }
        // The usual short body is one piece and is returned without copying.
        if whole.is_empty() && pieces.is_empty() {
            whole = piece;
        } else {
            pieces.extend_from_slice(&std::mem::take(&mut whole));
            pieces.extend_from_slice(&piece);
        }
    }
    Ok(if pieces.is_empty() { whole } else { pieces.freeze() })
}

/// Reads a body to its end, discards it, and returns its length in bytes.
///
/// # Errors
/// The body's own error.
pub async fn drain(mut body: Body) -> Result<u64, Error> {
    let mut len = 0u64;
    while let Some(piece) = body.next().await.transpose()? {
        len += piece.len() as u64;
    }
    Ok(len)
}

/// A body and its sender. It buffers one piece at a time: the sender waits until that is taken.
pub fn pipe() -> (PipeSender, Body) {
    let (pieces, received) = mpsc::channel(0);
    let end = Rc::new(RefCell::new(Err(abandoned())));
    let sender = PipeSender { pieces, end: Rc::clone(&end) };
    let ending = stream::once(async move { end.replace(Ok(())) });
    let ending = ending.filter_map(async |end| end.err().map(Err));
    (sender, Box::pin(received.map(Ok).chain(ending)))
}

/// The sending end of a [`pipe`]. If it is dropped unfinished, the body ends with an error.
pub struct PipeSender {
    pieces: mpsc::Sender<Bytes>,
    end: Rc<RefCell<Result<(), Error>>>,
}

impl PipeSender {
    /// Waits until the previous piece was taken, then sends this one; false if the body was
    /// dropped.
    pub async fn send(&mut self, piece: Bytes) -> bool {
        let free = poll_fn(|cx| self.pieces.poll_ready(cx)).await;
        free.is_ok() && self.pieces.start_send(piece).is_ok()
    }

    /// Ends the body.
    pub fn finish(self, end: Result<(), Error>) {
        *self.end.borrow_mut() = end;
    }
}

fn abandoned() -> Error {
    Error::Body { reason: "the connection was abandoned".to_owned() }
}

/// The longest piece of a generated body. The QUIC engine searches piece by piece for a byte to
/// send, so a few large pieces are best.
const PIECE_LEN: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn collect_joins_pieces_and_keeps_to_its_limit() {
        let pieces = || {
            let pieces = ["", "ab", "", "c", "def"].map(|it| Ok(Bytes::from_static(it.as_bytes())));
            Box::pin(stream::iter(pieces)) as Body
        };
        assert_eq!(collect(pieces(), 6).now_or_never(), Some(Ok("abcdef".into())));
        let refused = Some(Err(Error::TooLong { limit_bytes: 5 }));
        assert_eq!(collect(pieces(), 5).now_or_never(), refused);
        assert_eq!(collect(full("abc"), 3).now_or_never(), Some(Ok("abc".into())));
        assert_eq!(collect(empty(), 0).now_or_never(), Some(Ok(Bytes::new())));
    }

    #[test]
    fn zeros_have_the_length_that_was_asked_for() {
        for len in [0, 1, PIECE_LEN as u64, PIECE_LEN as u64 + 1, 1 << 30] {
            assert_eq!(drain(zeros(len)).now_or_never(), Some(Ok(len)));
        }
    }

    #[test]
    fn a_pipe_that_is_dropped_does_not_look_complete() {
        let (mut sender, body) = pipe();
        assert!(sender.send("ab".into()).now_or_never().is_some());
        drop(sender);
        assert!(collect(body, 10).now_or_never().unwrap().is_err());

        let (mut sender, body) = pipe();
        assert!(sender.send("ab".into()).now_or_never().is_some());
        sender.finish(Ok(()));
        assert_eq!(collect(body, 10).now_or_never(), Some(Ok("ab".into())));

        let (mut sender, body) = pipe();
        drop(body);
        assert_eq!(sender.send("ab".into()).now_or_never(), Some(false));
    }
}
