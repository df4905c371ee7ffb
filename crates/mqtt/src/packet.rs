//! Control packets, the same for both versions: what 3.1.1 does not have is then left out.

use std::sync::Arc;

use bytes::Bytes;
use trackbed_core::named;

use crate::reason::Reason;

named! {
    /// A version of the protocol.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Version {
        /// MQTT 3.1.1 (OASIS, 2014; ISO/IEC 20922).
        V311 = "3.1.1",
        /// MQTT 5 (OASIS, 2019).
        #[default]
        V5 = "5",
    }
}

named! {
    /// The delivery guarantee of a message over one hop (section 4.3 of both versions).
    #[derive(Default, PartialOrd, Ord)]
    pub enum Qos {
        /// It may be lost with its connection.
        AtMostOnce = "0",
        /// It is sent again on the next connection until it is acknowledged, so it may arrive
        /// twice.
        #[default]
        AtLeastOnce = "1",
        /// It arrives exactly once; this takes four packets.
        ExactlyOnce = "2",
    }
}

/// The properties of a message in version 5, which the broker forwards unchanged (section 3.3.2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Whether the payload is UTF-8 text, if known.
    pub is_text: Option<bool>,
    /// The kind of the content.
    pub content_type: Option<String>,
    /// The response topic.
    pub response_topic: Option<String>,
    /// The correlation data, which a response must carry.
    pub correlation_data: Option<Vec<u8>>,
    /// Names and values defined by the application.
    pub user: Vec<(String, String)>,
}

impl Properties {
    /// The first value of the user property called `name`.
    pub fn user_value(&self, name: &str) -> Option<&str> {
        self.user.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// About how many bytes of memory it holds beyond itself.
    pub(crate) fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let user: usize = self.user.iter().map(|(key, value)| key.len() + value.len() + 48).sum();
        text(&self.content_type)
            + text(&self.response_topic)
            + self.correlation_data.as_ref().map_or(0, Vec::len)
            + user
    }
}

/// An application message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The topic name, without wildcards.
    pub topic: Arc<str>,
    /// The content.
    pub payload: Bytes,
    /// Its delivery guarantee.
    pub qos: Qos,
    /// Published: whether the broker retains it for later subscribers. Received: whether it was
    /// retained.
    pub retain: bool,
    /// Its expiry in seconds; without it, never. Version 5.
    pub expiry_secs: Option<u32>,
    /// The other properties of version 5.
    pub properties: Arc<Properties>,
}

impl Message {
    /// A message of QoS 1 that is not retained.
    pub fn new(topic: impl Into<Arc<str>>, payload: impl AsRef<[u8]>) -> Message {
        Message {
            topic: topic.into(),
            payload: Bytes::copy_from_slice(payload.as_ref()),
            qos: Qos::AtLeastOnce,
            retain: false,
            expiry_secs: None,
            properties: Arc::default(),
        }
    }

    /// About how many bytes of memory it holds.
    pub(crate) fn weight(&self) -> usize {
        self.topic.len() + self.payload.len() + self.properties.weight() + size_of::<Message>()
    }
}

/// A message on a connection (PUBLISH).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publish {
    /// The message. Its topic may be empty if an alias replaces it.
    pub message: Message,
    /// Whether it may have been sent before.
    pub duplicate: bool,
    /// Not zero with QoS 1 and 2, zero with QoS 0.
    pub packet_id: u16,
    /// The topic alias on this connection.
    pub topic_alias: Option<u16>,
    /// The identifiers of the subscriptions that it was sent for.
    pub subscriptions: Vec<u32>,
}

/// A message that the broker publishes when a client disappears without DISCONNECT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Will {
    /// The message.
    pub message: Message,
    /// How long the client may take to reconnect, in seconds.
    pub delay_secs: u32,
}

