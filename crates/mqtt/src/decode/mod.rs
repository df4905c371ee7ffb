//! Bytes to packets, by the parsers of mqtt-protocol-core, with what they let pass.

mod session;

use std::sync::Arc;

use mqtt_protocol_core::mqtt::packet::{
    Property, Qos as WireQos, RetainHandling as WireRetainHandling, SubEntry, v3_1_1, v5_0,
};
use mqtt_protocol_core::mqtt::result_code::MqttError;

use crate::framing::Raw;
use crate::packet::{
    Message, Packet, Payload, Properties, Publish, Qos, RetainHandling, Subscription, Version,
};
use crate::reason::{Fault, Reason};
use crate::topic;

type Result<T> = std::result::Result<T, Fault>;

/// What a packet is in `version`. CONNECT says its version itself.
pub(crate) fn decode(version: Version, raw: &Raw) -> Result<Packet> {
    let (kind, flags) = (raw.first >> 4, raw.first & 0x0f);
    let expected = match kind {
        PUBLISH => flags,
        PUBREL | SUBSCRIBE | UNSUBSCRIBE => 0b0010,
        _ => 0,
    };
    if flags != expected {
        return Err(Fault::malformed("reserved flags of a packet are set"));
    }
    match (kind, version) {
        (CONNECT, _) => session::connect(&raw.body),
        (CONNACK, Version::V311) => session::connack_311(&raw.body),
        (CONNACK, Version::V5) => session::connack_5(&raw.body),
        (PUBLISH, _) => publish(version, flags, &raw.body),
        (PUBACK | PUBREC | PUBREL | PUBCOMP, _) => acknowledgement(version, kind, &raw.body),
        (SUBSCRIBE, _) => subscribe(version, &raw.body),
        (SUBACK | UNSUBACK, _) => answers(version, kind, &raw.body),
        (UNSUBSCRIBE, _) => unsubscribe(version, &raw.body),
        (PINGREQ, _) => empty(&raw.body, Packet::Pingreq),
        (PINGRESP, _) => empty(&raw.body, Packet::Pingresp),
        (DISCONNECT, _) => session::disconnect(version, &raw.body),
        (AUTH, Version::V5) => Ok(Packet::Auth),
        _ => Err(Fault::malformed("there is no packet of this kind")),
    }
}

/// The whole of `body` by `parse`.
fn whole<T>(
    body: &[u8],
    parse: impl FnOnce(&[u8]) -> std::result::Result<(T, usize), MqttError>,
) -> Result<T> {
    let (packet, consumed) = parse(body).map_err(fault)?;
    if consumed != body.len() {
        return Err(Fault::malformed("there are bytes behind the end of a packet"));
    }
    Ok(packet)
}

fn fault(error: MqttError) -> Fault {
    match error {
        MqttError::ProtocolError => Fault::protocol("a field or property may not stand there"),
        MqttError::ClientIdentifierNotValid => {
            Fault::new(Reason::CLIENT_IDENTIFIER_NOT_VALID, "the client identifier is no text")
        }
        MqttError::BadUserNameOrPassword => {
            Fault::new(Reason::BAD_USER_NAME_OR_PASSWORD, "the user name is no text")
        }
        _ => Fault::malformed("a packet does not have the form of its kind"),
    }
}

fn empty(body: &[u8], packet: Packet) -> Result<Packet> {
    match body {
        [] => Ok(packet),
        _ => Err(Fault::malformed("a packet without a body has one")),
    }
}

