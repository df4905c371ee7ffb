// Copyright 2025 The dcSCTP Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     https://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

use crate::api::LifecycleId;
use crate::api::PpId;
use crate::api::SocketTime;
use crate::api::StreamId;
use crate::api::handover::HandoverOutstandingData;
use crate::api::handover::SocketHandoverState;
use crate::math::round_up_to_4;
use crate::packet::SkippedStream;
use crate::packet::data::Data;
use crate::packet::forward_tsn_chunk::ForwardTsnChunk;
use crate::packet::iforward_tsn_chunk::IForwardTsnChunk;
use crate::packet::sack_chunk::GapAckBlock;
use crate::types::Fsn;
use crate::types::Mid;
use crate::types::OutgoingMessageId;
use crate::types::SerialNumber;
use crate::types::Ssn;
use crate::types::StreamKey;
use crate::types::Tsn;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::time::Duration;

/// Represents the state of a sent fragment (DATA chunk).
///
/// Fragments typically begin as `InFlight` and ultimately resolve to either `Acked` (successful
/// delivery) or `Abandoned`.
#[derive(Debug, PartialEq)]
enum ItemState {
    /// The chunk has been sent and is awaiting a SACK.
    InFlight { time_sent: SocketTime },

    /// A SACK reported a gap indicating that this chunk hasn't been received yet. If the chunk is
    /// reported to be missing many times, it will be retransmitted.
    ReportedMissing { time_sent: SocketTime, nack_count: u8 },

    /// The chunk reached the NACK threshold (or the T3-RTX retransmission timer forced a
    /// retransmit). It is waiting to be placed into a new outgoing packet, after which it will
    /// return to `InFlight`.
    QueuedForRetransmission { time_sent: SocketTime },

    /// The peer has acknowledged it. The chunk remains here until the cumulative TSN ack point
    /// advances past it, and then it will be removed from the queue.
    Acked,

    /// The chunk hasn't been received, and it's not eligible for any more retransmissions (due to
    /// message expiration or reaching the maximum retransmission limit).
    Abandoned,

    /// The chunk was abandoned and the peer has acknowledged it.
    AbandonedAndAcked,
}

impl ItemState {
    /// Returns the time this chunk was sent, if it is currently tracked.
    fn time_sent(&self) -> Option<SocketTime> {
        match self {
            Self::InFlight { time_sent }
            | Self::ReportedMissing { time_sent, .. }
            | Self::QueuedForRetransmission { time_sent } => Some(*time_sent),
            _ => None,
        }
    }
}

#[derive(Debug, PartialEq)]
enum NackAction {
    Nothing,
    Retransmit,
    Abandon,
}

/// Contains variables scoped to a processing of an incoming SACK.
#[derive(Debug)]
pub(crate) struct AckInfo {
    /// Bytes acked by increasing cumulative_tsn_ack and gap_ack_blocks, including DATA headers and
    /// padding.
    pub packet_bytes_acked: usize,

    /// Payload bytes (excluding headers) acked by increasing cumulative_tsn_ack and
    /// gap_ack_blocks.
    pub payload_bytes_acked: usize,

    /// Indicates if this SACK indicates that packet loss has occurred. Just because a packet is
    /// missing in the SACK doesn't necessarily mean that there is packet loss as that packet might
    /// be in-flight and received out-of-order. But when it has been reported missing consecutive
    /// times, it will eventually be considered "lost" and this will be set.
    pub has_packet_loss: bool,

    /// Highest TSN Newly Acknowledged, an SCTP variable.
    pub highest_tsn_acked: Tsn,

    /// The set of lifecycle IDs that were acked using cumulative_tsn_ack.
    pub acked_lifecycle_ids: Vec<LifecycleId>,

    /// The set of lifecycle IDs that were acked, but had been abandoned.
    pub abandoned_lifecycle_ids: Vec<LifecycleId>,
}

/// A wrapper around a TSN that implements `Ord` and `PartialOrd`.
///
/// While RFC1982 arithmetic violates transitivity rules over the full circular sequence
/// space, it's safe to implement and use `Ord`/`PartialOrd` in sorted containers here because
/// we limit the "active" number space to half of the full range (the forward half-space).
/// This restricts the elements to a slice of the circular number space where the sequence numbers
/// do form a strict, transitive total order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OrderedTsn(pub Tsn);

impl PartialOrd for OrderedTsn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedTsn {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.0 == other.0 {
            Ordering::Equal
        } else if other.0.greater_than(self.0) {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    }
}

/// State for DATA chunks (message fragments) in the queue - used in tests.
#[derive(Debug, PartialEq)]
pub(crate) enum ChunkState {
    /// The chunk has been sent but not received yet (from the sender's point of view, as no SACK
    /// has been received yet that reference this chunk).
    InFlight,

    /// A SACK has been received which explicitly marked this chunk as missing - it's now NACKED
    /// and may be retransmitted if NACKED enough times.
    Nacked,

    /// A chunk that will be retransmitted when possible.
    ToBeRetransmitted,

    /// A SACK has been received which explicitly marked this chunk as received.
    Acked,

    /// A chunk whose message has expired or has been retransmitted too many times (RFC 3758). It
    /// will not be retransmitted anymore.
    Abandoned,
}

