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

use crate::api::StreamId;
use std::cmp::Ordering;

#[derive(Debug, PartialEq)]
enum SchedulingParameters {
    RoundRobin,
    WeightedFairQueuing { weight: u16 },
}

#[derive(Debug, PartialEq)]
struct ActiveStreamInfo {
    stream_id: StreamId,
    parameters: SchedulingParameters,
    /// The virtual time at which the stream started its current chunk.
    virtual_start_time: u64,
    /// The projected virtual time at which the current chunk will finish.
    virtual_finish_time: u64,
    bytes_remaining: usize,
}

impl Ord for ActiveStreamInfo {
    fn cmp(&self, other: &Self) -> Ordering {
        self.virtual_finish_time
            .cmp(&other.virtual_finish_time)
            .then_with(|| self.stream_id.cmp(&other.stream_id))
    }
}

impl PartialOrd for ActiveStreamInfo {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for ActiveStreamInfo {}

impl ActiveStreamInfo {
    fn new(stream_id: StreamId, system_virtual_time: u64) -> Self {
        Self {
            stream_id,
            parameters: SchedulingParameters::RoundRobin,
            virtual_start_time: system_virtual_time,
            virtual_finish_time: 0,
            bytes_remaining: 0,
        }
    }

    /// Calculates the virtual time cost of sending `bytes` given the stream's weight.
    fn calculate_vt(&self, bytes: usize) -> u64 {
        let increment = match self.parameters {
            SchedulingParameters::WeightedFairQueuing { weight } => {
                (bytes as u64).saturating_mul(1_000_000) / (weight as u64).max(1)
            }
            SchedulingParameters::RoundRobin => 1,
        };
        self.virtual_start_time.saturating_add(increment)
    }

    /// Projects the virtual finish time for the next expected chunk of data.
    fn schedule_next_chunk(&mut self, payload_size: usize) {
        self.virtual_finish_time = self.calculate_vt(payload_size);
    }

    /// Consumes the actual number of bytes sent, returns the exact virtual time for that payload,
    /// and schedules the next chunk if there is data remaining.
    fn consume_bytes(&mut self, bytes: usize, max_payload_bytes: usize) -> u64 {
        let new_current_vt = self.calculate_vt(bytes);

        self.bytes_remaining = self.bytes_remaining.saturating_sub(bytes);
        self.virtual_start_time = new_current_vt;

        if self.bytes_remaining > 0 {
            self.schedule_next_chunk(self.bytes_remaining.min(max_payload_bytes));
        }

        new_current_vt
    }
}

pub struct StreamScheduler {
    max_payload_bytes: usize,
    current_stream: Option<StreamId>,
    system_virtual_time: u64,
    active_streams: Vec<ActiveStreamInfo>,
}

/// Keeps track of all active streams and decides which stream that the next data chunk can be sent
/// from, based on the scheduler and stream priorities (if any).
impl StreamScheduler {
    pub fn new(max_payload_bytes: usize) -> Self {
        Self {
            max_payload_bytes,
            current_stream: None,
            system_virtual_time: 0,
            active_streams: Vec::new(),
        }
    }

    /// Updates the remaining number of bytes in the next following message in a stream. Priority is
    /// set if message interleaving (RFC 8260) and WFQ is to be used, otherwise it should be set to
    /// None for round-robin scheduling on message boundaries.
    pub fn set_bytes_remaining(
        &mut self,
        stream_id: StreamId,
        bytes_remaining: usize,
        priority: Option<u16>,
    ) {
        if bytes_remaining == 0 {
            self.remove_stream(stream_id);
            return;
        }

        let pos = self.active_streams.iter().position(|s| s.stream_id == stream_id);
        let active_stream = match pos {
            Some(idx) => &mut self.active_streams[idx],
            None => {
                self.active_streams
                    .push(ActiveStreamInfo::new(stream_id, self.system_virtual_time));
                self.active_streams.last_mut().unwrap()
            }
        };
        active_stream.parameters = priority.map_or(SchedulingParameters::RoundRobin, |weight| {
            SchedulingParameters::WeightedFairQueuing { weight }
        });
        active_stream.bytes_remaining = bytes_remaining;
        active_stream
            .schedule_next_chunk(active_stream.bytes_remaining.min(self.max_payload_bytes));
    }

    /// Given space for `max_size` bytes, returns which stream that data should be produced from,
    /// and how many bytes to produce from that stream.
    ///
    /// After having called this, [`Self::set_bytes_remaining`] can be set to reject the proposal,
    /// or [`Self::accept`] should be called with the returned stream and size to accept it.
    pub fn peek(&self, max_size: usize) -> Option<(StreamId, usize)> {
        let active_stream = self
            .current_stream
            .and_then(|stream_id| self.active_streams.iter().find(|s| s.stream_id == stream_id))
            .or_else(|| self.active_streams.iter().min())?;

        Some((active_stream.stream_id, active_stream.bytes_remaining.min(max_size)))
    }

    /// After having called [`Self::peek`], accept to produce from the returned stream.
    ///
    /// This must be called after having called [`Self::peek`], which guarantees that `stream_id`
    /// and `bytes` are valid.
    pub fn accept(&mut self, stream_id: StreamId, bytes: usize) {
        let active_stream = self
            .active_streams
            .iter_mut()
            .find(|s| s.stream_id == stream_id)
            .expect("accept called on untracked stream_id");
        self.current_stream = Some(stream_id);

        self.system_virtual_time = active_stream.consume_bytes(bytes, self.max_payload_bytes);

        if active_stream.bytes_remaining == 0 {
            // Consumed entire message - reschedule.
            self.remove_stream(stream_id);
        } else {
            if matches!(active_stream.parameters, SchedulingParameters::WeightedFairQueuing { .. })
            {
                // For non-interleaved streams, avoid rescheduling while still sending a message as
                // it needs to be sent in full. For interleaved messaging, reschedule for every
                // I-DATA chunk sent.
                self.current_stream = None;
            }
        }
    }

    fn remove_stream(&mut self, stream_id: StreamId) {
        if let Some(pos) = self.active_streams.iter().position(|s| s.stream_id == stream_id) {
            self.active_streams.swap_remove(pos);
        }
        if self.current_stream == Some(stream_id) {
            self.current_stream = None;
        }
        if self.active_streams.is_empty() {
            self.system_virtual_time = 0;
        }
    }
}
