//! Written data that the peer has not acknowledged.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use super::receive::ReceiveStream;
use super::{Extension, Sink, Source, Streams};
use crate::config::BufferSize;

#[derive(Debug, Default)]
pub(crate) struct SendStream {
    chunks: VecDeque<Bytes>,
    waiting: usize,
    /// Bytes that were taken and are not acknowledged.
    taken: usize,
    buffer: SendBuffer,
    finished: bool,
}

impl SendStream {
    /// Takes as much from the front of `data` as there is room for, and returns how much that is.
    /// [`Bytes`] are not copied.
    pub(crate) fn write(&mut self, data: &mut impl Buf) -> usize {
        let len = self.buffer.admit(data.remaining(), self.used());
        if len > 0 {
            self.waiting += len;
            self.chunks.push_back(data.copy_to_bytes(len));
        }
        len
    }

    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// True if so much of the buffer is free that writing is worthwhile.
    pub(crate) fn is_writable(&self) -> bool {
        self.buffer.is_writable(self.used())
    }

    /// Bytes that are neither sent and acknowledged nor dropped.
    pub(crate) fn used(&self) -> usize {
        self.waiting + self.taken
    }

    /// Drops everything: the connection failed.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.waiting = 0;
    }
}

/// The size of a send buffer, and how much goes into it.
#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    limit: usize,
    limit_max: usize,
    /// What is written goes into blocks of this size; a block that was begun is completed.
    block: usize,
    block_rest: usize,
    /// The application wanted to write more than there was room for.
    refused: bool,
}

impl SendBuffer {
    pub(crate) fn new(size: BufferSize) -> SendBuffer {
        let (limit, limit_max) = (size.initial as usize, size.max as usize);
        SendBuffer { limit, limit_max, block: 1, block_rest: 0, refused: false }
    }

    /// How much of `wanted` bytes is taken while `used` bytes are in the buffer. As in Linux, the
    /// limit is looked at when a block is begun, so that a full buffer does not end in a small
    /// segment.
    pub(crate) fn admit(&mut self, wanted: usize, used: usize) -> usize {
        let mut len = 0;
        while len < wanted {
            if self.block_rest == 0 {
                if used + len >= self.limit {
                    break;
                }
                self.block_rest = self.block;
            }
            let part = self.block_rest.min(wanted - len);
            self.block_rest -= part;
            len += part;
        }
        self.refused = len < wanted;
        len
    }

    /// True if so much is free that writing is worthwhile: a third, as Linux wakes a writer.
    pub(crate) fn is_writable(&self, used: usize) -> bool {
        let room = self.limit.saturating_sub(used);
        room > 0 && room >= used / 2
    }

    /// True if the application wants to write more than there is room for.
    pub(crate) fn is_full(&self, used: usize) -> bool {
        self.refused || !self.is_writable(used)
    }

    /// Makes room for `bytes`, up to the largest size.
    pub(crate) fn enlarge(&mut self, bytes: usize) {
        self.limit = self.limit.max(bytes.min(self.limit_max));
    }

    pub(crate) fn set_block(&mut self, len: usize) {
        self.block = len.max(1);
    }

    /// The room that a subflow wants: for two windows, as Linux charges for a segment with its
    /// bookkeeping: 4,352 bytes for one of 1,460, so that there is room for six windows of data.
    pub(crate) fn wanted(cwnd: u32, mss: u32) -> usize {
        let segment = (mss as usize + SEGMENT_OVERHEAD).next_power_of_two() + DESCRIPTOR_LEN;
        let segments = cwnd.max(MIN_SEGMENTS) as usize;
        segments.saturating_mul(2 * segment)
    }
}

/// Takes `len` bytes off the front of `chunks`, or all if there are fewer; a copy only if they are in
/// several chunks. `bytes` are those of a chunk.
pub(crate) fn take_front<C>(
    chunks: &mut VecDeque<C>,
    len: usize,
    bytes: impl Fn(&mut C) -> &mut Bytes,
) -> Bytes {
    if let Some(chunk) = chunks.front_mut().map(&bytes).filter(|chunk| chunk.len() > len) {
        return chunk.split_to(len);
    }
    let mut next = |most: usize| {
        let chunk = bytes(chunks.front_mut()?);
        let part = chunk.split_to(chunk.len().min(most));
        if chunk.is_empty() {
            chunks.pop_front();
        }
        Some(part)
    };
    let first = next(len).unwrap_or_default();
    if first.len() == len {
        return first;
    }
    let mut joined = BytesMut::with_capacity(len);
    joined.extend_from_slice(&first);
    while joined.len() < len
        && let Some(part) = next(len - joined.len())
    {
        joined.extend_from_slice(&part);
    }
    joined.freeze()
}