/// The number of times a packet must be NACKed before it's retransmitted, see
/// <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4-5.1.1>.
const NUMBER_OF_NACKS_FOR_RETRANSMISSION: u8 = 3;

#[derive(Debug)]
struct Item {
    message_id: OutgoingMessageId,
    max_retransmissions: u16,
    expires_at: SocketTime,
    lifecycle_id: Option<LifecycleId>,
    data: Data,
    // Mutable state:
    state: ItemState,
    num_retransmissions: u16,
    /// The TSN that was next to be sent when this chunk was last sent again.
    retransmitted_before: Option<Tsn>,
}

impl Item {
    /// Indicates if this chunk is outstanding, meaning it has been sent, but not yet acknowledged
    /// or lost (which means it's either abandoned, or queued for retransmission.
    pub fn is_outstanding(&self) -> bool {
        matches!(self.state, ItemState::InFlight { .. } | ItemState::ReportedMissing { .. })
    }

    /// Indicates if this chunk has been acknowledged by the peer.
    pub fn is_acked(&self) -> bool {
        matches!(self.state, ItemState::Acked | ItemState::AbandonedAndAcked)
    }

    /// Indicates if this chunk has been reported missing (NACKed) by the peer.
    pub fn is_nacked(&self) -> bool {
        matches!(
            self.state,
            ItemState::ReportedMissing { .. } | ItemState::QueuedForRetransmission { .. }
        )
    }

    /// Indicates if this chunk has been abandoned. A chunk is abandoned when it will not be
    /// retransmitted anymore, due to message expiration or reaching the maximum retransmission
    /// limit.
    pub fn is_abandoned(&self) -> bool {
        matches!(self.state, ItemState::Abandoned | ItemState::AbandonedAndAcked)
    }

    /// Indicates if this chunk should be retransmitted.
    pub fn should_be_retransmitted(&self) -> bool {
        matches!(self.state, ItemState::QueuedForRetransmission { .. })
    }

    /// Indicates if this chunk has ever been retransmitted.
    pub fn has_been_retransmitted(&self) -> bool {
        self.num_retransmissions > 0
    }

    /// Indicates if this chunk has expired given the current time (`now`).
    pub fn has_expired(&self, now: SocketTime) -> bool {
        self.expires_at <= now
    }

    pub fn ack(&mut self) {
        match self.state {
            ItemState::InFlight { .. }
            | ItemState::ReportedMissing { .. }
            | ItemState::QueuedForRetransmission { .. } => {
                self.state = ItemState::Acked;
            }
            ItemState::Abandoned => {
                self.state = ItemState::AbandonedAndAcked;
            }
            ItemState::Acked | ItemState::AbandonedAndAcked => {}
        }
    }

    /// Nacks an item. If it has been nacked enough times, or if `retransmit_now` is set, it might
    /// be marked for retransmission. If the item has reached its max retransmission value or
    /// has expired at `now`, it will instead be abandoned. The action performed is indicated as
    /// return value.
    pub fn nack(&mut self, now: SocketTime, retransmit_now: bool) -> NackAction {
        let (time_sent, nack_count) = match self.state {
            ItemState::InFlight { time_sent } => (time_sent, 0),
            ItemState::ReportedMissing { time_sent, nack_count } => (time_sent, nack_count),
            _ => return NackAction::Nothing,
        };

        let new_nack_count = nack_count.saturating_add(1);

        if retransmit_now || new_nack_count >= NUMBER_OF_NACKS_FOR_RETRANSMISSION {
            if self.num_retransmissions < self.max_retransmissions && !self.has_expired(now) {
                self.state = ItemState::QueuedForRetransmission { time_sent };
                NackAction::Retransmit
            } else {
                self.state = ItemState::Abandoned;
                NackAction::Abandon
            }
        } else {
            self.state = ItemState::ReportedMissing { time_sent, nack_count: new_nack_count };
            NackAction::Nothing
        }
    }

    pub fn mark_as_retransmitted(&mut self, now: SocketTime, next_tsn: Tsn) {
        self.retransmitted_before = Some(next_tsn);
        self.state = ItemState::InFlight { time_sent: now };
        self.num_retransmissions = self.num_retransmissions.saturating_add(1);
    }

    /// Whether a SACK that acknowledges no TSN above `highest_tsn_acked` can tell that this chunk
    /// was lost: one that was sent again comes behind all that was sent before. FreeBSD's stack
    /// does the same (`fast_retran_tsn`).
    pub fn is_overtaken_by(&self, highest_tsn_acked: Tsn) -> bool {
        self.retransmitted_before.is_none_or(|tsn| highest_tsn_acked.greater_than_or_equal(tsn))
    }

    pub fn abandon(&mut self) {
        match self.state {
            ItemState::InFlight { .. }
            | ItemState::ReportedMissing { .. }
            | ItemState::QueuedForRetransmission { .. } => {
                self.state = ItemState::Abandoned;
            }
            ItemState::Acked => {
                self.state = ItemState::AbandonedAndAcked;
            }
            ItemState::Abandoned | ItemState::AbandonedAndAcked => {}
        }
    }

    pub fn get_rtt_from(&self, now: SocketTime) -> Option<Duration> {
        if self.has_been_retransmitted() {
            return None;
        }
        self.state.time_sent().map(|time_sent| now - time_sent)
    }
}

