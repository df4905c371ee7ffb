//! Routes messages from publishers to subscribers.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;

use super::session::Delivery;
use super::{Arrived, Broker, ConnectionId};
use crate::packet::{Message, Qos};
use crate::reason::Reason;
use crate::topic;
use crate::tree::{Kept, Matches, Options, SessionId};

impl Broker {
    /// Publishes a message from the broker itself, for example the service's; returns the number of
    /// sessions it was for.
    pub fn publish(&mut self, message: Message, now: Time) -> usize {
        if message.retain {
            let _full = self.retain(&message, now);
        }
        self.route(None, Arc::new(message), now)
    }

    /// Publishes a client's message; returns the reason for its acknowledgment.
    pub(super) fn accept(
        &mut self,
        (at, publisher): (ConnectionId, SessionId),
        message: Message,
        now: Time,
    ) -> Reason {
        self.counters.published += 1;
        let name = &*message.topic;
        if name.starts_with('$') {
            return Reason::NOT_AUTHORIZED;
        }
        if name.len() > self.limits.topic_len || topic::levels(name) > self.limits.topic_levels {
            return Reason::TOPIC_NAME_INVALID;
        }
        if message.retain && !self.retain(&message, now) {
            return Reason::QUOTA_EXCEEDED;
        }
        let is_served = self.service.as_ref().is_some_and(|prefix| {
            name.strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if is_served && let Some(session) = self.sessions.get(&publisher) {
            let client = Arc::clone(&session.client);
            self.arrived.push_back(Arrived { connection: at, client, message: message.clone() });
        }
        match self.route(Some(publisher), Arc::new(message), now) + usize::from(is_served) {
            0 => Reason::NO_MATCHING_SUBSCRIBERS,
            _ => Reason::SUCCESS,
        }
    }

    /// Retains a message for later subscribers, or removes the retained one if it is empty; false
    /// if there is no room.
    fn retain(&mut self, message: &Message, now: Time) -> bool {
        if message.payload.is_empty() {
            self.retained.remove(&message.topic);
            return true;
        }
        let is_new = !self.retained.contains(&message.topic);
        let limits = &self.limits;
        if (is_new && self.retained.count() >= limits.retained)
            || self.retained.weight() + message.weight() > limits.retained_bytes
        {
            return false;
        }
        let expires = expiry(message, now);
        self.retained.insert(Kept { message: Arc::new(message.clone()), expires });
        true
    }

    fn route(&mut self, publisher: Option<SessionId>, message: Arc<Message>, now: Time) -> usize {
        let mut matches = Matches::default();
        self.filters.matching(&message.topic, &mut matches);
        let expires = expiry(&message, now);
        // Section 3.3.4: a session gets one copy, with the highest QoS of its subscriptions.
        matches.single.sort_unstable_by_key(|(session, _)| *session);
        let mut count = 0;
        for subscriptions in matches.single.chunk_by(|(one, _), (other, _)| one == other) {
            let session = subscriptions[0].0;
            let is_local = publisher == Some(session);
            let wanted = subscriptions.iter().map(|(_, options)| options);
            let wanted: Vec<&Options> = wanted.filter(|it| !(it.no_local && is_local)).collect();
            if !wanted.is_empty() {
                count += 1;
                self.deliver(session, delivery(&message, &wanted, expires), now);
            }
        }
        for turns in matches.shared {
            // A connected member is preferred to one whose messages would be queued.
            let is_there = |(id, _): &&(SessionId, Options)| {
                self.sessions.get(id).is_some_and(|session| session.connection.is_some())
            };
            if let Some((session, options)) = turns.iter().find(is_there).or(turns.first()) {
                count += 1;
                self.deliver(*session, delivery(&message, &[options], expires), now);
            }
        }
        count
    }

    pub(super) fn deliver(&mut self, id: SessionId, delivery: Delivery, now: Time) {
        let Some(session) = self.sessions.get(&id) else { return };
        let at = session.connection;
        let link = at.and_then(|at| self.connections.get(&at)).map(|connection| &connection.link);
        if delivery.qos != Qos::AtMostOnce && !self.has_memory(session, link) {
            self.counters.dropped += 1;
            return;
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let connection = at.and_then(|at| self.connections.get_mut(&at));
        let qos = delivery.qos;
        let link = connection.map(|connection| &mut connection.link);
        match (session.deliver(link, delivery, now, &self.limits), qos) {
            (true, _) => self.counters.delivered += 1,
            (false, Qos::AtMostOnce) => self.counters.dropped_qos0 += 1,
            (false, _) => self.counters.dropped += 1,
        }
        if let Some(at) = at {
            self.mark_ready(at);
        }
    }
}

fn delivery(message: &Arc<Message>, wanted: &[&Options], expires: Option<Time>) -> Delivery {
    let qos = wanted.iter().map(|options| options.qos).max().unwrap_or_default();
    Delivery {
        qos: message.qos.min(qos),
        retain: message.retain && wanted.iter().any(|options| options.retain_as_published),
        subscriptions: wanted.iter().filter_map(|options| options.identifier).collect(),
        message: Arc::clone(message),
        expires,
    }
}

fn expiry(message: &Message, now: Time) -> Option<Time> {
    message.expiry_secs.map(|secs| now + Duration::from_secs(secs.into()))
}
