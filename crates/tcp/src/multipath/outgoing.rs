//! Outgoing data of one path: the positions of stream bytes in its sequence space.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::sequence::Seq;
use crate::stream::take_front;

/// The unsent data of a path, and the positions of its sent data.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The sequence number of the first byte.
    base: Seq,
    /// Data to send, each chunk with the offset of its end in the stream.
    queue: VecDeque<(u64, Bytes)>,
    pub queued: usize,
    /// How much of the queue, from its front, is one piece of the stream.
    pub run: usize,
    /// What was sent and is not acknowledged by the subflow's peer, in the path's order.
    spans: VecDeque<Span>,
    /// Bytes that were taken from the queue, and that were acknowledged, ever.
    pub taken: u64,
    pub acknowledged: u64,
}

/// A piece of the stream in the path's sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    /// Bytes of the path before it.
    place: u64,
    offset: u64,
    len: u64,
}

impl Outgoing {
    /// For a subflow whose SYN has the number `isn`.
    pub fn new(isn: u32) -> Outgoing {
        Outgoing { base: Seq(isn) + 1, ..Outgoing::default() }
    }

    /// Appends data that begins at `offset` in the stream.
    pub fn push(&mut self, offset: u64, data: Bytes) {
        if data.is_empty() {
            return;
        }
        let follows = self.queue.back().is_none_or(|(end, _)| *end == offset);
        if follows && self.run == self.queued {
            self.run += data.len();
        }
        self.queued += data.len();
        self.queue.push_back((offset + data.len() as u64, data));
    }

    /// Takes `len` bytes of the run.
    pub fn take(&mut self, len: usize) -> Bytes {
        let Some((end, chunk)) = self.queue.front() else { return Bytes::new() };
        let offset = end - chunk.len() as u64;
        let data = take_front(&mut self.queue, len.min(self.run), |(_, chunk)| chunk);
        self.note(offset, data.len() as u64);
        self.queued -= data.len();
        self.run -= data.len();
        if self.run == 0 {
            self.measure_run();
        }
        data
    }

    /// The subflow's peer has `len` more bytes. Returns the offset after the last of them.
    pub fn acknowledge(&mut self, len: usize) -> Option<u64> {
        self.acknowledged += len as u64;
        let mut last = None;
        while let Some(span) = self.spans.front_mut() {
            if span.place >= self.acknowledged {
                break;
            }
            let cut = (self.acknowledged - span.place).min(span.len);
            last = Some(span.offset + cut);
            (span.place, span.offset, span.len) =
                (span.place + cut, span.offset + cut, span.len - cut);
            if span.len > 0 {
                break;
            }
            self.spans.pop_front();
        }
        last
    }

    /// Where the byte with `sequence` stands: in the path, and in the stream. It was sent and is
    /// not acknowledged.
    pub fn locate(&self, sequence: Seq) -> Option<(u64, u64)> {
        let una = self.base + self.acknowledged as u32;
        let place = self.acknowledged + u64::from(sequence.since(una));
        let index = self.spans.partition_point(|span| span.place + span.len <= place);
        let span = self.spans.get(index).filter(|span| span.place <= place)?;
        Some((place, span.offset + (place - span.place)))
    }

    /// True if the path still has the byte at `offset` to send, or to send again.
    pub fn holds(&self, offset: u64) -> bool {
        let within = |start: u64, len: u64| start <= offset && offset < start + len;
        self.spans.iter().any(|span| within(span.offset, span.len))
            || self
                .queue
                .iter()
                .any(|(end, data)| within(end - data.len() as u64, data.len() as u64))
    }

    fn note(&mut self, offset: u64, len: u64) {
        match self.spans.back_mut() {
            Some(last) if last.offset + last.len == offset => last.len += len,
            _ => self.spans.push_back(Span { place: self.taken, offset, len }),
        }
        self.taken += len;
    }

    fn measure_run(&mut self) {
        let mut last = None;
        for (end, data) in &self.queue {
            if last.is_some_and(|last| last + data.len() as u64 != *end) {
                break;
            }
            last = Some(*end);
            self.run += data.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_never_joins_what_is_apart_in_the_stream() {
        let mut outgoing = Outgoing::new(u32::MAX - 2);
        outgoing.push(10, Bytes::from_static(b"abc"));
        outgoing.push(13, Bytes::from_static(b"de"));
        outgoing.push(0, Bytes::from_static(b"xy"));
        assert_eq!((outgoing.queued, outgoing.run), (7, 5));
        assert_eq!(outgoing.take(4), "abcd");
        assert_eq!(outgoing.take(9), "e");
        assert_eq!((outgoing.run, outgoing.take(9)), (2, Bytes::from_static(b"xy")));
        // The first byte has the number 2^32 - 2.
        assert_eq!(outgoing.locate(Seq(u32::MAX - 1)), Some((0, 10)));
        assert_eq!(outgoing.locate(Seq(2)), Some((4, 14)));
        assert_eq!(outgoing.locate(Seq(3)), Some((5, 0)));
        assert_eq!(outgoing.locate(Seq(5)), None);
        assert_eq!(outgoing.acknowledge(2), Some(12));
        assert!(!outgoing.holds(11) && outgoing.holds(12) && outgoing.holds(1));
        assert_eq!(outgoing.acknowledge(5), Some(2));
        assert!(!outgoing.holds(12));
    }
}
