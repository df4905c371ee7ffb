//! Decodes packets.

use std::sync::Arc;

use bytes::{Buf as _, Bytes};

use crate::framing::Raw;
use crate::packet::{
    Connack, Connect, Message, Packet, Properties, Publish, Qos, RetainHandling, Subscription,
    Version, Will,
};
use crate::reason::{Fault, Reason};
use crate::topic;
use crate::wire::{PropertyBlock, Reader, Result};

/// Decodes a packet of `version`. CONNECT names its own version.
pub(crate) fn decode(version: Version, raw: Raw) -> Result<Packet> {
    let (kind, flags) = (raw.first >> 4, raw.first & 0x0f);
    let expected = match kind {
        PUBLISH => flags,
        PUBREL | SUBSCRIBE | UNSUBSCRIBE => 0b0010,
        _ => 0,
    };
    if flags != expected {
        return Err(Fault::malformed("reserved flags of a packet are set"));
    }
    let reader = &mut Reader(&raw.body);
    let packet = match (kind, version) {
        (CONNECT, _) => connect(reader)?,
        (CONNACK, _) => connack(version, reader)?,
        (PUBLISH, _) => return publish(version, flags, raw.body),
        (PUBACK | PUBREC | PUBREL | PUBCOMP, _) => acknowledgement(version, kind, reader)?,
        (SUBSCRIBE, _) => subscribe(version, reader)?,
        (SUBACK | UNSUBACK, _) => answers(version, kind, reader)?,
        (UNSUBSCRIBE, _) => unsubscribe(version, reader)?,
        (PINGREQ, _) => Packet::Pingreq,
        (PINGRESP, _) => Packet::Pingresp,
        (DISCONNECT, _) => disconnect(version, reader)?,
        (AUTH, Version::V5) => return Ok(Packet::Auth),
        _ => return Err(Fault::malformed("unknown packet type")),
    };
    match reader.0 {
        [] => Ok(packet),
        _ => Err(Fault::malformed("bytes follow the end of a packet")),
    }
}

fn connect(reader: &mut Reader) -> Result<Packet> {
    let &[0, 4, b'M', b'Q', b'T', b'T', level, flags, ref rest @ ..] = reader.0 else {
        // Version 3.1 has another name.
        let why = "the protocol name is not MQTT";
        return Err(Fault::new(Reason::UNSUPPORTED_PROTOCOL_VERSION, why));
    };
    reader.0 = rest;
    let is_set = |flag: u8| flags & flag != 0;
    let has_will = is_set(0b100);
    if is_set(1) || flags & 0b1_1000 == 0b1_1000 || (!has_will && is_set(0b11_1000)) {
        return Err(Fault::malformed("the flags of CONNECT contradict each other"));
    }
    let version = match level {
        4 => Version::V311,
        5 => Version::V5,
        _ => {
            let why = "the version is neither 3.1.1 nor 5";
            return Err(Fault::new(Reason::UNSUPPORTED_PROTOCOL_VERSION, why));
        }
    };
    let keep_alive_secs = reader.two()?;
    let said = reader.properties(version, OF_CONNECT)?;
    let invalid = |reason, why| move |_| Fault::new(reason, why);
    let client_id = reader.text().map_err(invalid(
        Reason::CLIENT_IDENTIFIER_NOT_VALID,
        "the client identifier is not UTF-8",
    ))?;
    let will = if has_will { Some(will(version, flags, reader)?) } else { None };
    let who = || invalid(Reason::BAD_USER_NAME_OR_PASSWORD, "the user name is not UTF-8");
    let user_name = is_set(0x80).then(|| reader.text()).transpose().map_err(who())?;
    let password = is_set(0x40).then(|| reader.data()).transpose().map_err(who())?;
    if password.is_some() && user_name.is_none() {
        return Err(Fault::protocol("a password without a user name"));
    }
    let clean_start = is_set(0b10);
    // Section 3.1.2.4 of 3.1.1: a session that is not clean is kept.
    let kept_secs = if version == Version::V5 || clean_start { 0 } else { u32::MAX };
    Ok(Packet::Connect(Box::new(Connect {
        version,
        client_id: client_id.to_owned(),
        clean_start,
        keep_alive_secs,
        session_expiry_secs: said.session_expiry_secs.unwrap_or(kept_secs),
        receive_maximum: not_zero(said.receive_maximum)?.unwrap_or(u16::MAX),
        maximum_packet_size: not_zero(said.maximum_packet_size)?.unwrap_or(u32::MAX),
        topic_alias_maximum: said.topic_alias_maximum.unwrap_or(0),
        will,
        user_name: user_name.map(str::to_owned),
        password: password.map(<[u8]>::to_vec),
        authentication_method: said.authentication_method.map(str::to_owned),
    })))
}

