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

use crate::api::Options;
use crate::api::SocketTime;
use crate::api::handover::HandoverReadiness;
use crate::api::handover::SocketHandoverState;
use crate::packet::sack_chunk::GapAckBlock;
use crate::packet::sack_chunk::SackChunk;
use crate::timer::Timer;
use crate::types::SerialNumber;
use crate::types::Tsn;
use std::cmp::min;
use std::ops::Range;
use std::time::Duration;

/// The maximum number of accepted in-flight DATA chunks. This indicates the maximum difference from
/// this buffer's last cumulative ack TSN, and any received data. Data received beyond this limit
/// will be dropped, which will force the transmitter to send data that actually increases the last
/// cumulative acked TSN.
const MAX_ACCEPTED_OUTSTANDING_FRAGMENTS: u32 = 100000;

/// The maximum number of duplicate TSNs that will be reported in a SACK.
const MAX_DUPLICATE_TSN_REPORTED: usize = 20;

/// The maximum number of gap-ack-blocks that will be reported in a SACK.
///
/// What is not reported stays in flight for the sender, who waits for it until the retransmission
/// timer expires. The bound is what fits into a packet, see
/// <https://datatracker.ietf.org/doc/html/rfc9260#section-3.3.4>.
#[cfg(not(test))]
const MAX_GAP_ACK_BLOCKS_REPORTED: usize = 256;
#[cfg(test)]
const MAX_GAP_ACK_BLOCKS_REPORTED: usize = 20;

#[derive(Debug, PartialEq)]
enum AckState {
    /// Initial state. No packets have been received yet.
    Initial,

    /// No need to send an ACK.
    Idle,

    /// Has received data chunks (but not yet end of packet).
    BecomingDelayed,

    /// Has received data chunks and the end of a packet. Delayed ack timer is running and a SACK
    /// will be sent on expiry, or if DATA is sent, or after next packet with data.
    Delayed,

    /// Send a SACK immediately after handling this packet.
    Immediate,
}

/// Keeps track of received DATA chunks and handles all logic for _when_ to create SACKs and also
/// _how_ to generate them.
///
/// It only uses TSNs to track delivery and doesn't need to be aware of streams.
///
/// SACKs are optimally sent every second packet on connections with no packet loss. When packet
/// loss is detected, it's sent for every packet. When SACKs are not sent directly, a timer is used
/// to send a SACK delayed (by RTO/2, or 200 ms, whatever is smallest).
pub struct DataTracker {
    ack_state: AckState,

    /// All TSNs up until (and including) this value have been seen.
    last_cumulative_acked_tsn: Tsn,

    /// Received TSNs that are not directly following `last_cumulative_acked_tsn`. Note that these
    /// are open ranges, with the `end` value not being included.
    additional_tsn_blocks: Vec<Range<Tsn>>,

    duplicates: Vec<Tsn>,
    delayed_ack_timer: Timer,
    delayed_ack_max_timeout: Duration,
}

impl DataTracker {
    pub fn new(peer_initial_tsn: Tsn, options: &Options) -> DataTracker {
        DataTracker {
            ack_state: AckState::Initial,
            last_cumulative_acked_tsn: peer_initial_tsn - 1,
            additional_tsn_blocks: vec![],
            duplicates: vec![],
            delayed_ack_timer: Timer::new(
                options.delayed_ack_max_timeout,
                crate::timer::BackoffAlgorithm::Exponential,
                Some(0),
                None,
            ),
            delayed_ack_max_timeout: options.delayed_ack_max_timeout,
        }
    }

    pub fn update_rto(&mut self, rto: Duration) {
        let delayed_ack_tmo = min(rto / 2, self.delayed_ack_max_timeout);
        self.delayed_ack_timer.set_duration(delayed_ack_tmo);
    }

    pub fn next_timeout(&self) -> Option<SocketTime> {
        self.delayed_ack_timer.next_expiry()
    }

    /// Returns the last cumulative ack TSN - the last seen data chunk's TSN value before any packet
    /// loss was detected.
    pub fn last_cumulative_acked_tsn(&self) -> Tsn {
        self.last_cumulative_acked_tsn
    }

