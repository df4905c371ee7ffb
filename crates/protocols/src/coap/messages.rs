//! The message layer (RFC 7252 section 4): reliability on request.
//!
//! Sans-IO: it takes the time, received datagrams and messages to send; it returns datagrams to
//! send (`outgoing`) and when it must be called next.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use coap_lite::{MessageType, Packet};
use trackbed_connection::TransportStats;
use trackbed_core::{Rng, Seed, Time};
use trackbed_substrate::Host;

use super::codes::{self, Class, EMPTY};
use super::recent::Recent;
use crate::tls::Randomness;

/// One end's messages with one peer.
pub(super) struct Messages {
    rng: Rng,
    next_id: u16,
    /// Confirmable messages that wait to be acknowledged, by their identifiers.
    pending: BTreeMap<u16, Pending>,
    recent: Recent,
    pub(super) outgoing: VecDeque<Bytes>,
    /// The number of discarded datagrams: malformed or useless ones.
    pub(super) refused: u64,
    stats: TransportStats,
}

struct Pending {
    datagram: Bytes,
    retransmissions: u32,
    timeout: Duration,
    sent: Time,
    due: Time,
}

#[derive(Debug)]
pub(super) enum Heard {
    /// Nothing that the layer above needs to know.
    Nothing,
    /// The message with this identifier has arrived.
    Acknowledged(u16),
    /// The peer rejected the message with this identifier (RFC 7252 section 4.2).
    Rejected(u16),
    Request(Packet),
    /// A response; if it is confirmable it must be [taken](Messages::take) or
    /// [rejected](Messages::reject).
    Response(Packet),
}

impl Messages {
    pub(super) fn new(host: &dyn Host) -> Result<Messages, String> {
        let root = match host.draw() {
            Some(root) => root,
            None => {
                let mut root = [0; 8];
                Randomness::new(host.entropy()).fill(&mut root)?;
                u64::from_le_bytes(root)
            }
        };
        let mut rng = Seed::of_run(root, 0).stream("coap");
        let next_id = rng.next_u64() as u16;
        Ok(Messages::numbered_from(next_id, rng))
    }

    fn numbered_from(next_id: u16, rng: Rng) -> Messages {
        Messages {
            next_id,
            rng,
            pending: BTreeMap::new(),
            recent: Recent::default(),
            outgoing: VecDeque::new(),
            refused: 0,
            stats: TransportStats::default(),
        }
    }

    /// A number for tokens (RFC 7252 section 5.3.1): unpredictable, unless the run has a seed.
    pub(super) fn draw(&mut self) -> u32 {
        self.rng.next_u64() as u32
    }

    /// Sends a request or a separate response, and returns its identifier.
    pub(super) fn send(&mut self, mut packet: Packet, is_confirmable: bool, now: Time) -> u16 {
        // RFC 7252 section 4.4: the same number again when all others were used. One that still
        // waits is passed over.
        while self.pending.contains_key(&self.next_id) {
            self.next_id = self.next_id.wrapping_add(1);
        }
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        packet.header.message_id = id;
        packet.header.set_type(match is_confirmable {
            true => MessageType::Confirmable,
            false => MessageType::NonConfirmable,
        });
        let datagram = encode(&packet);
        if is_confirmable {
            // RFC 7252 section 4.2: between ACK_TIMEOUT and that times ACK_RANDOM_FACTOR.
            let spread = (ACK_TIMEOUT / 2).as_nanos() as u64;
            let timeout = ACK_TIMEOUT + Duration::from_nanos(self.rng.below(spread + 1));
            let datagram = datagram.clone();
            let due = now + timeout;
            self.pending
                .insert(id, Pending { datagram, retransmissions: 0, timeout, sent: now, due });
        }
        self.emit(datagram);
        id
    }

    /// Answers a confirmable request in its acknowledgment (RFC 7252 section 5.2.1).
    pub(super) fn piggyback(&mut self, mut packet: Packet, id: u16) {
        packet.header.message_id = id;
        packet.header.set_type(MessageType::Acknowledgement);
        self.reply(id, encode(&packet));
    }

    /// Sends an empty acknowledgment (RFC 7252 section 4.2).
    pub(super) fn acknowledge(&mut self, id: u16) {
        self.reply(id, empty(MessageType::Acknowledgement, id));
    }

    /// Takes a response: acknowledges it, now and for every duplicate.
    pub(super) fn take(&mut self, response: &Packet, now: Time) {
        if response.header.get_type() == MessageType::Confirmable {
            let id = response.header.message_id;
            self.recent.hear(id, response.get_token(), now);
            self.acknowledge(id);
        }
    }

    /// Rejects a message, if it is confirmable (RFC 7252 section 4.2).
    pub(super) fn reject(&mut self, packet: &Packet) {
        self.refused += 1;
        if packet.header.get_type() == MessageType::Confirmable {
            self.emit(empty(MessageType::Reset, packet.header.message_id));
        }
    }

    fn reply(&mut self, id: u16, datagram: Bytes) {
        self.recent.answered(id, datagram.clone());
        self.emit(datagram);
    }

    fn emit(&mut self, datagram: Bytes) {
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += datagram.len() as u64;
        self.outgoing.push_back(datagram);
    }

    /// Stops waiting for the acknowledgment of a message.
    pub(super) fn forget(&mut self, id: u16) {
        self.pending.remove(&id);
    }

