//! Encodes packets.

use crate::decode::{CONNACK_CODES, DISCONNECT_CODES, RETURN_CODES, SUBACK_CODES, UNSUBACK_CODES};
use crate::packet::{Connack, Connect, Message, Packet, Publish, Qos, Version, Will};
use crate::reason::{Fault, Reason};
use crate::wire::{PropertyBlock, Result, Varint, code, write_behind_length, write_data};

/// Appends `packet` to `out`.
///
/// # Errors
/// If a text or the whole packet is longer than the protocol allows; then nothing is written.
pub(crate) fn encode(version: Version, packet: &Packet, out: &mut Vec<u8>) -> Result<()> {
    let first = match packet {
        Packet::Connect(_) => 0x10,
        Packet::Connack(_) => 0x20,
        Packet::Publish(Publish { message: Message { qos, retain, .. }, duplicate, .. }) => {
            0x30 | u8::from(*duplicate) << 3 | (*qos as u8) << 1 | u8::from(*retain)
        }
        Packet::Puback { .. } => 0x40,
        Packet::Pubrec { .. } => 0x50,
        Packet::Pubrel { .. } => 0x62,
        Packet::Pubcomp { .. } => 0x70,
        Packet::Subscribe { .. } => 0x82,
        Packet::Suback { .. } => 0x90,
        Packet::Unsubscribe { .. } => 0xa2,
        Packet::Unsuback { .. } => 0xb0,
        Packet::Pingreq => 0xc0,
        Packet::Pingresp => 0xd0,
        Packet::Disconnect { .. } => 0xe0,
        Packet::Auth => return Err(Fault::protocol("extended authentication is not supported")),
    };
    let begin = out.len();
    out.push(first);
    let written = write_behind_length(out, |out| write_body(version, packet, out));
    if written.is_err() {
        out.truncate(begin);
    }
    written
}

fn write_publish(version: Version, publish: &Publish, out: &mut Vec<u8>) -> Result<()> {
    let Publish { message, packet_id, topic_alias, subscriptions, .. } = publish;
    out.reserve(message.topic.len() + message.payload.len() + 16);
    write_data(&*message.topic, out)?;
    if message.qos != Qos::AtMostOnce {
        out.extend(packet_id.to_be_bytes());
    }
    let said = PropertyBlock {
        subscriptions: subscriptions.iter().copied().map(Varint).collect(),
        topic_alias: *topic_alias,
        ..properties_of(message)
    };
    said.write(version, out)?;
    out.extend_from_slice(&message.payload);
    Ok(())
}

fn properties_of(message: &Message) -> PropertyBlock<'_> {
    let said = &message.properties;
    PropertyBlock {
        is_text: said.is_text,
        expiry_secs: message.expiry_secs,
        content_type: said.content_type.as_deref(),
        response_topic: said.response_topic.as_deref(),
        correlation_data: said.correlation_data.as_deref(),
        user: said.user.iter().map(|(key, value)| (&**key, &**value)).collect(),
        ..PropertyBlock::default()
    }
}