/// This class keeps track of outstanding data chunks (sent, not yet acked) and handles acking,
/// nacking, rescheduling and abandoning.
///
/// Items are added to this queue as they are sent and will be removed when the peer acks them using
/// the cumulative TSN ack.
#[derive(Debug)]
pub(crate) struct OutstandingData {
    data_chunk_header_size: usize,
    last_cumulative_tsn_ack: Tsn,
    outstanding_data: VecDeque<Item>,
    // Only payload, no padding or DATA headers.
    unacked_payload_bytes: usize,
    // Payload, padding and DATA headers.
    unacked_packet_bytes: usize,
    unacked_items: usize,
    to_be_fast_retransmitted: BTreeSet<OrderedTsn>,
    to_be_retransmitted: BTreeSet<OrderedTsn>,
    stream_reset_breakpoint_tsns: BTreeSet<OrderedTsn>,
    unsent_messages_to_discard: Vec<(StreamId, OutgoingMessageId)>,
}

impl OutstandingData {
    pub fn new(data_chunk_header_size: usize, last_cumulative_tsn_ack: Tsn) -> Self {
        OutstandingData {
            data_chunk_header_size,
            last_cumulative_tsn_ack,
            outstanding_data: VecDeque::new(),
            unacked_payload_bytes: 0,
            unacked_packet_bytes: 0,
            unacked_items: 0,
            to_be_fast_retransmitted: BTreeSet::new(),
            to_be_retransmitted: BTreeSet::new(),
            stream_reset_breakpoint_tsns: BTreeSet::new(),
            unsent_messages_to_discard: Vec::new(),
        }
    }

    // Note: This may discard unsent messages - call `get_unsent_messages_to_discard`.
    pub fn handle_sack(
        &mut self,
        now: SocketTime,
        cumulative_tsn_ack: Tsn,
        gap_ack_blocks: &[GapAckBlock],
        is_in_fast_recovery: bool,
    ) -> AckInfo {
        let cumulative_tsn_ack_advanced =
            cumulative_tsn_ack.greater_than(self.last_cumulative_tsn_ack);

        let mut ack_info = AckInfo {
            highest_tsn_acked: cumulative_tsn_ack,
            packet_bytes_acked: 0,
            payload_bytes_acked: 0,
            has_packet_loss: false,
            acked_lifecycle_ids: vec![],
            abandoned_lifecycle_ids: vec![],
        };

        // Erase all items up to cumulative_tsn_ack.
        self.remove_acked(cumulative_tsn_ack, &mut ack_info);

        // ACK packets reported in the gap ack blocks
        self.ack_gap_blocks(cumulative_tsn_ack, gap_ack_blocks, &mut ack_info);

        // NACK and possibly mark for retransmit chunks that weren't acked.
        self.nack_between_ack_blocks(
            now,
            cumulative_tsn_ack,
            gap_ack_blocks,
            is_in_fast_recovery,
            cumulative_tsn_ack_advanced,
            &mut ack_info,
        );
        ack_info
    }

    fn remove_acked(&mut self, cumulative_tsn_ack: Tsn, ack_info: &mut AckInfo) {
        while !self.outstanding_data.is_empty()
            && self.last_cumulative_tsn_ack.less_than(cumulative_tsn_ack)
        {
            let tsn = self.last_cumulative_tsn_ack + 1;
            self.ack_chunk(tsn, ack_info);

            let index = tsn.distance_to(self.last_cumulative_tsn_ack) - 1;
            let item = self.outstanding_data.get_mut(index as usize).unwrap();
            if let Some(lifecycle_id) = item.lifecycle_id {
                debug_assert!(item.data.is_end);
                if item.is_abandoned() {
                    ack_info.abandoned_lifecycle_ids.push(lifecycle_id);
                } else {
                    ack_info.acked_lifecycle_ids.push(lifecycle_id);
                }
            }

            self.outstanding_data.pop_front();
            self.last_cumulative_tsn_ack += 1;
        }
        self.stream_reset_breakpoint_tsns.retain(|b| b.0.greater_than(cumulative_tsn_ack + 1));
    }

    fn ack_gap_blocks(
        &mut self,
        cumulative_tsn_ack: Tsn,
        gap_ack_blocks: &[GapAckBlock],
        ack_info: &mut AckInfo,
    ) {
        // Mark all non-gaps as ACKED (but they can't be removed), from
        // <https://datatracker.ietf.org/doc/html/rfc9260#section-7.1>:
        //
        //   SCTP considers the information carried in the Gap Ack Blocks in the SACK chunk as
        //   advisory.
        //
        // Note that when NR-SACK is supported, this can be handled differently.
        for block in gap_ack_blocks {
            let start = cumulative_tsn_ack.add_to(block.start as u32);
            let end = cumulative_tsn_ack.add_to(block.end as u32);
            let start = if start.greater_than(self.last_cumulative_tsn_ack + 1) {
                start
            } else {
                self.last_cumulative_tsn_ack + 1
            };
            let mut tsn = start;
            while tsn.less_than_or_equal(end) && tsn.less_than(self.next_tsn()) {
                self.ack_chunk(tsn, ack_info);
                tsn += 1;
            }
        }
    }

