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
use crate::types::SerialNumber;
use crate::types::Ssn;
use crate::types::StreamKey;
use crate::types::Tsn;
use std::collections::BTreeMap;

/// A key used to sort chunks in the reassembly queue.
///
/// While RFC1982 arithmetic violates transitivity rules over the full circular sequence
/// space, it's safe to implement and use `Ord`/`PartialOrd` in sorted containers here because
/// we limit the "active" number space to half of the full range (the forward half-space).
/// This restricts the elements to a slice of the circular number space where the math
/// never wraps around, allowing sorting to happen safely. Within this restricted window,
/// the sequence numbers do form a strict, transitive total order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraditionalKey {
    pub ssn: Ssn, // Primary sort key, NOTE: Is always 0 for unordered chunks.
    pub tsn: Tsn, // Secondary sort key.
}

impl PartialOrd for TraditionalKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TraditionalKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if self.ssn == other.ssn {
            if self.tsn == other.tsn {
                std::cmp::Ordering::Equal
            } else if other.tsn.greater_than(self.tsn) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        } else if other.ssn.greater_than(self.ssn) {
            std::cmp::Ordering::Less
        } else {
            std::cmp::Ordering::Greater
        }
    }
}

impl ReassemblyKey for TraditionalKey {
    fn next(&self) -> Self {
        TraditionalKey { ssn: self.ssn, tsn: self.tsn + 1 }
    }
}

pub struct TraditionalReassemblyStreams {
    ordered: BTreeMap<StreamId, OrderedStream>,
    unordered: BTreeMap<StreamId, UnorderedStream>,
    queued_bytes: usize,
}

impl TraditionalReassemblyStreams {
    pub fn new() -> Self {
        Self { ordered: BTreeMap::new(), unordered: BTreeMap::new(), queued_bytes: 0 }
    }
}

impl ReassemblyStreams for TraditionalReassemblyStreams {
    fn add(&mut self, tsn: Tsn, data: Data, on_reassembled: &mut dyn FnMut(Message)) {
        let diff = match data.stream_key {
            StreamKey::Ordered(id) => self
                .ordered
                .entry(id)
                .or_insert_with(|| OrderedStream::new(id))
                .add(tsn, data, on_reassembled),
            StreamKey::Unordered(id) => self
                .unordered
                .entry(id)
                .or_insert_with(|| UnorderedStream::new(id))
                .add(tsn, data, on_reassembled),
        };
        self.queued_bytes = self.queued_bytes.strict_add_signed(diff);
    }

    fn handle_forward_tsn(
        &mut self,
        new_cumulative_ack: Tsn,
        skipped_streams: &[SkippedStream],
        on_reassembled: &mut dyn FnMut(Message),
    ) {
        for stream in self.unordered.values_mut() {
            self.queued_bytes -=
                stream.erase_to(new_cumulative_ack, None::<&SkippedStream>, on_reassembled);
        }

        for skipped_stream in skipped_streams {
            if let SkippedStream::ForwardTsn(stream_id, _) = skipped_stream {
                self.queued_bytes -= self
                    .ordered
                    .entry(*stream_id)
                    .or_insert_with(|| OrderedStream::new(*stream_id))
                    .erase_to(new_cumulative_ack, Some(skipped_stream), on_reassembled);
            }
        }
    }

    fn reset_streams(&mut self, streams: &[StreamId]) {
        for (id, stream) in &mut self.ordered {
            if streams.is_empty() || streams.contains(id) {
                self.queued_bytes -= stream.intervals.total_bytes();
                stream.reset();
            }
        }
    }

    fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    fn get_handover_readiness(&self) -> HandoverReadiness {
        let ordered_has_unassembled = self.ordered.values().any(|s| s.has_unassembled_chunks());
        let unordered_has_unassembled = self.unordered.values().any(|s| s.has_unassembled_chunks());

        HandoverReadiness::STREAM_HAS_UNASSEMBLED_CHUNKS
            & (ordered_has_unassembled || unordered_has_unassembled)
    }

    fn add_to_handover_state(&self, state: &mut SocketHandoverState) {
        self.ordered
            .iter()
            .for_each(|(id, s)| s.add_to_handover_state(StreamKey::Ordered(*id), state));
        self.unordered
            .iter()
            .for_each(|(id, s)| s.add_to_handover_state(StreamKey::Unordered(*id), state));
    }

    fn restore_from_state(&mut self, state: &SocketHandoverState) {
        state.rx.ordered_streams.iter().for_each(|s| {
            self.ordered.insert(StreamId(s.id), OrderedStream::from_state(s));
        });
    }
}