fn publish(version: Version, flags: u8, body: &Arc<[u8]>) -> Result<Packet> {
    let publish = match version {
        Version::V311 => {
            let parse = v3_1_1::GenericPublish::<u16>::parse;
            let (wire, _) = parse(flags, Arc::clone(body)).map_err(fault)?;
            if wire.topic_name().is_empty() {
                return Err(Fault::malformed("the topic is empty"));
            }
            let message = Message {
                topic: wire.topic_name().into(),
                payload: Payload(wire.payload().clone()),
                qos: qos(wire.qos()),
                retain: wire.retain(),
                expiry_secs: None,
                properties: Arc::default(),
            };
            let packet_id = wire.packet_id().unwrap_or(0);
            Publish {
                message,
                duplicate: wire.dup(),
                packet_id,
                topic_alias: None,
                subscriptions: Vec::new(),
            }
        }
        Version::V5 => {
            let parse = v5_0::GenericPublish::<u16>::parse;
            let (wire, _) = parse(flags, Arc::clone(body)).map_err(fault)?;
            let read = message_properties(wire.props());
            if wire.topic_name().is_empty() && read.topic_alias.is_none() {
                return Err(Fault::protocol("there is neither a topic nor an alias of one"));
            }
            let message = Message {
                topic: wire.topic_name().into(),
                payload: Payload(wire.payload().clone()),
                qos: qos(wire.qos()),
                retain: wire.retain(),
                expiry_secs: read.expiry_secs,
                properties: read.properties,
            };
            Publish {
                message,
                duplicate: wire.dup(),
                packet_id: wire.packet_id().unwrap_or(0),
                topic_alias: read.topic_alias,
                subscriptions: read.subscriptions,
            }
        }
    };
    if !publish.message.topic.is_empty() {
        topic::check_name(&publish.message.topic)?;
    }
    match (publish.message.qos, publish.packet_id) {
        (Qos::AtMostOnce, _) if publish.duplicate => {
            Err(Fault::malformed("a message of QoS 0 is marked as sent again"))
        }
        (Qos::AtLeastOnce | Qos::ExactlyOnce, 0) => Err(Fault::malformed(NO_IDENTIFIER)),
        _ => Ok(Packet::Publish(publish)),
    }
}

/// What the properties of a message say.
#[derive(Default)]
struct MessageProperties {
    properties: Arc<Properties>,
    expiry_secs: Option<u32>,
    topic_alias: Option<u16>,
    subscriptions: Vec<u32>,
}

fn message_properties(wire: &[Property]) -> MessageProperties {
    let mut read = MessageProperties::default();
    if wire.is_empty() {
        return read;
    }
    let mut properties = Properties::default();
    for property in wire {
        match property {
            Property::PayloadFormatIndicator(p) => properties.is_text = Some(p.val() == 1),
            Property::ContentType(p) => properties.content_type = Some(p.val().to_owned()),
            Property::ResponseTopic(p) => properties.response_topic = Some(p.val().to_owned()),
            Property::CorrelationData(p) => properties.correlation_data = Some(p.val().to_vec()),
            Property::UserProperty(p) => {
                properties.user.push((p.key().to_owned(), p.val().to_owned()));
            }
            Property::MessageExpiryInterval(p) => read.expiry_secs = Some(p.val()),
            Property::TopicAlias(p) => read.topic_alias = Some(p.val()),
            Property::SubscriptionIdentifier(p) => read.subscriptions.push(p.val()),
            _ => {}
        }
    }
    read.properties = Arc::new(properties);
    read
}

/// PUBACK, PUBREC, PUBREL and PUBCOMP: an identifier, and in version 5 perhaps a reason and
/// properties.
fn acknowledgement(version: Version, kind: u8, body: &[u8]) -> Result<Packet> {
    let (id, rest) = body.split_first_chunk().ok_or(Fault::malformed(NO_IDENTIFIER))?;
    let packet_id = u16::from_be_bytes(*id);
    let reason = match (version, rest) {
        (_, []) => Reason::SUCCESS,
        (Version::V5, [code]) => Reason(*code),
        (Version::V5, [code, ..]) => {
            // The properties are checked, and say nothing that is of use here.
            match kind {
                PUBACK => drop(whole(body, v5_0::GenericPuback::<u16>::parse)?),
                PUBREC => drop(whole(body, v5_0::GenericPubrec::<u16>::parse)?),
                PUBREL => drop(whole(body, v5_0::GenericPubrel::<u16>::parse)?),
                _ => drop(whole(body, v5_0::GenericPubcomp::<u16>::parse)?),
            }
            Reason(*code)
        }
        (Version::V311, _) => return Err(Fault::malformed("an acknowledgement is too long")),
    };
    if packet_id == 0 {
        return Err(Fault::malformed(NO_IDENTIFIER));
    }
    Ok(match kind {
        PUBACK => Packet::Puback { packet_id, reason },
        PUBREC => Packet::Pubrec { packet_id, reason },
        PUBREL => Packet::Pubrel { packet_id, reason },
        _ => Packet::Pubcomp { packet_id, reason },
    })
}

