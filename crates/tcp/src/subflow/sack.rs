//! Selective acknowledgments (RFC 2018, RFC 2883) and the reordering that they reveal.

use trackbed_core::Time;

use super::ack::Event;
use super::{MAX_REORDERING, Phase, Subflow};
use crate::recovery::scoreboard::Id;
use crate::segment::{SackBlock, SackBlocks, Segment};
use crate::sequence::Seq;

impl Subflow {
    /// Marks what the blocks of `segment` report.
    pub(super) fn take_sack(&mut self, now: Time, segment: &Segment, event: &mut Event) {
        let blocks = segment.options.sack.as_slice();
        if blocks.is_empty() || !self.receive.agreed.sack {
            return;
        }
        let mut rest = blocks;
        if let Some(&first) = blocks.first().filter(|_| self.is_duplicate_report(segment)) {
            rest = &blocks[1..];
            self.take_duplicate(first, event);
        }
        // In the order of the sequence space, not in that of the option (newest first): one
        // acknowledgment may report several ranges, and what it reports together did not overtake
        // each other.
        let mut ordered = SackBlocks::default();
        rest.iter().for_each(|&block| ordered.push(block));
        let una = self.send.una;
        ordered.as_mut_slice().sort_by_key(|block| block.start.since(una));
        for &block in ordered.as_slice() {
            if block.start.before(block.end) && !block.end.after(self.send.next) {
                self.take_block(now, block, event);
            }
        }
        if let Some(late) = event.late.take()
            && (self.loss.phase != Phase::Loss || self.loss.undo.is_open())
        {
            self.note_reordering(late);
        }
    }

    /// RFC 2883 section 4: the first block reports a duplicate if it lies below the cumulative
    /// acknowledgment, or inside the second block.
    fn is_duplicate_report(&self, segment: &Segment) -> bool {
        let blocks = segment.options.sack.as_slice();
        let Some(first) = blocks.first() else { return false };
        first.start.before(segment.acknowledgment)
            || blocks.get(1).is_some_and(|second| {
                !first.end.after(second.end) && !first.start.before(second.start)
            })
    }

    fn take_duplicate(&mut self, block: SackBlock, event: &mut Event) {
        let valid = block.start.before(block.end)
            && !block.end.after(self.send.next)
            && block.end.after(self.send.una - self.send.window_max);
        if !valid {
            return;
        }
        let segments = block.end.since(block.start).div_ceil(self.send.mss.max(1)).max(1);
        self.loss.duplicates += u64::from(segments);
        // Duplicates that we did not cause say nothing about our retransmissions.
        if self.loss.duplicates > self.counters.retransmissions {
            return;
        }
        self.counters.spurious_retransmissions += u64::from(segments);
        event.duplicate = true;
        event.duplicate_of_probe = self.loss.probe.is_some_and(|probe| probe.end == block.end);
        if self.loss.reordering_seen && !event.duplicate_of_probe {
            self.loss.rack.duplicate_reported();
        }
        self.send.delivered += u64::from(segments);
        if !block.end.after(event.prior_una) {
            (0..segments).for_each(|_| self.loss.undo.duplicate(block.end));
        } else {
            self.take_duplicate_in_flight(block, event);
        }
    }

    /// A duplicate of a segment that is not yet acknowledged cumulatively.
    fn take_duplicate_in_flight(&mut self, block: SackBlock, event: &mut Event) {
        let (first, end) = self.board.covered_by(block);
        for id in first..end {
            let Some(sent) = self.board.get(id).filter(|sent| sent.ever_retransmitted) else {
                continue;
            };
            if sent.sacked {
                // The original had come, after what follows it.
                event.note_late(sent.start);
            }
            self.loss.undo.duplicate(sent.end());
            self.board.clear_retransmitted(id);
        }
    }

    fn take_block(&mut self, now: Time, block: SackBlock, event: &mut Event) {
        let (mut from, end) = self.board.covered_by(block);
        while let Some(id) = self.board.next_unsacked(from, end) {
            self.take_sacked(now, id, event);
            from = id + 1;
        }
    }

    fn take_sacked(&mut self, now: Time, id: Id, event: &mut Event) {
        let highest = self.board.highest_sacked();
        let min_rtt = self.min_rtt();
        let Some(sent) = self.board.get(id) else { return };
        if !sent.end().after(self.send.una) {
            return;
        }
        self.loss.rack.delivered(sent, now, min_rtt);
        if !sent.ever_retransmitted {
            if highest.is_some_and(|highest| sent.start.before(highest)) {
                event.note_late(sent.start);
            }
            event.original_acked |= !sent.end().after(self.loss.high);
            event.first_sacked_at.get_or_insert(sent.sent_at);
            event.last_sacked_at = Some(sent.sent_at);
        }
        event.note_delivery(sent.sent_at, sent.delivered);
        event.sacked = true;
        self.send.delivered += 1;
        self.board.mark_sacked(id);
    }

    /// Data from `late` on arrived after data that follows it in the stream.
    pub(super) fn note_reordering(&mut self, late: Seq) {
        // If nothing is missing any more, what was just acknowledged is what came before it.
        let highest = self.board.highest_sacked().unwrap_or(self.send.una);
        if !late.before(highest) {
            return;
        }
        let segments = highest.since(late).div_ceil(self.send.mss.max(1));
        self.loss.reordering = self.loss.reordering.max(segments.min(MAX_REORDERING));
        self.loss.reordering_seen = true;
    }
}