    pub fn is_tsn_valid(&self, tsn: Tsn) -> bool {
        // Note that this method doesn't return `false` for old DATA chunks, as those are actually
        // valid, and receiving those may affect the generated SACK response (by setting "duplicate
        // TSNs").

        let difference = tsn.distance_to(self.last_cumulative_acked_tsn);
        difference <= MAX_ACCEPTED_OUTSTANDING_FRAGMENTS
    }

    fn maybe_add_duplicate_tsn(&mut self, tsn: Tsn) {
        if self.duplicates.len() < MAX_DUPLICATE_TSN_REPORTED {
            self.duplicates.push(tsn);
        }
    }

    fn add_additional_tsn(&mut self, tsn: Tsn) -> bool {
        let idx = self.additional_tsn_blocks.partition_point(|r| r.start.less_than_or_equal(tsn));

        // Check if it's a duplicate in the block before insertion point.
        if idx > 0
            && (self.additional_tsn_blocks[idx - 1].start.less_than_or_equal(tsn)
                && tsn.less_than(self.additional_tsn_blocks[idx - 1].end))
        {
            return false;
        }

        let extend_prev = idx > 0 && self.additional_tsn_blocks[idx - 1].end == tsn;
        let extend_next = idx < self.additional_tsn_blocks.len()
            && self.additional_tsn_blocks[idx].start == tsn + 1;

        match (extend_prev, extend_next) {
            (true, true) => {
                // Merge with previous and next block.
                let next_end = self.additional_tsn_blocks[idx].end;
                self.additional_tsn_blocks[idx - 1].end = next_end;
                self.additional_tsn_blocks.remove(idx);
            }
            (true, false) => {
                // Extend previous block.
                self.additional_tsn_blocks[idx - 1].end = tsn + 1;
            }
            (false, true) => {
                // Extend next block.
                self.additional_tsn_blocks[idx].start = tsn;
            }
            (false, false) => {
                // Insert new block.
                self.additional_tsn_blocks.insert(idx, tsn..tsn + 1);
            }
        }
        true
    }

    /// Call for every incoming data chunk. Returns `true` if `tsn` was seen for the first time, and
    /// `false` if it has been seen before (a duplicate `tsn`).
    pub fn observe(&mut self, now: SocketTime, tsn: Tsn, immediate_ack: bool) -> bool {
        let mut is_duplicate = false;

        // is_tsn_valid must be called prior to calling this method.
        debug_assert!(self.is_tsn_valid(tsn));

        // Old chunk already seen before?
        if tsn.less_than_or_equal(self.last_cumulative_acked_tsn) {
            self.maybe_add_duplicate_tsn(tsn);
            is_duplicate = true;
        } else if tsn == self.last_cumulative_acked_tsn + 1 {
            self.last_cumulative_acked_tsn = tsn;
            // The cumulative acked tsn may be moved even further, if a gap was filled.
            if !self.additional_tsn_blocks.is_empty()
                && self.additional_tsn_blocks[0].start == self.last_cumulative_acked_tsn + 1
            {
                self.last_cumulative_acked_tsn = self.additional_tsn_blocks[0].end - 1;
                self.additional_tsn_blocks.remove(0);
            }
        } else {
            let inserted = self.add_additional_tsn(tsn);
            if !inserted {
                // Already seen before.
                self.maybe_add_duplicate_tsn(tsn);
                is_duplicate = true;
            }
        }

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.2>:
        //
        //   When a packet arrives with duplicate DATA chunk(s) and with no new DATA chunk(s), the
        //   endpoint MUST immediately send a SACK with no delay. If a packet arrives with duplicate
        //   DATA chunk(s) bundled with new DATA chunks, the endpoint MAY immediately send a SACK.
        if is_duplicate {
            self.update_ack_state(now, AckState::Immediate);
        }

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.7>:
        //
        //   Upon the reception of a new DATA chunk, an endpoint shall examine the continuity of the
        //   TSNs received. If the endpoint detects a gap in the received DATA chunk sequence, it
        //   SHOULD send a SACK with Gap Ack Blocks immediately. The data receiver continues sending
        //   a SACK after receipt of each SCTP packet that doesn't fill the gap.
        if !self.additional_tsn_blocks.is_empty() {
            self.update_ack_state(now, AckState::Immediate);
        }

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.2-9>:
        //
        //   Upon receipt of an SCTP packet containing a DATA chunk with the I bit set, the receiver
        //   SHOULD NOT delay the sending of the corresponding SACK chunk, i.e., the receiver SHOULD
        //   immediately respond with the corresponding SACK chunk.
        if immediate_ack {
            self.update_ack_state(now, AckState::Immediate);
        }

        if self.ack_state == AckState::Initial {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-5.1-8>:
            //
            //   After the reception of the first DATA chunk in an association, the endpoint MUST
            //   immediately respond with a SACK chunk to acknowledge the DATA chunk.
            self.update_ack_state(now, AckState::Immediate);
        }

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.2-3>:
        //
        //   Specifically, an acknowledgement SHOULD be generated for at least every second packet
        //   (not every second DATA chunk) received and SHOULD be generated within 200 ms of the
        //   arrival of any unacknowledged DATA chunk."
        match &self.ack_state {
            AckState::Idle => self.update_ack_state(now, AckState::BecomingDelayed),
            AckState::Delayed => self.update_ack_state(now, AckState::Immediate),
            _ => {}
        }
        !is_duplicate
    }

