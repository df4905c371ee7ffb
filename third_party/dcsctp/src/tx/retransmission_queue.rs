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
use crate::EventSink;
use crate::api::Options;
use crate::api::SocketEvent;
use crate::api::SocketTime;
use crate::api::StreamId;
use crate::api::handover::HandoverReadiness;
use crate::api::handover::SocketHandoverState;
use crate::math::is_divisible_by_4;
use crate::math::round_down_to_4;
use crate::math::round_up_to_4;
use crate::packet::chunk::Chunk;
use crate::packet::data::Data;
use crate::packet::data_chunk;
use crate::packet::idata_chunk;
use crate::packet::sack_chunk::SackChunk;
use crate::packet::sctp_packet::COMMON_HEADER_SIZE;
use crate::timer::Timer;
use crate::timer::{self};
use crate::tx::outstanding_data::ChunkState;
use crate::tx::outstanding_data::OutstandingData;
use crate::tx::send_queue::DataToSend;
use crate::types::OutgoingMessageId;
use crate::types::SerialNumber;
use crate::types::Tsn;
use std::cell::RefCell;
use std::cmp::max;
use std::cmp::min;
use std::rc::Rc;
use std::time::Duration;

#[derive(Debug, PartialEq)]
enum CongestionAlgorithmPhase {
    SlowStart,
    CongestionAvoidance,
}

#[derive(Debug, PartialEq)]
pub enum HandleSackResult {
    Invalid,
    Valid { rtt: Option<Duration>, reset_error_counter: bool },
}

pub struct RetransmissionQueue {
    /// What chunks can take of a packet (PMDCS, RFC 9260 section 2.3): the common header is not in
    /// flight either.
    mtu: usize,

    cwnd_mtus_min: usize,

    avoid_fragmentation_cwnd_mtus: usize,

    /// If the peer supports RFC 3758 - SCTP Partial Reliability Extension.
    partial_reliability: bool,

    /// The size of the data chunk (DATA/I-DATA) header that is used.
    data_chunk_header_size: usize,

    /// If RFC 8260 message interleaving is active.
    use_message_interleaving: bool,

    /// Congestion Window. Number of bytes that may be in-flight (sent, not acked).
    cwnd: usize,

    /// The peer's last "Advertised Receiver Window", as indicated in inbound SACKs.
    a_rwnd: usize,

    /// Slow start threshold. See RFC 9260.
    ssthresh: usize,

    /// Partial bytes acked. See RFC 9260.
    partial_bytes_acked: usize,

    /// See [`crate::api::Metrics::rtx_packets_count`].
    rtx_packets_count: usize,

    /// See [`crate::api::Metrics::rtx_bytes_count`].
    rtx_bytes_count: u64,

    /// If set, fast recovery is enabled until this TSN has been cumulative acked.
    fast_recovery_exit_tsn: Option<Tsn>,

    /// All the outstanding data chunks that are in-flight and that have not been cumulative acked.
    /// Note that it also contains chunks that have been acked in gap ack blocks.
    outstanding_data: OutstandingData,

    enable_handover_with_outstanding_data: bool,

    t3_rtx: Timer,

    events: Rc<RefCell<dyn EventSink>>,
}

