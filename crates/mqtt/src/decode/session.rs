//! What sessions begin and end with.

use std::sync::Arc;

use mqtt_protocol_core::mqtt::packet::{Property, v3_1_1, v5_0};

use super::{Result, message_properties, qos, whole};
use crate::packet::{Connack, Connect, Message, Packet, Version, Will};
use crate::reason::{Fault, Reason};
use crate::topic;

pub(super) fn connect(body: &[u8]) -> Result<Packet> {
    let [0, 4, b'M', b'Q', b'T', b'T', level, flags, ..] = body else {
        // Version 3.1 has another name.
        let why = "this is not the MQTT that is spoken here";
        return Err(Fault::new(Reason::UNSUPPORTED_PROTOCOL_VERSION, why));
    };
    let has_will = flags & 0b100 != 0;
    if flags & 1 != 0 || flags & 0b1_1000 == 0b1_1000 || (!has_will && flags & 0b11_1000 != 0) {
        return Err(Fault::malformed("the flags of CONNECT contradict each other"));
    }
    match level {
        4 => connect_311(body),
        5 => connect_5(body),
        _ => {
            let why = "it is neither version 3.1.1 nor 5";
            Err(Fault::new(Reason::UNSUPPORTED_PROTOCOL_VERSION, why))
        }
    }
}

fn connect_311(body: &[u8]) -> Result<Packet> {
    let wire = whole(body, v3_1_1::Connect::parse)?;
    let will = match (wire.will_topic(), wire.will_payload()) {
        (Some(topic), Some(payload)) => {
            topic::check_name(topic)?;
            let message = Message {
                topic: topic.into(),
                payload: payload.into(),
                qos: qos(wire.will_qos()),
                retain: wire.will_retain(),
                expiry_secs: None,
                properties: Arc::default(),
            };
            Some(Will { message, delay_secs: 0 })
        }
        _ => None,
    };
    Ok(Packet::Connect(Box::new(Connect {
        version: Version::V311,
        client_id: wire.client_id().to_owned(),
        clean_start: wire.clean_session(),
        keep_alive_secs: wire.keep_alive(),
        // Section 3.1.2.4: a session that is not clean is kept.
        session_expiry_secs: if wire.clean_session() { 0 } else { u32::MAX },
        receive_maximum: u16::MAX,
        maximum_packet_size: u32::MAX,
        topic_alias_maximum: 0,
        will,
        user_name: wire.user_name().map(str::to_owned),
        password: wire.password().map(<[u8]>::to_vec),
        authentication_method: None,
    })))
}

fn connect_5(body: &[u8]) -> Result<Packet> {
    let wire = whole(body, v5_0::Connect::parse)?;
    let will = match (wire.will_topic(), wire.will_payload()) {
        (Some(topic), Some(payload)) => {
            topic::check_name(topic)?;
            let read = message_properties(&wire.will_props);
            let message = Message {
                topic: topic.into(),
                payload: payload.into(),
                qos: qos(wire.will_qos()),
                retain: wire.will_retain(),
                expiry_secs: read.expiry_secs,
                properties: read.properties,
            };
            let delay = |property: &Property| match property {
                Property::WillDelayInterval(delay) => Some(delay.val()),
                _ => None,
            };
            let delay_secs = wire.will_props.iter().find_map(delay).unwrap_or(0);
            Some(Will { message, delay_secs })
        }
        _ => None,
    };
    let mut connect = Connect {
        version: Version::V5,
        client_id: wire.client_id().to_owned(),
        clean_start: wire.clean_start(),
        keep_alive_secs: wire.keep_alive(),
        session_expiry_secs: 0,
        receive_maximum: u16::MAX,
        maximum_packet_size: u32::MAX,
        topic_alias_maximum: 0,
        will,
        user_name: wire.user_name().map(str::to_owned),
        password: wire.password().map(<[u8]>::to_vec),
        authentication_method: None,
    };
    for property in wire.props() {
        match property {
            Property::SessionExpiryInterval(p) => connect.session_expiry_secs = p.val(),
            Property::ReceiveMaximum(p) => connect.receive_maximum = p.val(),
            Property::MaximumPacketSize(p) => connect.maximum_packet_size = p.val(),
            Property::TopicAliasMaximum(p) => connect.topic_alias_maximum = p.val(),
            Property::AuthenticationMethod(p) => {
                connect.authentication_method = Some(p.val().to_owned());
            }
            _ => {}
        }
    }
    if connect.receive_maximum == 0 || connect.maximum_packet_size == 0 {
        return Err(Fault::protocol("a maximum is zero"));
    }
    Ok(Packet::Connect(Box::new(connect)))
}

pub(super) fn connack_311(body: &[u8]) -> Result<Packet> {
    let wire = whole(body, v3_1_1::Connack::parse)?;
    let reason = match wire.return_code() as u8 {
        0 => Reason::SUCCESS,
        1 => Reason::UNSUPPORTED_PROTOCOL_VERSION,
        2 => Reason::CLIENT_IDENTIFIER_NOT_VALID,
        3 => Reason::SERVER_UNAVAILABLE,
        4 => Reason::BAD_USER_NAME_OR_PASSWORD,
        _ => Reason::NOT_AUTHORIZED,
    };
    Ok(Packet::Connack(Connack::new(wire.session_present(), reason)))
}

pub(super) fn connack_5(body: &[u8]) -> Result<Packet> {
    let wire = whole(body, v5_0::Connack::parse)?;
    let mut connack = Connack::new(wire.session_present(), Reason(wire.reason_code() as u8));
    for property in wire.props() {
        match property {
            Property::SessionExpiryInterval(p) => connack.session_expiry_secs = Some(p.val()),
            Property::ReceiveMaximum(p) => connack.receive_maximum = p.val(),
            Property::MaximumPacketSize(p) => connack.maximum_packet_size = Some(p.val()),
            Property::TopicAliasMaximum(p) => connack.topic_alias_maximum = p.val(),
            Property::AssignedClientIdentifier(p) => {
                connack.assigned_client_id = Some(p.val().to_owned());
            }
            Property::ServerKeepAlive(p) => connack.server_keep_alive_secs = Some(p.val()),
            _ => {}
        }
    }
    if connack.receive_maximum == 0 || connack.maximum_packet_size == Some(0) {
        return Err(Fault::protocol("a maximum is zero"));
    }
    Ok(Packet::Connack(connack))
}

pub(super) fn disconnect(version: Version, body: &[u8]) -> Result<Packet> {
    let normal = Packet::Disconnect { reason: Reason::SUCCESS, session_expiry_secs: None };
    match (version, body) {
        (_, []) => Ok(normal),
        (Version::V311, _) => Err(Fault::malformed("a packet without a body has one")),
        (Version::V5, _) => {
            let wire = whole(body, v5_0::Disconnect::parse)?;
            let reason = wire.reason_code().map_or(Reason::SUCCESS, |code| Reason(code as u8));
            let session_expiry_secs =
                wire.props.iter().flatten().find_map(|property| match property {
                    Property::SessionExpiryInterval(p) => Some(p.val()),
                    _ => None,
                });
            Ok(Packet::Disconnect { reason, session_expiry_secs })
        }
    }
}
