//! What sessions begin, end and subscribe with.

use mqtt_protocol_core::mqtt::packet::{
    AssignedClientIdentifier, MaximumPacketSize, MessageExpiryInterval, Property, Qos as WireQos,
    ReceiveMaximum, RetainHandling as WireRetainHandling, ServerKeepAlive, SessionExpiryInterval,
    SubEntry, SubOpts, SubscriptionIdentifier, TopicAliasMaximum, UserProperty, WillDelayInterval,
    v3_1_1, v5_0,
};
use mqtt_protocol_core::mqtt::packet::{
    ContentType, CorrelationData, PayloadFormat, PayloadFormatIndicator, ResponseTopic,
};
use mqtt_protocol_core::mqtt::result_code::{
    ConnectReasonCode, ConnectReturnCode, DisconnectReasonCode, MqttError, SubackReasonCode,
    SubackReturnCode, UnsubackReasonCode,
};

use crate::packet::{Connack, Connect, Packet, Qos, RetainHandling, Subscription, Version, Will};
use crate::reason::{Fault, Reason};

/// The bytes of `packet`.
pub(super) fn encode(version: Version, packet: &Packet) -> Result<Vec<u8>, Fault> {
    let bytes = match (packet, version) {
        (Packet::Connect(connect), Version::V311) => connect_311(connect),
        (Packet::Connect(connect), Version::V5) => connect_5(connect),
        (Packet::Connack(connack), _) => self::connack(version, connack),
        (Packet::Subscribe { packet_id, subscriptions, identifier }, _) => {
            subscribe(version, *packet_id, subscriptions, *identifier)
        }
        (Packet::Suback { packet_id, reasons }, _) => suback(version, *packet_id, reasons),
        (Packet::Unsubscribe { packet_id, filters }, Version::V311) => {
            v3_1_1::GenericUnsubscribe::builder()
                .packet_id(*packet_id)
                .entries(filters.iter())
                .and_then(|packet| packet.build())
                .map(|packet| packet.to_continuous_buffer())
        }
        (Packet::Unsubscribe { packet_id, filters }, Version::V5) => {
            v5_0::GenericUnsubscribe::builder()
                .packet_id(*packet_id)
                .entries(filters.iter())
                .and_then(|packet| packet.build())
                .map(|packet| packet.to_continuous_buffer())
        }
        (Packet::Unsuback { packet_id, .. }, Version::V311) => v3_1_1::GenericUnsuback::builder()
            .packet_id(*packet_id)
            .build()
            .map(|packet| packet.to_continuous_buffer()),
        (Packet::Unsuback { packet_id, reasons }, Version::V5) => v5_0::GenericUnsuback::builder()
            .packet_id(*packet_id)
            .reason_codes(codes(reasons, UnsubackReasonCode::UnspecifiedError))
            .build()
            .map(|packet| packet.to_continuous_buffer()),
        (Packet::Disconnect { .. }, Version::V311) => {
            v3_1_1::Disconnect::builder().build().map(|packet| packet.to_continuous_buffer())
        }
        (Packet::Disconnect { reason, session_expiry_secs }, Version::V5) => {
            disconnect(*reason, *session_expiry_secs)
        }
        // The frequent ones are written elsewhere.
        _ => Err(MqttError::PacketNotAllowedToSend),
    };
    bytes.map_err(|_| Fault::protocol("a packet cannot be put into the form of its kind"))
}

type Bytes = Result<Vec<u8>, MqttError>;

fn connect_311(connect: &Connect) -> Bytes {
    let mut packet = v3_1_1::Connect::builder()
        .client_id(connect.client_id.as_str())?
        .clean_session(connect.clean_start)
        .keep_alive(connect.keep_alive_secs);
    if let Some(Will { message, .. }) = &connect.will {
        let payload = message.payload.as_ref().to_vec();
        packet = packet.will_message(&*message.topic, payload, qos(message.qos), message.retain)?;
    }
    if let Some(name) = &connect.user_name {
        packet = packet.user_name(name.as_str())?;
    }
    if let Some(password) = &connect.password {
        packet = packet.password(password.clone())?;
    }
    Ok(packet.build()?.to_continuous_buffer())
}

