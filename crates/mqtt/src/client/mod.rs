//! A client without sockets: it takes connections, bytes and the time, and returns what to send and
//! what happened.

mod arriving;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use trackbed_core::Time;

use crate::framing::Splitter;
use crate::packet::{Connect, Message, Packet, Publish, Qos, Subscription, Version, Will};
use crate::reason::{Fault, Reason};
use crate::sending::{Sending, write};
use crate::topic;

/// How a client connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The protocol version.
    pub version: Version,
    /// Its identifier; empty to let the broker choose one (in 3.1.1 only with a clean start).
    pub client_id: String,
    /// Whether to discard an earlier session.
    pub clean_start: bool,
    /// How long the broker keeps the session without a connection, in seconds. In 3.1.1 it is kept
    /// without a clean start.
    pub session_expiry_secs: u32,
    /// The keep-alive interval in seconds; 0 for none.
    pub keep_alive_secs: u16,
    /// The maximum number of unacknowledged messages of QoS 1 and 2 that it accepts.
    pub receive_maximum: u16,
    /// The maximum packet size in bytes; announced in version 5, and enforced in both.
    pub packet_len: usize,
    /// The message to publish if it disappears.
    pub will: Option<Will>,
    /// The user name.
    pub user_name: Option<String>,
    /// The password.
    pub password: Option<Vec<u8>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            version: Version::V5,
            client_id: String::new(),
            clean_start: true,
            session_expiry_secs: 0,
            keep_alive_secs: 60,
            receive_maximum: 1_024,
            packet_len: 1 << 20,
            will: None,
            user_name: None,
            password: None,
        }
    }
}

/// An event of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The broker accepted the connection.
    Connected {
        /// Whether it resumes an earlier session with its subscriptions and messages.
        session_present: bool,
    },
    /// A message has arrived.
    Received {
        /// The message.
        message: Message,
        /// The identifiers of the subscriptions that it answers.
        subscriptions: Vec<u32>,
    },
    /// A message of QoS 1 or 2 has reached the broker, or was refused.
    Acknowledged {
        /// What [`Client::publish`] was given.
        token: u64,
        /// Success, or the reason for the failure.
        reason: Reason,
    },
    /// A message of QoS 1 or 2 was dropped, because the broker lost the session, or does not accept
    /// packets of its length. Whether it had arrived is unknown.
    Forgotten {
        /// What [`Client::publish`] was given.
        token: u64,
    },
    /// The response to [`Client::subscribe`], with a reason for each filter.
    Subscribed {
        /// What that call returned.
        packet_id: u16,
        /// The granted QoS, or the reason for the refusal.
        reasons: Vec<Reason>,
    },
    /// The response to [`Client::unsubscribe`]; in 3.1.1 without reasons.
    Unsubscribed {
        /// What that call returned.
        packet_id: u16,
        /// A reason for each filter.
        reasons: Vec<Reason>,
    },
    /// The connection has failed and must be closed.
    Ended(Fault),
}

/// A client.
///
/// For each connection of the transport, call [`connect`](Client::connect), pass received bytes to
/// [`receive`](Client::receive), and call [`close`](Client::close) when it is gone. After each call
/// there may be bytes to send ([`output`](Client::output)), events
/// ([`next_event`](Client::next_event)) and another [`next_timeout`](Client::next_timeout).
/// Unacknowledged messages, and the session if the broker keeps it, continue with the next
/// connection.
#[derive(Debug)]
pub struct Client {
    settings: Settings,
    stage: Stage,
    splitter: Splitter,
    output: Vec<u8>,
    sending: Sending,
    /// Messages that wait for the broker to have room, with their tokens.
    waiting: VecDeque<(Message, u64)>,
    /// Identifiers of messages of QoS 2 that have come and are not released.
    received: BTreeSet<u16>,
    events: VecDeque<Event>,
    /// The broker's limits.
    receive_maximum: usize,
    packet_len_max: usize,
    keep_alive: Option<Duration>,
    spoke: Time,
    /// When the unanswered ping was sent.
    pinged: Option<Time>,
    is_held: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// There is no usable connection.
    Apart,
    /// CONNECT was sent.
    Connecting,
    Connected,
}

impl Client {
    /// A client without a connection.
    pub fn new(settings: Settings) -> Client {
        Client {
            splitter: Splitter::new(settings.packet_len),
            settings,
            stage: Stage::Apart,
            output: Vec::new(),
            sending: Sending::default(),
            waiting: VecDeque::new(),
            received: BTreeSet::new(),
            events: VecDeque::new(),
            receive_maximum: 0,
            packet_len_max: usize::MAX,
            keep_alive: None,
            spoke: Time::ZERO,
            pinged: None,
            is_held: false,
        }
    }

