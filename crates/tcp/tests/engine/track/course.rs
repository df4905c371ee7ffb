//! Several hosts and paths: packets follow a route of links that their addresses choose.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{Connection, Link, Packet, Segment, Time};

/// A host with its application.
pub trait Station {
    /// Takes a packet.
    fn handle_packet(&mut self, now: Time, packet: &Packet);

    /// The next packet to send, if there is one; the application may act here.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// When to call `handle_timeout`.
    fn poll_timeout(&self) -> Option<Time>;

    fn handle_timeout(&mut self, now: Time);

    /// Bytes that the application has read.
    fn received(&self) -> u64;
}

/// Stations and the links between them.
pub struct Course {
    now: Time,
    stations: Vec<Box<dyn Station>>,
    links: Vec<Link>,
    routes: BTreeMap<(IpAddr, IpAddr), Route>,
    /// When each station wants to be called.
    timers: Vec<Option<Time>>,
}

struct Route {
    links: Vec<usize>,
    to: usize,
}

impl Course {
    pub fn new(stations: Vec<Box<dyn Station>>, links: Vec<Link>) -> Course {
        let timers = vec![None; stations.len()];
        Course { now: Time::ZERO, stations, links, routes: BTreeMap::new(), timers }
    }

    /// Packets from one address to the other pass `links` in this order and arrive at station `to`.
    pub fn route(&mut self, from: IpAddr, dest: IpAddr, links: &[usize], to: usize) {
        self.routes.insert((from, dest), Route { links: links.to_vec(), to });
    }

    /// What each client, which every second station is, reads between these seconds, in Mbit/s.
    pub fn rates(&mut self, from: u64, until: u64) -> Vec<f64> {
        let [before, after] = [from, until].map(|second| {
            self.run_until(Time::from_millis(second * 1_000));
            self.stations.iter().step_by(2).map(|client| client.received()).collect::<Vec<_>>()
        });
        let gained = after.into_iter().zip(before).map(|(after, before)| after - before);
        gained.map(|bytes| bytes as f64 * 8e-6 / (until - from) as f64).collect()
    }

    fn run_until(&mut self, deadline: Time) {
        (0..self.stations.len()).for_each(|station| self.flush(station));
        while self.step(deadline) {}
        self.now = self.now.max(deadline);
    }

    /// Sends what a station has to send, and asks when it wants to be called.
    fn flush(&mut self, station: usize) {
        while let Some(packet) = self.stations[station].poll_transmit(self.now) {
            if let Some(route) = self.routes.get(&(packet.source(), packet.destination())) {
                self.links[route.links[0]].push(self.now, packet);
            }
        }
        self.timers[station] = self.stations[station].poll_timeout();
    }

    fn step(&mut self, deadline: Time) -> bool {
        let link =
            (0..self.links.len()).filter_map(|link| Some((self.links[link].next()?, link))).min();
        let timer = (0..self.stations.len())
            .filter_map(|station| Some((self.timers[station]?, station)))
            .min();
        let Some(at) = link.iter().chain(&timer).map(|(at, _)| *at).min() else { return false };
        if at > deadline {
            return false;
        }
        self.now = self.now.max(at);
        match (link, timer) {
            (Some((due, link)), _) if due == at => self.arrive(link),
            (_, Some((_, station))) => {
                self.stations[station].handle_timeout(self.now);
                self.flush(station);
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
            self.stations[to].handle_packet(self.now, &packet);
            self.flush(to);
        }
    }
}

/// One end of a connection on a single path: a client that reads, or a server that writes without
/// end once it is connected.
pub struct Plain {
    pub connection: Option<Connection>,
    config: trackbed_tcp::Config,
    writes: bool,
    received: u64,
}

impl Plain {
    pub fn client(connection: Connection, config: trackbed_tcp::Config) -> Plain {
        Plain { connection: Some(connection), config, writes: false, received: 0 }
    }

    pub fn server(config: trackbed_tcp::Config) -> Plain {
        Plain { connection: None, config, writes: true, received: 0 }
    }
}

impl Station for Plain {
    fn handle_packet(&mut self, now: Time, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        match &mut self.connection {
            Some(connection) => connection.handle_segment(now, segment),
            None => self.connection = Some(Connection::accept(now, &self.config, &segment, 77)),
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let connection = self.connection.as_mut()?;
        if self.writes && connection.is_writable() {
            let mut data = super::ZEROS.clone();
            connection.write_bytes(now, &mut data).expect("it is open");
        }
        while let Some(data) = connection.read(now, usize::MAX).expect("no error") {
            self.received += data.len() as u64;
        }
        connection.poll_transmit(now)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.connection.as_ref()?.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some(connection) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }

    fn received(&self) -> u64 {
        self.received
    }
}
