//! Encoded packets decode to the same values, and equal those of another implementation.

use std::sync::Arc;

use mqtt_protocol_core::mqtt::packet as wire;
use mqtt_protocol_core::mqtt::packet::v5_0;
use trackbed_core::{Rng, Seed};

use super::*;
use crate::decode::decode;
use crate::framing::Splitter;
use crate::packet::{Connack, Connect, Message, Properties, RetainHandling, Subscription, Will};

fn text(rng: &mut Rng) -> String {
    let len = rng.below(40);
    (0..len).map(|_| char::from_u32(0x61 + rng.below(0x100) as u32).unwrap_or('x')).collect()
}

fn message(rng: &mut Rng, version: Version) -> Message {
    let mut payload = vec![0; rng.below(300) as usize];
    rng.fill(&mut payload);
    let mut message = Message::new(format!("a/{}", text(rng)), payload);
    message.qos = Qos::ALL[rng.below(3) as usize];
    message.retain = rng.below(2) == 0;
    if version == Version::V5 && rng.below(3) > 0 {
        message.expiry_secs = (rng.below(2) == 0).then_some(77);
        let user = (0..rng.below(4)).map(|_| (text(rng), text(rng))).collect();
        message.properties = Arc::new(Properties {
            is_text: [None, Some(true), Some(false)][rng.below(3) as usize],
            content_type: (rng.below(2) == 0).then(|| text(rng)),
            response_topic: (rng.below(2) == 0).then(|| text(rng)),
            correlation_data: (rng.below(2) == 0).then(|| text(rng).into_bytes()),
            user,
        });
    }
    message
}

fn publish(rng: &mut Rng, version: Version) -> Publish {
    let message = message(rng, version);
    let is_surer = message.qos != Qos::AtMostOnce;
    Publish {
        duplicate: is_surer && rng.below(2) == 0,
        packet_id: if is_surer { 1 + rng.below(65_535) as u16 } else { 0 },
        topic_alias: (version == Version::V5 && rng.below(3) == 0).then_some(5),
        subscriptions: match version {
            Version::V5 => (0..rng.below(3)).map(|_| 1 + rng.below(268_435_455) as u32).collect(),
            Version::V311 => Vec::new(),
        },
        message,
    }
}

fn connect(rng: &mut Rng, version: Version) -> Connect {
    let is_5 = version == Version::V5;
    let clean_start = rng.below(2) == 0;
    let delay_secs = if is_5 { rng.below(3) as u32 } else { 0 };
    let will = Will { message: message(rng, version), delay_secs };
    Connect {
        version,
        client_id: format!("c{}", text(rng)),
        clean_start,
        keep_alive_secs: rng.below(100) as u16,
        session_expiry_secs: match (is_5, clean_start) {
            (true, _) => 10,
            (false, true) => 0,
            (false, false) => u32::MAX,
        },
        receive_maximum: if is_5 { 9 } else { u16::MAX },
        maximum_packet_size: if is_5 { 1_000 } else { u32::MAX },
        topic_alias_maximum: if is_5 { 3 } else { 0 },
        will: (rng.below(2) == 0).then_some(will),
        user_name: Some(text(rng)),
        password: (rng.below(2) == 0).then(|| vec![1, 2, 3]),
        authentication_method: None,
    }
}

fn subscription(rng: &mut Rng, version: Version) -> Subscription {
    let mut wanted = Subscription::new("a/+/#", Qos::ALL[rng.below(3) as usize]);
    if version == Version::V5 {
        wanted.no_local = rng.below(2) == 0;
        wanted.retain_as_published = rng.below(2) == 0;
        wanted.retain_handling =
            [RetainHandling::Always, RetainHandling::IfNew, RetainHandling::Never]
                [rng.below(3) as usize];
    }
    wanted
}

