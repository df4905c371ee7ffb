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
use crate::api::LifecycleId;
use crate::api::Message;
use crate::api::Options;
use crate::api::PpId;
use crate::api::SendOptions;
use crate::api::SocketEvent;
use crate::api::SocketTime;
use crate::api::StreamId;
use crate::api::handover::HandoverOutgoingStream;
use crate::api::handover::HandoverReadiness;
use crate::api::handover::HandoverStreamMessage;
use crate::api::handover::SocketHandoverState;
use crate::packet::data::Data;
use crate::tx::stream_scheduler::StreamScheduler;
use crate::types::Fsn;
use crate::types::Mid;
use crate::types::OutgoingMessageId;
use crate::types::Ssn;
use crate::types::StreamKey;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::ops::AddAssign;
use std::ops::SubAssign;
use std::rc::Rc;
use std::time::Duration;

pub(crate) struct DataToSend {
    pub message_id: OutgoingMessageId,
    pub data: Data,
    pub max_retransmissions: u16,
    pub expires_at: SocketTime,
    pub lifecycle_id: Option<LifecycleId>,
}

struct MessageAttributes {
    pub unordered: bool,
    pub max_retransmissions: u16,
    pub expires_at: SocketTime,
    pub lifecycle_id: Option<LifecycleId>,
}

/// Streams are paused before they can be reset. To reset a stream, the socket sends an outgoing
/// stream reset command with the TSN of the last fragment of the last message, so that receivers
/// and senders can agree on when it stopped. And if the send queue is in the middle of sending a
/// message, and without fragments not yet sent and without TSNs allocated to them, it will keep
/// sending data until that message has ended.
#[derive(PartialEq)]
enum PauseState {
    /// The stream is not paused, and not scheduled to be reset.
    NotPaused,

    /// The stream has requested to be reset/paused but is still producing fragments of a message
    /// that hasn't ended yet. When it does, it will transition to the `Paused` state.
    Pending,

    /// The stream is fully paused and can be reset.
    Paused,

    /// The stream has been added to an outgoing stream reset request and a response from the peer
    /// hasn't been received yet.
    Resetting,
}

/// An enqueued message and metadata.
struct Item {
    message_id: OutgoingMessageId,
    message: Message,
    attributes: MessageAttributes,

    /// The remaining payload offset to be sent when the message is fragmented.
    remaining_offset: usize,

    /// The remaining size of the payload to be sent when the message is fragmented.
    remaining_size: usize,

    /// The allocated Message ID, assigned when the first fragment is sent.
    mid: Option<Mid>,

    /// The allocated Stream Sequence Number, assigned when the first fragment is sent.
    ssn: Option<Ssn>,

    /// The current Fragment Sequence Number, incremented for each fragment.
    current_fsn: Fsn,
}

impl Item {
    fn new(message_id: OutgoingMessageId, message: Message, attributes: MessageAttributes) -> Self {
        let payload_size = message.payload.len();
        Self {
            message_id,
            message,
            attributes,
            remaining_offset: 0,
            remaining_size: payload_size,
            mid: None,
            ssn: None,
            current_fsn: Fsn(0),
        }
    }
}

struct ThresholdWatcher<'a> {
    value: usize,
    low_threshold: usize,
    low_cb: Box<dyn Fn() + 'a>,
}

fn add_lifecycle_events(events: &Rc<RefCell<dyn EventSink>>, lifecycle_id: Option<LifecycleId>) {
    if let Some(lid) = lifecycle_id {
        events.borrow_mut().add(SocketEvent::OnLifecycleMessageExpired(lid));
        events.borrow_mut().add(SocketEvent::OnLifecycleEnd(lid));
    }
}

impl<'a> ThresholdWatcher<'a> {
    pub fn new(low_threshold: usize, low_cb: impl Fn() + 'a) -> Self {
        Self { value: 0, low_threshold, low_cb: Box::new(low_cb) }
    }

    pub fn set_low_threshold(&mut self, low_threshold: usize) {
        if self.low_threshold < self.value && low_threshold >= self.value {
            (self.low_cb)();
        }
        self.low_threshold = low_threshold;
    }
}