    /// Its client identifier; the broker's choice if the settings gave none.
    pub fn client_id(&self) -> &str {
        &self.settings.client_id
    }

    /// The settings of the next connection.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Sends CONNECT on a new connection.
    ///
    /// # Errors
    /// If the settings cannot be put into a packet.
    pub fn connect(&mut self, now: Time) -> Result<(), Fault> {
        self.apart();
        self.splitter = Splitter::new(self.settings.packet_len);
        self.output.clear();
        let Settings { version, clean_start, session_expiry_secs, .. } = self.settings;
        let connect = Connect {
            version,
            client_id: self.settings.client_id.clone(),
            clean_start,
            keep_alive_secs: self.settings.keep_alive_secs,
            session_expiry_secs,
            receive_maximum: self.settings.receive_maximum.max(1),
            maximum_packet_size: u32::try_from(self.settings.packet_len).unwrap_or(u32::MAX),
            topic_alias_maximum: 0,
            will: self.settings.will.clone(),
            user_name: self.settings.user_name.clone(),
            password: self.settings.password.clone(),
            authentication_method: None,
        };
        write(version, &Packet::Connect(Box::new(connect)), &mut self.output, usize::MAX)?;
        self.stage = Stage::Connecting;
        self.spoke = now;
        Ok(())
    }

    /// Reports that the connection is gone, for any reason.
    pub fn close(&mut self) {
        self.apart();
        self.output.clear();
    }

    /// Publishes a message, as soon as the broker has room for it. `token` identifies it in
    /// [`Event::Acknowledged`]. The caller limits the number of waiting messages, see
    /// [`Client::has_room`].
    ///
    /// # Errors
    /// If the topic is invalid, or the message is longer than a packet may be.
    pub fn publish(&mut self, message: Message, token: u64, now: Time) -> Result<(), Fault> {
        topic::check_name(&message.topic)?;
        if message.topic.len() > usize::from(u16::MAX) {
            return Err(Fault::new(Reason::TOPIC_NAME_INVALID, "a topic has at most 65,535 bytes"));
        }
        if !self.waiting.is_empty() || !self.can_send(message.qos) {
            self.waiting.push_back((message, token));
            return Ok(());
        }
        self.send(message, token, now)
    }

    /// Whether a message would be sent at once, with few bytes before it.
    pub fn has_room(&self) -> bool {
        self.waiting.is_empty()
            && self.can_send(Qos::ExactlyOnce)
            && self.output.len() < OUTPUT_ROOM
    }

    /// The number of QoS 1 and 2 messages that are not sent or not acknowledged.
    pub fn unacknowledged(&self) -> usize {
        self.sending.len() + self.waiting.len()
    }

    /// Subscribes; [`Event::Subscribed`] reports the result. Connected clients only.
    ///
    /// # Errors
    /// If a filter is invalid, or there is no connection.
    pub fn subscribe(
        &mut self,
        subscriptions: Vec<Subscription>,
        identifier: Option<u32>,
        now: Time,
    ) -> Result<u16, Fault> {
        for wanted in &subscriptions {
            topic::parse_filter(&wanted.filter)?;
        }
        self.ask(now, |packet_id| Packet::Subscribe { packet_id, subscriptions, identifier })
    }

    /// Unsubscribes; [`Event::Unsubscribed`] reports the result. Connected clients only.
    ///
    /// # Errors
    /// If there is no connection.
    pub fn unsubscribe(&mut self, filters: Vec<String>, now: Time) -> Result<u16, Fault> {
        self.ask(now, |packet_id| Packet::Unsubscribe { packet_id, filters })
    }

    /// Sends DISCONNECT, so that the will is not published. Close the connection afterwards.
    pub fn disconnect(&mut self) {
        if self.stage == Stage::Connected {
            let packet = Packet::Disconnect { reason: Reason::SUCCESS, session_expiry_secs: None };
            // It is too short for any broker to refuse.
            let _fits = write(self.settings.version, &packet, &mut self.output, usize::MAX);
        }
        self.apart();
    }

    /// Bytes to be sent. The sender removes them.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// The next event, the oldest first.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Reports whether reading from the broker is paused, so that its silence means nothing.
    pub fn hold(&mut self, is_held: bool, now: Time) {
        self.is_held = is_held;
        self.pinged = self.pinged.map(|_| now);
    }

