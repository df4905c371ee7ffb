//! How many segments leave together. Linux forms batches for segmentation offload; here each
//! segment is a separate packet, but the bursts are the same.

use std::time::Duration;

use trackbed_core::Time;

use super::block::Batch;
use super::{Phase, Subflow};
use crate::congestion::Window;

impl Subflow {
    /// Linux passes segments to the device in batches of about a millisecond, and waits for the
    /// next acknowledgment rather than start a smaller one. Here each segment is a separate packet,
    /// but the resulting bursts decide how a short queue overflows, so the wait is modelled. True
    /// if a segment may go now.
    pub(super) fn continue_batch(&mut self, now: Time, waiting: usize) -> bool {
        if !self.config.batching {
            return true;
        }
        if self.due.batch.left == 0 {
            let size = self.batch_size();
            let room = self.window.cwnd.saturating_sub(self.board.in_flight());
            let mss = self.send.mss.max(1);
            if waiting > mss as usize && self.awaits_batch(now, waiting, room, size) {
                self.due.limited = true;
                return false;
            }
            let peer_room = (self.send.una + self.send.window).since(self.send.next) / mss;
            let own_room = room.min(size).min((self.window.cwnd / 2).max(1));
            let there = waiting.div_ceil(mss as usize).min(u32::MAX as usize) as u32;
            let len = own_room.min(peer_room).min(there).max(1);
            self.due.batch = Batch { len, left: len };
        }
        self.due.batch.left -= 1;
        true
    }

    /// Segments that leave in about a millisecond at the rate that is aimed at: twice the present
    /// one in early slow start, 1.2 times later.
    fn batch_size(&self) -> u32 {
        let Window { cwnd, ssthresh, .. } = self.window;
        let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
        let srtt_us = self.srtt().as_micros().max(1) as u64;
        let flight = u64::from(self.send.mss) * u64::from(cwnd.max(self.board.len()));
        let per_ms = flight * percent * 10_000 / srtt_us / 1024;
        let min_rtt_us = self.rtt.min().map_or(u64::MAX, |rtt| rtt.as_micros() as u64);
        let near = MAX_BATCH_BYTES.checked_shr((min_rtt_us >> 9).min(64) as u32).unwrap_or(0);
        let bytes = (per_ms + near).min(MAX_BATCH_BYTES);
        ((bytes / u64::from(self.send.mss.max(1))) as u32).max(MIN_BATCH)
    }

    /// True if it is better to wait until a whole batch can go: while acknowledgments come in
    /// quick succession and the congestion window is what leaves too little room.
    fn awaits_batch(&self, now: Time, waiting: usize, room: u32, size: u32) -> bool {
        if self.loss.phase >= Phase::Recovery || now - self.send.last_sent_at > BATCH_PAUSE {
            return false;
        }
        let mss = self.send.mss;
        let peer_room = (self.send.una + self.send.window).since(self.send.next);
        let own_room = room.saturating_mul(mss);
        let limit = own_room.min(peer_room);
        let flight_max = self.send.window.min(self.window.cwnd.saturating_mul(mss));
        if limit >= size.saturating_mul(mss) || limit >= flight_max / 3 {
            return false;
        }
        let Some(first) = self.board.front() else { return false };
        let acknowledged_at = first.sent_at + self.srtt();
        acknowledged_at <= now + BATCH_PAUSE.min(self.srtt() / 2)
            && own_room < peer_room
            && own_room as usize <= waiting
    }

    /// The block that Linux lets an application fill at a time: half the peer's window at most, in
    /// whole segments.
    pub(super) fn block_len(&self) -> usize {
        let mss = u64::from(self.send.mss.max(1));
        let most = MAX_BLOCK_BYTES.min(u64::from(self.send.window_max) / 2);
        ((most / mss).max(1) * mss) as usize
    }
}

/// The largest batch that Linux forms, and the largest block that it fills.
const MAX_BATCH_BYTES: u64 = 65_536;
const MAX_BLOCK_BYTES: u64 = 65_536 - 321;
/// The smallest batch that is waited for, in segments.
const MIN_BATCH: u32 = 2;
/// After a longer pause, and for an acknowledgment further away, no batch is waited for.
const BATCH_PAUSE: Duration = Duration::from_millis(1);
