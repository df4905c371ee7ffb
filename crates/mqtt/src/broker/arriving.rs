//! Handles packets from clients.

use std::sync::Arc;

use trackbed_core::Time;

use super::Broker;
use super::connection::{ConnectionId, Stage};
use crate::decode::{CONNECT, decode};
use crate::framing::Raw;
use crate::packet::{Packet, Publish, Qos};
use crate::reason::{Fault, Reason};
use crate::sending::complete;
use crate::tree::SessionId;

impl Broker {
    /// Handles bytes received on a connection. A client that breaks the protocol gets a reason, and
    /// its connection is closed.
    pub fn receive(&mut self, id: ConnectionId, mut bytes: &[u8], now: Time) {
        loop {
            let Some(connection) = self.connections.get_mut(&id) else { return };
            if connection.stage == Stage::Closing {
                return;
            }
            let raw = match connection.splitter.next(&mut bytes) {
                Ok(Some(raw)) => raw,
                Ok(None) => {
                    if connection.splitter.is_inside_a_packet() {
                        connection.packet_began.get_or_insert(now);
                    }
                    return self.arm_connection(id);
                }
                Err(fault) => return self.fail(id, &fault, now),
            };
            connection.heard = now;
            connection.packet_began = None;
            let (stage, is_connect) = (connection.stage, raw.first >> 4 == CONNECT);
            let done = match stage {
                Stage::Opened if is_connect => self.first(id, raw, now),
                Stage::Opened => Err(Fault::protocol("the first packet is not CONNECT")),
                Stage::Connected(session) => self.next(id, session, raw, now),
                Stage::Closing => return,
            };
            if let Err(fault) = done {
                if stage == Stage::Opened && is_connect {
                    self.refuse(id, fault.reason);
                }
                return self.fail(id, &fault, now);
            }
        }
    }

    fn fail(&mut self, id: ConnectionId, fault: &Fault, now: Time) {
        self.counters.faults += 1;
        self.end(id, Some(fault.reason), now);
    }

    /// The first packet, which is CONNECT.
    fn first(&mut self, id: ConnectionId, raw: Raw, now: Time) -> Result<(), Fault> {
        // The byte with the version, so that a refusal can use it.
        if raw.body.get(6) == Some(&4)
            && let Some(connection) = self.connections.get_mut(&id)
        {
            connection.link.version = crate::Version::V311;
        }
        match decode(crate::Version::V5, raw)? {
            Packet::Connect(connect) => self.connect(id, *connect, now),
            _ => Err(Fault::protocol("the first packet is not CONNECT")),
        }
    }

    fn next(
        &mut self,
        id: ConnectionId,
        session: SessionId,
        raw: Raw,
        now: Time,
    ) -> Result<(), Fault> {
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let version = connection.link.version;
        match decode(version, raw)? {
            Packet::Publish(publish) => self.published((id, session), publish, now)?,
            Packet::Pubrel { packet_id, .. } => {
                let Some(session) = self.sessions.get_mut(&session) else { return Ok(()) };
                let answer = complete(&mut session.received, packet_id);
                self.answer(id, &answer);
            }
            packet @ (Packet::Puback { .. } | Packet::Pubrec { .. } | Packet::Pubcomp { .. }) => {
                self.acknowledged((id, session), &packet, now);
            }
            Packet::Subscribe { packet_id, subscriptions, identifier } => {
                self.subscribe((id, session), packet_id, &subscriptions, identifier, now);
            }
            Packet::Unsubscribe { packet_id, filters } => {
                self.unsubscribe((id, session), packet_id, &filters);
            }
            Packet::Pingreq => self.answer(id, &Packet::Pingresp),
            Packet::Disconnect { reason, session_expiry_secs } => {
                return self.disconnected((id, session), reason, session_expiry_secs, now);
            }
            Packet::Connect(_)
            | Packet::Connack(_)
            | Packet::Suback { .. }
            | Packet::Unsuback { .. }
            | Packet::Pingresp
            | Packet::Auth => {
                return Err(Fault::protocol("a client may not send this packet here"));
            }
        }
        Ok(())
    }

