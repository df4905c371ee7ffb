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
use crate::api::Message;
use crate::api::StreamId;
use crate::api::handover::HandoverReadiness;
use crate::api::handover::SocketHandoverState;
use crate::packet::SkippedStream;
use crate::packet::data::Data;
use crate::rx::interleaved_reassembly_streams::InterleavedReassemblyStreams;
use crate::rx::reassembly_streams::ReassemblyStreams;
use crate::rx::traditional_reassembly_streams::TraditionalReassemblyStreams;
use crate::types::SerialNumber;
use crate::types::Tsn;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::ops::Deref;
use std::ops::DerefMut;

pub const HIGH_WATERMARK_LIMIT: f32 = 0.9;

enum DeferredOperation {
    Data(Tsn, Data),
    ForwardTsn(Tsn, Vec<SkippedStream>),
}

struct DeferredResetStreams {
    sender_last_assigned_tsn: Tsn,
    streams: BTreeSet<StreamId>,
    deferred_operations: Vec<DeferredOperation>,
}

enum ReassemblyStrategy {
    Traditional(TraditionalReassemblyStreams),
    Interleaved(InterleavedReassemblyStreams),
}

impl Deref for ReassemblyStrategy {
    type Target = dyn ReassemblyStreams;

    fn deref(&self) -> &Self::Target {
        match self {
            ReassemblyStrategy::Traditional(s) => s,
            ReassemblyStrategy::Interleaved(s) => s,
        }
    }
}

impl DerefMut for ReassemblyStrategy {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            ReassemblyStrategy::Traditional(s) => s,
            ReassemblyStrategy::Interleaved(s) => s,
        }
    }
}

pub struct ReassemblyQueue {
    max_size_bytes: usize,
    watermark_bytes: usize,
    deferred_bytes: usize,
    streams: ReassemblyStrategy,
    deferred_reset_streams: Option<DeferredResetStreams>,
    rx_messages_count: usize,
    reassembled_messages: VecDeque<Message>,
    /// Bytes of the messages in `reassembled_messages`.
    ready_bytes: usize,
    /// See [`crate::api::Options::charge_until_released`].
    charge_until_released: bool,
    /// Bytes of messages that were handed out and not released yet.
    held_bytes: usize,
    /// What the last SACK said.
    advertised_bytes: usize,
}

impl ReassemblyQueue {
    pub fn new(max_size_bytes: usize, use_message_interleaving: bool) -> Self {
        let streams = if use_message_interleaving {
            ReassemblyStrategy::Interleaved(InterleavedReassemblyStreams::new())
        } else {
            ReassemblyStrategy::Traditional(TraditionalReassemblyStreams::new())
        };

        Self {
            max_size_bytes,
            watermark_bytes: (max_size_bytes as f32 * HIGH_WATERMARK_LIMIT) as usize,
            deferred_bytes: 0,
            streams,
            deferred_reset_streams: None,
            rx_messages_count: 0,
            reassembled_messages: VecDeque::new(),
            ready_bytes: 0,
            charge_until_released: false,
            held_bytes: 0,
            advertised_bytes: max_size_bytes,
        }
    }

    pub fn charge_until_released(&mut self, charge: bool) {
        self.charge_until_released = charge;
    }

    /// Gives `bytes` of the messages that were handed out back to the window, and says whether the
    /// peer should be told: whether the window was less than half open when it last heard of it,
    /// and is more now. That is receiver side silly window avoidance, see RFC 1122, section
    /// 4.2.3.3.
    pub fn release(&mut self, bytes: usize) -> bool {
        self.held_bytes = self.held_bytes.saturating_sub(bytes);
        let half = self.watermark_bytes / 2;
        self.advertised_bytes < half && self.remaining_bytes() >= half
    }

    /// The window to put into a SACK.
    pub fn advertise(&mut self) -> u32 {
        self.advertised_bytes = self.remaining_bytes();
        self.advertised_bytes as u32
    }

    pub fn messages_ready_count(&self) -> usize {
        self.reassembled_messages.len()
    }

    pub fn get_next_message(&mut self) -> Option<Message> {
        let message = self.reassembled_messages.pop_front()?;
        self.ready_bytes -= message.payload.len();
        if self.charge_until_released {
            self.held_bytes += message.payload.len();
        }
        Some(message)
    }