    /// When to call [`Client::handle_timeout`]; any other call may change it.
    pub fn next_timeout(&self) -> Option<Time> {
        let keep_alive = self.keep_alive.filter(|_| self.stage == Stage::Connected)?;
        match self.pinged {
            Some(_) if self.is_held => None,
            Some(pinged) => Some(pinged + keep_alive),
            None => Some(self.spoke + keep_alive),
        }
    }

    /// Handles timeouts: sends a ping after silence, and ends the connection if no response arrives
    /// (section 3.1.2.10).
    pub fn handle_timeout(&mut self, now: Time) {
        if self.next_timeout().is_none_or(|due| due > now) {
            return;
        }
        if self.pinged.is_some() {
            let why = "the broker did not respond to pings";
            return self.fail(Fault::new(Reason::KEEP_ALIVE_TIMEOUT, why));
        }
        // It has no body.
        let _fits = write(self.settings.version, &Packet::Pingreq, &mut self.output, usize::MAX);
        self.spoke = now;
        self.pinged = Some(now);
    }

    fn apart(&mut self) {
        self.stage = Stage::Apart;
        self.pinged = None;
        self.sending.disconnected();
    }

    fn fail(&mut self, fault: Fault) {
        if self.stage != Stage::Apart {
            self.apart();
            self.events.push_back(Event::Ended(fault));
        }
    }

    fn can_send(&self, qos: Qos) -> bool {
        self.stage == Stage::Connected
            && (qos == Qos::AtMostOnce || self.sending.len() < self.receive_maximum)
    }

    fn send(&mut self, message: Message, token: u64, now: Time) -> Result<(), Fault> {
        self.spoke = now;
        let version = self.settings.version;
        let qos = message.qos;
        let publish = Publish {
            message,
            duplicate: false,
            packet_id: 0,
            topic_alias: None,
            subscriptions: Vec::new(),
        };
        match qos {
            Qos::AtMostOnce => {
                write(version, &Packet::Publish(publish), &mut self.output, self.packet_len_max)
            }
            Qos::AtLeastOnce | Qos::ExactlyOnce => {
                let output = (&mut self.output, self.packet_len_max);
                self.sending.send(version, publish, token, None, output)
            }
        }
    }

    /// Sends the messages that were in flight on an earlier connection, then waiting ones, while
    /// there is room.
    fn pump(&mut self, now: Time) {
        let output = (&mut self.output, usize::MAX, self.packet_len_max);
        let version = self.settings.version;
        if !self.sending.resend(version, now, self.receive_maximum, output) {
            return;
        }
        while let Some((message, _)) = self.waiting.front() {
            if !self.can_send(message.qos) {
                break;
            }
            let Some((message, token)) = self.waiting.pop_front() else { break };
            if self.send(message, token, now).is_err() {
                self.events.push_back(Event::Forgotten { token });
            }
        }
    }

    /// Sends a packet that expects a response.
    fn ask(&mut self, now: Time, packet: impl FnOnce(u16) -> Packet) -> Result<u16, Fault> {
        if self.stage != Stage::Connected {
            return Err(Fault::protocol("not connected"));
        }
        let packet_id = self.sending.reserve();
        let packet = packet(packet_id);
        let written = write(self.settings.version, &packet, &mut self.output, self.packet_len_max);
        if written.is_err() {
            self.sending.release(packet_id);
        }
        self.spoke = now;
        written.map(|()| packet_id)
    }

    fn answer(&mut self, packet: &Packet, now: Time) {
        self.spoke = now;
        // It is too short for any broker to refuse.
        let _fits = write(self.settings.version, packet, &mut self.output, usize::MAX);
    }

    fn begin(&mut self, connack: crate::packet::Connack, now: Time) {
        self.stage = Stage::Connected;
        self.receive_maximum = connack.receive_maximum.into();
        self.packet_len_max = connack.maximum_packet_size.map_or(usize::MAX, |len| len as usize);
        let keep_alive = connack.server_keep_alive_secs.unwrap_or(self.settings.keep_alive_secs);
        self.keep_alive = (keep_alive > 0).then(|| Duration::from_secs(keep_alive.into()));
        if let Some(id) = connack.assigned_client_id {
            self.settings.client_id = id;
        }
        if !connack.session_present {
            self.received.clear();
            let forgotten = self.sending.clear().into_iter();
            self.events.extend(forgotten.map(|token| Event::Forgotten { token }));
        }
        self.events.push_back(Event::Connected { session_present: connack.session_present });
        self.pump(now);
    }
}

/// With this number of unsent bytes or more there is no room.
const OUTPUT_ROOM: usize = 128 << 10;
