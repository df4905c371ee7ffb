//! Packets to bytes: the frequent ones by hand, straight into the output, the others by the
//! builders of mqtt-protocol-core.

mod session;

use crate::packet::{Packet, Properties, Publish, Qos, Version};
use crate::reason::{Fault, Reason};

type Result<T> = std::result::Result<T, Fault>;

/// Writes `packet` behind what is in `out`.
///
/// # Errors
/// If a text or the whole packet is longer than the protocol allows; then nothing is written.
pub(crate) fn encode(version: Version, packet: &Packet, out: &mut Vec<u8>) -> Result<()> {
    match packet {
        Packet::Publish(publish) => return encode_publish(version, publish, out),
        Packet::Puback { packet_id, reason } => {
            acknowledge(version, 0x40, *packet_id, *reason, out)
        }
        Packet::Pubrec { packet_id, reason } => {
            acknowledge(version, 0x50, *packet_id, *reason, out)
        }
        Packet::Pubrel { packet_id, reason } => {
            acknowledge(version, 0x62, *packet_id, *reason, out)
        }
        Packet::Pubcomp { packet_id, reason } => {
            acknowledge(version, 0x70, *packet_id, *reason, out);
        }
        Packet::Pingreq => out.extend([0xc0, 0]),
        Packet::Pingresp => out.extend([0xd0, 0]),
        Packet::Auth => return Err(Fault::protocol("extended authentication is not spoken")),
        other => out.extend(session::encode(version, other)?),
    }
    Ok(())
}

/// A positive answer is the identifier alone, in both versions; 3.1.1 has no other.
fn acknowledge(version: Version, first: u8, packet_id: u16, reason: Reason, out: &mut Vec<u8>) {
    let [high, low] = packet_id.to_be_bytes();
    if version == Version::V311 || reason == Reason::SUCCESS {
        out.extend([first, 2, high, low]);
    } else {
        out.extend([first, 3, high, low, reason.0]);
    }
}

fn encode_publish(version: Version, publish: &Publish, out: &mut Vec<u8>) -> Result<()> {
    let begin = out.len();
    let written = write_publish(version, publish, out);
    if written.is_err() {
        out.truncate(begin);
    }
    written
}

fn write_publish(version: Version, publish: &Publish, out: &mut Vec<u8>) -> Result<()> {
    let Publish { message, duplicate, packet_id, topic_alias, subscriptions } = publish;
    let qos = message.qos as u8;
    let flags = u8::from(*duplicate) << 3 | qos << 1 | u8::from(message.retain);
    let id_len = if message.qos == Qos::AtMostOnce { 0 } else { 2 };
    let has_properties = topic_alias.is_some()
        || !subscriptions.is_empty()
        || message.expiry_secs.is_some()
        || *message.properties != Properties::default();
    let properties_len = match (version, has_properties) {
        (Version::V311, _) => 0,
        (Version::V5, false) => 1,
        (Version::V5, true) => {
            let len = properties_len(publish);
            len + varint_len(len)
        }
    };
    let len = 2 + message.topic.len() + id_len + properties_len + message.payload.len();
    if len > PACKET_LEN_MAX {
        return Err(Fault::new(Reason::PACKET_TOO_LARGE, "a packet has at most 256 MB"));
    }
    out.reserve(len + 5);
    out.push(0x30 | flags);
    write_varint(len, out);
    write_text(message.topic.as_bytes(), out)?;
    if id_len > 0 {
        out.extend(packet_id.to_be_bytes());
    }
    match (version, has_properties) {
        (Version::V311, _) => {}
        (Version::V5, false) => out.push(0),
        (Version::V5, true) => write_properties(publish, out)?,
    }
    out.extend_from_slice(message.payload.as_ref());
    Ok(())
}

/// Version 5, section 3.3.2.3, without the length in front.
fn properties_len(publish: &Publish) -> usize {
    let properties = &publish.message.properties;
    let text = |text: &Option<String>| text.as_ref().map_or(0, |text| 3 + text.len());
    let user: usize = properties.user.iter().map(|(key, value)| 5 + key.len() + value.len()).sum();
    let identifiers = publish.subscriptions.iter().map(|id| 1 + varint_len(*id as usize));
    properties.is_text.map_or(0, |_| 2)
        + publish.message.expiry_secs.map_or(0, |_| 5)
        + publish.topic_alias.map_or(0, |_| 3)
        + text(&properties.content_type)
        + text(&properties.response_topic)
        + properties.correlation_data.as_ref().map_or(0, |data| 3 + data.len())
        + identifiers.sum::<usize>()
        + user
}

fn write_properties(publish: &Publish, out: &mut Vec<u8>) -> Result<()> {
    write_varint(properties_len(publish), out);
    let properties = &publish.message.properties;
    if let Some(is_text) = properties.is_text {
        out.extend([0x01, u8::from(is_text)]);
    }
    if let Some(expiry) = publish.message.expiry_secs {
        out.push(0x02);
        out.extend(expiry.to_be_bytes());
    }
    if let Some(content_type) = &properties.content_type {
        out.push(0x03);
        write_text(content_type.as_bytes(), out)?;
    }
    if let Some(response_topic) = &properties.response_topic {
        out.push(0x08);
        write_text(response_topic.as_bytes(), out)?;
    }
    if let Some(data) = &properties.correlation_data {
        out.push(0x09);
        write_text(data, out)?;
    }
    for identifier in &publish.subscriptions {
        out.push(0x0b);
        write_varint(*identifier as usize, out);
    }
    if let Some(alias) = publish.topic_alias {
        out.push(0x23);
        out.extend(alias.to_be_bytes());
    }
    for (key, value) in &properties.user {
        out.push(0x26);
        write_text(key.as_bytes(), out)?;
        write_text(value.as_bytes(), out)?;
    }
    Ok(())
}

/// Text or binary data behind its length.
fn write_text(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let len = u16::try_from(bytes.len())
        .map_err(|_| Fault::protocol("a text has at most 65,535 bytes"))?;
    out.extend(len.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

fn write_varint(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint_len(value: usize) -> usize {
    match value {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        _ => 4,
    }
}

/// The most that a length can say.
const PACKET_LEN_MAX: usize = 268_435_455;

#[cfg(test)]
mod tests;