    pub fn rx_messages_count(&self) -> usize {
        self.rx_messages_count
    }

    /// Adds a fragment of data to the queue. This method expects that the data is deduplicated and
    /// sanity checked by the caller, e.g. by the DataTracker.
    pub fn add(&mut self, tsn: Tsn, data: Data) {
        if let Some(deferred_stream) = &mut self.deferred_reset_streams {
            if tsn.greater_than(deferred_stream.sender_last_assigned_tsn)
                && (deferred_stream.streams.is_empty()
                    || deferred_stream.streams.contains(&data.stream_key.id()))
            {
                self.deferred_bytes += data.payload.len();
                deferred_stream.deferred_operations.push(DeferredOperation::Data(tsn, data));
                return;
            }
        }

        self.streams.add(tsn, data, &mut |message| {
            self.rx_messages_count += 1;
            self.ready_bytes += message.payload.len();
            self.reassembled_messages.push_back(message);
        });
    }

    pub fn queued_bytes(&self) -> usize {
        self.ready_bytes + self.held_bytes + self.streams.queued_bytes() + self.deferred_bytes
    }

    pub fn is_above_watermark(&self) -> bool {
        self.queued_bytes() >= self.watermark_bytes
    }

    pub fn is_full(&self) -> bool {
        self.queued_bytes() >= self.max_size_bytes
    }

    /// Whether more waits than any sender that heeds the window can have sent, twice its size.
    pub fn is_beyond_bounds(&self) -> bool {
        self.queued_bytes() / 2 >= self.max_size_bytes
    }

    fn forward_tsn_cost(num_streams: usize) -> usize {
        (1 + num_streams) * 4
    }

    pub fn handle_forward_tsn(
        &mut self,
        new_cumulative_ack: Tsn,
        skipped_streams: Vec<SkippedStream>,
    ) {
        if let Some(deferred_stream) = &mut self.deferred_reset_streams {
            if new_cumulative_ack.greater_than(deferred_stream.sender_last_assigned_tsn) {
                self.deferred_bytes += ReassemblyQueue::forward_tsn_cost(skipped_streams.len());
                deferred_stream
                    .deferred_operations
                    .push(DeferredOperation::ForwardTsn(new_cumulative_ack, skipped_streams));
                return;
            }
        }

        self.streams.handle_forward_tsn(new_cumulative_ack, &skipped_streams, &mut |message| {
            self.rx_messages_count += 1;
            self.ready_bytes += message.payload.len();
            self.reassembled_messages.push_back(message);
        });
    }

    /// The remaining bytes until the queue has reached the watermark limit.
    pub fn remaining_bytes(&self) -> usize {
        self.watermark_bytes.saturating_sub(self.queued_bytes())
    }

    pub(crate) fn enter_deferred_reset(
        &mut self,
        sender_last_assigned_tsn: Tsn,
        streams: &[StreamId],
    ) {
        self.deferred_reset_streams.get_or_insert_with(|| DeferredResetStreams {
            sender_last_assigned_tsn,
            streams: streams.iter().copied().collect(),
            deferred_operations: Vec::new(),
        });
    }

    pub(crate) fn reset_streams_and_leave_deferred_reset(&mut self, streams: &[StreamId]) {
        self.streams.reset_streams(streams);
        if let Some(deferred) = self.deferred_reset_streams.take() {
            self.deferred_bytes = 0;
            deferred.deferred_operations.into_iter().for_each(|op| match op {
                DeferredOperation::Data(tsn, data) => self.add(tsn, data),
                DeferredOperation::ForwardTsn(tsn, skipped) => {
                    self.handle_forward_tsn(tsn, skipped);
                }
            });
        }
    }

    pub(crate) fn get_handover_readiness(&self) -> HandoverReadiness {
        HandoverReadiness::STREAM_RESET_DEFERRED & self.deferred_reset_streams.is_some()
            | self.streams.get_handover_readiness()
    }

    pub(crate) fn add_to_handover_state(&self, state: &mut SocketHandoverState) {
        self.streams.add_to_handover_state(state);
    }

    pub(crate) fn restore_from_state(&mut self, state: &SocketHandoverState) {
        self.streams.restore_from_state(state);
    }
}