/// The streams of a connection on a single path.
#[derive(Debug)]
pub(crate) struct ByteStreams {
    pub send: SendStream,
    pub receive: ReceiveStream,
}

impl ByteStreams {
    pub(crate) fn new(send_buffer: BufferSize) -> ByteStreams {
        let send = SendStream { buffer: SendBuffer::new(send_buffer), ..SendStream::default() };
        ByteStreams { send, receive: ReceiveStream::default() }
    }
}

impl Source for ByteStreams {
    fn waiting(&self) -> usize {
        self.send.waiting
    }

    fn take(&mut self, len: usize) -> Bytes {
        let send = &mut self.send;
        let len = len.min(send.waiting);
        send.waiting -= len;
        send.taken += len;
        take_front(&mut send.chunks, len, |chunk| chunk)
    }

    fn is_finished(&self) -> bool {
        self.send.finished
    }

    fn acknowledged(&mut self, len: usize) {
        self.send.taken = self.send.taken.saturating_sub(len);
    }

    fn established(&mut self, cwnd: u32, mss: u32) {
        self.send.buffer.enlarge(SendBuffer::wanted(cwnd, mss));
    }

    fn set_block(&mut self, len: usize) {
        self.send.buffer.set_block(len);
    }

    fn starved(&mut self, cwnd: u32, mss: u32) {
        if self.send.buffer.is_full(self.send.used()) {
            self.send.buffer.enlarge(SendBuffer::wanted(cwnd, mss));
        }
    }
}

/// What Linux adds to a segment before it rounds up to a power of two: headers, shared info.
const SEGMENT_OVERHEAD: usize = 320 + 320;
/// What Linux adds behind that for the descriptor of a segment.
const DESCRIPTOR_LEN: usize = 256;
/// The buffer never aims at fewer segments: the initial window.
const MIN_SEGMENTS: u32 = 10;

impl Sink for ByteStreams {
    fn deliver(&mut self, data: Bytes) {
        self.receive.deliver(data);
    }

    fn finish(&mut self) {
        self.receive.finish();
    }

    fn unread(&self) -> usize {
        self.receive.unread()
    }
}

impl Extension for ByteStreams {}

impl Streams for ByteStreams {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_in_order_across_chunks_and_room_returns_on_acknowledgment() {
        let mut stream = ByteStreams::new(BufferSize { initial: 10, max: 10 });
        assert_eq!(stream.send.write(&mut &b"abc"[..]), 3);
        let mut rest = Bytes::from_static(b"defghijklm");
        assert_eq!((stream.send.write(&mut rest), &rest[..]), (7, &b"klm"[..]));
        assert!(!stream.send.is_writable());
        assert_eq!(stream.take(2), "ab");
        assert_eq!(stream.take(4), "cdef");
        assert_eq!(stream.take(99), "ghij");
        assert_eq!((stream.waiting(), stream.send.used()), (0, 10));
        stream.acknowledged(6);
        assert!(stream.send.is_writable());
        assert_eq!(stream.send.write(&mut rest), 3);
    }

    #[test]
    fn the_buffer_grows_only_for_a_writer_that_has_no_room() {
        let mut stream = ByteStreams::new(BufferSize { initial: 10, max: 100_000 });
        stream.send.write(&mut &[0; 5][..]);
        stream.starved(10, 1460);
        assert_eq!(stream.send.write(&mut &[0; 10][..]), 5);
        stream.starved(10, 1460);
        // The last block is completed.
        stream.set_block(1460);
        assert_eq!(
            stream.send.write(&mut &[0; 200_000][..]),
            (2 * 10 * 4352 - 10usize).div_ceil(1460) * 1460
        );
        stream.starved(1000, 1460);
        assert_eq!(stream.send.buffer.limit, 100_000);
    }
}
