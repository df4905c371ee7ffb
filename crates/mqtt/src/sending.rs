//! The sender's side of QoS 1 and 2 (section 4.3): unacknowledged messages in flight, which are
//! sent again on the next connection. A broker has one for each session, a client one.

use std::collections::{BTreeSet, VecDeque};

use trackbed_core::Time;

use crate::encode::encode;
use crate::packet::{Packet, Publish, Qos, Version};
use crate::reason::{Fault, Reason};

/// Messages in flight, in the order of their first transmission.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    on_the_way: VecDeque<OnTheWay>,
    last_id: u16,
    /// The number of them sent on this connection.
    sent: usize,
    /// About how many bytes of memory their messages hold.
    weight: usize,
    /// Identifiers in use by other packet types.
    reserved: BTreeSet<u16>,
}

#[derive(Debug)]
struct OnTheWay {
    packet_id: u16,
    token: u64,
    stage: Stage,
    /// Whether it was sent on this connection.
    is_sent: bool,
}

#[derive(Debug)]
enum Stage {
    Published(Box<Publish>, Option<Time>),
    Released,
}

impl Sending {
    /// The number of unacknowledged messages.
    pub fn len(&self) -> usize {
        self.on_the_way.len()
    }

    /// About how many bytes of memory the messages hold.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Sends a message of QoS 1 or 2 and remembers it. There must be room: fewer than 65,535.
    ///
    /// # Errors
    /// If it cannot be encoded, or the packet is longer than `len_max`; then it is dropped.
    pub fn send(
        &mut self,
        version: Version,
        mut publish: Publish,
        token: u64,
        expires: Option<Time>,
        output: (&mut Vec<u8>, usize),
    ) -> Result<(), Fault> {
        let (out, len_max) = output;
        let packet_id = self.free_id();
        publish.packet_id = packet_id;
        publish.duplicate = false;
        let packet = Packet::Publish(publish);
        write(version, &packet, out, len_max)?;
        let Packet::Publish(mut publish) = packet else { unreachable!("it was made above") };
        publish.duplicate = true;
        // An alias is known on one connection only.
        publish.topic_alias = None;
        self.weight += publish.message.weight();
        let stage = Stage::Published(Box::new(publish), expires);
        self.on_the_way.push_back(OnTheWay { packet_id, token, stage, is_sent: true });
        self.sent += 1;
        Ok(())
    }

    /// An identifier for a packet of another kind that is answered too.
    pub fn reserve(&mut self) -> u16 {
        let packet_id = self.free_id();
        self.reserved.insert(packet_id);
        packet_id
    }

    /// The packet was answered; false if there was none.
    pub fn release(&mut self, packet_id: u16) -> bool {
        self.reserved.remove(&packet_id)
    }

    /// Takes a PUBACK, PUBREC or PUBCOMP, and writes the answer if there is one. Returns the token of
    /// a message that this ends, and success or the reason for the failure.
    pub fn acknowledged(
        &mut self,
        version: Version,
        packet: &Packet,
        out: &mut Vec<u8>,
    ) -> Option<(u64, Reason)> {
        let (Packet::Puback { packet_id, reason }
        | Packet::Pubrec { packet_id, reason }
        | Packet::Pubcomp { packet_id, reason }) = *packet
        else {
            return None;
        };
        let found = self.find(packet_id);
        let qos = match found {
            Some((_, Stage::Published(publish, _))) => Some(publish.message.qos),
            // It is released, or not there.
            _ => None,
        };
        match (packet, found.map(|(index, _)| index), qos) {
            (Packet::Puback { .. }, Some(index), Some(Qos::AtLeastOnce))
            | (Packet::Pubcomp { .. }, Some(index), None) => self.finish(index, reason),
            (Packet::Pubrec { .. }, Some(index), Some(Qos::ExactlyOnce))
                if !reason.is_success() =>
            {
                self.finish(index, reason)
            }
            (Packet::Pubrec { .. }, Some(index), Some(Qos::ExactlyOnce) | None) => {
                self.replace(index, Stage::Released);
                release(version, packet_id, Reason::SUCCESS, out);
                None
            }
            (Packet::Pubrec { .. }, None, _) => {
                release(version, packet_id, Reason::PACKET_IDENTIFIER_NOT_FOUND, out);
                None
            }
            _ => None,
        }
    }

