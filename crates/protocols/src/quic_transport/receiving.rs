//! The receiving half of a stream, in order.
//!
//! The engine can put a stream in order itself, but gives the connection up once some thousand
//! packets wait behind one that was lost: from a window of about 3 MB on, a single loss would end a
//! transfer. So data is read in arrival order, and early data waits here. For flow control (RFC
//! 9000 section 4.1), waiting data counts as read.

use std::collections::BTreeMap;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use noq::{ClosedStream, ReadError, RecvStream, StreamId, UnorderedRecvStream, VarInt};

/// Reads a stream in order. Dropping it early asks the peer to stop (RFC 9000 section 3.5).
pub(crate) struct InOrder {
    stream: UnorderedRecvStream,
    /// Data that arrived early, by its offset in the stream.
    early: BTreeMap<u64, Bytes>,
    /// The offset of the next byte.
    next: u64,
}

impl InOrder {
    pub(crate) fn new(stream: RecvStream) -> InOrder {
        InOrder { stream: stream.into_unordered(), early: BTreeMap::new(), next: 0 }
    }

    /// The next piece in order, of at most `max` bytes; `None` at the end.
    pub(crate) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
        max: usize,
    ) -> Poll<Result<Option<Bytes>, ReadError>> {
        loop {
            if let Some(bytes) = self.early.remove(&self.next) {
                self.next += bytes.len() as u64;
                return Poll::Ready(Ok(Some(bytes)));
            }
            let mut read = std::pin::pin!(self.stream.read_chunk(max));
            match ready!(read.as_mut().poll(cx))? {
                Some(chunk) if chunk.offset == self.next => {
                    self.next += chunk.bytes.len() as u64;
                    return Poll::Ready(Ok(Some(chunk.bytes)));
                }
                Some(chunk) => drop(self.early.insert(chunk.offset, chunk.bytes)),
                None => return Poll::Ready(Ok(None)),
            }
        }
    }

    /// Asks the peer to stop, with an application error code.
    pub(crate) fn stop(&mut self, code: VarInt) -> Result<(), ClosedStream> {
        self.stream.stop(code)
    }

    pub(crate) fn id(&self) -> StreamId {
        self.stream.id()
    }
}