impl RetransmissionQueue {
    pub fn new(
        events: Rc<RefCell<dyn EventSink>>,
        my_initial_tsn: Tsn,
        a_rwnd: u32,
        options: &Options,
        supports_partial_reliability: bool,
        use_message_interleaving: bool,
    ) -> Self {
        let data_chunk_header_size = if use_message_interleaving {
            idata_chunk::HEADER_SIZE
        } else {
            data_chunk::HEADER_SIZE
        };
        let pmdcs = round_down_to_4!(options.mtu) - COMMON_HEADER_SIZE;
        Self {
            mtu: pmdcs,
            cwnd_mtus_min: options.cwnd_mtus_min,
            avoid_fragmentation_cwnd_mtus: options.avoid_fragmentation_cwnd_mtus,
            partial_reliability: supports_partial_reliability,
            data_chunk_header_size,
            use_message_interleaving,
            cwnd: options.cwnd_mtus_initial * pmdcs,
            a_rwnd: a_rwnd as usize,
            ssthresh: a_rwnd as usize,
            partial_bytes_acked: 0,
            rtx_packets_count: 0,
            rtx_bytes_count: 0,
            fast_recovery_exit_tsn: None,
            outstanding_data: OutstandingData::new(data_chunk_header_size, my_initial_tsn - 1),
            enable_handover_with_outstanding_data: options.enable_handover_with_outstanding_data,
            t3_rtx: Timer::new(
                options.rto_initial,
                timer::BackoffAlgorithm::Fixed,
                None,
                options.max_timer_backoff_duration,
            ),
            events,
        }
    }

    fn start_t3_rtx_if_outstanding_data(&mut self, now: SocketTime) {
        // Note: Can't use `unacked_items` as that one doesn't count chunks to be retransmitted.
        if self.outstanding_data.is_empty() {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.2-2.2.1>:
            //
            //   Whenever all outstanding data sent to an address have been acknowledged, turn off
            //   the T3-rtx timer of that address.
        } else {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.2>:
            //
            //   Whenever a SACK chunk is received that acknowledges the DATA chunk with the
            //   earliest outstanding TSN for that address, restart the T3-rtx timer for that
            //   address with its current RTO (if there is still outstanding data on that address).
            //
            //   Whenever a SACK chunk is received missing a TSN that was previously acknowledged
            //   via a Gap Ack Block, start the T3-rtx for the destination address to which the DATA
            //   chunk was originally transmitted if it is not already running.
            if !self.t3_rtx.is_running() {
                self.t3_rtx.start(now);
            }
        }
    }

    pub fn next_timeout(&self) -> Option<SocketTime> {
        self.t3_rtx.next_expiry()
    }

    fn is_sack_valid(&self, sack: &SackChunk) -> bool {
        // Important not to drop SACKs with identical TSN to that previously received, as the gap
        // ACK blocks or dup TSN fields may have changed.
        if sack.cumulative_tsn_ack.less_than(self.outstanding_data.last_cumulative_acked_tsn()) {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.2.1-5.4.2.1.1>:
            //
            //   If Cumulative TSN Ack is less than the Cumulative TSN Ack Point, then drop the SACK
            //   chunk. Since Cumulative TSN Ack is monotonically increasing, a SACK chunk whose
            //   Cumulative TSN Ack is less than the Cumulative TSN Ack Point indicates an
            //   out-of-order SACK chunk.
            false
        } else {
            sack.cumulative_tsn_ack
                .less_than_or_equal(self.outstanding_data.highest_outstanding_tsn())
        }
    }

    fn maybe_exit_fast_recovery(&mut self, cumulative_tsn_ack: Tsn) {
        if let Some(fast_recovery_exit_tsn) = self.fast_recovery_exit_tsn {
            if cumulative_tsn_ack.greater_than_or_equal(fast_recovery_exit_tsn) {
                self.fast_recovery_exit_tsn = None;
            }
        }
    }

    fn is_in_fast_recovery(&self) -> bool {
        self.fast_recovery_exit_tsn.is_some()
    }

    fn phase(&self) -> CongestionAlgorithmPhase {
        if self.cwnd <= self.ssthresh {
            CongestionAlgorithmPhase::SlowStart
        } else {
            CongestionAlgorithmPhase::CongestionAvoidance
        }
    }