    /// Called for incoming FORWARD-TSN/I-FORWARD-TSN chunks. Indicates if the chunk had any effect.
    pub fn handle_forward_tsn(&mut self, now: SocketTime, new_cumulative_tsn: Tsn) -> bool {
        // ForwardTSN is sent to make the receiver (this socket) "forget" about partly received (or
        // not received at all) data, up until `new_cumulative_ack`.

        // Old chunk already seen before?
        if new_cumulative_tsn.less_than_or_equal(self.last_cumulative_acked_tsn) {
            // From <https://datatracker.ietf.org/doc/html/rfc3758#section-3.6>:
            //
            //   Note, if the "New Cumulative TSN" value carried in the arrived FORWARD TSN chunk is
            //   found to be behind or at the current cumulative TSN point, the data receiver MUST
            //   treat this FORWARD TSN as out-of-date and MUST NOT update its Cumulative TSN. The
            //   receiver SHOULD send a SACK to its peer (the sender of the FORWARD TSN) since such
            //   a duplicate may indicate the previous SACK was lost in the network."
            self.update_ack_state(now, AckState::Immediate);
            return false;
        }

        // From <https://datatracker.ietf.org/doc/html/rfc3758#section-3.6>:
        //
        //   When a FORWARD TSN chunk arrives, the data receiver MUST first update its cumulative
        //   TSN point to the value carried in the FORWARD TSN chunk, and then MUST further advance
        //   its cumulative TSN point locally if possible, as shown by the following example [...]
        //
        // If there have been prior gaps that are now overlapping with the new value, remove them.
        self.last_cumulative_acked_tsn = new_cumulative_tsn;
        self.additional_tsn_blocks.retain_mut(|b| {
            if b.end.less_than_or_equal(new_cumulative_tsn) {
                false
            } else {
                if b.start.less_than_or_equal(new_cumulative_tsn) {
                    b.start = new_cumulative_tsn + 1;
                }
                true
            }
        });

        // See if the `last_cumulative_acked_tsn` can be moved even further.
        if !self.additional_tsn_blocks.is_empty()
            && self.additional_tsn_blocks[0].start == new_cumulative_tsn + 1
        {
            self.last_cumulative_acked_tsn = self.additional_tsn_blocks[0].end - 1;
            self.additional_tsn_blocks.remove(0);
        }

        // From <https://datatracker.ietf.org/doc/html/rfc3758#section-3.6>:
        //
        //   Any time a FORWARD TSN chunk arrives, for the purposes of sending a SACK, the receiver
        //   MUST follow the same rules as if a DATA chunk had been received (i.e., follow the
        //   delayed sack rules specified in [...]
        if self.ack_state == AckState::Idle || self.ack_state == AckState::Initial {
            self.update_ack_state(now, AckState::BecomingDelayed);
        } else if self.ack_state == AckState::Delayed {
            self.update_ack_state(now, AckState::Immediate);
        }
        true
    }

