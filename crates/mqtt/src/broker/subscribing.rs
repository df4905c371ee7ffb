//! Subscriptions (SUBSCRIBE and UNSUBSCRIBE, sections 3.8 to 3.11).

use trackbed_core::Time;

use super::Broker;
use super::connection::ConnectionId;
use super::session::Delivery;
use crate::packet::{Packet, RetainHandling, Subscription};
use crate::reason::{Fault, Reason};
use crate::topic;
use crate::tree::{Options, SessionId};

impl Broker {
    /// Responds to SUBSCRIBE, and then sends the retained messages.
    pub(super) fn subscribe(
        &mut self,
        (at, session): (ConnectionId, SessionId),
        packet_id: u16,
        subscriptions: &[Subscription],
        identifier: Option<u32>,
        now: Time,
    ) {
        let mut reasons = Vec::with_capacity(subscriptions.len());
        let mut retained = Vec::new();
        for wanted in subscriptions {
            let options = Options {
                qos: wanted.qos,
                no_local: wanted.no_local,
                retain_as_published: wanted.retain_as_published,
                identifier,
            };
            match self.add_subscription(session, wanted, options) {
                Ok(is_new) => {
                    reasons.push(Reason(wanted.qos as u8));
                    let handling = wanted.retain_handling;
                    let wants = handling == RetainHandling::Always
                        || (handling == RetainHandling::IfNew && is_new);
                    // Section 4.8.2: shared subscriptions get none.
                    if wants && !wanted.filter.starts_with("$share/") {
                        retained.push((wanted.filter.as_str(), options));
                    }
                }
                Err(fault) => reasons.push(fault.reason),
            }
        }
        self.answer(at, &Packet::Suback { packet_id, reasons });
        for (filter, options) in retained {
            self.send_retained(session, filter, options, now);
        }
    }

    fn add_subscription(
        &mut self,
        id: SessionId,
        wanted: &Subscription,
        options: Options,
    ) -> Result<bool, Fault> {
        let (group, filter) = topic::parse_filter(&wanted.filter)?;
        let limits = &self.limits;
        if wanted.filter.len() > limits.topic_len || topic::levels(filter) > limits.topic_levels {
            let why = "the topic filter is too long, or has too many levels";
            return Err(Fault::new(Reason::TOPIC_FILTER_INVALID, why));
        }
        if group.is_some() && options.no_local {
            let why = "a shared subscription may not set No Local";
            return Err(Fault::new(Reason::PROTOCOL_ERROR, why));
        }
        let session = self.sessions.get_mut(&id);
        let session = session.ok_or(Fault::protocol("the session does not exist"))?;
        let is_known = session.subscriptions.contains_key(&wanted.filter);
        if !is_known && session.subscriptions.len() >= limits.subscriptions {
            return Err(Fault::new(Reason::QUOTA_EXCEEDED, "too many subscriptions"));
        }
        session.subscriptions.insert(wanted.filter.clone(), options);
        Ok(self.filters.insert(id, group, filter, options))
    }

    fn send_retained(&mut self, id: SessionId, filter: &str, options: Options, now: Time) {
        for kept in self.retained.matching(filter) {
            if kept.expires.is_some_and(|expires| expires <= now) {
                self.retained.remove(&kept.message.topic);
                continue;
            }
            let delivery = Delivery {
                qos: kept.message.qos.min(options.qos),
                retain: true,
                subscriptions: options.identifier.into_iter().collect(),
                expires: kept.expires,
                message: kept.message,
            };
            self.deliver(id, delivery, now);
        }
    }

    pub(super) fn unsubscribe(
        &mut self,
        (at, id): (ConnectionId, SessionId),
        packet_id: u16,
        filters: &[String],
    ) {
        let mut reasons = Vec::with_capacity(filters.len());
        for written in filters {
            let Ok((group, filter)) = topic::parse_filter(written) else {
                reasons.push(Reason::TOPIC_FILTER_INVALID);
                continue;
            };
            if let Some(session) = self.sessions.get_mut(&id) {
                session.subscriptions.remove(written);
            }
            let existed = self.filters.remove(id, group, filter);
            let answer = if existed { Reason::SUCCESS } else { Reason::NO_SUBSCRIPTION_EXISTED };
            reasons.push(answer);
        }
        self.answer(at, &Packet::Unsuback { packet_id, reasons });
    }

    pub(super) fn answer(&mut self, at: ConnectionId, packet: &Packet) {
        if let Some(connection) = self.connections.get_mut(&at) {
            connection.link.answer(packet);
            self.mark_ready(at);
        }
    }
}