fn will(version: Version, flags: u8, reader: &mut Reader) -> Result<Will> {
    let said = reader.properties(version, OF_WILL)?;
    let (topic, payload) = (reader.text()?, reader.data()?);
    topic::check_name(topic)?;
    let mut message = message(&said, topic, qos(flags >> 3)?, flags & 0x20 != 0);
    message.payload = Bytes::copy_from_slice(payload);
    Ok(Will { message, delay_secs: said.will_delay_secs.unwrap_or(0) })
}

fn connack(version: Version, reader: &mut Reader) -> Result<Packet> {
    let session_present = reader.byte()? & 1 != 0;
    let reason = match version {
        Version::V311 => RETURN_CODES[usize::from(reader.reason(&[0, 1, 2, 3, 4, 5])?.0)],
        Version::V5 => reader.reason(CONNACK_CODES)?,
    };
    let said = reader.properties(version, OF_CONNACK)?;
    Ok(Packet::Connack(Connack {
        session_expiry_secs: said.session_expiry_secs,
        receive_maximum: not_zero(said.receive_maximum)?.unwrap_or(u16::MAX),
        maximum_packet_size: not_zero(said.maximum_packet_size)?,
        topic_alias_maximum: said.topic_alias_maximum.unwrap_or(0),
        assigned_client_id: said.assigned_client_id.map(str::to_owned),
        server_keep_alive_secs: said.server_keep_alive_secs,
        ..Connack::new(session_present, reason)
    }))
}

fn publish(version: Version, flags: u8, mut body: Bytes) -> Result<Packet> {
    let reader = &mut Reader(&body);
    let qos = qos(flags >> 1)?;
    let topic = reader.text()?;
    let packet_id = if qos == Qos::AtMostOnce { 0 } else { reader.packet_id()? };
    let said = match reader.0 {
        [] => PropertyBlock::default(),
        _ => reader.properties(version, OF_PUBLISH)?,
    };
    let topic_alias = not_zero(said.topic_alias)?;
    match (topic, version) {
        ("", Version::V311) => return Err(Fault::malformed("the topic is empty")),
        ("", Version::V5) if topic_alias.is_none() => {
            return Err(Fault::protocol("neither a topic nor a topic alias"));
        }
        ("", Version::V5) => {}
        (topic, _) => topic::check_name(topic)?,
    }
    let duplicate = flags & 0b1000 != 0;
    if duplicate && qos == Qos::AtMostOnce {
        return Err(Fault::malformed("a message of QoS 0 is marked as a duplicate"));
    }
    let subscriptions = said.subscriptions.iter().map(|id| not_zero(Some(id.0)));
    let subscriptions = subscriptions.flat_map(Result::transpose).collect::<Result<_>>()?;
    let start = body.len() - reader.0.len();
    let mut message = message(&said, topic, qos, flags & 1 != 0);
    body.advance(start);
    message.payload = body;
    Ok(Packet::Publish(Publish { message, duplicate, packet_id, topic_alias, subscriptions }))
}

/// A message without its payload.
fn message(said: &PropertyBlock, topic: &str, qos: Qos, retain: bool) -> Message {
    let user = said.user.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let properties = Arc::new(Properties {
        is_text: said.is_text,
        content_type: said.content_type.map(str::to_owned),
        response_topic: said.response_topic.map(str::to_owned),
        correlation_data: said.correlation_data.map(<[u8]>::to_vec),
        user: user.collect(),
    });
    let (topic, payload, expiry_secs) = (topic.into(), Bytes::new(), said.expiry_secs);
    Message { topic, payload, qos, retain, expiry_secs, properties }
}

