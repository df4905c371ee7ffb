//! Several hosts and paths: packets follow a route of links that their addresses choose.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use trackbed_core::{Rng, Seed};
use trackbed_tcp::Flags;
use trackbed_tcp::multipath::{Key, MultipathConfig, MultipathConnection, join_token};

use super::{Link, Packet, Segment, Time};

/// Hosts with Multipath TCP, and the links between them.
pub struct Course {
    now: Time,
    hosts: Vec<Host>,
    links: Vec<Link>,
    routes: BTreeMap<(IpAddr, IpAddr), Route>,
    /// When each host wants to be called.
    timers: Vec<Option<Time>>,
}

struct Route {
    links: Vec<usize>,
    to: usize,
}

/// A client that reads, or a server that writes without end once it is connected.
struct Host {
    connection: Option<MultipathConnection>,
    config: MultipathConfig,
    rng: Rng,
    writes: bool,
    next_port: u16,
    received: u64,
}

impl Course {
    pub fn new(links: Vec<Link>) -> Course {
        let (hosts, timers, routes) = (Vec::new(), Vec::new(), BTreeMap::new());
        Course { now: Time::ZERO, hosts, links, routes, timers }
    }

    /// Adds a client and a server, with the numbers that follow, and opens a connection from the
    /// first of `ends` to the second.
    pub fn connect(&mut self, configs: [MultipathConfig; 2], ends: (SocketAddr, SocketAddr)) {
        let seed = Seed::of_run(1, self.hosts.len() as u64);
        let client = MultipathConnection::connect(self.now, &configs[0], ends, Key(7), 1_000);
        let connections = [Some(client), None];
        for ((connection, config), name) in
            connections.into_iter().zip(configs).zip(["client", "server"])
        {
            let (rng, writes) = (seed.stream(name), connection.is_none());
            let host = Host { connection, config, rng, writes, next_port: 40_001, received: 0 };
            self.hosts.push(host);
            self.timers.push(None);
        }
    }

    /// Packets from one address to the other pass `links` in this order and arrive at host `to`.
    pub fn route(&mut self, from: IpAddr, dest: IpAddr, links: &[usize], to: usize) {
        self.routes.insert((from, dest), Route { links: links.to_vec(), to });
    }

    /// What each client, which every second host is, reads between these seconds, in Mbit/s.
    pub fn rates(&mut self, from: u64, until: u64) -> Vec<f64> {
        let [before, after] = [from, until].map(|second| {
            self.run_until(Time::from_millis(second * 1_000));
            self.hosts.iter().step_by(2).map(|client| client.received).collect::<Vec<_>>()
        });
        let gained = after.into_iter().zip(before).map(|(after, before)| after - before);
        gained.map(|bytes| bytes as f64 * 8e-6 / (until - from) as f64).collect()
    }

    fn run_until(&mut self, deadline: Time) {
        (0..self.hosts.len()).for_each(|host| self.flush(host));
        while self.step(deadline) {}
        self.now = self.now.max(deadline);
    }

    /// Sends what a host has to send, and asks when it wants to be called.
    fn flush(&mut self, host: usize) {
        while let Some(packet) = self.hosts[host].poll_transmit(self.now) {
            if let Some(route) = self.routes.get(&(packet.source(), packet.destination())) {
                self.links[route.links[0]].push(self.now, packet);
            }
        }
        let connection = self.hosts[host].connection.as_ref();
        self.timers[host] = connection.and_then(MultipathConnection::poll_timeout);
    }

    fn step(&mut self, deadline: Time) -> bool {
        let link =
            (0..self.links.len()).filter_map(|link| Some((self.links[link].next()?, link))).min();
        let timer = (0..self.hosts.len()).filter_map(|host| Some((self.timers[host]?, host))).min();
        let Some(at) = link.iter().chain(&timer).map(|(at, _)| *at).min() else { return false };
        if at > deadline {
            return false;
        }
        self.now = self.now.max(at);
        match (link, timer) {
            (Some((due, link)), _) if due == at => self.arrive(link),
            (_, Some((_, host))) => {
                let connection = self.hosts[host].connection.as_mut();
                connection.expect("it has a timer").handle_timeout(self.now);
                self.flush(host);
            }
            _ => {}
        }
        true
    }

    fn arrive(&mut self, link: usize) {
        let Some((_, packet)) = self.links[link].flying.pop_front() else { return };
        let Some(route) = self.routes.get(&(packet.source(), packet.destination())) else { return };
        let hop = route.links.iter().position(|hop| *hop == link).map_or(0, |hop| hop + 1);
        if let Some(next) = route.links.get(hop) {
            self.links[*next].push(self.now, packet);
        } else {
            let to = route.to;
            self.hosts[to].handle_packet(self.now, &packet);
            self.flush(to);
        }
    }
}

impl Host {
    fn handle_packet(&mut self, now: Time, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        let Some(connection) = &mut self.connection else {
            let (key, isn) = (Key(self.rng.next_u64()), self.rng.next_u64() as u32);
            let accepted = MultipathConnection::accept(now, &self.config, &segment, key, isn);
            self.connection = Some(accepted);
            return;
        };
        if join_token(&segment).is_some() && !segment.has(Flags::ACK) {
            let (isn, nonce) = (self.rng.next_u64() as u32, self.rng.next_u64() as u32);
            connection.accept_join(now, &segment, isn, nonce).expect("there is room");
        } else {
            connection.handle_segment(now, segment);
        }
    }

    /// The next packet to send, if there is one; the application acts here.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let connection = self.connection.as_mut()?;
        while let Some(request) = connection.poll_join() {
            let (isn, nonce) = (self.rng.next_u64() as u32, self.rng.next_u64() as u32);
            connection.join(now, &request, self.next_port, isn, nonce);
            self.next_port += 1;
        }
        if self.writes && connection.is_writable() {
            let mut data = super::ZEROS.clone();
            connection.write_bytes(now, &mut data).expect("it is open");
        }
        while let Some(data) = connection.read(now, usize::MAX).expect("no error") {
            self.received += data.len() as u64;
        }
        connection.poll_transmit(now)
    }
}