/// The beginning of a client's connection (CONNECT).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    /// The version of all later packets.
    pub version: Version,
    /// The client identifier of its session; empty to let the broker choose one.
    pub client_id: String,
    /// Whether to discard an earlier session.
    pub clean_start: bool,
    /// The keep-alive interval in seconds: the client counts as gone after 1.5 times this without a
    /// packet; 0 for never.
    pub keep_alive_secs: u16,
    /// How long the session outlives the connection, in seconds; `u32::MAX` for ever.
    pub session_expiry_secs: u32,
    /// The maximum number of unacknowledged messages of QoS 1 and 2 that the client accepts.
    pub receive_maximum: u16,
    /// The client's maximum packet size in bytes.
    pub maximum_packet_size: u32,
    /// The number of topic aliases that the client remembers.
    pub topic_alias_maximum: u16,
    /// The message to publish if the client disappears.
    pub will: Option<Will>,
    /// The user name.
    pub user_name: Option<String>,
    /// The password.
    pub password: Option<Vec<u8>>,
    /// The method of an extended authentication (section 4.12).
    pub authentication_method: Option<String>,
}

/// The broker's answer to CONNECT (CONNACK).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connack {
    /// Whether it resumes an earlier session.
    pub session_present: bool,
    /// Success, or the reason for the failure.
    pub reason: Reason,
    /// How long it keeps the session, if not as asked, in seconds.
    pub session_expiry_secs: Option<u32>,
    /// The maximum number of unacknowledged messages of QoS 1 and 2 that it accepts; 65,535 if not
    /// given.
    pub receive_maximum: u16,
    /// Its maximum packet size in bytes, if given.
    pub maximum_packet_size: Option<u32>,
    /// The number of topic aliases that it remembers.
    pub topic_alias_maximum: u16,
    /// The client identifier, if the broker chose it.
    pub assigned_client_id: Option<String>,
    /// The keep-alive interval that replaces the client's, in seconds.
    pub server_keep_alive_secs: Option<u16>,
}

impl Connack {
    /// A response without other fields.
    pub(crate) fn new(session_present: bool, reason: Reason) -> Connack {
        Connack {
            session_present,
            reason,
            session_expiry_secs: None,
            receive_maximum: u16::MAX,
            maximum_packet_size: None,
            topic_alias_maximum: 0,
            assigned_client_id: None,
            server_keep_alive_secs: None,
        }
    }
}

/// When a subscription gets the retained messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetainHandling {
    /// Always.
    #[default]
    Always,
    /// If the subscription is new.
    IfNew,
    /// Never.
    Never,
}

/// A subscription to a topic filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The filter, with or without wildcards.
    pub filter: String,
    /// The maximum QoS of delivered messages.
    pub qos: Qos,
    /// Whether the client's own messages are left out. Version 5.
    pub no_local: bool,
    /// Whether messages keep the flag with which they were published. Version 5.
    pub retain_as_published: bool,
    /// When retained messages are sent. Version 5.
    pub retain_handling: RetainHandling,
}

impl Subscription {
    /// A subscription with the options that 3.1.1 has.
    pub fn new(filter: impl Into<String>, qos: Qos) -> Subscription {
        Subscription {
            filter: filter.into(),
            qos,
            no_local: false,
            retain_as_published: false,
            retain_handling: RetainHandling::Always,
        }
    }
}

/// A control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are named as in the specifications")]
pub enum Packet {
    Connect(Box<Connect>),
    Connack(Connack),
    Publish(Publish),
    Puback { packet_id: u16, reason: Reason },
    Pubrec { packet_id: u16, reason: Reason },
    Pubrel { packet_id: u16, reason: Reason },
    Pubcomp { packet_id: u16, reason: Reason },
    Subscribe { packet_id: u16, subscriptions: Vec<Subscription>, identifier: Option<u32> },
    Suback { packet_id: u16, reasons: Vec<Reason> },
    Unsubscribe { packet_id: u16, filters: Vec<String> },
    Unsuback { packet_id: u16, reasons: Vec<Reason> },
    Pingreq,
    Pingresp,
    Disconnect { reason: Reason, session_expiry_secs: Option<u32> },
    Auth,
}
