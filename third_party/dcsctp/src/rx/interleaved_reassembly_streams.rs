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
use crate::api::handover::HandoverOrderedStream;
use crate::api::handover::HandoverReadiness;
use crate::api::handover::HandoverUnorderedStream;
use crate::api::handover::SocketHandoverState;
use crate::packet::SkippedStream;
use crate::packet::data::Data;
use crate::rx::IntervalList;
use crate::rx::ReassemblyKey;
use crate::rx::reassembly_streams::ReassemblyStreams;
use crate::types::Fsn;
use crate::types::Mid;
use crate::types::SerialNumber;
use crate::types::StreamKey;
use crate::types::Tsn;
use std::collections::BTreeMap;

/// A key used to sort chunks in the interleaved reassembly queue.
///
/// While RFC1982 arithmetic violates transitivity rules over the full circular sequence
/// space, it's safe to implement and use `Ord`/`PartialOrd` in sorted containers here because
/// we limit the "active" number space to half of the full range (the forward half-space).
/// This restricts the elements to a slice of the circular number space where the math
/// never wraps around, allowing sorting to happen safely. Within this restricted window,
/// the sequence numbers do form a strict, transitive total order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterleavedKey {
    pub mid: Mid, // Primary sort key
    pub fsn: Fsn, // Secondary sort key
}

impl PartialOrd for InterleavedKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InterleavedKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if self.mid == other.mid {
            if self.fsn == other.fsn {
                std::cmp::Ordering::Equal
            } else if other.fsn.greater_than(self.fsn) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        } else if other.mid.greater_than(self.mid) {
            std::cmp::Ordering::Less
        } else {
            std::cmp::Ordering::Greater
        }
    }
}

impl ReassemblyKey for InterleavedKey {
    fn next(&self) -> Self {
        InterleavedKey { mid: self.mid, fsn: self.fsn + 1 }
    }
}

/// A reassembly key for unordered interleaved streams that derives standard linear ordering.
///
/// Unordered streams accept chunks with arbitrary MIDs without discarding them based on
/// sequence bounds. To safely store these in an `IntervalList` (which requires a strict
/// total order for binary search), bypass RFC1982 ordering and use standard sorting instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnorderedInterleavedKey {
    pub mid: Mid,
    pub fsn: Fsn,
}

impl PartialOrd for UnorderedInterleavedKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UnorderedInterleavedKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.mid.0.cmp(&other.mid.0).then_with(|| self.fsn.0.cmp(&other.fsn.0))
    }
}

impl ReassemblyKey for UnorderedInterleavedKey {
    fn next(&self) -> Self {
        UnorderedInterleavedKey { mid: self.mid, fsn: self.fsn + 1 }
    }
}

pub struct OrderedStream {
    stream_id: StreamId,
    intervals: IntervalList<InterleavedKey>,
    next_mid: Mid,
}

impl OrderedStream {
    fn new(stream_id: StreamId, next_mid: Mid) -> Self {
        Self { stream_id, intervals: IntervalList::default(), next_mid }
    }

    fn try_assemble_next(&mut self, on_reassembled: &mut dyn FnMut(Message)) -> usize {
        let mut assembled_bytes = 0;

        while let Some(interval) =
            self.intervals.pop_front_if_complete_and(|i| i.start.mid == self.next_mid)
        {
            let stream_id = self.stream_id;
            let ppid = interval.ppid;
            let payload = interval.collect_payload();

            assembled_bytes += payload.len();
            on_reassembled(Message::new(stream_id, ppid, payload));
            self.next_mid += 1;
        }

        assembled_bytes
    }

    fn add(&mut self, data: Data, on_reassembled: &mut dyn FnMut(Message)) -> isize {
        if data.mid != self.next_mid && !data.mid.greater_than(self.next_mid) {
            // Already delivered, skipped, or ambiguously too far ahead.
            return 0;
        }

        if data.mid == self.next_mid && data.is_beginning && data.is_end {
            // Fastpath for already assembled chunks.
            on_reassembled(Message::new(self.stream_id, data.ppid, data.payload));
            self.next_mid += 1;
            let assembled = self.try_assemble_next(on_reassembled);
            return -(assembled as isize);
        }

        let key = InterleavedKey { mid: data.mid, fsn: data.fsn };
        let queued_bytes = data.payload.len() as isize;
        self.intervals.add(key, data);
        let assembled = self.try_assemble_next(on_reassembled);
        queued_bytes - (assembled as isize)
    }
}

pub struct UnorderedStream {
    stream_id: StreamId,
    intervals: IntervalList<UnorderedInterleavedKey>,
}

impl UnorderedStream {
    fn new(stream_id: StreamId) -> Self {
        Self { stream_id, intervals: IntervalList::default() }
    }