    pub(super) fn hear(&mut self, datagram: &[u8], now: Time) -> Heard {
        self.stats.bytes_received += datagram.len() as u64;
        let packet = match parse(datagram) {
            Ok(packet) => packet,
            Err(flaw) => {
                self.refused += 1;
                if let Flaw::Rejected(id) = flaw {
                    self.emit(empty(MessageType::Reset, id));
                }
                return Heard::Nothing;
            }
        };
        let id = packet.header.message_id;
        let kind = packet.header.get_type();
        let class = codes::class(packet.header.code.into());
        match (kind, class) {
            (MessageType::Acknowledgement, Class::Empty) => {
                self.acknowledged(id, now);
                Heard::Acknowledged(id)
            }
            (MessageType::Acknowledgement, Class::Response) => {
                self.acknowledged(id, now);
                Heard::Response(packet)
            }
            (MessageType::Reset, Class::Empty) => {
                self.pending.remove(&id);
                Heard::Rejected(id)
            }
            (MessageType::Confirmable, Class::Empty) => {
                // A ping (RFC 7252 section 4.3).
                self.emit(empty(MessageType::Reset, id));
                Heard::Nothing
            }
            (MessageType::Confirmable | MessageType::NonConfirmable, Class::Request) => {
                if let Some(answer) = self.recent.find(id, packet.get_token(), now) {
                    answer.into_iter().for_each(|answer| self.emit(answer));
                    return Heard::Nothing;
                }
                self.recent.hear(id, packet.get_token(), now);
                Heard::Request(packet)
            }
            (MessageType::Confirmable | MessageType::NonConfirmable, Class::Response) => {
                if let Some(answer) = self.recent.find(id, packet.get_token(), now) {
                    answer.into_iter().for_each(|answer| self.emit(answer));
                    return Heard::Nothing;
                }
                Heard::Response(packet)
            }
            _ => {
                self.refused += 1;
                Heard::Nothing
            }
        }
    }

    fn acknowledged(&mut self, id: u16, now: Time) {
        let Some(pending) = self.pending.remove(&id) else { return };
        // Retransmitted messages give no sample (RFC 6298 section 3).
        if pending.retransmissions == 0 {
            self.measure(now - pending.sent);
        }
    }

    /// Takes a sample of the round-trip time (RFC 6298 section 2).
    pub(super) fn measure(&mut self, sample: Duration) {
        let smoothed = self.stats.smoothed_rtt.map_or(sample, |old| old * 7 / 8 + sample / 8);
        self.stats.smoothed_rtt = Some(smoothed);
    }

    /// Retransmits due messages, and returns those that are given up.
    pub(super) fn advance(&mut self, now: Time) -> Vec<u16> {
        let due = self.pending.iter().filter(|(_, pending)| pending.due <= now);
        let due: Vec<u16> = due.map(|(&id, _)| id).collect();
        let mut given_up = Vec::new();
        for id in due {
            let Some(pending) = self.pending.get_mut(&id) else { continue };
            if pending.retransmissions == MAX_RETRANSMIT {
                self.pending.remove(&id);
                given_up.push(id);
                continue;
            }
            pending.retransmissions += 1;
            pending.timeout *= 2;
            pending.due = now + pending.timeout;
            let datagram = pending.datagram.clone();
            self.stats.packets_lost += 1;
            self.emit(datagram);
        }
        given_up
    }

    /// When [`Messages::advance`] has something to do.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        self.pending.values().map(|pending| pending.due).min()
    }

    pub(super) fn stats(&self) -> TransportStats {
        self.stats
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Ignored,
    /// A confirmable message with this identifier is malformed (RFC 7252 section 4.2).
    Rejected(u16),
}

/// Reads a message (RFC 7252 section 3).
fn parse(datagram: &[u8]) -> Result<Packet, Flaw> {
    let &[first, code, high, low, ..] = datagram else { return Err(Flaw::Ignored) };
    if first >> 6 != VERSION {
        return Err(Flaw::Ignored);
    }
    let is_confirmable = first >> 4 & 3 == 0;
    let flaw = match is_confirmable {
        true => Flaw::Rejected(u16::from_be_bytes([high, low])),
        false => Flaw::Ignored,
    };
    let has_tail = datagram.len() > 4 || first & 15 != 0;
    match codes::class(code) {
        Class::Reserved => return Err(flaw),
        Class::Empty if has_tail => return Err(flaw),
        Class::Empty | Class::Request | Class::Response => {}
    }
    let packet = Packet::from_bytes(datagram).map_err(|_| flaw)?;
    // A marker with nothing after it is an error (RFC 7252 section 3).
    if packet.payload.is_empty() && datagram.last() == Some(&PAYLOAD_MARKER) {
        let without = packet.to_bytes_unlimited().map_err(|_| flaw)?;
        if without.len() != datagram.len() {
            return Err(flaw);
        }
    }
    Ok(packet)
}

/// The bytes of a message that this end has made.
fn encode(packet: &Packet) -> Bytes {
    // It fails only for tokens of more than eight bytes, which never occur.
    packet.to_bytes_unlimited().unwrap_or_default().into()
}

fn empty(kind: MessageType, id: u16) -> Bytes {
    let kind: u8 = match kind {
        MessageType::Confirmable => 0,
        MessageType::NonConfirmable => 1,
        MessageType::Acknowledgement => 2,
        MessageType::Reset => 3,
    };
    let [high, low] = id.to_be_bytes();
    Bytes::copy_from_slice(&[VERSION << 6 | kind << 4, EMPTY, high, low])
}

const VERSION: u8 = 1;
const PAYLOAD_MARKER: u8 = 0xff;

/// RFC 7252 section 4.8.
pub(super) const ACK_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a non-confirmable request may be answered (RFC 7252 section 4.8.2).
pub(super) const NON_LIFETIME: Duration = Duration::from_secs(145);
const MAX_RETRANSMIT: u32 = 4;

#[cfg(test)]
mod tests;
