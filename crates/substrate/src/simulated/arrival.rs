//! Incoming segments: for existing connections, new ones and none.

use trackbed_core::packet::TooBig;
use trackbed_core::{Packet, Time};
use trackbed_net::NodeId;
use trackbed_tcp::multipath::{MultipathConnection, join_token, refuse_join};
use trackbed_tcp::{Config, Connection, Flags, QuotedSegment, Segment, State, reset_reply};

use super::flow::Flow;
use super::options;
use super::sockets::Owner;
use super::transport::Transport;
use super::world::World;
use crate::clock;

impl World {
    pub(super) fn deliver_tcp(&mut self, node: NodeId, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        let flow = Flow::new(node, segment.destination, segment.source);
        match self.flows.get(&flow) {
            Some(&key) if self.gives_way(key, &segment) => {
                match self.tcp[key as usize].owner {
                    Owner::Orphan => self.tcp_remove(key),
                    Owner::Stream | Owner::Listener(_) => self.tcp_release(key),
                }
                self.deliver_unexpected(node, &segment);
            }
            Some(&key) => {
                let now = clock::now();
                let tcp = &mut self.tcp[key as usize];
                tcp.connection.handle_segment(now, segment);
                if tcp.owner == Owner::Orphan && tcp.has_unread(now) {
                    // Data that will never be read (RFC 9293 section 3.6.1).
                    tcp.connection.abort(now);
                }
                self.tcp_pump(key);
            }
            None => self.deliver_unexpected(node, &segment),
        }
    }

    pub(super) fn deliver_too_big(&mut self, node: NodeId, message: &TooBig) {
        let Some(quoted) = QuotedSegment::parse(message) else { return };
        let flow = Flow::new(node, quoted.source, quoted.destination);
        if let Some(&key) = self.flows.get(&flow) {
            self.tcp_act(key, |connection, now| {
                connection.handle_too_big(now, message.mtu, &quoted);
            });
        }
    }

    pub(super) fn tcp_timeout(&mut self, now: Time, key: u32) {
        let tcp = &mut self.tcp[key as usize];
        if tcp.orphaned_until.is_some_and(|until| until <= now) {
            if tcp.connection.state() == State::FinWait2 {
                return self.tcp_remove(key);
            }
            tcp.orphaned_until = Some(now + options::ORPHAN_LIFETIME);
        }
        if tcp.connection.poll_timeout().is_some_and(|at| at <= now) {
            tcp.connection.handle_timeout(now);
        }
        self.tcp_pump(key);
    }

    /// Whether a connection in TIME-WAIT ends early because the peer uses its port again (RFC 9293
    /// section 3.10.7.4, MAY-2; RFC 6191). A late duplicate SYN opens no connection: the peer
    /// answers the SYN-ACK with a reset.
    fn gives_way(&self, key: u32, segment: &Segment) -> bool {
        self.tcp[key as usize].connection.state() == State::TimeWait && opens(segment)
    }

    /// A segment for no connection: it opens one, or is answered with a reset.
    fn deliver_unexpected(&mut self, node: NodeId, segment: &Segment) {
        if let Some(token) = join_token(segment) {
            return self.deliver_join(node, token, segment);
        }
        let listener = self.hosts[node.index()].tcp_ports.lookup(segment.destination);
        match listener {
            Some(listener) if opens(segment) => self.tcp_accept(node, listener, segment),
            _ => {
                if let Some(reset) = reset_reply(segment) {
                    self.network.send(clock::now(), node, reset);
                }
            }
        }
    }

    fn tcp_accept(&mut self, node: NodeId, listener: u32, syn: &Segment) {
        let Some(config) = self.listeners[listener as usize].config_for_syn() else { return };
        let mtu = options::mtu(&self.network, syn.destination.ip());
        let config = Config { mtu, ..config };
        let isn = self.host(node).sequence_numbers.next_u64() as u32;
        let now = clock::now();
        let connection = match self.listeners[listener as usize].multipath.clone() {
            None => Transport::Single(Box::new(Connection::accept(now, &config, syn, isn))),
            Some(mut settings) => {
                let (own_key, seed) = self.draw_key(node);
                (settings.tcp, settings.seed) = (config, seed);
                let connection = MultipathConnection::accept(now, &settings, syn, own_key, isn);
                Transport::Multi(Box::new(connection))
            }
        };
        let ends = (syn.destination, syn.source);
        let key = self.tcp_insert(node, ends, connection, Owner::Listener(listener));
        self.tcp_pump(key);
    }

    /// A SYN that opens a subflow of a connection with this token.
    fn deliver_join(&mut self, node: NodeId, token: u32, syn: &Segment) {
        let numbers = &mut self.hosts[node.index()].sequence_numbers;
        let (isn, nonce) = (numbers.next_u64() as u32, numbers.next_u64() as u32);
        if let Some(&key) = self.tokens.get(&(node, token)) {
            let tcp = &mut self.tcp[key as usize];
            if let Transport::Multi(connection) = &mut tcp.connection
                && connection.accept_join(clock::now(), syn, isn, nonce).is_ok()
            {
                tcp.joined.push((syn.destination, syn.source));
                self.flows.insert(Flow::new(node, syn.destination, syn.source), key);
                return self.tcp_pump(key);
            }
        }
        self.network.send(clock::now(), node, refuse_join(syn));
    }
}

/// Whether a segment requests a new connection.
fn opens(segment: &Segment) -> bool {
    segment.has(Flags::SYN) && !segment.has(Flags::ACK) && !segment.has(Flags::RST)
}