    fn handle_increased_cumulative_tsn_ack(
        &mut self,
        unacked_packet_bytes: usize,
        total_packet_bytes_acked: usize,
    ) {
        // Allow some margin for classifying as fully utilized, due to e.g. that too small packets
        // are not sent + overhead.
        let is_fully_utilized = unacked_packet_bytes + self.mtu >= self.cwnd;
        let old_cwnd = self.cwnd;

        // TODO: Make the implementation compliant with RFC 9260.
        match self.phase() {
            CongestionAlgorithmPhase::SlowStart => {
                if is_fully_utilized && !self.is_in_fast_recovery() {
                    // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.1>:
                    //
                    //   When cwnd is less than or equal to ssthresh, an SCTP endpoint MUST use the
                    //   slow-start algorithm to increase cwnd only if the current congestion window
                    //   is being fully utilized and the data sender is not in Fast Recovery. Only
                    //   when these two conditions are met can the cwnd be increased; otherwise, the
                    //   cwnd MUST NOT be increased. If these conditions are met, then cwnd MUST be
                    //   increased by, at most, the lesser of
                    //
                    //   1. the total size of the previously outstanding DATA chunk(s) acknowledged
                    //      and
                    //
                    //   2. L times the destination's PMDCS.
                    self.cwnd += min(total_packet_bytes_acked, self.mtu);
                    log::debug!("SS increase cwnd={} ({})", self.cwnd, old_cwnd);
                }
            }
            CongestionAlgorithmPhase::CongestionAvoidance => {
                // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.2>:
                //
                //   Whenever cwnd is greater than ssthresh, upon each SACK chunk arrival, increase
                //   partial_bytes_acked by the total number of bytes (including the chunk header
                //   and the padding) of all new DATA chunks acknowledged in that SACK chunk,
                //   including chunks acknowledged by the new Cumulative TSN Ack, by Gap Ack Blocks,
                //   and by the number of bytes of duplicated chunks reported in Duplicate TSNs.
                let old_pba = self.partial_bytes_acked;
                self.partial_bytes_acked += total_packet_bytes_acked;
                if self.partial_bytes_acked >= self.cwnd && is_fully_utilized {
                    // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.2>:
                    //
                    //   When (1) partial_bytes_acked is equal to or greater than cwnd and (2)
                    //   before the arrival of the SACK chunk the sender had cwnd or more bytes of
                    //   data outstanding (i.e., before the arrival of the SACK chunk, flightsize
                    //   was greater than or equal to cwnd), partial_bytes_acked is reset to
                    //   (partial_bytes_acked - cwnd). Next, cwnd is increased by PMDCS.
                    //
                    // Errata: <https://datatracker.ietf.org/doc/html/rfc8540#section-3.12>
                    self.partial_bytes_acked -= self.cwnd;
                    self.cwnd += self.mtu;
                    log::debug!(
                        "CA increase cwnd={} ({}), ssthresh={}, pba={} ({})",
                        self.cwnd,
                        old_cwnd,
                        self.ssthresh,
                        self.partial_bytes_acked,
                        old_pba
                    );
                } else {
                    log::debug!(
                        "CA unchanged cwnd={} ({}), ssthresh={}, pba={} ({})",
                        self.cwnd,
                        old_cwnd,
                        self.ssthresh,
                        self.partial_bytes_acked,
                        old_pba
                    );
                }
            }
        }
    }

    fn handle_packet_loss(&mut self, _highest_tsn_acked: Tsn) {
        // TODO: Why is `highest_tsn_acked` not used.
        if !self.is_in_fast_recovery() {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4-5.2.1>:
            //
            //   If not in Fast Recovery, adjust the ssthresh and cwnd of the destination
            //   address(es) to which the missing DATA chunks were last sent, according to the
            //   formula described in Section 7.2.3.
            let old_cwnd = self.cwnd;
            let old_pba = self.partial_bytes_acked;
            self.ssthresh = max(self.cwnd / 2, self.cwnd_mtus_min * self.mtu);
            self.cwnd = self.ssthresh;
            self.partial_bytes_acked = 0;
            log::debug!(
                "packet loss detected (not fast recovery). cwnd={} ({}), ssthresh={}, pba={} ({})",
                self.cwnd,
                old_cwnd,
                self.ssthresh,
                self.partial_bytes_acked,
                old_pba
            );

            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4-5.6.1>:
            //
            //   If not in Fast Recovery, enter Fast Recovery and mark the highest outstanding TSN
            //   as the Fast Recovery exit point.
            self.fast_recovery_exit_tsn = Some(self.outstanding_data.highest_outstanding_tsn());
            log::debug!(
                "fast recovery initiated with exit_point={}",
                self.fast_recovery_exit_tsn.unwrap()
            );
        } else {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4-5.6.1>:
            //
            //   While in Fast Recovery, the ssthresh and cwnd SHOULD NOT change for any
            //   destinations due to a subsequent Fast Recovery event (i.e., one SHOULD NOT reduce
            //   the cwnd further due to a subsequent Fast Retransmit).
            log::debug!("packet loss detected (fast recovery). No changes.");
        }
    }

