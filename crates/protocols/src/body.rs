//! Bodies: streams of bytes that are produced while they are sent and consumed while they arrive.

use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::{StreamExt as _, stream};

use crate::error::Error;

/// The body of a request or a response, in pieces of any size. Nothing is read ahead beyond the
/// protocol's own windows: who does not poll, holds the sender back. After the first error the
/// body is over.
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

/// A body of `len` zero bytes, made from one shared piece of memory however long it is.
pub fn zeros(len: u64) -> Body {
    let piece = Bytes::from_static(&[0; PIECE_LEN]);
    Box::pin(stream::unfold(len, move |left| {
        let now = left.min(PIECE_LEN as u64);
        let next = (now > 0).then(|| (Ok(piece.slice(..now as usize)), left - now));
        std::future::ready(next)
    }))
}

/// Reads a body to its end and returns it in one piece.
///
/// # Errors
/// The body's own error, or [`Error::TooLong`] if it has more than `limit` bytes.
pub async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Error> {
    let mut pieces = BytesMut::new();
    let Some(first) = body.next().await.transpose()? else { return Ok(Bytes::new()) };
    let mut last = first;
    loop {
        if pieces.len().saturating_add(last.len()) > limit {
            return Err(Error::TooLong { limit_bytes: limit as u64 });
        }
        match body.next().await.transpose()? {
            // The usual short body is one piece and is handed on as it is.
            None if pieces.is_empty() => return Ok(last),
            next => {
                pieces.extend_from_slice(&std::mem::replace(&mut last, next.unwrap_or_default()))
            }
        }
        if last.is_empty() {
            return Ok(pieces.freeze());
        }
    }
}

/// Reads a body to its end, keeps nothing of it, and returns its length in bytes.
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

/// The longest piece of a generated body: four TLS records.
const PIECE_LEN: usize = 64 << 10;
