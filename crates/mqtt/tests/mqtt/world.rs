//! A broker, clients, and the bytes between them.

use trackbed_mqtt::broker::{Broker, ConnectionId, Flow};

// The vocabulary of these tests.
pub use std::time::Duration;
pub use trackbed_core::{Seed, Time};
pub use trackbed_mqtt::broker::Limits;
pub use trackbed_mqtt::client::{Client, Event, Settings};
pub use trackbed_mqtt::{Message, Qos, Reason, Subscription, Version, Will};

pub struct World {
    pub broker: Broker,
    pub now: Time,
    pub peers: Vec<Peer>,
}

pub struct Peer {
    pub client: Client,
    pub at: Option<ConnectionId>,
    pub events: Vec<Event>,
    /// Bytes from the broker that have not arrived.
    pub down: Vec<u8>,
    is_closing: bool,
}

impl World {
    pub fn new(limits: Limits) -> World {
        World { broker: Broker::new(limits), now: Time::ZERO, peers: Vec::new() }
    }

    /// Adds a client and connects it.
    pub fn join(&mut self, settings: Settings) -> usize {
        let client = Client::new(settings);
        self.peers.push(Peer {
            client,
            at: None,
            events: Vec::new(),
            down: Vec::new(),
            is_closing: false,
        });
        self.connect(self.peers.len() - 1);
        self.run();
        self.peers.len() - 1
    }

    pub fn connect(&mut self, peer: usize) {
        let peer = &mut self.peers[peer];
        peer.at = self.broker.open(self.now);
        peer.is_closing = false;
        peer.client.connect(self.now).unwrap();
    }

    /// The network between a client and the broker breaks: data in flight is lost.
    pub fn cut(&mut self, peer: usize) {
        let peer = &mut self.peers[peer];
        peer.down.clear();
        peer.client.close();
        if let Some(at) = peer.at.take() {
            self.broker.close(at, self.now);
        }
    }

    pub fn after(&mut self, span: Duration) {
        let end = self.now + span;
        self.run();
        loop {
            let peers = self.peers.iter().filter_map(|peer| peer.client.next_timeout());
            let next = peers.chain(self.broker.next_timeout()).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = next.max(self.now);
            self.broker.handle_timeout(self.now);
            for peer in &mut self.peers {
                peer.client.handle_timeout(self.now);
            }
            self.run();
        }
        self.now = end;
        self.run();
    }

    /// Carries all bytes until no side has anything to send.
    pub fn run(&mut self) {
        while self.step(usize::MAX, usize::MAX) {}
    }

    /// Carries at most this many bytes in each direction of each client; false if there were none.
    pub fn step(&mut self, up: usize, down: usize) -> bool {
        let mut moved = false;
        for index in 0..self.peers.len() {
            moved |= self.step_of(index, up, down);
        }
        moved
    }

    pub fn step_of(&mut self, index: usize, up: usize, down: usize) -> bool {
        let peer = &mut self.peers[index];
        let Some(at) = peer.at else { return false };
        let len = peer.client.output().len().min(up);
        let bytes: Vec<u8> = peer.client.output().drain(..len).collect();
        self.broker.receive(at, &bytes, self.now);
        self.collect();
        let peer = &mut self.peers[index];
        let len = peer.down.len().min(down);
        let arrived: Vec<u8> = peer.down.drain(..len).collect();
        peer.client.receive(&arrived, self.now);
        let is_over = peer.is_closing && peer.down.is_empty();
        let mut moved = !bytes.is_empty() || !arrived.is_empty();
        while let Some(event) = peer.client.next_event() {
            peer.events.push(event);
            moved = true;
        }
        if is_over {
            self.cut(index);
        }
        moved
    }

    fn collect(&mut self) {
        while let Some(id) = self.broker.next_ready() {
            let Some(peer) = self.peers.iter_mut().find(|peer| peer.at == Some(id)) else {
                continue;
            };
            let flow = self.broker.take_output(id, self.now, &mut peer.down);
            peer.is_closing |= flow == Flow::Closing;
        }
    }

    pub fn subscribe(&mut self, peer: usize, filter: &str, qos: Qos) -> Vec<Reason> {
        self.subscribe_as(peer, Subscription::new(filter, qos), None)
    }

    pub fn subscribe_as(
        &mut self,
        peer: usize,
        wanted: Subscription,
        identifier: Option<u32>,
    ) -> Vec<Reason> {
        let asked = self.peers[peer].client.subscribe(vec![wanted], identifier, self.now).unwrap();
        self.run();
        let answers = self.take(peer, |event| match event {
            Event::Subscribed { packet_id, reasons } if *packet_id == asked => {
                Some(reasons.clone())
            }
            _ => None,
        });
        answers.into_iter().next().expect("an answer to SUBSCRIBE")
    }

    pub fn publish(&mut self, peer: usize, message: Message) {
        self.peers[peer].client.publish(message, 0, self.now).unwrap();
        self.run();
    }

    /// Takes some of the events that have come to a client since the last call.
    fn take<T>(&mut self, peer: usize, wanted: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        let events = &mut self.peers[peer].events;
        let taken = events.iter().filter_map(&wanted).collect();
        events.retain(|event| wanted(event).is_none());
        taken
    }

    /// The messages that have come to a client since the last call.
    pub fn messages(&mut self, peer: usize) -> Vec<Message> {
        self.take(peer, |event| match event {
            Event::Received { message, .. } => Some(message.clone()),
            _ => None,
        })
    }

    /// Their topics and contents.
    pub fn texts(&mut self, peer: usize) -> Vec<String> {
        let text = |message: &Message| {
            format!("{}={}", message.topic, String::from_utf8_lossy(message.payload.as_ref()))
        };
        self.messages(peer).iter().map(text).collect()
    }

    /// What became of the messages that a client published.
    pub fn acknowledgements(&mut self, peer: usize) -> Vec<Reason> {
        self.take(peer, |event| match event {
            Event::Acknowledged { reason, .. } => Some(*reason),
            _ => None,
        })
    }

    /// Why a client's connection ended, if it did.
    pub fn ended(&self, peer: usize) -> Option<Reason> {
        self.peers[peer].events.iter().find_map(|event| match event {
            Event::Ended(fault) => Some(fault.reason),
            _ => None,
        })
    }
}

pub fn named(version: Version, name: &str) -> Settings {
    Settings { version, client_id: name.to_owned(), ..Settings::default() }
}

/// The same with a session that is kept.
pub fn lasting(version: Version, name: &str) -> Settings {
    Settings { clean_start: false, session_expiry_secs: 3_600, ..named(version, name) }
}

pub fn message(topic: &str, text: &str, qos: Qos) -> Message {
    Message { qos, ..Message::new(topic, text) }
}