    pub fn update_rto(&mut self, rto: Duration) {
        self.t3_rtx.set_duration(rto);
    }

    // Handles a received SACK. Returns true if the `sack` was processed and false if it was
    // discarded due to received out-of-order and not relevant.
    pub fn handle_sack(&mut self, now: SocketTime, sack: &SackChunk) -> HandleSackResult {
        if !self.is_sack_valid(sack) {
            return HandleSackResult::Invalid;
        }

        let old_last_cumulative_tsn_ack = self.outstanding_data.last_cumulative_acked_tsn();
        let old_unacked_packet_bytes = self.outstanding_data.unacked_packet_bytes();
        let old_unacked_payload_bytes = self.outstanding_data.unacked_payload_bytes();
        let old_rwnd = self.rwnd();

        let rtt = if sack.gap_ack_blocks.is_empty() {
            self.outstanding_data.measure_rtt(now, sack.cumulative_tsn_ack)
        } else {
            None
        };

        // Exit fast recovery before continuing processing, in case it needs to go into fast
        // recovery again due to new reported packet loss.
        self.maybe_exit_fast_recovery(sack.cumulative_tsn_ack);

        let ack_info = self.outstanding_data.handle_sack(
            now,
            sack.cumulative_tsn_ack,
            &sack.gap_ack_blocks,
            self.is_in_fast_recovery(),
        );

        // Add lifecycle events for delivered messages.
        for lid in ack_info.acked_lifecycle_ids {
            self.events.borrow_mut().add(SocketEvent::OnLifecycleMessageDelivered(lid));
            self.events.borrow_mut().add(SocketEvent::OnLifecycleEnd(lid));
        }
        for lid in ack_info.abandoned_lifecycle_ids {
            self.events.borrow_mut().add(SocketEvent::OnLifecycleMessageMaybeExpired(lid));
            self.events.borrow_mut().add(SocketEvent::OnLifecycleEnd(lid));
        }

        // Update of outstanding_data_ is now done. Congestion control remains.
        let was_closed = self.is_window_closed();
        self.a_rwnd = sack.a_rwnd as usize;
        if was_closed && !self.is_window_closed() {
            // The receiver had no room for the probe that is outstanding; it is sent again with the
            // data that now fits.
            self.outstanding_data.nack_all(now);
            self.t3_rtx.stop();
        }

        log::debug!(
            "Received SACK, cum_tsn_ack={} ({}), unacked_payload_bytes={} ({}), rwnd={} ({})",
            sack.cumulative_tsn_ack,
            old_last_cumulative_tsn_ack,
            self.outstanding_data.unacked_payload_bytes(),
            old_unacked_payload_bytes,
            self.rwnd(),
            old_rwnd
        );

        if sack.cumulative_tsn_ack.greater_than(old_last_cumulative_tsn_ack) {
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.2-2.3.1>:
            //
            //   Whenever a SACK chunk is received that acknowledges the DATA chunk with the
            //   earliest outstanding TSN for that address, restart the T3-rtx timer for that
            //   address with its current RTO (if there is still outstanding data on that address).
            //
            // Note: It may be started again in a bit further down.
            self.t3_rtx.stop();

            self.handle_increased_cumulative_tsn_ack(
                old_unacked_packet_bytes,
                ack_info.packet_bytes_acked,
            );
        }

        if ack_info.has_packet_loss {
            self.handle_packet_loss(ack_info.highest_tsn_acked);
        }

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-8.2-3>:
        //
        //   When an outstanding TSN is acknowledged [...] the endpoint SHOULD clear the error
        //   counter [...].
        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.1>:
        //
        //   If the sender continues to receive SACK chunks from the peer [while the window is
        //   closed], the unacknowledged window probes SHOULD NOT increment the error counter for
        //   the association or any destination transport address.
        let reset_error_counter = ack_info.payload_bytes_acked > 0 || self.is_window_closed();

        self.start_t3_rtx_if_outstanding_data(now);

        HandleSackResult::Valid { rtt, reset_error_counter }
    }

