//! An outgoing body, as the parts of messages.

use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt as _, StreamExt as _};
use trackbed_connection::{Body, Result};

use super::convention::Part;

/// Splits a body into parts: ready data goes together, and only a long or slow body has more than
/// one.
pub(super) struct Parts {
    /// Until its end.
    body: Option<Body>,
    waiting: BytesMut,
    /// What is left of the last piece. Long pieces are not copied, so bodies that share one take no memory.
    piece: Bytes,
}

impl Parts {
    pub fn new(body: Body) -> Parts {
        Parts { body: Some(body), waiting: BytesMut::new(), piece: Bytes::new() }
    }

    /// The next part; `None` after the last.
    ///
    /// # Errors
    /// The body's own; the peer must be notified with [`Part::Broken`].
    pub async fn next(&mut self) -> Result<Option<(Part, Bytes)>> {
        while let Some(body) = &mut self.body {
            let wanted = self.piece.len().min(PART_LEN_MAX - self.waiting.len());
            let bytes = self.piece.split_to(wanted);
            if bytes.len() == PART_LEN_MAX {
                return Ok(Some((Part::More, bytes)));
            }
            self.waiting.extend_from_slice(&bytes);
            if self.waiting.len() == PART_LEN_MAX {
                return Ok(Some((Part::More, self.waiting.split().freeze())));
            }
            let next = match body.next().now_or_never() {
                Some(next) => next,
                None if self.waiting.is_empty() => body.next().await,
                None => return Ok(Some((Part::More, self.waiting.split().freeze()))),
            };
            match next.transpose() {
                Ok(Some(piece)) => self.piece = piece,
                Ok(None) => {
                    self.body = None;
                    return Ok(Some((Part::Last, self.waiting.split().freeze())));
                }
                Err(error) => {
                    self.body = None;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }
}

/// The maximum part size. Brokers accept it, and others on the connection do not wait long.
const PART_LEN_MAX: usize = 64 << 10;