    fn add(&mut self, data: Data, on_reassembled: &mut dyn FnMut(Message)) -> isize {
        if data.is_beginning && data.is_end {
            // Fast path - reassemble directly.
            on_reassembled(Message::new(data.stream_key.id(), data.ppid, data.payload));
            return 0;
        }

        let key = UnorderedInterleavedKey { mid: data.mid, fsn: data.fsn };
        let queued_bytes = data.payload.len() as isize;
        let idx = self.intervals.add(key, data);

        if let Some(interval) = self.intervals.pop_if_complete(idx) {
            let stream_id = self.stream_id;
            let ppid = interval.ppid;
            let payload = interval.collect_payload();
            let total_payload_len = payload.len();

            on_reassembled(Message::new(stream_id, ppid, payload));
            queued_bytes - (total_payload_len as isize)
        } else {
            queued_bytes
        }
    }
}

pub struct InterleavedReassemblyStreams {
    ordered: BTreeMap<StreamId, OrderedStream>,
    unordered: BTreeMap<StreamId, UnorderedStream>,
    queued_bytes: usize,
}

impl InterleavedReassemblyStreams {
    pub fn new() -> Self {
        Self { ordered: BTreeMap::new(), unordered: BTreeMap::new(), queued_bytes: 0 }
    }
}

impl ReassemblyStreams for InterleavedReassemblyStreams {
    fn add(&mut self, _tsn: Tsn, data: Data, on_reassembled: &mut dyn FnMut(Message)) {
        let diff = match data.stream_key {
            StreamKey::Ordered(stream_id) => self
                .ordered
                .entry(stream_id)
                .or_insert_with(|| OrderedStream::new(stream_id, Mid(0)))
                .add(data, on_reassembled),
            StreamKey::Unordered(stream_id) => self
                .unordered
                .entry(stream_id)
                .or_insert_with(|| UnorderedStream::new(stream_id))
                .add(data, on_reassembled),
        };
        self.queued_bytes = self.queued_bytes.strict_add_signed(diff);
    }

    fn handle_forward_tsn(
        &mut self,
        _new_cumulative_ack: Tsn,
        skipped_streams: &[SkippedStream],
        on_reassembled: &mut dyn FnMut(Message),
    ) {
        for skipped_stream in skipped_streams {
            if let SkippedStream::IForwardTsn(stream_key, mid) = skipped_stream {
                match stream_key {
                    StreamKey::Ordered(stream_id) => {
                        let stream = self
                            .ordered
                            .entry(*stream_id)
                            .or_insert_with(|| OrderedStream::new(*stream_id, Mid(0)));

                        self.queued_bytes -= stream
                            .intervals
                            .retain(|interval| interval.start.mid.greater_than(*mid));

                        if stream.next_mid.less_than_or_equal(*mid) {
                            stream.next_mid = *mid + 1;
                        }

                        // Try to assemble messages after the jump
                        self.queued_bytes -= stream.try_assemble_next(on_reassembled);
                    }
                    StreamKey::Unordered(stream_id) => {
                        let stream = self
                            .unordered
                            .entry(*stream_id)
                            .or_insert_with(|| UnorderedStream::new(*stream_id));

                        self.queued_bytes -= stream
                            .intervals
                            .retain(|interval| interval.start.mid.greater_than(*mid));
                    }
                }
            }
        }
    }

    fn reset_streams(&mut self, streams: &[StreamId]) {
        if streams.is_empty() {
            for stream in self.ordered.values_mut() {
                self.queued_bytes -= stream.intervals.total_bytes();
                stream.next_mid = Mid(0);
                stream.intervals = IntervalList::default();
            }
        } else {
            for stream_id in streams {
                if let Some(stream) = self.ordered.get_mut(stream_id) {
                    self.queued_bytes -= stream.intervals.total_bytes();
                    stream.next_mid = Mid(0);
                    stream.intervals = IntervalList::default();
                }
            }
        }
        // Unordered streams don't need reset as they don't block on MID.
    }

    fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    fn get_handover_readiness(&self) -> HandoverReadiness {
        let has_ordered_chunks = self.ordered.values().any(|s| !s.intervals.is_empty());
        let has_unordered_chunks = self.unordered.values().any(|s| !s.intervals.is_empty());

        HandoverReadiness::STREAM_HAS_UNASSEMBLED_CHUNKS
            & (has_ordered_chunks | has_unordered_chunks)
    }

    fn add_to_handover_state(&self, state: &mut SocketHandoverState) {
        for (stream_id, stream) in &self.ordered {
            state
                .rx
                .ordered_streams
                .push(HandoverOrderedStream { id: stream_id.0, next_ssn: stream.next_mid.0 });
        }

        for stream_id in self.unordered.keys() {
            // We only track existence if needed, but handover struct currently only has ID for
            // unordered
            state.rx.unordered_streams.push(HandoverUnorderedStream { id: stream_id.0 });
        }
    }

    fn restore_from_state(&mut self, state: &SocketHandoverState) {
        for stream in &state.rx.ordered_streams {
            self.ordered.insert(
                StreamId(stream.id),
                OrderedStream::new(StreamId(stream.id), Mid(stream.next_ssn)),
            );
        }
        for stream in &state.rx.unordered_streams {
            self.unordered.insert(StreamId(stream.id), UnorderedStream::new(StreamId(stream.id)));
        }
    }
}