    /// Creates a selective ack and returns it. Note that this will modify state, so the chunk must
    /// be sent.
    pub fn create_selective_ack(&mut self, a_rwnd: u32) -> SackChunk {
        // Note that in SCTP, the receiver side is allowed to discard received data and signal that
        // to the sender, but only chunks that have previously been reported in the gap-ack-blocks.
        // However, this implementation will never do that. So this SACK produced is more like a
        // NR-SACK, as explained in <https://ieeexplore.ieee.org/document/4697037>, for which there
        // is an RFC draft at
        // <https://datatracker.ietf.org/doc/html/draft-tuexen-tsvwg-sctp-multipath>.
        let cumulative_tsn_ack = self.last_cumulative_acked_tsn;

        let gap_ack_blocks: Vec<GapAckBlock> = self
            .additional_tsn_blocks
            .iter()
            .take(MAX_GAP_ACK_BLOCKS_REPORTED)
            .filter_map(|b| {
                let start = u16::try_from(b.start.distance_to(cumulative_tsn_ack)).ok()?;
                let end = u16::try_from(b.end.distance_to(cumulative_tsn_ack) - 1).ok()?;
                Some(GapAckBlock { start, end })
            })
            .collect();

        SackChunk {
            cumulative_tsn_ack,
            a_rwnd,
            gap_ack_blocks,
            duplicate_tsns: std::mem::take(&mut self.duplicates),
        }
    }

    /// Indicates if a SACK should be sent. There may be many reasons to send a SACK, and if this
    /// function indicates so, it should be sent as soon as possible. Calling this function will
    /// make it clear a flag so that if it's called again, it will probably return false.
    ///
    /// If the delayed ack timer is running, this method will return false _unless_
    /// `also_if_delayed` is set to true. Then it will return true as well.
    pub fn should_send_ack(&mut self, now: SocketTime, also_if_delayed: bool) -> bool {
        if self.ack_state == AckState::Immediate
            || (also_if_delayed
                && (self.ack_state == AckState::BecomingDelayed
                    || self.ack_state == AckState::Delayed))
        {
            self.update_ack_state(now, AckState::Idle);
            return true;
        }

        false
    }

    pub fn will_increase_cum_ack_tsn(&self, tsn: Tsn) -> bool {
        tsn == self.last_cumulative_acked_tsn + 1
    }

    /// Whether something was received behind what is missing.
    pub fn has_gap(&self) -> bool {
        !self.additional_tsn_blocks.is_empty()
    }

    pub fn force_immediate_sack(&mut self, now: SocketTime) {
        self.update_ack_state(now, AckState::Immediate);
    }

    /// Handles the delayed acknowledgement timer.
    ///
    /// Returns `true` if the timer expired.
    pub fn handle_timeout(&mut self, now: SocketTime) -> bool {
        if !self.delayed_ack_timer.expire(now) {
            return false;
        }
        self.update_ack_state(now, AckState::Immediate);
        true
    }

    /// Called at the end of processing an SCTP packet.
    pub fn observe_packet_end(&mut self, now: SocketTime) {
        if self.ack_state == AckState::BecomingDelayed {
            self.update_ack_state(now, AckState::Delayed);
        }
    }

    fn update_ack_state(&mut self, now: SocketTime, new_state: AckState) {
        if self.ack_state != new_state {
            if self.ack_state == AckState::Delayed {
                self.delayed_ack_timer.stop();
            } else if new_state == AckState::Delayed {
                self.delayed_ack_timer.start(now);
            }
            self.ack_state = new_state;
        }
    }

    pub(crate) fn get_handover_readiness(&self) -> HandoverReadiness {
        HandoverReadiness::DATA_TRACKER_TSN_BLOCKS_PENDING & !self.additional_tsn_blocks.is_empty()
    }

    pub(crate) fn add_to_handover_state(&self, state: &mut SocketHandoverState) {
        state.rx.last_cumulative_acked_tsn = self.last_cumulative_acked_tsn.0;
        state.rx.seen_packet = self.ack_state != AckState::Initial;
    }

    pub(crate) fn restore_from_state(&mut self, state: &SocketHandoverState) {
        self.last_cumulative_acked_tsn = Tsn(state.rx.last_cumulative_acked_tsn);
        self.ack_state = if state.rx.seen_packet { AckState::Idle } else { AckState::Initial };
    }
}
