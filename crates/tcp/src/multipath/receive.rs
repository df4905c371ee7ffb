//! Received data at the data level: in-order data goes to the stream, the rest to the reassembly;
//! and the window that all subflows share (RFC 8684 section 3.3.4).

use std::time::Duration;

use bytes::Bytes;
use trackbed_core::Time;

use crate::config::BufferSize;
use crate::receive::reassembly::Reassembly;
use crate::receive::tuner::Tuner;
use crate::sequence::Seq;
use crate::stream::{ReceiveStream, Sink as _};

#[derive(Debug, Default)]
pub(super) struct DataReceive {
    /// The next byte that is expected.
    pub next: u64,
    reassembly: Reassembly,
    pub stream: ReceiveStream,
    tuner: Tuner,
    mss: u32,
    /// The end of the window that was offered; it never moves back.
    offered_end: u64,
    /// Where the peer's stream ends, once it said so.
    fin_at: Option<u64>,
    /// The peer's stream has ended, and everything before the end was received.
    pub finished: bool,
    pub bytes_received: u64,
    /// Bytes that came more than once.
    pub bytes_duplicate: u64,
}

impl DataReceive {
    pub fn new(size: BufferSize, mss: u32) -> DataReceive {
        DataReceive { tuner: Tuner::new(size, mss), mss, ..DataReceive::default() }
    }

    /// The value of DATA_ACK, as an offset: after the end of the stream if that was reached.
    pub fn acknowledgment(&self) -> u64 {
        self.next + u64::from(self.finished)
    }

    /// Data may come from now on.
    pub fn begin(&mut self, now: Time) {
        self.tuner.established(now, self.mss);
    }

    /// Takes `data`, which begins at `offset` of the stream.
    pub fn deliver(&mut self, offset: u64, mut data: Bytes) {
        let end = offset + data.len() as u64;
        if end <= self.next || self.finished {
            self.bytes_duplicate += data.len() as u64;
            return;
        }
        // Only a peer that ignores the window sends more; what is not taken is not acknowledged.
        if end > self.offered_end.max(self.next + LEAST_WINDOW) {
            return;
        }
        let before = self.next + self.reassembly.bytes as u64;
        if offset > self.next {
            self.reassembly.insert(Seq(offset as u32), &data);
        } else {
            let known = (self.next - offset) as usize;
            self.advance(data.split_off(known));
            while let Some((_, chunks)) = self.reassembly.pop(Seq(self.next as u32)) {
                chunks.into_iter().for_each(|chunk| self.advance(chunk));
            }
            self.reassembly.acknowledge(Seq(self.next as u32));
        }
        let new = self.next + self.reassembly.bytes as u64 - before;
        self.bytes_duplicate += (end - offset) - new;
        let len = (end - offset).min(u32::MAX.into()) as u32;
        self.tuner.data_arrived(len, self.used());
        self.finish_if_complete();
    }

    /// The peer's stream ends at `offset`. The first word counts.
    pub fn finish_at(&mut self, offset: u64) {
        if offset >= self.next {
            self.fin_at.get_or_insert(offset);
        }
        self.finish_if_complete();
    }

    /// The window field to offer, in units of `unit` bytes.
    pub fn window(&mut self, unit: u32) -> u16 {
        let window = self.tuner.window(self.used()).max(self.offered());
        let field = window.div_ceil(unit).min(u16::MAX.into());
        self.offered_end = self.offered_end.max(self.next + u64::from(field) * u64::from(unit));
        field as u16
    }

    /// The application read `len` bytes; `rtt` is the longest round-trip time of a subflow. True
    /// if the window has grown so much that the peer should know (RFC 9293 section 3.8.6.2.2).
    pub fn data_read(&mut self, now: Time, len: usize, rtt: Option<Duration>) -> bool {
        if let Some(rtt) = rtt {
            self.tuner.use_rtt(rtt);
        }
        let hole = self.reassembly.end().map_or(0, |end| end.since(Seq(self.next as u32)));
        self.tuner.data_read(now, len, hole);
        !self.finished && self.tuner.has_grown(self.offered(), self.used())
    }

    /// What is left of the window that was offered.
    fn offered(&self) -> u32 {
        self.offered_end.saturating_sub(self.next).min(u32::MAX.into()) as u32
    }

    fn used(&self) -> u32 {
        (self.stream.unread() + self.reassembly.bytes).min(u32::MAX as usize) as u32
    }

    fn advance(&mut self, data: Bytes) {
        self.next += data.len() as u64;
        self.bytes_received += data.len() as u64;
        self.stream.deliver(data);
    }

    fn finish_if_complete(&mut self) {
        if self.fin_at == Some(self.next) && !self.finished {
            self.finished = true;
            self.stream.finish();
        }
    }
}

/// The amount accepted from a peer before the first window: that of a SYN.
const LEAST_WINDOW: u64 = 65_535;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_read_once_and_the_end_comes_last() {
        let mut receive = DataReceive::new(BufferSize { initial: 1_000, max: 1_000 }, 100);
        receive.finish_at(8);
        receive.deliver(4, Bytes::from_static(b"efgh"));
        receive.deliver(0, Bytes::from_static(b"abc"));
        assert_eq!((receive.acknowledgment(), receive.finished), (3, false));
        receive.deliver(2, Bytes::from_static(b"cde"));
        assert_eq!((receive.acknowledgment(), receive.finished), (9, true));
        receive.deliver(0, Bytes::from_static(b"abc"));
        let mut text = Vec::new();
        while let Some(data) = receive.stream.read(100).filter(|data| !data.is_empty()) {
            text.extend(data);
        }
        assert_eq!(text, b"abcdefgh");
        assert_eq!((receive.bytes_received, receive.bytes_duplicate), (8, 2 + 3));
    }

    #[test]
    fn the_window_never_moves_back() {
        let mut receive = DataReceive::new(BufferSize { initial: 4_000, max: 4_000 }, 100);
        let before = u64::from(receive.window(1));
        receive.deliver(0, Bytes::from(vec![0; 900]));
        assert_eq!(receive.next + u64::from(receive.window(1)), before.max(900));
    }
}