    fn nack_between_ack_blocks(
        &mut self,
        now: SocketTime,
        cumulative_tsn_ack: Tsn,
        gap_ack_blocks: &[GapAckBlock],
        is_in_fast_recovery: bool,
        cumulative_tsn_ack_advanced: bool,
        ack_info: &mut AckInfo,
    ) {
        // Mark everything between the blocks as NACKed or to be transmitted.
        //
        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4>:
        //
        //   For each incoming SACK chunk, miss indications are incremented only for missing TSNs
        //   prior to the HTNA in the SACK chunk. [...]
        //
        //   Mark the DATA chunk(s) with three miss indications for retransmission.
        //
        // What this means is that only when there is a increasing stream of data received and there
        // are new packets seen (since last time), packets that are in-flight and between gaps
        // should be nacked. This means that SCTP relies on the T3-RTX-timer to re-send packets
        // otherwise.
        let mut max_tsn_to_nack = ack_info.highest_tsn_acked;
        if is_in_fast_recovery && cumulative_tsn_ack_advanced {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4-3>:
            //
            //   If an endpoint is in Fast Recovery and a SACK chunks arrives that advances the
            //   Cumulative TSN Ack Point, the miss indications are incremented for all TSNs
            //   reported missing in the SACK chunk.
            max_tsn_to_nack =
                cumulative_tsn_ack.add_to(gap_ack_blocks.last().map(|b| b.end as u32).unwrap_or(0));
        }

        let mut prev_block_last_acked = cumulative_tsn_ack;
        for block in gap_ack_blocks {
            let cur_block_first_acked = cumulative_tsn_ack.add_to(block.start as u32);
            let mut tsn = (if prev_block_last_acked.greater_than(self.last_cumulative_tsn_ack) {
                prev_block_last_acked
            } else {
                self.last_cumulative_tsn_ack
            }) + 1;
            let limit = self.next_tsn();
            // TSN comparisons lack transitivity; each upper bound must be evaluated individually to
            // safely handle serial arithmetic wrapping.
            while tsn.less_than(cur_block_first_acked)
                && tsn.less_than_or_equal(max_tsn_to_nack)
                && tsn.less_than(limit)
            {
                let index = tsn.distance_to(self.last_cumulative_tsn_ack) - 1;
                if self.outstanding_data[index as usize].is_overtaken_by(ack_info.highest_tsn_acked)
                {
                    ack_info.has_packet_loss |=
                        self.nack_chunk(now, tsn, false, !is_in_fast_recovery);
                }
                tsn += 1;
            }
            prev_block_last_acked = cumulative_tsn_ack.add_to(block.end as u32);
        }

        // Note that packets are not NACKED which are above the highest gap-ack-block (or above the
        // cumulative ack TSN if no gap-ack-blocks) as only packets up until the highest_tsn_acked
        // (see above) should be considered when NACKing.
    }

    /// Nacks the chunk with the given `tsn`, possibly marking it for retransmission or abandoning
    /// it. Returns true if the chunk was marked for retransmission or abandoned, indicating packet
    /// loss.
    fn nack_chunk(
        &mut self,
        now: SocketTime,
        tsn: Tsn,
        retransmit_now: bool,
        do_fast_retransmit: bool,
    ) -> bool {
        let index = tsn.distance_to(self.last_cumulative_tsn_ack) - 1;
        let item = self.outstanding_data.get_mut(index as usize).unwrap();
        let was_outstanding = item.is_outstanding();

        let action = item.nack(now, retransmit_now);

        if was_outstanding && !item.is_outstanding() {
            self.unacked_payload_bytes -= item.data.payload.len();
            self.unacked_packet_bytes -=
                round_up_to_4!(self.data_chunk_header_size + item.data.payload.len());
            self.unacked_items -= 1;
        }

        match action {
            NackAction::Nothing => false,
            NackAction::Retransmit => {
                debug_assert!(matches!(item.state, ItemState::QueuedForRetransmission { .. }));
                if do_fast_retransmit {
                    self.to_be_fast_retransmitted.insert(OrderedTsn(tsn));
                } else {
                    self.to_be_retransmitted.insert(OrderedTsn(tsn));
                }
                true
            }
            NackAction::Abandon => {
                self.abandon_all_for(tsn);
                true
            }
        }
    }

    fn ack_chunk(&mut self, tsn: Tsn, ack_info: &mut AckInfo) {
        let index = tsn.distance_to(self.last_cumulative_tsn_ack) - 1;
        let item = self.outstanding_data.get_mut(index as usize).unwrap();
        if !item.is_acked() {
            let serialized_size =
                round_up_to_4!(self.data_chunk_header_size + item.data.payload.len());
            ack_info.packet_bytes_acked += serialized_size;
            ack_info.payload_bytes_acked += item.data.payload.len();
            if item.is_outstanding() {
                self.unacked_payload_bytes -= item.data.payload.len();
                self.unacked_packet_bytes -= serialized_size;
                self.unacked_items -= 1;
            }
            if item.should_be_retransmitted() {
                self.to_be_retransmitted.remove(&OrderedTsn(tsn));
                self.to_be_fast_retransmitted.remove(&OrderedTsn(tsn));
            }
            item.ack();
            ack_info.highest_tsn_acked = if tsn.greater_than(ack_info.highest_tsn_acked) {
                tsn
            } else {
                ack_info.highest_tsn_acked
            };
        }
    }