    /// Handles the retransmission timer.
    ///
    /// Returns `true` if the timer expired.
    pub fn handle_timeout(&mut self, now: SocketTime) -> bool {
        // TODO: Make the implementation compliant with RFC 9260.

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.3>:
        //
        //   E2)  For the destination address for which the timer expires, set RTO <- RTO * 2.
        //
        // Only a new measurement of the round-trip time takes that back, and none comes from data that was sent again.
        if self.next_timeout().is_some_and(|expiry| expiry <= now) {
            self.t3_rtx.back_off();
        }
        if !self.t3_rtx.expire(now) {
            return false;
        }

        let old_cwnd = self.cwnd;
        let old_unacked_packet_bytes = self.unacked_packet_bytes();

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.3>:
        //
        //   E1)  For the destination address for which the timer expires, adjust its ssthresh with
        //        rules defined in Section 7.2.3 and set cwnd = PMDCS.
        //
        // A probe that finds the window closed says nothing about the path.
        if !self.is_window_closed() {
            self.ssthresh = max(self.cwnd / 2, 4 * self.mtu);

            self.cwnd = self.mtu;

            // What was lost is found out anew from here, and the window must grow while it is sent
            // again. Linux does so too (`sctp_transport_lower_cwnd`).
            self.fast_recovery_exit_tsn = None;

            // Errata: <https://datatracker.ietf.org/doc/html/rfc8540#section-3.11>
            self.partial_bytes_acked = 0;
        }

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.3>:
        //
        //   E2)  For the destination address for which the timer expires, set RTO = RTO * 2 ("back
        //        off the timer").  The maximum value discussed in rule C7 above ('RTO.Max') MAY be
        //        used to provide an upper bound to this doubling operation.
        //
        // This is already done by the timer implementation.
        //
        //   Determine how many of the earliest (i.e., lowest TSN) outstanding DATA chunks for the
        //   address for which the T3-rtx has expired will fit into a single packet [...]
        //
        //   Note: Any DATA chunks that were sent to the address for which the T3-rtx timer expired
        //   but did not fit in one MTU (rule E3 above) should be marked for retransmission and sent
        //   as soon as cwnd allows (normally, when a SACK arrives).
        self.outstanding_data.nack_all(now);

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.3>:
        //
        //   E4)  Start the retransmission timer T3-rtx on the destination address to which the
        //        retransmission is sent if rule R1 above indicates to do so.
        //
        // This is already done by the timer implementation.

        log::debug!(
            "t3-rtx expired. new cwnd={} ({}), ssthresh={}, unacked_packet_bytes {} ({})",
            self.cwnd,
            old_cwnd,
            self.ssthresh,
            self.unacked_packet_bytes(),
            old_unacked_packet_bytes
        );
        true
    }

    pub fn has_data_to_be_fast_retransmitted(&self) -> bool {
        self.outstanding_data.has_data_to_be_fast_retransmitted()
    }

