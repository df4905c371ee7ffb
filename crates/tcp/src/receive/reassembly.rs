//! Data that arrived out of order, and the SACK blocks that report it.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::segment::{SackBlock, SackBlocks};
use crate::sequence::Seq;

/// Ranges of bytes received out of order.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// In order, disjoint and never touching.
    ranges: VecDeque<Range>,
    pub bytes: usize,
    /// Ranges to report, the one that changed last first (RFC 2018 section 4).
    report: Vec<SackBlock>,
}

#[derive(Debug)]
struct Range {
    start: Seq,
    end: Seq,
    chunks: VecDeque<Bytes>,
}

impl Reassembly {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn end(&self) -> Option<Seq> {
        self.ranges.back().map(|range| range.end)
    }

    /// Takes data that does not begin at the next expected byte. Returns the range that was there
    /// already if the data holds nothing new.
    pub(crate) fn insert(&mut self, start: Seq, data: &Bytes) -> Option<SackBlock> {
        let end = start + data.len() as u32;
        let at = self.position(start);
        if let Some(range) = self.ranges.get(at)
            && !start.before(range.start)
            && !end.after(range.end)
        {
            self.touch(start, end);
            return Some(SackBlock { start, end });
        }
        self.bytes += self.fill(at, start, end, data);
        self.touch(start, end);
        None
    }

    /// Takes the bytes from `next` on, if they were received, chunk by chunk.
    pub(crate) fn pop(&mut self, next: Seq) -> Option<(Seq, VecDeque<Bytes>)> {
        while let Some(range) = self.ranges.front() {
            if range.start.after(next) {
                return None;
            }
            let Some(mut range) = self.ranges.pop_front() else { break };
            self.bytes -= range.end.since(range.start) as usize;
            if range.end.after(next) {
                let mut known = next.since(range.start) as usize;
                while known > 0 {
                    let Some(chunk) = range.chunks.front_mut() else { break };
                    let cut = chunk.split_to(known.min(chunk.len()));
                    known -= cut.len();
                    if chunk.is_empty() {
                        range.chunks.pop_front();
                    }
                }
                return Some((range.end, range.chunks));
            }
        }
        None
    }

    /// Drops the ranges from the report that the cumulative acknowledgment has reached.
    pub(crate) fn acknowledge(&mut self, next: Seq) {
        self.report.retain(|block| block.start.after(next));
    }

    /// The blocks for an acknowledgment, after `first` if that must be reported.
    pub(crate) fn blocks(&self, first: Option<SackBlock>, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        first.iter().chain(&self.report).take(most).for_each(|&block| blocks.push(block));
        blocks
    }

    /// The first range that ends at or after `start`; most data belongs to the last one.
    fn position(&self, start: Seq) -> usize {
        match self.ranges.back() {
            Some(last) if !start.before(last.start) => {
                self.ranges.len() - usize::from(!last.end.before(start))
            }
            _ => self.ranges.partition_point(|range| range.end.before(start)),
        }
    }

    /// Puts the new parts of the data in, and joins what touches. Returns how much was new.
    fn fill(&mut self, at: usize, start: Seq, end: Seq, data: &Bytes) -> usize {
        let mut joined = Range { start, end: start, chunks: VecDeque::new() };
        let mut new = 0;
        if let Some(range) = self.ranges.get(at)
            && !range.start.after(start)
            && let Some(range) = self.ranges.remove(at)
        {
            joined = range;
        }
        while joined.end.before(end) {
            let part_end = self.ranges.get(at).map_or(end, |range| range.start.min(end));
            if part_end.after(joined.end) {
                let (from, to) = (joined.end.since(start), part_end.since(start));
                joined.chunks.push_back(data.slice(from as usize..to as usize));
                new += (to - from) as usize;
                joined.end = part_end;
            }
            self.join_next(at, &mut joined);
        }
        self.join_next(at, &mut joined);
        self.ranges.insert(at, joined);
        new
    }

    fn join_next(&mut self, at: usize, joined: &mut Range) {
        if self.ranges.get(at).is_none_or(|range| range.start != joined.end) {
            return;
        }
        let Some(mut range) = self.ranges.remove(at) else { return };
        joined.end = range.end;
        if range.chunks.len() < joined.chunks.len() {
            joined.chunks.append(&mut range.chunks);
        } else {
            while let Some(chunk) = joined.chunks.pop_back() {
                range.chunks.push_front(chunk);
            }
            joined.chunks = range.chunks;
        }
    }

    /// Brings the reported range around `start..end`, in its current extent, to the front.
    fn touch(&mut self, start: Seq, end: Seq) {
        let Some(range) = self.ranges.get(self.position(start)) else { return };
        let block = SackBlock { start: range.start, end: range.end };
        debug_assert!(!block.start.after(start) && !block.end.before(end));
        self.report.retain(|known| known.start.before(block.start) || known.end.after(block.end));
        self.report.insert(0, block);
        self.report.truncate(SackBlocks::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(queue: &mut Reassembly, start: u32, text: &'static str) -> Option<SackBlock> {
        queue.insert(Seq(start), &Bytes::from_static(text.as_bytes()))
    }

    fn starts(queue: &Reassembly) -> Vec<(u32, u32)> {
        let blocks = queue.blocks(None, SackBlocks::MAX);
        blocks.as_slice().iter().map(|block| (block.start.0, block.end.0)).collect()
    }

    fn text(chunks: VecDeque<Bytes>) -> String {
        chunks.iter().map(|chunk| std::str::from_utf8(chunk).unwrap()).collect()
    }

    #[test]
    fn overlaps_and_gaps_become_one_stream() {
        let mut queue = Reassembly::default();
        assert!(put(&mut queue, 10, "ab").is_none());
        assert!(put(&mut queue, 14, "ef").is_none());
        assert!(put(&mut queue, 20, "kl").is_none());
        assert_eq!(starts(&queue), [(20, 22), (14, 16), (10, 12)]);
        assert_eq!(put(&mut queue, 14, "ef"), Some(SackBlock { start: Seq(14), end: Seq(16) }));
        assert_eq!(starts(&queue), [(14, 16), (20, 22), (10, 12)]);
        assert!(put(&mut queue, 11, "bcdefg").is_none());
        assert_eq!(starts(&queue), [(10, 17), (20, 22)]);
        assert_eq!(queue.bytes, 9);
        let (end, chunks) = queue.pop(Seq(12)).unwrap();
        assert_eq!((end, text(chunks)), (Seq(17), "cdefg".to_owned()));
        queue.acknowledge(end);
        assert_eq!(starts(&queue), [(20, 22)]);
        assert!(queue.pop(end).is_none());
        assert_eq!(queue.bytes, 2);
    }

    #[test]
    fn the_sequence_space_may_wrap() {
        let mut queue = Reassembly::default();
        put(&mut queue, u32::MAX - 1, "abcd");
        put(&mut queue, 2, "ef");
        assert_eq!(starts(&queue), [(u32::MAX - 1, 4)]);
        assert_eq!(text(queue.pop(Seq(u32::MAX - 2) + 1).unwrap().1), "abcdef");
    }
}