fn subscribe(version: Version, body: &[u8]) -> Result<Packet> {
    let (packet_id, subscriptions, identifier) = match version {
        Version::V311 => {
            let wire = whole(body, v3_1_1::GenericSubscribe::<u16>::parse)?;
            let entries = wire.entries().iter().map(subscription).collect::<Vec<_>>();
            let is_new = |s: &Subscription| {
                s.no_local || s.retain_as_published || s.retain_handling != RetainHandling::Always
            };
            if entries.iter().any(is_new) {
                return Err(Fault::malformed("reserved bits of a subscription are set"));
            }
            (wire.packet_id(), entries, None)
        }
        Version::V5 => {
            let wire = whole(body, v5_0::GenericSubscribe::<u16>::parse)?;
            let identifier = wire.props().iter().find_map(|property| match property {
                Property::SubscriptionIdentifier(p) => Some(p.val()),
                _ => None,
            });
            (wire.packet_id(), wire.entries().iter().map(subscription).collect(), identifier)
        }
    };
    if packet_id == 0 {
        return Err(Fault::malformed(NO_IDENTIFIER));
    }
    if subscriptions.is_empty() {
        return Err(Fault::protocol("nothing is subscribed to"));
    }
    Ok(Packet::Subscribe { packet_id, subscriptions, identifier })
}

fn subscription(entry: &SubEntry) -> Subscription {
    let options = entry.sub_opts();
    Subscription {
        filter: entry.topic_filter().to_owned(),
        qos: qos(options.qos()),
        no_local: options.nl(),
        retain_as_published: options.rap(),
        retain_handling: match options.rh() {
            WireRetainHandling::SendRetained => RetainHandling::Always,
            WireRetainHandling::SendRetainedIfNotExists => RetainHandling::IfNew,
            WireRetainHandling::DoNotSendRetained => RetainHandling::Never,
        },
    }
}

fn unsubscribe(version: Version, body: &[u8]) -> Result<Packet> {
    let (packet_id, filters): (u16, Vec<String>) = match version {
        Version::V311 => {
            let wire = whole(body, v3_1_1::GenericUnsubscribe::<u16>::parse)?;
            (wire.packet_id(), wire.entries().iter().map(|s| s.as_str().to_owned()).collect())
        }
        Version::V5 => {
            let wire = whole(body, v5_0::GenericUnsubscribe::<u16>::parse)?;
            (wire.packet_id(), wire.entries().iter().map(|s| s.as_str().to_owned()).collect())
        }
    };
    if packet_id == 0 {
        return Err(Fault::malformed(NO_IDENTIFIER));
    }
    if filters.is_empty() {
        return Err(Fault::protocol("nothing is unsubscribed from"));
    }
    Ok(Packet::Unsubscribe { packet_id, filters })
}

/// SUBACK and UNSUBACK.
fn answers(version: Version, kind: u8, body: &[u8]) -> Result<Packet> {
    let code = |codes: Vec<u8>| codes.into_iter().map(Reason).collect::<Vec<_>>();
    Ok(match (kind, version) {
        (SUBACK, Version::V311) => {
            let wire = whole(body, v3_1_1::GenericSuback::<u16>::parse)?;
            let codes = wire.return_codes().into_iter().map(|c| c as u8).collect();
            Packet::Suback { packet_id: wire.packet_id(), reasons: code(codes) }
        }
        (SUBACK, Version::V5) => {
            let wire = whole(body, v5_0::GenericSuback::<u16>::parse)?;
            let codes = wire.reason_codes().into_iter().map(|c| c as u8).collect();
            Packet::Suback { packet_id: wire.packet_id(), reasons: code(codes) }
        }
        (_, Version::V311) => {
            let wire = whole(body, v3_1_1::GenericUnsuback::<u16>::parse)?;
            Packet::Unsuback { packet_id: wire.packet_id(), reasons: Vec::new() }
        }
        (_, Version::V5) => {
            let wire = whole(body, v5_0::GenericUnsuback::<u16>::parse)?;
            let codes = wire.reason_codes().into_iter().map(|c| c as u8).collect();
            Packet::Unsuback { packet_id: wire.packet_id(), reasons: code(codes) }
        }
    })
}

fn qos(wire: WireQos) -> Qos {
    match wire {
        WireQos::AtMostOnce => Qos::AtMostOnce,
        WireQos::AtLeastOnce => Qos::AtLeastOnce,
        WireQos::ExactlyOnce => Qos::ExactlyOnce,
    }
}

const NO_IDENTIFIER: &str = "there is no packet identifier";

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