    /// Returns a list of chunks to "fast retransmit" that would fit in one SCTP packet with
    /// `bytes_in_packet` bytes available. The current value of `cwnd` is ignored.
    pub fn get_chunks_for_fast_retransmit(
        &mut self,
        now: SocketTime,
        bytes_remaining_in_packet: usize,
    ) -> Vec<(Tsn, Data)> {
        debug_assert!(is_divisible_by_4!(bytes_remaining_in_packet));

        let old_unacked_packet_bytes = self.unacked_packet_bytes();

        let to_be_sent = self
            .outstanding_data
            .get_chunks_to_be_fast_retransmitted(now, bytes_remaining_in_packet);
        debug_assert!(!to_be_sent.is_empty());

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-7.2.4-5.4.1>:
        //
        //   Restart the T3-rtx timer only if [...] the endpoint is retransmitting the first
        //   outstanding DATA chunk sent to that address.
        if to_be_sent[0].0 == self.outstanding_data.last_cumulative_acked_tsn() + 1 {
            self.t3_rtx.stop();
        }

        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.2-2.1.1>:
        //
        //   Every time a DATA chunk is sent to any address (including a retransmission), if the
        //   T3-rtx timer of that address is not running, start it running so that it will expire
        //   after the RTO of that address.
        if !self.t3_rtx.is_running() {
            self.t3_rtx.start(now);
        }

        let packet_bytes_retransmitted: usize = to_be_sent
            .iter()
            .map(|(_, data)| round_up_to_4!(self.data_chunk_header_size + data.payload.len()))
            .sum();

        self.rtx_packets_count += 1;
        self.rtx_bytes_count += packet_bytes_retransmitted as u64;

        log::debug!(
            "Fast-retransmitting TSN {} - {} bytes. unacked_packet_bytes={} ({})",
            to_be_sent.iter().map(|(tsn, _)| tsn.to_string()).collect::<Vec<_>>().join(","),
            packet_bytes_retransmitted,
            self.unacked_packet_bytes(),
            old_unacked_packet_bytes
        );

        to_be_sent
    }

    /// Returns a list of chunks to send.
    ///
    /// Note that [`Self::should_send_forward_tsn`] must be called prior to this method, to abandon
    /// expired chunks, as this method will not expire any chunks.
    ///
    /// # Parameters
    ///
    /// * `now` - The current time.
    ///
    /// * `bytes_remaining_in_packet` - The maximum total size of chunks returned. Note that this
    ///   could be further limited by the congestion control window.
    ///
    /// * `produce` - A function that will be called when it needs to backfill new data. The first
    ///   argument refers to how many payload bytes that may be produced, not including any headers,
    ///   and the second argument contains a list of messages to discard before producing any
    ///   chunks, as those have expired already.
    pub fn get_chunks_to_send(
        &mut self,
        now: SocketTime,
        bytes_remaining_in_packet: usize,
        mut produce: impl FnMut(usize, &[(StreamId, OutgoingMessageId)]) -> Option<DataToSend>,
    ) -> Vec<(Tsn, Data)> {
        debug_assert!(is_divisible_by_4!(bytes_remaining_in_packet));

        let old_unacked_packet_bytes = self.unacked_packet_bytes();
        let old_rwnd = self.rwnd();

        let mut max_bytes =
            round_down_to_4!(min(self.max_bytes_to_send(), bytes_remaining_in_packet));
        let mut to_be_sent = self.outstanding_data.get_chunks_to_be_retransmitted(now, max_bytes);
        let packet_bytes_retransmitted: usize = to_be_sent
            .iter()
            .map(|(_, data)| round_up_to_4!(self.data_chunk_header_size + data.payload.len()))
            .sum();
        max_bytes -= packet_bytes_retransmitted;

        if !to_be_sent.is_empty() {
            self.rtx_packets_count += 1;
            self.rtx_bytes_count += packet_bytes_retransmitted as u64;
        }

        while max_bytes > self.data_chunk_header_size {
            debug_assert!(is_divisible_by_4!(max_bytes));

            if let Some(chunk) = produce(
                max_bytes - self.data_chunk_header_size,
                &self.outstanding_data.get_unsent_messages_to_discard(),
            ) {
                let chunk_size =
                    round_up_to_4!(self.data_chunk_header_size + chunk.data.payload.len());
                max_bytes -= chunk_size;

                let max_retransmissions = self.chunk_max_retransmissions(&chunk);
                let expires_at = self.chunk_expires_at(&chunk);
                if let Some(tsn) = self.outstanding_data.insert(
                    chunk.message_id,
                    &chunk.data,
                    now,
                    max_retransmissions,
                    expires_at,
                    chunk.lifecycle_id,
                ) {
                    if let Some(lid) = chunk.lifecycle_id {
                        self.events.borrow_mut().add(SocketEvent::OnLifecycleMessageFullySent(lid));
                    }
                    to_be_sent.push((tsn, chunk.data));
                }
            } else {
                break;
            }
        }

        if !to_be_sent.is_empty() {
            if !self.t3_rtx.is_running() {
                self.t3_rtx.start(now);
            }
            let sent_bytes: usize = to_be_sent
                .iter()
                .map(|(_, data)| round_up_to_4!(self.data_chunk_header_size + data.payload.len()))
                .sum();
            log::debug!(
                "Sending TSN {} - {} bytes. unacked_packet_bytes={} ({}),  cwnd={}, rwnd={} ({})",
                to_be_sent.iter().map(|(tsn, _)| tsn.to_string()).collect::<Vec<_>>().join(","),
                sent_bytes,
                self.unacked_packet_bytes(),
                old_unacked_packet_bytes,
                self.cwnd,
                self.rwnd(),
                old_rwnd
            );
        }

        to_be_sent
    }