pub struct UnorderedStream {
    stream_id: StreamId,
    intervals: IntervalList<TraditionalKey>,
}

impl UnorderedStream {
    pub fn new(stream_id: StreamId) -> Self {
        Self { stream_id, intervals: IntervalList::default() }
    }

    fn add(&mut self, tsn: Tsn, data: Data, on_reassembled: &mut dyn FnMut(Message)) -> isize {
        if data.is_beginning && data.is_end {
            // Fastpath for already assembled chunks.
            on_reassembled(Message::new(data.stream_key.id(), data.ppid, data.payload));
            return 0;
        }
        let key = TraditionalKey { ssn: Ssn(0), tsn };
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

    fn erase_to(
        &mut self,
        new_cumulative_ack: Tsn,
        _: Option<&SkippedStream>,
        _: &mut dyn FnMut(Message),
    ) -> usize {
        self.intervals.retain(|interval| interval.start.tsn.greater_than(new_cumulative_ack))
    }

    fn reset(&mut self) {
        unreachable!()
    }

    fn has_unassembled_chunks(&self) -> bool {
        !self.intervals.is_empty()
    }

    fn add_to_handover_state(&self, stream_id: StreamKey, state: &mut SocketHandoverState) {
        state.rx.unordered_streams.push(HandoverUnorderedStream { id: stream_id.id().0 });
    }
}

pub struct OrderedStream {
    stream_id: StreamId,
    intervals: IntervalList<TraditionalKey>,
    next_ssn: Ssn,
}

impl OrderedStream {
    pub fn new(stream_id: StreamId) -> Self {
        Self { stream_id, intervals: IntervalList::default(), next_ssn: Ssn(0) }
    }

    fn from_state(s: &HandoverOrderedStream) -> Self {
        Self {
            stream_id: StreamId(s.id),
            next_ssn: Ssn(s.next_ssn as u16),
            intervals: IntervalList::default(),
        }
    }

    fn try_to_assemble_messages(&mut self, on_reassembled: &mut dyn FnMut(Message)) -> usize {
        let mut assembled_bytes = 0;

        while let Some(interval) =
            self.intervals.pop_front_if_complete_and(|i| i.start.ssn == self.next_ssn)
        {
            let stream_id = self.stream_id;
            let ppid = interval.ppid;
            let payload = interval.collect_payload();

            assembled_bytes += payload.len();
            on_reassembled(Message::new(stream_id, ppid, payload));
            self.next_ssn += 1;
        }

        assembled_bytes
    }
}

impl OrderedStream {
    fn add(&mut self, tsn: Tsn, data: Data, on_reassembled: &mut dyn FnMut(Message)) -> isize {
        if data.ssn != self.next_ssn && !data.ssn.greater_than(self.next_ssn) {
            // Already delivered, skipped, or ambiguously too far ahead.
            return 0;
        }

        if data.ssn == self.next_ssn && data.is_beginning && data.is_end {
            // Fastpath for already assembled chunks.
            on_reassembled(Message::new(self.stream_id, data.ppid, data.payload));
            self.next_ssn += 1;
            let assembled = self.try_to_assemble_messages(on_reassembled);
            return -(assembled as isize);
        }

        let key = TraditionalKey { ssn: data.ssn, tsn };
        let queued_bytes = data.payload.len() as isize;
        self.intervals.add(key, data);
        let assembled = self.try_to_assemble_messages(on_reassembled);
        queued_bytes - (assembled as isize)
    }

    fn erase_to(
        &mut self,
        _: Tsn,
        skipped_stream: Option<&SkippedStream>,
        on_reassembled: &mut dyn FnMut(Message),
    ) -> usize {
        match skipped_stream {
            Some(SkippedStream::ForwardTsn(_, ssn)) => {
                let mut removed_bytes =
                    self.intervals.retain(|interval| interval.start.ssn.greater_than(*ssn));

                if ssn.greater_than_or_equal(self.next_ssn) {
                    self.next_ssn = *ssn + 1;
                }
                removed_bytes += self.try_to_assemble_messages(on_reassembled);
                removed_bytes
            }
            _ => 0,
        }
    }

    fn reset(&mut self) {
        self.next_ssn = Ssn(0);
        self.intervals = IntervalList::default();
    }

    fn has_unassembled_chunks(&self) -> bool {
        !self.intervals.is_empty()
    }

    fn add_to_handover_state(&self, stream_id: StreamKey, state: &mut SocketHandoverState) {
        state
            .rx
            .ordered_streams
            .push(HandoverOrderedStream { id: stream_id.id().0, next_ssn: self.next_ssn.0 as u32 });
    }
}