fn connect_5(connect: &Connect) -> Bytes {
    let mut properties = Vec::new();
    if connect.session_expiry_secs > 0 {
        properties.push(SessionExpiryInterval::new(connect.session_expiry_secs)?.into());
    }
    if connect.receive_maximum != u16::MAX {
        properties.push(ReceiveMaximum::new(connect.receive_maximum)?.into());
    }
    if connect.maximum_packet_size != u32::MAX {
        properties.push(MaximumPacketSize::new(connect.maximum_packet_size)?.into());
    }
    if connect.topic_alias_maximum > 0 {
        properties.push(TopicAliasMaximum::new(connect.topic_alias_maximum)?.into());
    }
    let mut packet = v5_0::Connect::builder()
        .client_id(connect.client_id.as_str())?
        .clean_start(connect.clean_start)
        .keep_alive(connect.keep_alive_secs)
        .props(properties);
    if let Some(will) = &connect.will {
        let message = &will.message;
        let payload = message.payload.as_ref().to_vec();
        packet = packet
            .will_message(&*message.topic, payload, qos(message.qos), message.retain)?
            .will_props(will_properties(will)?);
    }
    if let Some(name) = &connect.user_name {
        packet = packet.user_name(name.as_str())?;
    }
    if let Some(password) = &connect.password {
        packet = packet.password(password.clone())?;
    }
    Ok(packet.build()?.to_continuous_buffer())
}

fn will_properties(will: &Will) -> Result<Vec<Property>, MqttError> {
    let mut properties = Vec::new();
    if will.delay_secs > 0 {
        properties.push(WillDelayInterval::new(will.delay_secs)?.into());
    }
    if let Some(expiry) = will.message.expiry_secs {
        properties.push(MessageExpiryInterval::new(expiry)?.into());
    }
    let said = &will.message.properties;
    if let Some(is_text) = said.is_text {
        let format = if is_text { PayloadFormat::String } else { PayloadFormat::Binary };
        properties.push(PayloadFormatIndicator::new(format)?.into());
    }
    if let Some(kind) = &said.content_type {
        properties.push(ContentType::new(kind.as_str())?.into());
    }
    if let Some(topic) = &said.response_topic {
        properties.push(ResponseTopic::new(topic.as_str())?.into());
    }
    if let Some(data) = &said.correlation_data {
        properties.push(CorrelationData::new(data.clone())?.into());
    }
    for (key, value) in &said.user {
        properties.push(UserProperty::new(key.as_str(), value.as_str())?.into());
    }
    Ok(properties)
}

fn connack(version: Version, connack: &Connack) -> Bytes {
    if version == Version::V311 {
        let code = match connack.reason {
            Reason::SUCCESS => ConnectReturnCode::Accepted,
            Reason::UNSUPPORTED_PROTOCOL_VERSION => ConnectReturnCode::UnacceptableProtocolVersion,
            Reason::CLIENT_IDENTIFIER_NOT_VALID => ConnectReturnCode::IdentifierRejected,
            Reason::BAD_USER_NAME_OR_PASSWORD => ConnectReturnCode::BadUserNameOrPassword,
            Reason::NOT_AUTHORIZED => ConnectReturnCode::NotAuthorized,
            _ => ConnectReturnCode::ServerUnavailable,
        };
        let packet = v3_1_1::Connack::builder()
            .session_present(connack.session_present)
            .return_code(code)
            .build()?;
        return Ok(packet.to_continuous_buffer());
    }
    let mut properties = Vec::new();
    if let Some(expiry) = connack.session_expiry_secs {
        properties.push(SessionExpiryInterval::new(expiry)?.into());
    }
    if connack.receive_maximum != u16::MAX {
        properties.push(ReceiveMaximum::new(connack.receive_maximum)?.into());
    }
    if let Some(size) = connack.maximum_packet_size {
        properties.push(MaximumPacketSize::new(size)?.into());
    }
    if connack.topic_alias_maximum > 0 {
        properties.push(TopicAliasMaximum::new(connack.topic_alias_maximum)?.into());
    }
    if let Some(id) = &connack.assigned_client_id {
        properties.push(AssignedClientIdentifier::new(id.as_str())?.into());
    }
    if let Some(secs) = connack.server_keep_alive_secs {
        properties.push(ServerKeepAlive::new(secs)?.into());
    }
    let code = ConnectReasonCode::try_from(connack.reason.0);
    let packet = v5_0::Connack::builder()
        .session_present(connack.session_present)
        .reason_code(code.unwrap_or(ConnectReasonCode::UnspecifiedError))
        .props(properties)
        .build()?;
    Ok(packet.to_continuous_buffer())
}

