//! The beginning, resumption and end of sessions (CONNECT, section 3.1).

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;

use super::connection::{ConnectionId, Stage};
use super::session::Session;
use super::{Broker, Timer};
use crate::packet::{Connack, Connect, Packet, Version};
use crate::reason::{Fault, Reason};
use crate::topic;
use crate::tree::SessionId;

impl Broker {
    pub(super) fn connect(
        &mut self,
        id: ConnectionId,
        connect: Connect,
        now: Time,
    ) -> Result<(), Fault> {
        let version = connect.version;
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.link.version = version;
        }
        self.check(&connect)?;
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let keep = Duration::from_secs(connect.keep_alive_secs.into()) * 3 / 2;
        connection.silence_max = (connect.keep_alive_secs > 0).then_some(keep);
        connection.link.receive_maximum = connect.receive_maximum;
        connection.link.packet_len_max = connect.maximum_packet_size as usize;
        connection.aliases = vec![None; self.limits.topic_aliases.into()];

        let mut assigned = None;
        let client: Arc<str> = if connect.client_id.is_empty() {
            self.assigned += 1;
            let name = format!("assigned-{}", self.assigned);
            assigned = Some(name.clone());
            name.into()
        } else {
            connect.client_id.as_str().into()
        };
        let earlier = self.clients.get(&client).copied();
        if let Some(session) = earlier {
            self.take_over(session, now);
            if connect.clean_start {
                // Its end publishes a will that waits (MQTT 5, 3.1.2.5).
                self.sessions.entry(session).and_modify(|session| session.ends = Some(now));
                self.session_timeout(session, now);
            }
        }
        // Taking over may have ended it.
        let earlier = self.clients.get(&client).copied();
        if earlier.is_none() && self.sessions.len() >= self.limits.sessions {
            return Err(Fault::new(Reason::QUOTA_EXCEEDED, "too many sessions"));
        }
        let session_id = earlier.unwrap_or_else(|| self.begin(client));
        let kept_secs = u32::try_from(self.limits.session_expiry.as_secs()).unwrap_or(u32::MAX - 1);
        let expiry_secs = connect.session_expiry_secs.min(kept_secs);
        if let Some(session) = self.sessions.get_mut(&session_id) {
            session.connection = Some(id);
            session.expiry_secs = expiry_secs;
            session.ends = None;
            session.will = connect.will;
            session.will_due = None;
        }
        self.arm_session(session_id);
        let shortened = expiry_secs != connect.session_expiry_secs;
        let connack = Packet::Connack(Connack {
            session_present: earlier.is_some(),
            reason: Reason::SUCCESS,
            session_expiry_secs: (version == Version::V5 && shortened).then_some(expiry_secs),
            receive_maximum: self.limits.receive_maximum,
            maximum_packet_size: u32::try_from(self.limits.packet_len).ok(),
            topic_alias_maximum: self.limits.topic_aliases,
            assigned_client_id: assigned,
            server_keep_alive_secs: None,
        });
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.stage = Stage::Connected(session_id);
            connection.link.answer(&connack);
        }
        self.mark_ready(id);
        self.pump(session_id, now);
        Ok(())
    }

    /// Checks whether a client may connect with its settings.
    fn check(&self, connect: &Connect) -> Result<(), Fault> {
        let limits = &self.limits;
        if connect.authentication_method.is_some() {
            let why = "extended authentication is not supported";
            return Err(Fault::new(Reason::BAD_AUTHENTICATION_METHOD, why));
        }
        if connect.client_id.len() > limits.client_id_len {
            let why = "the client identifier is too long";
            return Err(Fault::new(Reason::CLIENT_IDENTIFIER_NOT_VALID, why));
        }
        // Section 3.1.3.1 of version 3.1.1.
        if connect.client_id.is_empty() && !connect.clean_start && connect.version == Version::V311
        {
            let why = "a persistent session requires a client identifier";
            return Err(Fault::new(Reason::CLIENT_IDENTIFIER_NOT_VALID, why));
        }
        let will = connect.will.as_ref().map(|will| &*will.message.topic);
        let is_forbidden = |topic: &str| {
            topic.starts_with('$')
                || topic.len() > limits.topic_len
                || topic::levels(topic) > limits.topic_levels
        };
        if will.is_some_and(is_forbidden) {
            let why = "the will's topic is reserved, or too long";
            return Err(Fault::new(Reason::TOPIC_NAME_INVALID, why));
        }
        Ok(())
    }

    /// Answers a CONNECT that is refused.
    pub(super) fn refuse(&mut self, id: ConnectionId, reason: Reason) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.link.answer(&Packet::Connack(Connack::new(false, reason)));
        }
    }

    fn begin(&mut self, client: Arc<str>) -> SessionId {
        while self.sessions.contains_key(&self.next_session) {
            self.next_session = self.next_session.wrapping_add(1);
        }
        let id = self.next_session;
        self.next_session = self.next_session.wrapping_add(1);
        self.sessions.insert(id, Session::new(Arc::clone(&client)));
        self.clients.insert(client, id);
        id
    }

    /// Another connection of the same client ends this one (section 3.1.4).
    fn take_over(&mut self, id: SessionId, now: Time) {
        let Some(session) = self.sessions.get(&id) else { return };
        if let Some(connection) = session.connection {
            self.end(connection, Some(Reason::SESSION_TAKEN_OVER), now);
        }
    }

    /// The session has lost its connection: it ends, or is kept.
    pub(super) fn detach(&mut self, id: SessionId, now: Time) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.connection = None;
        session.sending.disconnected();
        let lives = Duration::from_secs(session.expiry_secs.into());
        session.ends = Some(now + lives);
        let delay = session.will.as_ref().map(|will| will.delay_secs.min(session.expiry_secs));
        session.will_due = delay.map(|secs| now + Duration::from_secs(secs.into()));
        if session.due().is_some_and(|due| due <= now) {
            self.session_timeout(id, now);
        } else {
            self.arm_session(id);
        }
    }

    /// Removes a session, its subscriptions and its messages. Its will is not published.
    pub(super) fn forget(&mut self, id: SessionId) {
        let Some(session) = self.sessions.remove(&id) else { return };
        self.clients.remove(&session.client);
        if let Some(timer) = session.timer {
            self.timers.remove(&(timer, Timer::Session(id)));
        }
        for filter in session.subscriptions.keys() {
            if let Ok((group, filter)) = topic::parse_filter(filter) {
                self.filters.remove(id, group, filter);
            }
        }
    }
}
