//! Written data that the peer has not acknowledged at the data level, and its paths. Bytes are
//! counted from the start of the stream.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use trackbed_core::Time;

use crate::config::BufferSize;
use crate::schedulers::{Backlog, Outstanding, PathId};
use crate::stream::SendBuffer;

#[derive(Debug, Default)]
pub(super) struct DataSend {
    /// What is not acknowledged, each chunk with the offset of its end.
    chunks: VecDeque<(u64, Bytes)>,
    /// The oldest byte that is not acknowledged.
    pub una: u64,
    /// The first byte that no path was given.
    pub next: u64,
    /// The byte after the last one that was written.
    pub end: u64,
    /// The end of the peer's window.
    pub window_end: u64,
    /// What paths were given, in order.
    pieces: VecDeque<Piece>,
    /// Offsets of pieces that another path is to carry.
    again: VecDeque<u64>,
    pub buffer: SendBuffer,
    finished: bool,
    /// The peer has acknowledged the end of the stream.
    pub fin_acknowledged: bool,
}

/// Data that was given to a path at once.
#[derive(Clone, Copy, Debug)]
struct Piece {
    data: Outstanding,
    /// A bit for each path that was given it.
    carriers: u64,
    /// It waits in `again`.
    waits: bool,
}

impl DataSend {
    pub fn new(size: BufferSize) -> DataSend {
        DataSend { buffer: SendBuffer::new(size), ..DataSend::default() }
    }

    pub fn used(&self) -> usize {
        (self.end - self.una) as usize
    }

    pub fn unsent(&self) -> u64 {
        self.end - self.next
    }

    pub fn window_room(&self) -> u64 {
        self.window_end.saturating_sub(self.next)
    }

    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The offset of the end of the stream, once everything before it was given to paths.
    pub fn fin_at(&self) -> Option<u64> {
        (self.finished && self.next == self.end).then_some(self.end)
    }

    /// Takes as much from the front of `data` as there is room for, and returns how much that is.
    /// [`Bytes`] are not copied.
    pub fn write(&mut self, data: &mut impl Buf) -> usize {
        let len = self.buffer.admit(data.remaining(), self.used());
        if len > 0 {
            self.end += len as u64;
            self.chunks.push_back((self.end, data.copy_to_bytes(len)));
        }
        len
    }

    /// Drops everything: the connection failed.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.pieces.clear();
        self.again.clear();
        (self.una, self.next) = (self.end, self.end);
    }

    /// The next bytes that no path was given, at most `max`, for `path`; without a record of them
    /// if `recorded` is false.
    pub fn take(&mut self, now: Time, path: PathId, max: usize, recorded: bool) -> (u64, Bytes) {
        let start = self.next;
        let data = self.slice(start, max.min(self.unsent() as usize));
        self.next += data.len() as u64;
        if recorded && !data.is_empty() {
            let data = Outstanding { start, end: self.next, sent_at: now, path, repeats: 0 };
            self.pieces.push_back(Piece { data, carriers: bit(path), waits: false });
        }
        (start, data)
    }

    /// The piece at `offset` again, for `path`: from `offset` on, at most up to `until`.
    pub fn repeat(&mut self, now: Time, path: PathId, offset: u64, until: u64) -> Option<Bytes> {
        let index = self.index(offset)?;
        let una = self.una;
        let Piece { data, carriers, .. } = &mut self.pieces[index];
        let (start, end) = (data.start.max(offset).max(una), data.end.min(until));
        if start >= end {
            return None;
        }
        *carriers |= bit(path);
        (data.path, data.sent_at) = (path, now);
        data.repeats += 1;
        Some(self.slice(start, (end - start) as usize))
    }

    /// The peer has everything before `offset`; true if it is progress.
    pub fn acknowledge(&mut self, offset: u64) -> bool {
        if offset <= self.una || offset > self.next {
            return false;
        }
        self.una = offset;
        while self.chunks.front().is_some_and(|(end, _)| *end <= offset) {
            self.chunks.pop_front();
        }
        if let Some((end, chunk)) = self.chunks.front_mut() {
            let _acknowledged = chunk.split_to(chunk.len() - (*end - offset) as usize);
        }
        while self.pieces.front().is_some_and(|piece| piece.data.end <= offset) {
            self.pieces.pop_front();
        }
        if let Some(piece) = self.pieces.front_mut() {
            piece.data.start = piece.data.start.max(offset);
        }
        while self.again.front().is_some_and(|&at| at < offset && self.index(at).is_none()) {
            self.again.pop_front();
        }
        true
    }

    /// The subflow is the stream from now on: its own window is all that counts, and it has
    /// everything before `offset`.
    pub fn become_plain(&mut self, offset: u64) {
        self.acknowledge(offset);
        self.pieces.clear();
        self.again.clear();
        self.window_end = u64::MAX;
    }

    /// Another path is to carry the oldest piece.
    pub fn repeat_first(&mut self) {
        if let Some(piece) = self.pieces.front_mut().filter(|piece| !piece.waits) {
            piece.waits = true;
            self.again.push_front(piece.data.start);
        }
    }

    /// Another path is to carry what `path` was given; `gone` if that path exists no longer. Then
    /// what a second path carries already is left to that.
    pub fn repeat_all(&mut self, path: PathId, gone: bool) {
        for piece in &mut self.pieces {
            if piece.carriers & bit(path) == 0 {
                continue;
            }
            if gone {
                piece.carriers &= !bit(path);
            }
            let alone = piece.carriers & !bit(path) == 0;
            if alone && !piece.waits {
                piece.waits = true;
                self.again.push_back(piece.data.start);
            }
        }
        // They may come in any order, and the oldest is what the peer waits for.
        self.again.make_contiguous().sort_unstable();
    }

    /// The oldest piece.
    pub fn oldest(&self) -> Option<Outstanding> {
        self.pieces.front().map(|piece| piece.data)
    }

    /// The first piece that another path is to carry.
    pub fn first_again(&mut self) -> Option<Outstanding> {
        while let Some(&offset) = self.again.front() {
            if let Some(index) = self.index(offset)
                && self.pieces[index].waits
            {
                return Some(self.pieces[index].data);
            }
            self.again.pop_front();
        }
        None
    }

    /// The first of those pieces waits no longer.
    pub fn settle_again(&mut self) {
        if let Some(offset) = self.again.pop_front()
            && let Some(index) = self.index(offset)
        {
            self.pieces[index].waits = false;
        }
    }

    /// True if something was given to a path and is not acknowledged.
    pub fn is_out(&self) -> bool {
        !self.pieces.is_empty()
    }

    fn index(&self, offset: u64) -> Option<usize> {
        let index = self.pieces.partition_point(|piece| piece.data.end <= offset);
        self.pieces.get(index).filter(|piece| piece.data.start <= offset.max(self.una))?;
        Some(index)
    }

    /// `len` bytes from `offset` on, which must be buffered.
    fn slice(&self, offset: u64, len: usize) -> Bytes {
        let first = self.chunks.partition_point(|(end, _)| *end <= offset);
        let Some((end, chunk)) = self.chunks.get(first) else { return Bytes::new() };
        let from = chunk.len() - (end - offset) as usize;
        if chunk.len() - from >= len || first + 1 == self.chunks.len() {
            return chunk.slice(from..chunk.len().min(from + len));
        }
        let mut joined = BytesMut::with_capacity(len);
        let mut skip = from;
        for (_, chunk) in self.chunks.range(first..) {
            let part = (len - joined.len()).min(chunk.len() - skip);
            joined.extend_from_slice(&chunk[skip..skip + part]);
            skip = 0;
            if joined.len() == len {
                break;
            }
        }
        joined.freeze()
    }
}