fn subscribe(
    version: Version,
    packet_id: u16,
    subscriptions: &[Subscription],
    identifier: Option<u32>,
) -> Bytes {
    let entries: Result<Vec<SubEntry>, MqttError> =
        subscriptions.iter().map(|wanted| entry(version, wanted)).collect();
    match version {
        Version::V311 => {
            let packet = v3_1_1::GenericSubscribe::builder().packet_id(packet_id);
            Ok(packet.entries(entries?).build()?.to_continuous_buffer())
        }
        Version::V5 => {
            let identifier = identifier.map(SubscriptionIdentifier::new).transpose()?;
            let properties: Vec<Property> = identifier.into_iter().map(Property::from).collect();
            let packet = v5_0::GenericSubscribe::builder().packet_id(packet_id).props(properties);
            Ok(packet.entries(entries?).build()?.to_continuous_buffer())
        }
    }
}

fn entry(version: Version, wanted: &Subscription) -> Result<SubEntry, MqttError> {
    let mut options = SubOpts::new().set_qos(qos(wanted.qos));
    if version == Version::V5 {
        options = options.set_nl(wanted.no_local).set_rap(wanted.retain_as_published).set_rh(
            match wanted.retain_handling {
                RetainHandling::Always => WireRetainHandling::SendRetained,
                RetainHandling::IfNew => WireRetainHandling::SendRetainedIfNotExists,
                RetainHandling::Never => WireRetainHandling::DoNotSendRetained,
            },
        );
    }
    SubEntry::new(wanted.filter.as_str(), options)
}

fn suback(version: Version, packet_id: u16, reasons: &[Reason]) -> Bytes {
    Ok(match version {
        Version::V311 => v3_1_1::GenericSuback::builder()
            .packet_id(packet_id)
            .return_codes(codes(reasons, SubackReturnCode::Failure))
            .build()?
            .to_continuous_buffer(),
        Version::V5 => v5_0::GenericSuback::builder()
            .packet_id(packet_id)
            .reason_codes(codes(reasons, SubackReasonCode::UnspecifiedError))
            .build()?
            .to_continuous_buffer(),
    })
}

fn disconnect(reason: Reason, session_expiry_secs: Option<u32>) -> Bytes {
    let mut packet = v5_0::Disconnect::builder();
    if reason != Reason::SUCCESS || session_expiry_secs.is_some() {
        let code = DisconnectReasonCode::try_from(reason.0);
        packet = packet.reason_code(code.unwrap_or(DisconnectReasonCode::UnspecifiedError));
    }
    if let Some(secs) = session_expiry_secs {
        packet = packet.props(vec![SessionExpiryInterval::new(secs)?.into()]);
    }
    Ok(packet.build()?.to_continuous_buffer())
}

/// The codes as the library knows them, `otherwise` where it does not.
fn codes<T: TryFrom<u8> + Copy>(reasons: &[Reason], otherwise: T) -> Vec<T> {
    reasons.iter().map(|reason| T::try_from(reason.0).unwrap_or(otherwise)).collect()
}

fn qos(qos: Qos) -> WireQos {
    match qos {
        Qos::AtMostOnce => WireQos::AtMostOnce,
        Qos::AtLeastOnce => WireQos::AtLeastOnce,
        Qos::ExactlyOnce => WireQos::ExactlyOnce,
    }
}