impl AddAssign<usize> for ThresholdWatcher<'_> {
    fn add_assign(&mut self, rhs: usize) {
        self.value += rhs;
    }
}

impl SubAssign<usize> for ThresholdWatcher<'_> {
    fn sub_assign(&mut self, rhs: usize) {
        debug_assert!(self.value >= rhs);

        let old_value = self.value;
        self.value -= rhs;
        if old_value > self.low_threshold && self.value <= self.low_threshold {
            (self.low_cb)();
        }
    }
}

/// Per-stream information.
struct OutgoingStream<'a> {
    priority: u16,
    pause_state: PauseState,
    next_unordered_mid: Mid,
    next_ordered_mid: Mid,
    next_ssn: Ssn,
    buffered_amount: ThresholdWatcher<'a>,
    items: VecDeque<Item>,
}

impl<'a> OutgoingStream<'a> {
    fn new(priority: u16, low_threshold: usize, low_cb: impl Fn() + 'a) -> Self {
        Self {
            priority,
            pause_state: PauseState::NotPaused,
            next_unordered_mid: Mid(0),
            next_ordered_mid: Mid(0),
            next_ssn: Ssn(0),
            buffered_amount: ThresholdWatcher::new(low_threshold, low_cb),
            items: VecDeque::new(),
        }
    }
}

pub struct SendQueue {
    enable_message_interleaving: bool,
    enable_handover_with_outstanding_data: bool,
    default_priority: u16,
    default_low_buffered_amount_low_threshold: usize,
    buffered_amount: ThresholdWatcher<'static>,
    current_message_id: OutgoingMessageId,
    scheduler: StreamScheduler,
    streams: BTreeMap<StreamId, OutgoingStream<'static>>,
    events: Rc<RefCell<dyn EventSink>>,
}

impl SendQueue {
    pub fn new(
        max_payload_bytes: usize,
        options: &Options,
        events: Rc<RefCell<dyn EventSink>>,
    ) -> Self {
        let buffered_amount_low_events = Rc::clone(&events);
        Self {
            enable_message_interleaving: false,
            enable_handover_with_outstanding_data: options.enable_handover_with_outstanding_data,
            default_priority: options.default_stream_priority,
            default_low_buffered_amount_low_threshold: options
                .default_stream_buffered_amount_low_threshold,
            buffered_amount: ThresholdWatcher::new(
                options.total_buffered_amount_low_threshold,
                move || {
                    buffered_amount_low_events
                        .borrow_mut()
                        .add(SocketEvent::OnTotalBufferedAmountLow());
                },
            ),
            current_message_id: OutgoingMessageId(0),
            streams: BTreeMap::new(),
            scheduler: StreamScheduler::new(max_payload_bytes),
            events: Rc::clone(&events),
        }
    }

    pub fn enable_message_interleaving(&mut self, enable: bool) {
        if enable != self.enable_message_interleaving {
            self.enable_message_interleaving = enable;
            // The stream scheduler needs to recalculate the next virtual time for every stream.
            for (stream_id, stream) in &self.streams {
                self.scheduler.set_bytes_remaining(
                    *stream_id,
                    stream.items.front().map_or(0, |i| i.remaining_size),
                    self.enable_message_interleaving.then_some(stream.priority),
                );
            }
        }
    }

    fn get_stream_to_produce_from(
        &mut self,
        now: SocketTime,
        max_size: usize,
    ) -> Option<(StreamId, usize)> {
        loop {
            let (stream_id, size) = self.scheduler.peek(max_size)?;
            let stream = self.streams.get_mut(&stream_id).unwrap();
            let item = stream.items.front().unwrap();
            if item.attributes.expires_at <= now {
                // Oops, this entire message has already expired. Try the next one.
                self.buffered_amount -= item.remaining_size;
                stream.buffered_amount -= item.remaining_size;
                add_lifecycle_events(&self.events, item.attributes.lifecycle_id);
                stream.items.pop_front();
                let priority = self.enable_message_interleaving.then_some(stream.priority);
                self.scheduler.set_bytes_remaining(
                    stream_id,
                    stream.items.front().map(|i| i.remaining_size).unwrap_or(0),
                    priority,
                );
                continue;
            }
            self.scheduler.accept(stream_id, size);
            return Some((stream_id, size));
        }
    }