impl Backlog for DataSend {
    fn at(&self, offset: u64) -> Option<Outstanding> {
        self.index(offset.max(self.una)).map(|index| self.pieces[index].data)
    }

    fn was_sent_on(&self, offset: u64, path: PathId) -> bool {
        self.index(offset).is_some_and(|index| self.pieces[index].carriers & bit(path) != 0)
    }
}

/// A path's bit. When a path goes, its bit is cleared everywhere, so that the path after 64 others
/// may have it.
fn bit(path: PathId) -> u64 {
    1 << (path.0 % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PathId = PathId(0);
    const B: PathId = PathId(1);

    fn stream(text: &[u8]) -> DataSend {
        let mut send = DataSend::new(BufferSize { initial: 100, max: 100 });
        for mut part in text.chunks(3) {
            send.write(&mut part);
            assert!(part.is_empty());
        }
        send
    }

    #[test]
    fn what_a_path_loses_is_given_to_another_oldest_first() {
        let mut send = stream(b"abcdefghij");
        assert_eq!(send.take(Time::ZERO, A, 4, true), (0, Bytes::from_static(b"abcd")));
        assert_eq!(send.take(Time::ZERO, B, 4, true), (4, Bytes::from_static(b"efgh")));
        assert_eq!(send.take(Time::ZERO, A, 4, true), (8, Bytes::from_static(b"ij")));
        assert!(send.acknowledge(2) && !send.acknowledge(2) && !send.acknowledge(11));
        send.repeat_all(A, true);
        let first = send.first_again().unwrap();
        assert_eq!((first.start, first.end), (2, 4));
        assert_eq!(send.repeat(Time::ZERO, B, first.start, first.end).unwrap(), "cd");
        send.settle_again();
        assert!(!send.was_sent_on(2, A) && send.was_sent_on(2, B));
        assert_eq!(send.first_again().unwrap().start, 8);
        assert!(send.acknowledge(10));
        assert!(send.first_again().is_none() && !send.is_out());
        assert_eq!(send.used(), 0);
    }

    #[test]
    fn the_end_stands_behind_everything() {
        let mut send = stream(b"abc");
        send.finish();
        assert_eq!(send.fin_at(), None);
        send.take(Time::ZERO, A, 9, true);
        assert_eq!(send.fin_at(), Some(3));
    }
}