/// PUBACK, PUBREC, PUBREL and PUBCOMP: an identifier, and in version 5 perhaps a reason and
/// properties, which are not used here.
fn acknowledgement(version: Version, kind: u8, reader: &mut Reader) -> Result<Packet> {
    let packet_id = reader.packet_id()?;
    let reason = match (version, reader.0) {
        (_, []) => Reason::SUCCESS,
        (Version::V5, [_]) => Reason(reader.byte()?),
        (Version::V5, _) => {
            let is_first = matches!(kind, PUBACK | PUBREC);
            let reason = reader.reason(if is_first { PUBACK_CODES } else { &[0, 0x92] })?;
            reader.properties(version, &[0x1f])?;
            reason
        }
        (Version::V311, _) => return Err(Fault::malformed("an acknowledgement is too long")),
    };
    Ok(match kind {
        PUBACK => Packet::Puback { packet_id, reason },
        PUBREC => Packet::Pubrec { packet_id, reason },
        PUBREL => Packet::Pubrel { packet_id, reason },
        _ => Packet::Pubcomp { packet_id, reason },
    })
}

fn subscribe(version: Version, reader: &mut Reader) -> Result<Packet> {
    let packet_id = reader.packet_id()?;
    let identifiers = reader.properties(version, &[0x0b])?.subscriptions;
    let mut subscriptions = Vec::new();
    while !reader.0.is_empty() {
        let filter = filter(version, reader)?;
        let options = reader.byte()?;
        let retain_handling = match options >> 4 {
            0 => RetainHandling::Always,
            1 => RetainHandling::IfNew,
            2 => RetainHandling::Never,
            _ => return Err(Fault::malformed("reserved bits of a subscription are set")),
        };
        if version == Version::V311 && options > 2 {
            return Err(Fault::malformed("reserved bits of a subscription are set"));
        }
        subscriptions.push(Subscription {
            filter,
            qos: qos(options)?,
            no_local: options & 0b100 != 0,
            retain_as_published: options & 0b1000 != 0,
            retain_handling,
        });
    }
    if subscriptions.is_empty() {
        return Err(Fault::protocol("SUBSCRIBE has no topic filter"));
    }
    let identifier = not_zero(identifiers.first().map(|id| id.0))?;
    Ok(Packet::Subscribe { packet_id, subscriptions, identifier })
}

fn unsubscribe(version: Version, reader: &mut Reader) -> Result<Packet> {
    let packet_id = reader.packet_id()?;
    reader.properties(version, &[])?;
    let mut filters = Vec::new();
    while !reader.0.is_empty() {
        filters.push(filter(version, reader)?);
    }
    match filters.is_empty() {
        true => Err(Fault::protocol("UNSUBSCRIBE has no topic filter")),
        false => Ok(Packet::Unsubscribe { packet_id, filters }),
    }
}

fn filter(version: Version, reader: &mut Reader) -> Result<String> {
    let filter = reader.text()?;
    let shared = filter.strip_prefix("$share/").filter(|_| version == Version::V5);
    match shared.is_none_or(|shared| topic::split_group(shared).is_some()) {
        true => Ok(filter.to_owned()),
        false => Err(Fault::malformed("a shared subscription has no group")),
    }
}

fn answers(version: Version, kind: u8, reader: &mut Reader) -> Result<Packet> {
    let packet_id = reader.two()?;
    reader.properties(version, &[0x1f])?;
    let codes = match (kind, version) {
        (SUBACK, Version::V311) => &[0, 1, 2, 0x80],
        (SUBACK, Version::V5) => SUBACK_CODES,
        (_, Version::V311) => return Ok(Packet::Unsuback { packet_id, reasons: Vec::new() }),
        (_, Version::V5) => UNSUBACK_CODES,
    };
    let mut reasons = Vec::new();
    while !reader.0.is_empty() {
        reasons.push(reader.reason(codes)?);
    }
    if reasons.is_empty() {
        return Err(Fault::protocol("the acknowledgment has no reason code"));
    }
    Ok(match kind {
        SUBACK => Packet::Suback { packet_id, reasons },
        _ => Packet::Unsuback { packet_id, reasons },
    })
}

