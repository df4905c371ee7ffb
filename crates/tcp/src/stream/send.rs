//! What the application wrote and the peer has not yet acknowledged.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::Source;
use crate::config::BufferSize;

/// The sending side of a connection's byte stream, with a buffer that grows like that of Linux.
#[derive(Debug)]
pub(crate) struct SendStream {
    /// What was not sent yet.
    chunks: VecDeque<Bytes>,
    waiting: usize,
    /// Bytes that were taken and are not acknowledged.
    taken: usize,
    limit: usize,
    limit_max: usize,
    /// What is written goes into blocks of this size; a block that was begun is completed.
    block: usize,
    /// What is missing in the last block.
    block_rest: usize,
    /// The application wanted to write more than there was room for.
    refused: bool,
    finished: bool,
}

impl SendStream {
    pub(crate) fn new(size: BufferSize) -> SendStream {
        SendStream {
            chunks: VecDeque::new(),
            waiting: 0,
            taken: 0,
            limit: size.initial as usize,
            limit_max: size.max as usize,
            block: 1,
            block_rest: 0,
            refused: false,
            finished: false,
        }
    }

    /// Copies as much of `data` as there is room for, and returns how much that is.
    pub(crate) fn write(&mut self, data: &[u8]) -> usize {
        let len = self.admit(data.len());
        if len > 0 {
            self.push(Bytes::copy_from_slice(&data[..len]));
        }
        len
    }

    /// Moves as much from the front of `data` as there is room for, and returns how much that is.
    pub(crate) fn write_bytes(&mut self, data: &mut Bytes) -> usize {
        let len = self.admit(data.len());
        if len > 0 {
            self.push(data.split_to(len));
        }
        len
    }

    /// No more will be written.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// True if so much of the buffer is free that writing is worth while: a third of it, as Linux
    /// wakes a writer.
    pub(crate) fn is_writable(&self) -> bool {
        self.room() > 0 && self.room() >= self.used() / 2
    }

    /// Bytes that are neither sent and acknowledged nor dropped.
    pub(crate) fn used(&self) -> usize {
        self.waiting + self.taken
    }

    /// Forgets everything: the connection failed.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.waiting = 0;
    }

    fn room(&self) -> usize {
        self.limit.saturating_sub(self.used())
    }

    /// How much of `wanted` bytes is taken. As in Linux, the limit is looked at when a block is
    /// begun, so that a full buffer does not end in a small segment.
    fn admit(&mut self, wanted: usize) -> usize {
        let mut len = 0;
        while len < wanted {
            if self.block_rest == 0 {
                if self.used() + len >= self.limit {
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

    /// Makes room for two windows, as Linux charges for a segment with its bookkeeping: 4,352
    /// bytes for one of 1,460, so that there is room for six windows of data.
    fn enlarge(&mut self, cwnd: u32, mss: u32) {
        let segment = (mss as usize + SEGMENT_OVERHEAD).next_power_of_two() + DESCRIPTOR_LEN;
        let segments = cwnd.max(MIN_SEGMENTS) as usize;
        let wanted = segments.saturating_mul(2 * segment);
        self.limit = self.limit.max(wanted.min(self.limit_max));
    }

    fn push(&mut self, chunk: Bytes) {
        self.waiting += chunk.len();
        self.chunks.push_back(chunk);
    }

    /// Joins the chunks at the front into one of `len` bytes.
    fn gather(&mut self, len: usize) -> Bytes {
        let mut joined = BytesMut::with_capacity(len);
        while joined.len() < len {
            let Some(chunk) = self.chunks.front_mut() else { break };
            let part = chunk.split_to(chunk.len().min(len - joined.len()));
            joined.extend_from_slice(&part);
            if chunk.is_empty() {
                self.chunks.pop_front();
            }
        }
        joined.freeze()
    }
}

impl Source for SendStream {
    fn waiting(&self) -> usize {
        self.waiting
    }

    fn take(&mut self, len: usize) -> Bytes {
        let len = len.min(self.waiting);
        self.waiting -= len;
        self.taken += len;
        match self.chunks.front_mut() {
            Some(chunk) if chunk.len() > len => chunk.split_to(len),
            Some(chunk) if chunk.len() == len => self.chunks.pop_front().unwrap_or_default(),
            _ => self.gather(len),
        }
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn acknowledged(&mut self, len: usize) {
        self.taken = self.taken.saturating_sub(len);
    }

    fn established(&mut self, cwnd: u32, mss: u32) {
        self.enlarge(cwnd, mss);
    }

    fn set_block(&mut self, len: usize) {
        self.block = len.max(1);
    }

    fn starved(&mut self, cwnd: u32, mss: u32) {
        if self.refused || !self.is_writable() {
            self.enlarge(cwnd, mss);
        }
    }
}

/// What Linux adds to a segment before it rounds up to a power of two: headers, shared info.
const SEGMENT_OVERHEAD: usize = 320 + 320;
/// What Linux adds behind that for the descriptor of a segment.
const DESCRIPTOR_LEN: usize = 256;
/// The buffer never aims at fewer segments: the initial window.
const MIN_SEGMENTS: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_in_order_across_chunks_and_room_returns_on_acknowledgment() {
        let mut stream = SendStream::new(BufferSize { initial: 10, max: 10 });
        assert_eq!(stream.write(b"abc"), 3);
        let mut rest = Bytes::from_static(b"defghijklm");
        assert_eq!((stream.write_bytes(&mut rest), &rest[..]), (7, &b"klm"[..]));
        assert!(!stream.is_writable());
        assert_eq!(stream.take(2), "ab");
        assert_eq!(stream.take(4), "cdef");
        assert_eq!(stream.take(99), "ghij");
        assert_eq!((stream.waiting(), stream.used()), (0, 10));
        stream.acknowledged(6);
        assert!(stream.is_writable());
        assert_eq!(stream.write(&rest), 3);
    }

    #[test]
    fn the_buffer_grows_only_for_a_writer_that_has_no_room() {
        let mut stream = SendStream::new(BufferSize { initial: 10, max: 100_000 });
        stream.write(&[0; 5]);
        stream.starved(10, 1460);
        assert_eq!(stream.write(&[0; 10]), 5);
        stream.starved(10, 1460);
        // The last block is completed.
        stream.set_block(1460);
        assert_eq!(stream.write(&[0; 200_000]), (2 * 10 * 4352 - 10usize).div_ceil(1460) * 1460);
        stream.starved(1000, 1460);
        assert_eq!(stream.limit, 100_000);
    }
}