    pub fn has_data_to_send(&self) -> bool {
        self.scheduler.peek(usize::MAX).is_some()
    }

    fn make_stream(
        stream_id: StreamId,
        priority: u16,
        low_threshold: usize,
        events: Rc<RefCell<dyn EventSink>>,
    ) -> OutgoingStream<'static> {
        OutgoingStream::new(priority, low_threshold, move || {
            events.borrow_mut().add(SocketEvent::OnBufferedAmountLow(stream_id));
        })
    }

    pub fn add(&mut self, now: SocketTime, message: Message, send_options: &SendOptions) {
        let attributes = MessageAttributes {
            unordered: send_options.unordered,
            max_retransmissions: send_options.max_retransmissions.unwrap_or(u16::MAX),
            expires_at: send_options.lifetime.map_or(SocketTime::infinite_future(), |lifetime| {
                now + lifetime + Duration::from_millis(1)
            }),
            lifecycle_id: send_options.lifecycle_id,
        };
        let stream_id = message.stream_id;
        let stream = self.streams.entry(stream_id).or_insert_with(|| {
            SendQueue::make_stream(
                stream_id,
                self.default_priority,
                self.default_low_buffered_amount_low_threshold,
                Rc::clone(&self.events),
            )
        });
        let message_id = self.current_message_id;
        self.current_message_id += 1;
        stream.buffered_amount += message.payload.len();
        self.buffered_amount += message.payload.len();
        stream.items.push_back(Item::new(message_id, message, attributes));
        if (stream.pause_state == PauseState::NotPaused
            || stream.pause_state == PauseState::Pending)
            && stream.items.len() == 1
        {
            let priority = self.enable_message_interleaving.then_some(stream.priority);
            self.scheduler.set_bytes_remaining(stream_id, stream.items[0].remaining_size, priority);
        }
    }

    pub fn produce(&mut self, now: SocketTime, max_size: usize) -> Option<DataToSend> {
        let (stream_id, size) = self.get_stream_to_produce_from(now, max_size)?;

        let stream = self.streams.get_mut(&stream_id).unwrap();
        let item = stream.items.front_mut().unwrap();
        if item.mid.is_none() {
            if item.attributes.unordered {
                item.mid = Some(stream.next_unordered_mid);
                stream.next_unordered_mid += 1;
            } else {
                item.mid = Some(stream.next_ordered_mid);
                stream.next_ordered_mid += 1;
                item.ssn = Some(stream.next_ssn);
                stream.next_ssn += 1;
            }
        }
        let is_beginning = item.remaining_offset == 0;
        let is_end = size == item.remaining_size;
        let fsn = item.current_fsn;
        let lifecycle_id = if is_end { item.attributes.lifecycle_id } else { None };
        item.current_fsn += 1;
        let payload = item
            .message
            .payload
            .get(item.remaining_offset..size + item.remaining_offset)
            .unwrap()
            .to_vec();
        self.buffered_amount -= payload.len();
        stream.buffered_amount -= payload.len();

        let data = Data {
            stream_key: StreamKey::new(item.attributes.unordered, stream_id),
            ssn: item.ssn.unwrap_or(Ssn(0)),
            mid: item.mid.unwrap(),
            fsn,
            ppid: item.message.ppid,
            payload,
            is_beginning,
            is_end,
        };

        let data = DataToSend {
            message_id: item.message_id,
            data,
            max_retransmissions: item.attributes.max_retransmissions,
            expires_at: item.attributes.expires_at,
            lifecycle_id,
        };
        if is_end {
            stream.items.pop_front();

            if stream.pause_state == PauseState::Pending {
                stream.pause_state = PauseState::Paused;
            }

            let bytes_next = match (&stream.pause_state, stream.items.front()) {
                (PauseState::Paused, _) | (_, None) => 0,
                (_, Some(item)) => item.remaining_size,
            };
            self.scheduler.set_bytes_remaining(
                stream_id,
                bytes_next,
                self.enable_message_interleaving.then_some(stream.priority),
            );
        } else {
            item.remaining_offset += size;
            item.remaining_size -= size;
        }
        Some(data)
    }

    pub fn discard(&mut self, stream_id: StreamId, message_id: OutgoingMessageId) {
        let Some(stream) = self.streams.get_mut(&stream_id) else {
            return;
        };
        let Some(item) = stream.items.front() else {
            return;
        };
        if item.message_id != message_id {
            return;
        }
        self.buffered_amount -= item.remaining_size;
        stream.buffered_amount -= item.remaining_size;
        add_lifecycle_events(&self.events, item.attributes.lifecycle_id);
        stream.items.pop_front();

        let priority = self.enable_message_interleaving.then_some(stream.priority);
        if stream.pause_state == PauseState::Pending {
            stream.pause_state = PauseState::Paused;
            self.scheduler.set_bytes_remaining(stream_id, 0, priority);
        } else {
            self.scheduler.set_bytes_remaining(
                stream_id,
                stream.items.front().map(|i| i.remaining_size).unwrap_or(0),
                priority,
            );
        }
    }

    pub fn prepare_reset_stream(&mut self, stream_id: StreamId) {
        let stream = self.streams.entry(stream_id).or_insert_with(|| {
            SendQueue::make_stream(
                stream_id,
                self.default_priority,
                self.default_low_buffered_amount_low_threshold,
                Rc::clone(&self.events),
            )
        });
        if stream.pause_state != PauseState::NotPaused {
            // Already in progress.
            return;
        }
        let had_pending_items = !stream.items.is_empty();

        // From <https://datatracker.ietf.org/doc/html/rfc8831#section-6.7>:
        //
        //   Closing of a data channel MUST be signaled by resetting the corresponding outgoing
        //   streams [RFC6525]. This means that if one side decides to close the data channel, it
        //   resets the corresponding outgoing stream. When the peer sees that an incoming stream
        //   was reset, it also resets its corresponding outgoing stream. [...]
        //
        //   [RFC6525] also guarantees that all the messages are delivered (or abandoned) before the
        //   stream is reset.
        //
        // A stream is paused when it's about to be reset. In this implementation, it will throw
        // away all non-partially send messages - they will be abandoned as noted above. This is
        // subject to change. It will however not discard any partially sent messages - only whole
        // messages. Partially delivered messages (at the time of receiving a Stream Reset command)
        // will always deliver all the fragments before actually resetting the stream.
        stream.items.retain_mut(|i| {
            if i.remaining_offset == 0 {
                stream.buffered_amount -= i.remaining_size;
                self.buffered_amount -= i.remaining_size;
                add_lifecycle_events(&self.events, i.attributes.lifecycle_id);
                return false;
            }
            true
        });
        if stream.items.is_empty() {
            stream.pause_state = PauseState::Paused;
            if had_pending_items {
                let priority = self.enable_message_interleaving.then_some(stream.priority);
                self.scheduler.set_bytes_remaining(stream_id, 0, priority);
            }
        } else {
            stream.pause_state = PauseState::Pending;
        }
    }

    pub fn has_streams_ready_to_be_reset(&self) -> bool {
        self.streams.iter().any(|(_, stream)| stream.pause_state == PauseState::Paused)
    }

    pub fn get_streams_ready_to_reset(&mut self) -> Vec<StreamId> {
        let mut ready: Vec<StreamId> = Vec::new();
        self.streams.iter_mut().for_each(|(stream_id, stream)| {
            if stream.pause_state == PauseState::Paused {
                stream.pause_state = PauseState::Resetting;
                ready.push(*stream_id);
            }
        });
        ready
    }

    pub fn commit_reset_streams(&mut self) {
        self.streams.iter_mut().for_each(|(stream_id, stream)| {
            if stream.pause_state == PauseState::Resetting {
                stream.pause_state = PauseState::NotPaused;
                stream.next_ordered_mid = Mid(0);
                stream.next_unordered_mid = Mid(0);
                stream.next_ssn = Ssn(0);
                if let Some(item) = stream.items.front() {
                    let priority = self.enable_message_interleaving.then_some(stream.priority);
                    self.scheduler.set_bytes_remaining(*stream_id, item.remaining_size, priority);
                }
            }
        });
    }

    pub fn rollback_reset_streams(&mut self) {
        self.streams.iter_mut().for_each(|(stream_id, stream)| {
            if stream.pause_state == PauseState::Resetting {
                stream.pause_state = PauseState::NotPaused;
                if let Some(item) = &stream.items.front() {
                    let priority = self.enable_message_interleaving.then_some(stream.priority);
                    self.scheduler.set_bytes_remaining(*stream_id, item.remaining_size, priority);
                }
            }
        });
    }

    pub fn reset(&mut self) {
        self.streams.iter_mut().for_each(|(stream_id, stream)| {
            stream.pause_state = PauseState::NotPaused;
            stream.next_ordered_mid = Mid(0);
            stream.next_unordered_mid = Mid(0);
            stream.next_ssn = Ssn(0);
            if let Some(item) = stream.items.front_mut() {
                let item_size = item.message.payload.len();
                self.buffered_amount += item_size - item.remaining_size;
                stream.buffered_amount += item_size - item.remaining_size;
                item.remaining_offset = 0;
                item.remaining_size = item_size;
                let priority = self.enable_message_interleaving.then_some(stream.priority);
                self.scheduler.set_bytes_remaining(*stream_id, item_size, priority);
            }
        });
    }

    pub fn buffered_amount(&self, stream_id: StreamId) -> usize {
        match self.streams.get(&stream_id) {
            Some(stream) => stream.buffered_amount.value,
            None => 0,
        }
    }

    pub fn total_buffered_amount(&self) -> usize {
        self.buffered_amount.value
    }

    pub fn is_empty(&self) -> bool {
        self.buffered_amount.value == 0
    }

    pub fn buffered_amount_low_threshold(&self, stream_id: StreamId) -> usize {
        match self.streams.get(&stream_id) {
            Some(stream) => stream.buffered_amount.low_threshold,
            None => self.default_low_buffered_amount_low_threshold,
        }
    }

    pub fn set_buffered_amount_low_threshold(&mut self, stream_id: StreamId, threshold: usize) {
        let stream = self.streams.entry(stream_id).or_insert_with(|| {
            SendQueue::make_stream(
                stream_id,
                self.default_priority,
                self.default_low_buffered_amount_low_threshold,
                Rc::clone(&self.events),
            )
        });
        stream.buffered_amount.set_low_threshold(threshold);
    }

    pub fn set_priority(&mut self, stream_id: StreamId, priority: u16) {
        let stream = self.streams.entry(stream_id).or_insert_with(|| {
            SendQueue::make_stream(
                stream_id,
                self.default_priority,
                self.default_low_buffered_amount_low_threshold,
                Rc::clone(&self.events),
            )
        });
        stream.priority = priority;
    }

    pub fn get_priority(&self, stream_id: StreamId) -> u16 {
        match self.streams.get(&stream_id) {
            Some(stream) => stream.priority,
            None => self.default_priority,
        }
    }

    pub fn get_handover_readiness(&self) -> HandoverReadiness {
        if !self.enable_handover_with_outstanding_data {
            HandoverReadiness::SEND_QUEUE_NOT_EMPTY & !self.is_empty()
        } else {
            HandoverReadiness::READY
        }
    }

    pub(crate) fn add_to_handover_state(&self, now: SocketTime, state: &mut SocketHandoverState) {
        state.tx.next_outgoing_message_id = u64::from(self.current_message_id.0);

        let mut sorted_streams: Vec<_> = self.streams.iter().collect();
        sorted_streams.sort_by_key(|&(stream_id, _)| *stream_id);

        state.tx.streams = sorted_streams
            .iter()
            .map(|&(stream_id, s)| HandoverOutgoingStream {
                id: stream_id.0,
                next_ssn: s.next_ssn.0,
                next_unordered_mid: s.next_unordered_mid.0,
                next_ordered_mid: s.next_ordered_mid.0,
                priority: s.priority,
            })
            .collect();

        state.tx.queued_messages = sorted_streams
            .iter()
            .flat_map(|&(stream_id, stream)| {
                stream.items.iter().map(move |item| {
                    let expires_in_ms =
                        if item.attributes.expires_at == SocketTime::infinite_future() {
                            None
                        } else {
                            Some(
                                i32::try_from((item.attributes.expires_at - now).as_millis())
                                    .unwrap_or(i32::MAX),
                            )
                        };
                    HandoverStreamMessage {
                        stream_id: stream_id.0,
                        ppid: item.message.ppid.0,
                        payload: item.message.payload.clone(),
                        expires_in_ms,
                        max_retransmissions: item.attributes.max_retransmissions,
                        unordered: item.attributes.unordered,
                        lifecycle_id: item.attributes.lifecycle_id.map_or(0, |id| id.value()),
                        message_id: u64::from(item.message_id.0),
                        remaining_offset: item.remaining_offset,
                        mid: item.mid.map(|m| m.0),
                        ssn: item.ssn.map(|s| s.0),
                        fsn: item.current_fsn.0,
                    }
                })
            })
            .collect();
    }

    pub(crate) fn restore_from_state(&mut self, now: SocketTime, state: &SocketHandoverState) {
        self.current_message_id = OutgoingMessageId(state.tx.next_outgoing_message_id as u32);
        self.streams.clear();
        self.buffered_amount.value = 0;

        for s in &state.tx.streams {
            let stream_id = StreamId(s.id);
            let mut stream = SendQueue::make_stream(
                stream_id,
                s.priority,
                self.default_low_buffered_amount_low_threshold,
                Rc::clone(&self.events),
            );
            stream.next_ssn = Ssn(s.next_ssn);
            stream.next_unordered_mid = Mid(s.next_unordered_mid);
            stream.next_ordered_mid = Mid(s.next_ordered_mid);
            self.streams.insert(stream_id, stream);
        }

        for msg in &state.tx.queued_messages {
            let stream_id = StreamId(msg.stream_id);
            let stream = self.streams.entry(stream_id).or_insert_with(|| {
                SendQueue::make_stream(
                    stream_id,
                    self.default_priority,
                    self.default_low_buffered_amount_low_threshold,
                    Rc::clone(&self.events),
                )
            });

            let expires_at = msg.expires_in_ms.map_or(SocketTime::infinite_future(), |ms| {
                now + Duration::from_millis(ms.max(0) as u64)
            });

            let attributes = MessageAttributes {
                unordered: msg.unordered,
                max_retransmissions: msg.max_retransmissions,
                expires_at,
                lifecycle_id: LifecycleId::new(msg.lifecycle_id),
            };

            let payload_len = msg.payload.len();
            let remaining_offset = msg.remaining_offset.min(payload_len);
            let remaining_size = payload_len.saturating_sub(remaining_offset);

            let item = Item {
                message_id: OutgoingMessageId(msg.message_id as u32),
                message: Message::new(stream_id, PpId(msg.ppid), msg.payload.clone()),
                attributes,
                remaining_offset,
                remaining_size,
                mid: msg.mid.map(Mid),
                ssn: msg.ssn.map(Ssn),
                current_fsn: Fsn(msg.fsn),
            };

            stream.buffered_amount += remaining_size;
            self.buffered_amount += remaining_size;
            stream.items.push_back(item);
        }

        for (stream_id, stream) in &self.streams {
            if let Some(first_item) = stream.items.front() {
                let priority = self.enable_message_interleaving.then_some(stream.priority);
                self.scheduler.set_bytes_remaining(*stream_id, first_item.remaining_size, priority);
            }
        }
    }
}