    pub fn can_send_data(&self) -> bool {
        self.outstanding_data.has_data_to_be_retransmitted()
    }

    fn chunk_max_retransmissions(&self, chunk: &DataToSend) -> u16 {
        if self.partial_reliability { chunk.max_retransmissions } else { u16::MAX }
    }

    fn chunk_expires_at(&self, chunk: &DataToSend) -> SocketTime {
        if self.partial_reliability { chunk.expires_at } else { SocketTime::infinite_future() }
    }

    /// Returns the internal state of all queued chunks. This is only used in unit-tests.
    pub fn get_chunk_states_for_testing(&self) -> Vec<(Tsn, ChunkState)> {
        self.outstanding_data.get_chunk_states_for_testing()
    }

    /// Returns the next TSN that will be allocated for sent DATA chunks.
    pub fn next_tsn(&self) -> Tsn {
        self.outstanding_data.next_tsn()
    }

    pub fn last_assigned_tsn(&self) -> Tsn {
        self.outstanding_data.next_tsn() - 1
    }

    /// Returns the size of the congestion window, in bytes. This is the number of bytes that may be
    /// in-flight.
    pub fn cwnd(&self) -> usize {
        self.cwnd
    }

    /// Overrides the current congestion window size.
    pub fn set_cwnd(&mut self, cwnd: usize) {
        self.cwnd = cwnd;
    }

    /// Returns the current receiver window size.
    pub fn rwnd(&self) -> usize {
        self.a_rwnd.saturating_sub(self.outstanding_data.unacked_payload_bytes())
    }

    pub fn rtx_packets_count(&self) -> usize {
        self.rtx_packets_count
    }

    pub fn rtx_bytes_count(&self) -> u64 {
        self.rtx_bytes_count
    }

    /// Returns the number of bytes (payload and headers) that are in-flight.
    pub fn unacked_packet_bytes(&self) -> usize {
        self.outstanding_data.unacked_packet_bytes()
    }

    /// Returns the number of DATA chunks that are in-flight.
    pub fn unacked_items(&self) -> usize {
        self.outstanding_data.unacked_items()
    }