fn disconnect(version: Version, reader: &mut Reader) -> Result<Packet> {
    let (mut reason, mut session_expiry_secs) = (Reason::SUCCESS, None);
    if version == Version::V5 && !reader.0.is_empty() {
        reason = reader.reason(DISCONNECT_CODES)?;
        if !reader.0.is_empty() {
            session_expiry_secs =
                reader.properties(version, &[0x11, 0x1c, 0x1f])?.session_expiry_secs;
        }
    }
    Ok(Packet::Disconnect { reason, session_expiry_secs })
}

/// The QoS in the two lowest bits.
fn qos(bits: u8) -> Result<Qos> {
    Qos::ALL.get(usize::from(bits & 0b11)).copied().ok_or(Fault::malformed("QoS 3 does not exist"))
}

fn not_zero<T: Default + PartialEq>(value: Option<T>) -> Result<Option<T>> {
    match value {
        Some(value) if value == T::default() => Err(Fault::protocol("a property is zero")),
        value => Ok(value),
    }
}

/// The properties that packets may have besides the user's own (section 2.2.2.2).
const OF_CONNECT: &[u8] = &[0x11, 0x15, 0x16, 0x17, 0x19, 0x21, 0x22, 0x27];
const OF_CONNACK: &[u8] = &[
    0x11, 0x12, 0x13, 0x15, 0x16, 0x1a, 0x1c, 0x1f, 0x21, 0x22, 0x24, 0x25, 0x27, 0x28, 0x29, 0x2a,
];
const OF_PUBLISH: &[u8] = &[0x01, 0x02, 0x03, 0x08, 0x09, 0x0b, 0x23];
const OF_WILL: &[u8] = &[0x01, 0x02, 0x03, 0x08, 0x09, 0x18];

/// The reason codes that packets of version 5 may have (section 2.4).
pub(crate) const CONNACK_CODES: &[u8] = &[
    0x00, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8c, 0x90, 0x95, 0x97,
    0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9f,
];
const PUBACK_CODES: &[u8] = &[0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99];
pub(crate) const SUBACK_CODES: &[u8] =
    &[0x00, 0x01, 0x02, 0x80, 0x83, 0x87, 0x8f, 0x91, 0x97, 0x9e, 0xa1, 0xa2];
pub(crate) const UNSUBACK_CODES: &[u8] = &[0x00, 0x11, 0x80, 0x83, 0x87, 0x8f, 0x91];
pub(crate) const DISCONNECT_CODES: &[u8] = &[
    0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8b, 0x8d, 0x8e, 0x8f, 0x90, 0x93, 0x94, 0x95,
    0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2,
];
/// What the return codes of CONNACK are in 3.1.1 (section 3.2.2.3).
pub(crate) const RETURN_CODES: [Reason; 6] = [
    Reason::SUCCESS,
    Reason::UNSUPPORTED_PROTOCOL_VERSION,
    Reason::CLIENT_IDENTIFIER_NOT_VALID,
    Reason::SERVER_UNAVAILABLE,
    Reason::BAD_USER_NAME_OR_PASSWORD,
    Reason::NOT_AUTHORIZED,
];

pub(crate) const CONNECT: u8 = 1;
const CONNACK: u8 = 2;
const PUBLISH: u8 = 3;
const PUBACK: u8 = 4;
const PUBREC: u8 = 5;
const PUBREL: u8 = 6;
const PUBCOMP: u8 = 7;
const SUBSCRIBE: u8 = 8;
const SUBACK: u8 = 9;
const UNSUBSCRIBE: u8 = 10;
const UNSUBACK: u8 = 11;
const PINGREQ: u8 = 12;
const PINGRESP: u8 = 13;
const DISCONNECT: u8 = 14;
const AUTH: u8 = 15;