fn write_body(version: Version, packet: &Packet, out: &mut Vec<u8>) -> Result<()> {
    let none = PropertyBlock::default();
    match packet {
        Packet::Connect(connect) => return write_connect(connect, out),
        Packet::Connack(connack) => return write_connack(version, connack, out),
        Packet::Publish(publish) => return write_publish(version, publish, out),
        // A positive answer is the identifier alone, in both versions; 3.1.1 has no other.
        Packet::Puback { packet_id, reason }
        | Packet::Pubrec { packet_id, reason }
        | Packet::Pubrel { packet_id, reason }
        | Packet::Pubcomp { packet_id, reason } => {
            out.extend(packet_id.to_be_bytes());
            if version == Version::V5 && *reason != Reason::SUCCESS {
                out.push(reason.0);
            }
        }
        Packet::Subscribe { packet_id, subscriptions, identifier } => {
            out.extend(packet_id.to_be_bytes());
            let subscription = identifier.iter().copied().map(Varint).collect();
            PropertyBlock { subscriptions: subscription, ..none }.write(version, out)?;
            for wanted in subscriptions {
                write_data(&wanted.filter, out)?;
                let new = (wanted.retain_handling as u8) << 4
                    | u8::from(wanted.retain_as_published) << 3
                    | u8::from(wanted.no_local) << 2;
                out.push(wanted.qos as u8 | if version == Version::V5 { new } else { 0 });
            }
        }
        Packet::Suback { packet_id, reasons } => {
            out.extend(packet_id.to_be_bytes());
            none.write(version, out)?;
            let codes = if version == Version::V5 { SUBACK_CODES } else { &[0, 1, 2, 0x80] };
            out.extend(reasons.iter().map(|reason| code(*reason, codes)));
        }
        Packet::Unsubscribe { packet_id, filters } => {
            out.extend(packet_id.to_be_bytes());
            none.write(version, out)?;
            filters.iter().try_for_each(|filter| write_data(filter, out))?;
        }
        Packet::Unsuback { packet_id, reasons } => {
            out.extend(packet_id.to_be_bytes());
            none.write(version, out)?;
            let reasons = reasons.iter().filter(|_| version == Version::V5);
            out.extend(reasons.map(|reason| code(*reason, UNSUBACK_CODES)));
        }
        Packet::Disconnect { reason, session_expiry_secs } if version == Version::V5 => {
            if *reason != Reason::SUCCESS || session_expiry_secs.is_some() {
                out.push(code(*reason, DISCONNECT_CODES));
            }
            if session_expiry_secs.is_some() {
                let session_expiry_secs = *session_expiry_secs;
                PropertyBlock { session_expiry_secs, ..none }.write(version, out)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn write_connect(connect: &Connect, out: &mut Vec<u8>) -> Result<()> {
    let Connect { version, will, user_name, password, .. } = connect;
    if password.is_some() && user_name.is_none() {
        return Err(Fault::protocol("a password without a user name"));
    }
    let level = match version {
        Version::V311 => 4,
        Version::V5 => 5,
    };
    let will_flags = will.as_ref().map_or(0, |Will { message, .. }| {
        0b100 | (message.qos as u8) << 3 | u8::from(message.retain) << 5
    });
    let flags = u8::from(user_name.is_some()) << 7
        | u8::from(password.is_some()) << 6
        | will_flags
        | u8::from(connect.clean_start) << 1;
    out.extend([0, 4, b'M', b'Q', b'T', b'T', level, flags]);
    out.extend(connect.keep_alive_secs.to_be_bytes());
    let said = PropertyBlock {
        session_expiry_secs: Some(connect.session_expiry_secs).filter(|secs| *secs > 0),
        receive_maximum: Some(connect.receive_maximum).filter(|most| *most != u16::MAX),
        maximum_packet_size: Some(connect.maximum_packet_size).filter(|most| *most != u32::MAX),
        topic_alias_maximum: Some(connect.topic_alias_maximum).filter(|most| *most > 0),
        ..PropertyBlock::default()
    };
    said.write(*version, out)?;
    write_data(&connect.client_id, out)?;
    if let Some(Will { message, delay_secs }) = will {
        let will_delay_secs = Some(*delay_secs).filter(|secs| *secs > 0);
        PropertyBlock { will_delay_secs, ..properties_of(message) }.write(*version, out)?;
        write_data(&*message.topic, out)?;
        write_data(&message.payload, out)?;
    }
    user_name.iter().try_for_each(|name| write_data(name, out))?;
    password.iter().try_for_each(|password| write_data(password, out))
}

fn write_connack(version: Version, connack: &Connack, out: &mut Vec<u8>) -> Result<()> {
    let code = match version {
        Version::V311 => {
            let code = RETURN_CODES.iter().position(|reason| *reason == connack.reason);
            // The one of the server that is unavailable.
            code.unwrap_or(3) as u8
        }
        Version::V5 => code(connack.reason, CONNACK_CODES),
    };
    out.extend([u8::from(connack.session_present), code]);
    let said = PropertyBlock {
        session_expiry_secs: connack.session_expiry_secs,
        receive_maximum: Some(connack.receive_maximum).filter(|most| *most != u16::MAX),
        maximum_packet_size: connack.maximum_packet_size,
        topic_alias_maximum: Some(connack.topic_alias_maximum).filter(|most| *most > 0),
        assigned_client_id: connack.assigned_client_id.as_deref(),
        server_keep_alive_secs: connack.server_keep_alive_secs,
        ..PropertyBlock::default()
    };
    said.write(version, out)
}

#[cfg(test)]
mod tests;
