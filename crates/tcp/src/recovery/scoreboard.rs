//! The scoreboard: every segment in flight, in the order of its sequence numbers, with the reports
//! of the peer and the loss detection (RFC 6675 section 2, RFC 8985 section 5).
//!
//! No operation walks over the whole window. A segment has an id that counts up with every new
//! segment, so that its place is a subtraction away. Three orders are kept besides: the intervals
//! that are selectively acknowledged, the segments that wait to be sent again, and a list of the
//! segments whose fate is open in the order of their last transmission.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use trackbed_core::Time;

use super::sent::NONE;
pub(crate) use super::sent::{Id, Sent};
use crate::segment::SackBlock;
use crate::sequence::Seq;

#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// The id of the first segment.
    base: Id,
    /// Selectively acknowledged: first id to one past the last id, never touching each other.
    sacked: BTreeMap<Id, Id>,
    /// Lost and not in flight again.
    waiting: BTreeSet<Id>,
    oldest: Id,
    latest: Id,
    sacked_out: u32,
    /// Segments deemed lost.
    pub lost_out: u32,
    /// Retransmissions deemed in flight.
    pub retransmitted_out: u32,
    /// Segments that left the network according to duplicate acknowledgments without SACK.
    dupacks: u32,
    /// How often a transmission was deemed lost, ever.
    pub lost_total: u64,
}

impl Scoreboard {
    pub(crate) fn new() -> Scoreboard {
        Scoreboard { oldest: NONE, latest: NONE, ..Scoreboard::default() }
    }

    pub(crate) fn len(&self) -> u32 {
        self.segments.len() as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments that left the network, by SACK or duplicate acknowledgments.
    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out + self.dupacks
    }

    /// Segments deemed in the network: "pipe" of RFC 6675.
    pub(crate) fn in_flight(&self) -> u32 {
        (self.len() + self.retransmitted_out).saturating_sub(self.sacked_out() + self.lost_out)
    }

    pub(crate) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(crate) fn first_id(&self) -> Id {
        self.base
    }

    pub(crate) fn last_id(&self) -> Option<Id> {
        (!self.is_empty()).then(|| self.end_id() - 1)
    }

    pub(crate) fn get(&self, id: Id) -> Option<&Sent> {
        self.segments.get(usize::try_from(id.checked_sub(self.base)?).ok()?)
    }

    /// Takes a segment that was just sent for the first time.
    pub(crate) fn push(&mut self, sent: Sent) {
        let id = self.end_id();
        self.segments.push_back(sent);
        self.link_last(id);
    }

    pub(crate) fn pop_front(&mut self) -> Option<Sent> {
        if self.is_empty() {
            return None;
        }
        let id = self.base;
        self.unlink(id);
        let sent = self.segments.pop_front()?;
        self.base += 1;
        self.sacked_out -= u32::from(sent.sacked);
        self.retransmitted_out -= u32::from(sent.retransmitted);
        if sent.lost {
            self.lost_out -= 1;
            self.waiting.remove(&id);
        }
        Some(sent)
    }

    /// Cuts what is acknowledged off the first segment, of which the rest remains.
    pub(crate) fn trim_front(&mut self, una: Seq) -> u32 {
        let Some(sent) = self.segments.front_mut() else { return 0 };
        let cut = una.since(sent.start).min(sent.payload.len() as u32);
        sent.payload = sent.payload.slice(cut as usize..);
        sent.start += cut;
        cut
    }

    /// Tidies the intervals after segments were taken off the front.
    pub(crate) fn forget_acknowledged(&mut self) {
        while let Some(first) = self.sacked.first_entry() {
            if *first.key() >= self.base {
                break;
            }
            let (_, end) = first.remove_entry();
            if end > self.base {
                self.sacked.insert(self.base, end);
            }
        }
    }

    /// The end of the highest segment that is selectively acknowledged (RFC 6675 "HighData").
    pub(crate) fn highest_sacked(&self) -> Option<Seq> {
        let (_, &end) = self.sacked.last_key_value()?;
        self.get(end - 1).map(Sent::end)
    }

    /// The segments that lie wholly inside `block`, as a range of ids.
    pub(crate) fn covered_by(&self, block: SackBlock) -> (Id, Id) {
        let first = self.segments.partition_point(|sent| sent.start.before(block.start));
        let end = self.segments.partition_point(|sent| !sent.end().after(block.end));
        (self.base + first as Id, self.base + end.max(first) as Id)
    }