    pub fn has_unsent_messages_to_discard(&self) -> bool {
        !self.unsent_messages_to_discard.is_empty()
    }

    pub fn get_unsent_messages_to_discard(&mut self) -> Vec<(StreamId, OutgoingMessageId)> {
        std::mem::take(&mut self.unsent_messages_to_discard)
    }

    /// Extracts chunks from `tsns` that can fit within `max_size` bytes, marking them as
    /// retransmitted. Any chunk encountered that has expired at `now` is abandoned (along with all
    /// other fragments of its message) instead of being returned.
    fn extract_chunks_that_can_fit(
        &mut self,
        now: SocketTime,
        mut max_size: usize,
        tsns: &mut BTreeSet<OrderedTsn>,
    ) -> Vec<(Tsn, Data)> {
        let mut result: Vec<(Tsn, Data)> = vec![];
        // As `tsns` has been taken out of `self`, `abandon_all_for` can't remove abandoned chunks
        // from it directly. They are collected here and removed once the iteration is done.
        let mut abandoned: Vec<OrderedTsn> = vec![];
        let next_tsn = self.next_tsn();
        for tsn in tsns.iter() {
            // No point in continuing if the packet is full.
            if max_size <= self.data_chunk_header_size {
                break;
            }
            let index = tsn.0.distance_to(self.last_cumulative_tsn_ack) - 1;
            let item = self.outstanding_data.get_mut(index as usize).unwrap();

            if item.is_abandoned() {
                // Abandoned together with an earlier, expired fragment of the same message.
                debug_assert!(!abandoned.is_empty());
                abandoned.push(*tsn);
                continue;
            }

            debug_assert!(item.should_be_retransmitted());
            debug_assert!(!item.is_outstanding());
            debug_assert!(!item.is_acked());

            if item.has_expired(now) {
                self.abandon_all_for(tsn.0);
                abandoned.push(*tsn);
                continue;
            }

            let size = round_up_to_4!(self.data_chunk_header_size + item.data.payload.len());
            if size <= max_size {
                item.mark_as_retransmitted(now, next_tsn);
                result.push((tsn.0, item.data.clone()));
                max_size -= size;
                self.unacked_payload_bytes += item.data.payload.len();
                self.unacked_packet_bytes += size;
                self.unacked_items += 1;
            }
        }
        for tsn in &abandoned {
            tsns.remove(tsn);
        }
        for (tsn, _) in &result {
            tsns.remove(&OrderedTsn(*tsn));
        }
        result
    }

    /// Returns as many of the chunks that are eligible for fast retransmissions and that would fit
    /// in a single packet of `max_size`. Any chunks encountered that have expired at `now` are
    /// abandoned instead of being returned. The eligible chunks that didn't fit will be marked for
    /// (normal) retransmission and will not be returned if this method is called again.
    ///
    /// Note: This may discard unsent messages - call `get_unsent_messages_to_discard`.
    pub fn get_chunks_to_be_fast_retransmitted(
        &mut self,
        now: SocketTime,
        max_size: usize,
    ) -> Vec<(Tsn, Data)> {
        let mut tsns = std::mem::take(&mut self.to_be_fast_retransmitted);
        let chunks = self.extract_chunks_that_can_fit(now, max_size, &mut tsns);

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4-5.5.1>:
        //
        //   Those TSNs marked for retransmission due to the Fast-Retransmit algorithm that did not
        //   fit in the sent datagram carrying K other TSNs are also marked as ineligible for a
        //   subsequent Fast Retransmit. However, as they are marked for retransmission, they will
        //   be retransmitted later on as soon as cwnd allows."
        self.to_be_retransmitted.extend(tsns);
        chunks
    }

    /// Given `max_size` of space left in a packet, returns the chunks that can be added to it. Any
    /// chunks encountered that have expired at `now` are abandoned (along with all other fragments
    /// of the same message) instead of being returned.
    ///
    /// Note: This may discard unsent messages - call `get_unsent_messages_to_discard`.
    pub fn get_chunks_to_be_retransmitted(
        &mut self,
        now: SocketTime,
        max_size: usize,
    ) -> Vec<(Tsn, Data)> {
        let mut tsns = std::mem::take(&mut self.to_be_retransmitted);
        let chunks = self.extract_chunks_that_can_fit(now, max_size, &mut tsns);
        std::mem::swap(&mut self.to_be_retransmitted, &mut tsns);
        chunks
    }

    pub fn unacked_payload_bytes(&self) -> usize {
        self.unacked_payload_bytes
    }

    pub fn unacked_packet_bytes(&self) -> usize {
        self.unacked_packet_bytes
    }

    /// Returns the number of DATA chunks that are in-flight (not acked or nacked).
    pub fn unacked_items(&self) -> usize {
        self.unacked_items
    }