fn packets(rng: &mut Rng, version: Version) -> Vec<Packet> {
    let packet_id = 1 + rng.below(65_535) as u16;
    let is_5 = version == Version::V5;
    let reason = if is_5 { Reason::QUOTA_EXCEEDED } else { Reason::SUCCESS };
    let gone = if is_5 { Reason::PACKET_IDENTIFIER_NOT_FOUND } else { Reason::SUCCESS };
    let mut connack = Connack::new(true, Reason::SUCCESS);
    if is_5 {
        connack.session_expiry_secs = Some(4);
        connack.receive_maximum = 20;
        connack.maximum_packet_size = Some(5_000);
        connack.topic_alias_maximum = 10;
        connack.assigned_client_id = Some("me".to_owned());
        connack.server_keep_alive_secs = Some(7);
    }
    vec![
        Packet::Connect(Box::new(connect(rng, version))),
        Packet::Connack(connack),
        Packet::Connack(Connack::new(false, Reason::CLIENT_IDENTIFIER_NOT_VALID)),
        Packet::Publish(publish(rng, version)),
        Packet::Puback { packet_id, reason },
        Packet::Pubrec { packet_id, reason },
        Packet::Pubrel { packet_id, reason: gone },
        Packet::Pubcomp { packet_id, reason: Reason::SUCCESS },
        Packet::Subscribe {
            packet_id,
            subscriptions: (0..1 + rng.below(3)).map(|_| subscription(rng, version)).collect(),
            identifier: is_5.then_some(300),
        },
        Packet::Suback { packet_id, reasons: vec![Reason(0), Reason(2), Reason(0x80)] },
        Packet::Unsubscribe { packet_id, filters: vec!["a".into(), "b/#".into()] },
        Packet::Unsuback { packet_id, reasons: if is_5 { vec![Reason(0)] } else { vec![] } },
        Packet::Pingreq,
        Packet::Pingresp,
        Packet::Disconnect {
            reason: if is_5 { Reason::DISCONNECT_WITH_WILL } else { Reason::SUCCESS },
            session_expiry_secs: is_5.then_some(9),
        },
    ]
}

#[test]
fn packets_are_read_as_they_were_written() {
    let mut rng = Seed::of_run(1, 0).stream("packets");
    for version in Version::ALL {
        for _ in 0..200 {
            for packet in packets(&mut rng, *version) {
                let mut bytes = Vec::new();
                encode(*version, &packet, &mut bytes).unwrap();
                let mut rest = &bytes[..];
                let raw = Splitter::new(1 << 20).next(&mut rest).unwrap().unwrap();
                assert!(rest.is_empty());
                assert_eq!(decode(*version, raw).unwrap(), packet, "{version:?}");
            }
        }
    }
}

/// Another implementation writes the same.
#[test]
fn messages_are_written_as_the_library_writes_them() {
    let mut rng = Seed::of_run(2, 0).stream("packets");
    for _ in 0..500 {
        let publish = publish(&mut rng, Version::V5);
        let mut ours = Vec::new();
        encode(Version::V5, &Packet::Publish(publish.clone()), &mut ours).unwrap();
        let id = (publish.packet_id > 0).then_some(publish.packet_id);
        let mut theirs = v5_0::GenericPublish::<u16>::builder()
            .topic_name(&*publish.message.topic)
            .unwrap()
            .qos(wire::Qos::try_from(publish.message.qos as u8).unwrap())
            .retain(publish.message.retain)
            .dup(publish.duplicate)
            .payload(publish.message.payload.as_ref().to_vec())
            .props(properties(&publish));
        if let Some(id) = id {
            theirs = theirs.packet_id(id);
        }
        assert_eq!(ours, theirs.build().unwrap().to_continuous_buffer());
    }
}

fn properties(publish: &Publish) -> Vec<wire::Property> {
    let said = &publish.message.properties;
    let mut all: Vec<wire::Property> = Vec::new();
    let format = |it| if it { wire::PayloadFormat::String } else { wire::PayloadFormat::Binary };
    let format = said.is_text.map(|is_text| wire::PayloadFormatIndicator::new(format(is_text)));
    all.extend(format.map(|p| p.unwrap().into()));
    let expiry = publish.message.expiry_secs.map(wire::MessageExpiryInterval::new);
    all.extend(expiry.map(|p| p.unwrap().into()));
    let kind = said.content_type.as_deref().map(wire::ContentType::new);
    all.extend(kind.map(|p| p.unwrap().into()));
    let topic = said.response_topic.as_deref().map(wire::ResponseTopic::new);
    all.extend(topic.map(|p| p.unwrap().into()));
    let data = said.correlation_data.clone().map(wire::CorrelationData::new);
    all.extend(data.map(|p| p.unwrap().into()));
    for id in &publish.subscriptions {
        all.push(wire::SubscriptionIdentifier::new(*id).unwrap().into());
    }
    all.extend(publish.topic_alias.map(|a| wire::TopicAlias::new(a).unwrap().into()));
    for (key, value) in &said.user {
        all.push(wire::UserProperty::new(key.as_str(), value.as_str()).unwrap().into());
    }
    all
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_nothing() {
    let mut out = vec![1, 2, 3];
    let mut message = Message::new("a", b"");
    message.properties = Arc::new(Properties {
        user: vec![("k".repeat(70_000), String::new())],
        ..Properties::default()
    });
    let publish = Publish {
        message,
        duplicate: false,
        packet_id: 1,
        topic_alias: None,
        subscriptions: Vec::new(),
    };
    assert!(encode(Version::V5, &Packet::Publish(publish), &mut out).is_err());
    assert_eq!(out, [1, 2, 3]);
}