    /// The first segment at or after `from` and before `end` that is not selectively acknowledged.
    pub(crate) fn next_unsacked(&self, from: Id, end: Id) -> Option<Id> {
        let from = match self.sacked.range(..=from).next_back() {
            Some((_, &interval_end)) if interval_end > from => interval_end,
            _ => from,
        };
        (from < end).then_some(from)
    }

    /// Marks a segment as selectively acknowledged; one that was lost is so no longer. A
    /// retransmission of a segment that was not deemed lost remains in flight.
    pub(crate) fn mark_sacked(&mut self, id: Id) {
        self.unlink(id);
        let Some(sent) = self.sent_mut(id) else { return };
        if sent.sacked {
            return;
        }
        sent.sacked = true;
        let lost = std::mem::take(&mut sent.lost);
        let again = lost && std::mem::take(&mut sent.retransmitted);
        self.sacked_out += 1;
        if lost {
            self.lost_out -= 1;
            self.waiting.remove(&id);
        }
        self.retransmitted_out -= u32::from(again);
        self.add_interval(id);
    }

    /// Marks a segment as lost, or its retransmission as lost again.
    pub(crate) fn mark_lost(&mut self, id: Id) {
        let Some(sent) = self.sent_mut(id) else { return };
        if sent.sacked {
            return;
        }
        if !sent.lost {
            sent.lost = true;
            self.lost_out += 1;
            self.lost_total += 1;
        } else if sent.retransmitted {
            sent.retransmitted = false;
            self.retransmitted_out -= 1;
            self.lost_total += 1;
        }
        self.unlink(id);
        if self.get(id).is_some_and(|sent| !sent.retransmitted) {
            self.waiting.insert(id);
        }
    }

    /// Marks a segment as lost that later ones overtook. Loss detection ignores it until it is
    /// retransmitted, even if the mark is removed.
    pub(crate) fn mark_overtaken(&mut self, id: Id) {
        self.mark_lost(id);
        if let Some(sent) = self.sent_mut(id) {
            sent.overtaken = true;
        }
    }

    /// Notes that a segment is being sent again; `in_flight` as RFC 6675 counts it, which a tail
    /// loss probe does not do.
    pub(crate) fn mark_retransmitted(
        &mut self,
        id: Id,
        now: Time,
        delivered: u64,
        in_flight: bool,
    ) {
        let Some(sent) = self.sent_mut(id) else { return };
        sent.sent_at = now;
        sent.delivered = delivered;
        sent.ever_retransmitted = true;
        sent.overtaken = false;
        if in_flight && !sent.retransmitted {
            sent.retransmitted = true;
            self.retransmitted_out += 1;
            self.waiting.remove(&id);
        }
        self.unlink(id);
        self.link_last(id);
    }

    /// A duplicate showed that the retransmission of this segment is no longer in flight.
    pub(crate) fn clear_retransmitted(&mut self, id: Id) {
        let Some(sent) = self.sent_mut(id) else { return };
        if std::mem::take(&mut sent.retransmitted) {
            let waits = sent.lost && !sent.sacked;
            self.retransmitted_out -= 1;
            if waits {
                self.unlink(id);
                self.waiting.insert(id);
            }
        }
    }

    /// Removes every loss mark: the losses were spurious. The segments are in flight again.
    pub(crate) fn unmark_lost(&mut self) {
        if self.lost_out == 0 {
            return;
        }
        for sent in &mut self.segments {
            sent.lost = false;
        }
        self.lost_out = 0;
        self.rebuild();
    }

    /// Takes every SACK mark back: the peer dropped what it had (RFC 2018 section 8).
    pub(crate) fn unmark_sacked(&mut self) {
        for sent in &mut self.segments {
            sent.sacked = false;
        }
        self.rebuild();
    }

    /// The next lost segment to retransmit.
    pub(crate) fn next_waiting(&self) -> Option<Id> {
        self.waiting.first().copied()
    }

    /// The first sent of the segments that loss detection looks at.
    pub(crate) fn oldest_sent(&self) -> Option<Id> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    pub(crate) fn sent_after(&self, id: Id) -> Option<Id> {
        self.get(id).map(|sent| sent.next).filter(|&next| next != NONE)
    }

    /// Without SACK: another duplicate acknowledgment arrived. False if no segment is left for it.
    pub(crate) fn add_dupack(&mut self) -> bool {
        self.dupacks += 1;
        !self.limit_dupacks()
    }