    /// Given the current time `now`, expire and abandon outstanding (sent at least once) chunks
    /// that have a limited lifetime.
    pub fn expire_outstanding_chunks(&mut self, now: SocketTime) {
        let mut tsns_to_expire: Vec<Tsn> = Vec::new();
        let mut tsn = self.last_cumulative_tsn_ack;
        for item in &self.outstanding_data {
            tsn += 1;
            // Chunks that are nacked can be expired. Care should be taken not to expire unacked
            // (in-flight) chunks as they might have been received, but the SACK is either delayed
            // or in-flight and may be received later.
            if item.is_abandoned() {
                // Already abandoned.
            } else if item.is_nacked() && item.has_expired(now) {
                tsns_to_expire.push(tsn);
            } else {
                // A non-expired chunk means there's no need to continue as no FORWARD-TSN can be
                // sent past this point anyway.
                break;
            }
        }
        for tsn in tsns_to_expire {
            // Note that the TSNs in `tsns_to_expire` may already have been abandoned by
            // `abandon_all_for` (being a fragment of the same message as a previously
            // expired chunk).
            let index = tsn.distance_to(self.last_cumulative_tsn_ack) - 1;
            let item = &self.outstanding_data[index as usize];
            if !item.is_abandoned() {
                self.abandon_all_for(tsn);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.outstanding_data.is_empty()
    }

    pub fn has_data_to_be_fast_retransmitted(&self) -> bool {
        !self.to_be_fast_retransmitted.is_empty()
    }

    pub fn has_data_to_be_retransmitted(&self) -> bool {
        !self.to_be_retransmitted.is_empty() || !self.to_be_fast_retransmitted.is_empty()
    }

    pub fn last_cumulative_acked_tsn(&self) -> Tsn {
        self.last_cumulative_tsn_ack
    }

    pub fn next_tsn(&self) -> Tsn {
        self.highest_outstanding_tsn() + 1
    }

    pub fn highest_outstanding_tsn(&self) -> Tsn {
        self.last_cumulative_tsn_ack.add_to(self.outstanding_data.len() as u32)
    }

    /// Schedules `data` to be sent, with the provided partial reliability parameters. Returns the
    /// TSN if the item was actually added and scheduled to be sent, and nothing if it shouldn't be
    /// sent.
    ///
    /// Note: This may discard unsent messages - call `get_unsent_messages_to_discard`.
    pub fn insert(
        &mut self,
        message_id: OutgoingMessageId,
        data: &Data,
        time_sent: SocketTime,
        max_retransmissions: u16,
        expires_at: SocketTime,
        lifecycle_id: Option<LifecycleId>,
    ) -> Option<Tsn> {
        // Verify that the client has called `get_unsent_messages_to_discard`, so that this message
        // isn't a fragment of an already discarded message.
        debug_assert!(self.unsent_messages_to_discard.is_empty());

        self.unacked_payload_bytes += data.payload.len();
        // All chunks are always padded to be even divisible by 4.
        let chunk_size = round_up_to_4!(self.data_chunk_header_size + data.payload.len());
        self.unacked_packet_bytes += chunk_size;
        self.unacked_items += 1;
        let tsn = self.next_tsn();
        let item = Item {
            message_id,
            max_retransmissions,
            expires_at,
            lifecycle_id,
            data: data.clone(),
            state: ItemState::InFlight { time_sent },
            num_retransmissions: 0,
            retransmitted_before: None,
        };
        self.outstanding_data.push_back(item);
        let item = self.outstanding_data.back().unwrap();
        if item.expires_at <= time_sent {
            // No need to send it - it was expired when it was in the send queue.
            log::debug!(
                "Marking freshly produced chunk {} and message {} as expired",
                tsn,
                item.data.mid
            );
            self.abandon_all_for(tsn);
            return None;
        }

        Some(tsn)
    }

    /// Abandon all chunks in this message, and if no end is found, add a placeholder "end", that
    /// will also be abandoned.
    fn abandon_all_for(&mut self, tsn: Tsn) {
        let index = tsn.distance_to(self.last_cumulative_tsn_ack) - 1;
        let item = self.outstanding_data.get(index as usize).unwrap();
        let message_id = item.message_id;
        let stream_key = item.data.stream_key;
        let ssn = item.data.ssn;
        let mid = item.data.mid;

        let mut end_found = false;
        let mut tsn = self.last_cumulative_tsn_ack;
        for other in &mut self.outstanding_data {
            tsn += 1;
            if other.message_id == message_id {
                end_found |= other.data.is_end;
                if !other.is_abandoned() {
                    let was_outstanding = other.is_outstanding();
                    if other.should_be_retransmitted() {
                        self.to_be_fast_retransmitted.remove(&OrderedTsn(tsn));
                        self.to_be_retransmitted.remove(&OrderedTsn(tsn));
                    }
                    other.abandon();
                    if was_outstanding {
                        self.unacked_payload_bytes -= other.data.payload.len();
                        self.unacked_packet_bytes -=
                            round_up_to_4!(self.data_chunk_header_size + other.data.payload.len());
                        self.unacked_items -= 1;
                    }
                }
            }
        }
        if end_found {
            return;
        }

        // There were remaining chunks to be produced for this message. Since the receiver may have
        // already received all chunks (up till now) for this message, we can't just FORWARD-TSN to
        // the last fragment in this (abandoned) message and start sending a new message, as the
        // receiver will then see a new message before the end of the previous one was seen (or
        // skipped over). So create a new fragment, representing the end, that the received will
        // never see as it is abandoned immediately and used as TSN in the sent FORWARD-TSN.
        let data = Data { stream_key, ssn, mid, is_end: true, ..Default::default() };
        let item = Item {
            message_id,
            max_retransmissions: 0,
            expires_at: SocketTime::zero(),
            lifecycle_id: None,
            data,
            state: ItemState::AbandonedAndAcked,
            num_retransmissions: 0,
            retransmitted_before: None,
        };
        self.outstanding_data.push_back(item);
        self.unsent_messages_to_discard.push((stream_key.id(), message_id));
    }

    /// Nacks all outstanding data. Chunks that have expired at `now` are abandoned instead of being
    /// marked for retransmission.
    ///
    /// Note: This may discard unsent messages - call `get_unsent_messages_to_discard`.
    pub fn nack_all(&mut self, now: SocketTime) {
        // A two-pass algorithm is needed, as `nack_chunk` may modify `outstanding_data`.
        let mut tsns_to_nack: Vec<Tsn> = Vec::new();
        let mut tsn = self.last_cumulative_tsn_ack;
        for item in &self.outstanding_data {
            tsn += 1;
            if !item.is_acked() {
                tsns_to_nack.push(tsn);
            }
        }

        for tsn in &tsns_to_nack {
            self.nack_chunk(now, *tsn, true, false);
        }
    }

    /// Creates a FORWARD-TSN chunk.
    pub fn create_forward_tsn(&self) -> ForwardTsnChunk {
        let mut skipped_per_ordered_stream: BTreeMap<StreamId, Ssn> = BTreeMap::new();
        let mut new_cumulative_tsn = self.last_cumulative_tsn_ack;

        let mut tsn = self.last_cumulative_tsn_ack;
        for item in &self.outstanding_data {
            tsn += 1;
            if self.stream_reset_breakpoint_tsns.contains(&OrderedTsn(tsn))
                || tsn != new_cumulative_tsn + 1
                || !item.is_abandoned()
            {
                break;
            }
            new_cumulative_tsn = tsn;

            if item.data.stream_key.is_ordered() {
                let entry =
                    skipped_per_ordered_stream.entry(item.data.stream_key.id()).or_insert(Ssn(0));
                if item.data.ssn.greater_than(*entry) {
                    *entry = item.data.ssn;
                }
            }
        }

        let skipped_streams: Vec<SkippedStream> = skipped_per_ordered_stream
            .iter()
            .map(|(stream_id, ssn)| SkippedStream::ForwardTsn(*stream_id, *ssn))
            .collect();

        ForwardTsnChunk { new_cumulative_tsn, skipped_streams }
    }

    /// Creates an I-FORWARD-TSN chunk.
    pub fn create_iforward_tsn(&self) -> IForwardTsnChunk {
        let mut skipped_per_stream: BTreeMap<StreamKey, Mid> = BTreeMap::new();
        let mut new_cumulative_tsn = self.last_cumulative_tsn_ack;

        let mut tsn = self.last_cumulative_tsn_ack;
        for item in &self.outstanding_data {
            tsn += 1;
            if self.stream_reset_breakpoint_tsns.contains(&OrderedTsn(tsn))
                || tsn != new_cumulative_tsn + 1
                || !item.is_abandoned()
            {
                break;
            }
            new_cumulative_tsn = tsn;

            let entry = skipped_per_stream.entry(item.data.stream_key).or_insert(Mid(0));
            if item.data.mid.greater_than(*entry) {
                *entry = item.data.mid;
            }
        }

        let skipped_streams: Vec<SkippedStream> = skipped_per_stream
            .iter()
            .map(|(stream_key, mid)| SkippedStream::IForwardTsn(*stream_key, *mid))
            .collect();

        IForwardTsnChunk { new_cumulative_tsn, skipped_streams }
    }

    /// Given the current time and a TSN, it returns the measured RTT between when the chunk was
    /// sent and now. It takes into account Karn's algorithm, so if the chunk has ever been
    /// retransmitted, it will return `None`.
    pub fn measure_rtt(&mut self, now: SocketTime, tsn: Tsn) -> Option<Duration> {
        if tsn.greater_than(self.last_cumulative_tsn_ack) && tsn.less_than(self.next_tsn()) {
            let index = tsn.distance_to(self.last_cumulative_tsn_ack) - 1;
            let item = self.outstanding_data.get_mut(index as usize).unwrap();
            return item.get_rtt_from(now);
        }
        None
    }

    /// Returns the internal state of all queued chunks. This is only used in unit-tests.
    pub fn get_chunk_states_for_testing(&self) -> Vec<(Tsn, ChunkState)> {
        let mut states: Vec<(Tsn, ChunkState)> = vec![];
        states.push((self.last_cumulative_tsn_ack, ChunkState::Acked));
        let mut tsn = self.last_cumulative_tsn_ack;
        for item in &self.outstanding_data {
            tsn += 1;
            let state = match &item.state {
                ItemState::Abandoned | ItemState::AbandonedAndAcked => ChunkState::Abandoned,
                ItemState::QueuedForRetransmission { .. } => ChunkState::ToBeRetransmitted,
                ItemState::Acked => ChunkState::Acked,
                ItemState::ReportedMissing { .. } => ChunkState::Nacked,
                ItemState::InFlight { .. } => ChunkState::InFlight,
            };
            states.push((tsn, state));
        }
        states
    }

    /// Returns true if the next chunk that is not acked by the peer has been abandoned, which means
    /// that a FORWARD-TSN should be sent.
    pub fn should_send_forward_tsn(&self) -> bool {
        self.outstanding_data.front().map(|c| c.is_abandoned()).unwrap_or(false)
    }

    /// Sets the next TSN to be used. This is used in handover.
    pub fn reset_sequence_numbers(&mut self, last_cumulative_tsn: Tsn) {
        self.last_cumulative_tsn_ack = last_cumulative_tsn;
    }

    pub(crate) fn add_to_handover_state(&self, now: SocketTime, state: &mut SocketHandoverState) {
        state.tx.last_cumulative_tsn_ack = self.last_cumulative_tsn_ack.0;
        state.tx.outstanding_data = self
            .outstanding_data
            .iter()
            .map(|item| {
                let expires_in_ms = if item.expires_at == SocketTime::infinite_future() {
                    None
                } else {
                    Some(i32::try_from((item.expires_at - now).as_millis()).unwrap_or(i32::MAX))
                };
                let time_since_sent_ms = item.state.time_sent().map_or(0, |time_sent| {
                    i32::try_from((now - time_sent).as_millis()).unwrap_or(i32::MAX)
                });
                HandoverOutstandingData {
                    mid: item.data.mid.0,
                    stream_id: item.data.stream_key.id().0,
                    ssn: item.data.ssn.0,
                    fsn: item.data.fsn.0,
                    ppid: item.data.ppid.0,
                    payload: item.data.payload.clone(),
                    expires_in_ms,
                    max_retransmissions: item.max_retransmissions,
                    is_beginning: item.data.is_beginning,
                    is_end: item.data.is_end,
                    is_unordered: item.data.stream_key.is_unordered(),
                    lifecycle_id: item.lifecycle_id.map_or(0, |id| id.value()),
                    time_since_sent_ms,
                    retransmission_count: item.num_retransmissions,
                    acked: item.is_acked(),
                    is_abandoned: item.is_abandoned(),
                    is_nacked: item.is_nacked(),
                    // Forcefully retransmit any actively in-flight (outstanding) chunks.
                    // Since the old network path is severed during handover, waiting for
                    // their ACKs can cause a multi-second T3-rtx timeout stall.
                    // Chunks already scheduled for retransmission remain so.
                    is_to_be_retransmitted: item.should_be_retransmitted() || item.is_outstanding(),
                    message_id: u64::from(item.message_id.0),
                }
            })
            .collect();
    }

    pub(crate) fn restore_from_state(&mut self, now: SocketTime, state: &SocketHandoverState) {
        if state.tx.outstanding_data.is_empty() {
            self.last_cumulative_tsn_ack = Tsn(state.tx.next_tsn.wrapping_sub(1));
        } else {
            self.last_cumulative_tsn_ack = Tsn(state.tx.last_cumulative_tsn_ack);
        }
        self.outstanding_data.clear();
        self.unacked_payload_bytes = 0;
        self.unacked_packet_bytes = 0;
        self.unacked_items = 0;
        self.to_be_fast_retransmitted.clear();
        self.to_be_retransmitted.clear();
        self.stream_reset_breakpoint_tsns.clear();
        self.unsent_messages_to_discard.clear();

        for data in &state.tx.outstanding_data {
            let expires_at = data.expires_in_ms.map_or(SocketTime::infinite_future(), |ms| {
                now + Duration::from_millis(ms.max(0) as u64)
            });
            let time_sent = now - Duration::from_millis(data.time_since_sent_ms.max(0) as u64);
            let item_state = if data.is_abandoned {
                if data.acked { ItemState::AbandonedAndAcked } else { ItemState::Abandoned }
            } else if data.acked {
                ItemState::Acked
            } else if data.is_to_be_retransmitted {
                ItemState::QueuedForRetransmission { time_sent }
            } else if data.is_nacked {
                ItemState::ReportedMissing { time_sent, nack_count: 1 }
            } else {
                ItemState::InFlight { time_sent }
            };

            let item_data = Data {
                stream_key: StreamKey::new(data.is_unordered, StreamId(data.stream_id)),
                ssn: Ssn(data.ssn),
                mid: Mid(data.mid),
                fsn: Fsn(data.fsn),
                ppid: PpId(data.ppid),
                payload: data.payload.clone(),
                is_beginning: data.is_beginning,
                is_end: data.is_end,
            };

            let item = Item {
                message_id: OutgoingMessageId(data.message_id as u32),
                max_retransmissions: data.max_retransmissions,
                expires_at,
                lifecycle_id: LifecycleId::new(data.lifecycle_id),
                data: item_data,
                state: item_state,
                num_retransmissions: data.retransmission_count,
                retransmitted_before: None,
            };

            let tsn = self.next_tsn();
            if item.should_be_retransmitted() {
                self.to_be_retransmitted.insert(OrderedTsn(tsn));
            }

            if item.is_outstanding() {
                self.unacked_payload_bytes += item.data.payload.len();
                self.unacked_packet_bytes +=
                    round_up_to_4!(self.data_chunk_header_size + item.data.payload.len());
                self.unacked_items += 1;
            }

            self.outstanding_data.push_back(item);
        }
    }

    /// Called when an outgoing stream reset is sent, marking the last assigned TSN as a breakpoint
    /// that a FORWARD-TSN shouldn't cross.
    pub fn begin_reset_streams(&mut self) {
        self.stream_reset_breakpoint_tsns.insert(OrderedTsn(self.next_tsn()));
    }
}
