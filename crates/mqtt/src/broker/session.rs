//! The broker's state of a client, kept while it is disconnected.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use trackbed_core::Time;

use super::connection::{ConnectionId, Link};
use super::limits::Limits;
use crate::packet::{Message, Packet, Publish, Qos, Will};
use crate::sending::{Sending, write};
use crate::tree::Options;

/// A session (section 4.1 of version 5).
#[derive(Debug, Default)]
pub(super) struct Session {
    pub client: Arc<str>,
    pub connection: Option<ConnectionId>,
    /// How long it outlives its connection in seconds; `u32::MAX` for the broker's maximum.
    pub expiry_secs: u32,
    /// When it ends, while it has no connection.
    pub ends: Option<Time>,
    pub will: Option<Will>,
    /// When the will is published, while there is no connection.
    pub will_due: Option<Time>,
    /// When the timer of this session is set for.
    pub timer: Option<Time>,
    /// By the filter as the client wrote it.
    pub subscriptions: BTreeMap<String, Options>,
    pub sending: Sending,
    /// The identifiers of QoS 2 messages that were received and not released.
    pub received: BTreeSet<u16>,
    queue: VecDeque<Delivery>,
    queue_weight: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub message: Arc<Message>,
    pub qos: Qos,
    pub retain: bool,
    /// The identifiers of the subscriptions that it answers.
    pub subscriptions: Vec<u32>,
    pub expires: Option<Time>,
}

impl Delivery {
    fn publish(&self, now: Time) -> Publish {
        let Message { topic, payload, properties, .. } = &*self.message;
        let left = |expires: Time| {
            let secs = expires.since(now).as_nanos().div_ceil(1_000_000_000);
            u32::try_from(secs).unwrap_or(u32::MAX)
        };
        Publish {
            message: Message {
                topic: Arc::clone(topic),
                payload: payload.clone(),
                qos: self.qos,
                retain: self.retain,
                expiry_secs: self.expires.map(left),
                properties: Arc::clone(properties),
            },
            duplicate: false,
            packet_id: 0,
            topic_alias: None,
            subscriptions: self.subscriptions.clone(),
        }
    }

    fn has_expired(&self, now: Time) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

impl Session {
    pub fn new(client: Arc<str>) -> Session {
        Session { client, ..Session::default() }
    }

    /// The time of its next event while it has no connection.
    pub fn due(&self) -> Option<Time> {
        self.ends.into_iter().chain(self.will_due).min()
    }

    /// Sends a message on the connection, if there is one, or queues it; false if it was dropped.
    pub fn deliver(
        &mut self,
        link: Option<&mut Link>,
        delivery: Delivery,
        now: Time,
        limits: &Limits,
    ) -> bool {
        if delivery.qos == Qos::AtMostOnce {
            let Some(link) = link else { return false };
            if link.output.len() >= limits.output_bytes {
                return false;
            }
            let packet = Packet::Publish(delivery.publish(now));
            return write(link.version, &packet, &mut link.output, link.packet_len_max).is_ok();
        }
        if let Some(link) = link
            && self.queue.is_empty()
            && self.can_send(link, limits)
            && self.sending.weight() < limits.queue_bytes
        {
            return self.send(link, &delivery, now);
        }
        let weight = self.weight() + delivery.message.weight();
        if self.queue.len() >= limits.queue_len || weight > limits.queue_bytes {
            return false;
        }
        self.queue_weight += delivery.message.weight();
        self.queue.push_back(delivery);
        true
    }

    /// Sends the messages that were in flight on an earlier connection, then queued ones, while
    /// there is room; returns the number of messages dropped because they exceed the client's
    /// limits.
    pub fn pump(&mut self, link: &mut Link, now: Time, limits: &Limits) -> u64 {
        let max = limits.in_flight.min(link.receive_maximum.into());
        let output = (&mut link.output, limits.output_bytes, link.packet_len_max);
        if !self.sending.resend(link.version, now, max, output) {
            return 0;
        }
        let mut dropped = 0;
        while self.can_send(link, limits) {
            let Some(delivery) = self.queue.pop_front() else { break };
            self.queue_weight -= delivery.message.weight();
            if !delivery.has_expired(now) && !self.send(link, &delivery, now) {
                dropped += 1;
            }
        }
        dropped
    }

    /// About how many bytes of memory its messages hold.
    pub fn weight(&self) -> usize {
        self.queue_weight + self.sending.weight()
    }

    /// Whether a message would be sent at once.
    pub fn has_room(&self, link: &Link, limits: &Limits) -> bool {
        self.queue.is_empty()
            && self.can_send(link, limits)
            && link.output.len() < limits.output_bytes / 8
    }

    fn can_send(&self, link: &Link, limits: &Limits) -> bool {
        let max = limits.in_flight.min(link.receive_maximum.into());
        self.sending.len() < max && link.output.len() < limits.output_bytes
    }

    fn send(&mut self, link: &mut Link, delivery: &Delivery, now: Time) -> bool {
        let output = (&mut link.output, link.packet_len_max);
        let publish = delivery.publish(now);
        self.sending.send(link.version, publish, 0, delivery.expires, output).is_ok()
    }
}