    /// Without SACK: `acked` segments were acknowledged, of which all but the hole had been
    /// counted by duplicate acknowledgments. Returns how many are newly delivered, and whether more
    /// duplicates were counted than segments are left.
    pub(crate) fn remove_dupacks(&mut self, acked: u32) -> (u32, bool) {
        let counted = self.dupacks.min(acked.saturating_sub(1));
        self.dupacks -= counted;
        (acked - counted, self.limit_dupacks())
    }

    /// Without SACK: drops the duplicates that no segment is left for. True if there were any.
    pub(crate) fn limit_dupacks(&mut self) -> bool {
        // What is lost was not delivered, and if nothing is marked, at least the first segment was not.
        let most = self.len().saturating_sub(self.lost_out.max(1));
        let beyond = self.dupacks > most;
        self.dupacks = self.dupacks.min(most);
        beyond
    }

    /// Without SACK: the duplicate acknowledgments no longer count.
    pub(crate) fn clear_dupacks(&mut self) {
        self.dupacks = 0;
    }

    /// Cuts every segment into pieces of at most `max` bytes: the path became narrower. What was
    /// longer is lost, unless it was selectively acknowledged. True if there was any.
    pub(crate) fn split(&mut self, max: usize) -> bool {
        let mut lost_any = false;
        let whole = std::mem::take(&mut self.segments);
        for mut sent in whole {
            if sent.payload.len() > max && !sent.sacked {
                lost_any = true;
                if !sent.lost || sent.retransmitted {
                    self.lost_total += sent.payload.len().div_ceil(max) as u64;
                }
                (sent.lost, sent.retransmitted) = (true, false);
            }
            while sent.payload.len() > max {
                let piece = sent.payload.split_to(max);
                let start = sent.start;
                sent.start += max as u32;
                self.segments.push_back(Sent { start, payload: piece, fin: false, ..sent });
            }
            self.segments.push_back(sent);
        }
        self.rebuild();
        lost_any
    }

    fn end_id(&self) -> Id {
        self.base + self.segments.len() as Id
    }

    fn sent_mut(&mut self, id: Id) -> Option<&mut Sent> {
        self.segments.get_mut(usize::try_from(id.checked_sub(self.base)?).ok()?)
    }

    fn add_interval(&mut self, id: Id) {
        let mut start = id;
        let mut end = id + 1;
        if let Some((&before, &before_end)) = self.sacked.range(..=id).next_back()
            && before_end == id
        {
            start = before;
        }
        if let Some(after_end) = self.sacked.remove(&end) {
            end = after_end;
        }
        self.sacked.insert(start, end);
    }

    fn link_last(&mut self, id: Id) {
        let latest = self.latest;
        let Some(sent) = self.sent_mut(id) else { return };
        sent.previous = latest;
        sent.next = NONE;
        sent.listed = true;
        match self.sent_mut(latest) {
            Some(before) => before.next = id,
            None => self.oldest = id,
        }
        self.latest = id;
    }

    fn unlink(&mut self, id: Id) {
        let Some(sent) = self.sent_mut(id).filter(|sent| sent.listed) else { return };
        sent.listed = false;
        let (previous, next) = (sent.previous, sent.next);
        match self.sent_mut(previous) {
            Some(before) => before.next = next,
            None => self.oldest = next,
        }
        match self.sent_mut(next) {
            Some(after) => after.previous = previous,
            None => self.latest = previous,
        }
    }

    /// Rebuilds every order and counter from the marks, in the rare events that change them all.
    fn rebuild(&mut self) {
        self.sacked.clear();
        self.waiting.clear();
        (self.oldest, self.latest) = (NONE, NONE);
        (self.sacked_out, self.lost_out, self.retransmitted_out) = (0, 0, 0);
        let mut open = Vec::new();
        for index in 0..self.segments.len() {
            let id = self.base + index as Id;
            let sent = &mut self.segments[index];
            sent.listed = false;
            self.lost_out += u32::from(sent.lost);
            self.retransmitted_out += u32::from(sent.retransmitted);
            let waits = sent.lost && !sent.retransmitted && !sent.sacked;
            if sent.sacked {
                self.sacked_out += 1;
                self.add_interval(id);
            } else if waits {
                self.waiting.insert(id);
            } else if !sent.overtaken {
                open.push((sent.sent_at, id));
            }
        }
        open.sort_unstable();
        for (_, id) in open {
            self.link_last(id);
        }
    }
}

#[cfg(test)]
mod tests;