    fn published(
        &mut self,
        (at, id): (ConnectionId, SessionId),
        mut publish: Publish,
        now: Time,
    ) -> Result<(), Fault> {
        if !publish.subscriptions.is_empty() {
            return Err(Fault::protocol("a client may not send subscription identifiers"));
        }
        self.resolve_alias(at, &mut publish)?;
        let Publish { message, packet_id, .. } = publish;
        match message.qos {
            Qos::AtMostOnce => {
                self.accept((at, id), message, now);
            }
            Qos::AtLeastOnce => {
                let reason = self.accept((at, id), message, now);
                self.answer(at, &Packet::Puback { packet_id, reason });
            }
            Qos::ExactlyOnce => {
                let limit = usize::from(self.limits.receive_maximum);
                let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
                let reason = if session.received.contains(&packet_id) {
                    // A duplicate.
                    Reason::SUCCESS
                } else if session.received.len() >= limit {
                    let why = "too many messages are waiting for PUBREL";
                    return Err(Fault::new(Reason::RECEIVE_MAXIMUM_EXCEEDED, why));
                } else {
                    // Section 4.3.3: it is delivered at once; the stored identifier prevents a
                    // second delivery.
                    session.received.insert(packet_id);
                    let reason = self.accept((at, id), message, now);
                    // In version 5, this response ends a refused message.
                    if !reason.is_success()
                        && self.version_of(at) == crate::Version::V5
                        && let Some(session) = self.sessions.get_mut(&id)
                    {
                        session.received.remove(&packet_id);
                    }
                    reason
                };
                self.answer(at, &Packet::Pubrec { packet_id, reason });
            }
        }
        Ok(())
    }

    fn version_of(&self, at: ConnectionId) -> crate::Version {
        self.connections.get(&at).map_or(crate::Version::V5, |connection| connection.link.version)
    }

    /// Section 3.3.2.3.4 of version 5.
    fn resolve_alias(&mut self, at: ConnectionId, publish: &mut Publish) -> Result<(), Fault> {
        let Some(alias) = publish.topic_alias else { return Ok(()) };
        let invalid = |why| Fault::new(Reason::TOPIC_ALIAS_INVALID, why);
        let connection = self.connections.get_mut(&at);
        let index = usize::from(alias).checked_sub(1);
        let slot = connection
            .zip(index)
            .and_then(|(connection, index)| connection.aliases.get_mut(index))
            .ok_or(invalid("the topic alias is above the maximum"))?;
        if publish.message.topic.is_empty() {
            let topic = slot.as_ref().ok_or(invalid("the topic alias is not assigned"))?;
            publish.message.topic = Arc::clone(topic);
        } else {
            *slot = Some(Arc::clone(&publish.message.topic));
        }
        Ok(())
    }

    fn acknowledged(&mut self, (at, id): (ConnectionId, SessionId), packet: &Packet, now: Time) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(connection) = self.connections.get_mut(&at) else { return };
        let link = &mut connection.link;
        let done = session.sending.acknowledged(link.version, packet, &mut link.output);
        self.mark_ready(at);
        if done.is_some() {
            self.pump(id, now);
        }
    }

    fn disconnected(
        &mut self,
        (at, id): (ConnectionId, SessionId),
        reason: Reason,
        session_expiry_secs: Option<u32>,
        now: Time,
    ) -> Result<(), Fault> {
        if let Some(session) = self.sessions.get_mut(&id) {
            if let Some(secs) = session_expiry_secs {
                // Section 3.14.2.2.2.
                if session.expiry_secs == 0 && secs > 0 {
                    return Err(Fault::protocol(
                        "DISCONNECT sets a session expiry, but CONNECT set none",
                    ));
                }
                let kept = u32::try_from(self.limits.session_expiry.as_secs());
                session.expiry_secs = secs.min(kept.unwrap_or(u32::MAX - 1));
            }
            // Any other reason leaves the will to be published.
            if reason == Reason::SUCCESS {
                session.will = None;
            }
        }
        self.end(at, None, now);
        Ok(())
    }
}