    /// The connection is gone: all messages in flight must be sent again.
    pub fn disconnected(&mut self) {
        self.sent = 0;
        self.reserved.clear();
        for message in &mut self.on_the_way {
            message.is_sent = false;
        }
    }

    /// Drops everything; returns the tokens.
    pub fn clear(&mut self) -> Vec<u64> {
        self.sent = 0;
        self.weight = 0;
        self.on_the_way.drain(..).map(|message| message.token).collect()
    }

    /// Retransmits messages not yet sent on this connection, the oldest first, while fewer than
    /// `max` are in flight and `out` is shorter than `out_max` bytes; true if none is left.
    /// Messages that have expired, or are now too long for the peer, are dropped.
    pub fn resend(
        &mut self,
        version: Version,
        now: Time,
        max: usize,
        (out, out_max, len_max): (&mut Vec<u8>, usize, usize),
    ) -> bool {
        if self.sent == self.on_the_way.len() {
            return true;
        }
        let mut index = 0;
        while let Some(message) = self.on_the_way.get_mut(index) {
            if message.is_sent {
                index += 1;
                continue;
            }
            if self.sent >= max || out.len() >= out_max {
                return false;
            }
            let written = match &mut message.stage {
                Stage::Published(_, Some(expires)) if *expires <= now => false,
                Stage::Published(publish, _) => {
                    write(version, &Packet::Publish((**publish).clone()), out, len_max).is_ok()
                }
                Stage::Released => {
                    release(version, message.packet_id, Reason::SUCCESS, out);
                    true
                }
            };
            if written {
                message.is_sent = true;
                self.sent += 1;
                index += 1;
            } else {
                self.forget(index);
            }
        }
        true
    }

    /// Acknowledgments mostly arrive in the order of sending.
    fn find(&self, packet_id: u16) -> Option<(usize, &Stage)> {
        let found = self.on_the_way.iter().enumerate();
        let mut found = found.filter(|(_, message)| message.is_sent);
        let (index, message) = found.find(|(_, message)| message.packet_id == packet_id)?;
        Some((index, &message.stage))
    }

    fn finish(&mut self, index: usize, reason: Reason) -> Option<(u64, Reason)> {
        let token = self.forget(index)?;
        self.sent -= 1;
        Some((token, reason))
    }

    fn forget(&mut self, index: usize) -> Option<u64> {
        self.replace(index, Stage::Released);
        self.on_the_way.remove(index).map(|message| message.token)
    }

    fn replace(&mut self, index: usize, stage: Stage) {
        let old = std::mem::replace(&mut self.on_the_way[index].stage, stage);
        if let Stage::Published(publish, _) = old {
            self.weight -= publish.message.weight();
        }
    }

    /// The next identifier that is not in use.
    fn free_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            let id = self.last_id;
            let is_used = |message: &OnTheWay| message.packet_id == id;
            if !self.reserved.contains(&id) && !self.on_the_way.iter().any(is_used) {
                return id;
            }
        }
    }
}

fn release(version: Version, packet_id: u16, reason: Reason, out: &mut Vec<u8>) {
    let written = encode(version, &Packet::Pubrel { packet_id, reason }, out);
    debug_assert!(written.is_ok(), "an acknowledgement fits");
}

/// Writes a packet if the peer accepts its length.
pub(crate) fn write(
    version: Version,
    packet: &Packet,
    out: &mut Vec<u8>,
    len_max: usize,
) -> Result<(), Fault> {
    let begin = out.len();
    encode(version, packet, out)?;
    if out.len() - begin > len_max {
        out.truncate(begin);
        return Err(Fault::new(
            Reason::PACKET_TOO_LARGE,
            "the packet exceeds the peer's maximum packet size",
        ));
    }
    Ok(())
}

/// The receiver's answer to PUBREL (section 4.3.3): whether `received` had the identifier.
pub(crate) fn complete(received: &mut BTreeSet<u16>, packet_id: u16) -> Packet {
    let reason = match received.remove(&packet_id) {
        true => Reason::SUCCESS,
        false => Reason::PACKET_IDENTIFIER_NOT_FOUND,
    };
    Packet::Pubcomp { packet_id, reason }
}