    /// Whether the receiver has no room for a packet.
    fn is_window_closed(&self) -> bool {
        self.a_rwnd < self.mtu
    }

    /// Returns the number of bytes that may be sent in a single packet according to the congestion
    /// control algorithm.
    fn max_bytes_to_send(&self) -> usize {
        // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.1>:
        //
        //   The sender MAY exceed cwnd by up to (PMDCS - 1) bytes on a new transmission if the cwnd
        //   is not currently exceeded.
        //
        // Without it, each SACK would be answered by a small packet that fills what is left.
        let left = match self.cwnd.saturating_sub(self.unacked_packet_bytes()) {
            0 => 0,
            left => left.max(self.mtu),
        };
        if self.unacked_items() == 0 {
            // TODO: Make the implementation compliant with RFC 9260.
            //
            // From <https://datatracker.ietf.org/doc/html/rfc9260#section-6.1>:
            //
            //   A zero window probe MUST only be sent when the cwnd allows (see rule B below).  A
            //   zero window probe SHOULD only be sent when all outstanding DATA chunks have been
            //   cumulatively acknowledged and no DATA chunks are in flight.
            return left;
        }
        min(self.rwnd(), left)
    }

    pub fn should_send_forward_tsn(&mut self, now: SocketTime) -> bool {
        if !self.partial_reliability {
            return false;
        }

        self.outstanding_data.expire_outstanding_chunks(now);
        self.outstanding_data.should_send_forward_tsn()
    }

    pub fn create_forward_tsn(&mut self) -> Chunk {
        debug_assert!(self.partial_reliability);
        if !self.use_message_interleaving {
            Chunk::ForwardTsn(self.outstanding_data.create_forward_tsn())
        } else {
            Chunk::IForwardTsn(self.outstanding_data.create_iforward_tsn())
        }
    }

    pub fn begin_reset_streams(&mut self) {
        self.outstanding_data.begin_reset_streams();
    }

    pub(crate) fn get_handover_readiness(&self) -> HandoverReadiness {
        if !self.enable_handover_with_outstanding_data {
            (HandoverReadiness::RETRANSMISSION_QUEUE_OUTSTANDING_DATA
                & !self.outstanding_data.is_empty())
                | (HandoverReadiness::RETRANSMISSION_QUEUE_FAST_RECOVERY
                    & self.fast_recovery_exit_tsn.is_some())
                | (HandoverReadiness::RETRANSMISSION_QUEUE_NOT_EMPTY
                    & self.outstanding_data.has_data_to_be_retransmitted())
        } else {
            HandoverReadiness::RETRANSMISSION_QUEUE_FAST_RECOVERY
                & self.fast_recovery_exit_tsn.is_some()
        }
    }

    pub(crate) fn add_to_handover_state(&self, now: SocketTime, state: &mut SocketHandoverState) {
        state.tx.next_tsn = self.next_tsn().0;
        state.tx.cwnd = self.cwnd as u32;
        state.tx.rwnd = self.a_rwnd as u32;
        state.tx.ssthresh = self.ssthresh as u32;
        state.tx.partial_bytes_acked = self.partial_bytes_acked as u32;
        self.outstanding_data.add_to_handover_state(now, state);
    }

    pub(crate) fn restore_from_state(&mut self, now: SocketTime, state: &SocketHandoverState) {
        self.cwnd = state.tx.cwnd as usize;
        self.a_rwnd = state.tx.rwnd as usize;
        self.ssthresh = state.tx.ssthresh as usize;
        self.partial_bytes_acked = state.tx.partial_bytes_acked as usize;
        if self.enable_handover_with_outstanding_data {
            self.outstanding_data.restore_from_state(now, state);
            self.start_t3_rtx_if_outstanding_data(now);
        } else {
            self.outstanding_data.reset_sequence_numbers(Tsn(state.tx.next_tsn.wrapping_sub(1)));
        }
    }
}
