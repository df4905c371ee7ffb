//! Handles packets from the broker.

use trackbed_core::Time;

use super::{Client, Event, Stage};
use crate::decode::decode;
use crate::packet::{Packet, Publish, Qos};
use crate::reason::{Fault, Reason};
use crate::sending::complete;

impl Client {
    /// Handles received bytes. If the broker breaks the protocol, the connection ends
    /// ([`Event::Ended`]).
    pub fn receive(&mut self, mut bytes: &[u8], now: Time) {
        while self.stage != Stage::Apart {
            let done = match self.splitter.next(&mut bytes) {
                Ok(None) => return,
                Ok(Some(raw)) => {
                    decode(self.settings.version, raw).and_then(|packet| self.take(packet, now))
                }
                Err(fault) => Err(fault),
            };
            if let Err(fault) = done {
                self.fail(fault);
            }
        }
    }

    fn take(&mut self, packet: Packet, now: Time) -> Result<(), Fault> {
        match (self.stage, packet) {
            (Stage::Connecting, Packet::Connack(connack)) => match connack.reason {
                Reason::SUCCESS => self.begin(connack, now),
                reason => return Err(Fault::new(reason, "the broker refused the connection")),
            },
            (Stage::Connecting, _) => {
                return Err(Fault::protocol("the broker's first packet is not CONNACK"));
            }
            (_, Packet::Publish(publish)) => self.published(publish, now)?,
            (_, Packet::Pubrel { packet_id, .. }) => {
                let answer = complete(&mut self.received, packet_id);
                self.answer(&answer, now);
            }
            (
                _,
                packet @ (Packet::Puback { .. } | Packet::Pubrec { .. } | Packet::Pubcomp { .. }),
            ) => self.acknowledged(&packet, now),
            (_, Packet::Suback { packet_id, reasons }) => {
                if self.sending.release(packet_id) {
                    self.events.push_back(Event::Subscribed { packet_id, reasons });
                }
            }
            (_, Packet::Unsuback { packet_id, reasons }) => {
                if self.sending.release(packet_id) {
                    self.events.push_back(Event::Unsubscribed { packet_id, reasons });
                }
            }
            (_, Packet::Pingresp) => self.pinged = None,
            (_, Packet::Disconnect { reason, .. }) => {
                return Err(Fault::new(reason, "the broker closed the connection"));
            }
            _ => return Err(Fault::protocol("a broker may not send this packet")),
        }
        Ok(())
    }

    fn published(&mut self, publish: Publish, now: Time) -> Result<(), Fault> {
        let Publish { message, packet_id, topic_alias, subscriptions, .. } = publish;
        if topic_alias.is_some() {
            // None were allowed.
            let why = "the broker used a topic alias, which the client did not allow";
            return Err(Fault::new(Reason::TOPIC_ALIAS_INVALID, why));
        }
        let reason = Reason::SUCCESS;
        let is_new = match message.qos {
            Qos::AtMostOnce => true,
            Qos::AtLeastOnce => {
                self.answer(&Packet::Puback { packet_id, reason }, now);
                true
            }
            Qos::ExactlyOnce => {
                let limit = usize::from(self.settings.receive_maximum.max(1));
                let is_known = self.received.contains(&packet_id);
                // A broker of 3.1.1 was told no limit.
                if !is_known
                    && self.received.len() >= limit
                    && self.settings.version == crate::Version::V5
                {
                    let why = "the broker sent more messages than the receive maximum allows";
                    return Err(Fault::new(Reason::RECEIVE_MAXIMUM_EXCEEDED, why));
                }
                self.answer(&Packet::Pubrec { packet_id, reason }, now);
                self.received.insert(packet_id)
            }
        };
        if is_new {
            self.events.push_back(Event::Received { message, subscriptions });
        }
        Ok(())
    }

    fn acknowledged(&mut self, packet: &Packet, now: Time) {
        let version = self.settings.version;
        if matches!(packet, Packet::Pubrec { .. }) {
            self.spoke = now;
        }
        let done = self.sending.acknowledged(version, packet, &mut self.output);
        if let Some((token, reason)) = done {
            self.events.push_back(Event::Acknowledged { token, reason });
            self.pump(now);
        }
    }
}
