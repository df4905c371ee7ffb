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

impl<S: Station + ?Sized> Station for Box<S> {
    fn handle_packet(&mut self, now: Time, packet: &Packet) {
        (**self).handle_packet(now, packet);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        (**self).poll_transmit(now)
    }

    fn poll_timeout(&self) -> Option<Time> {
        (**self).poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        (**self).handle_timeout(now);
    }

    fn received(&self) -> u64 {
        (**self).received()
    }
}

/// Stations and the links between them.
pub struct Course<S> {
    pub now: Time,
    pub stations: Vec<S>,
    pub links: Vec<Link>,
    routes: BTreeMap<(IpAddr, IpAddr), Route>,
    /// When each station wants to be called.
    timers: Vec<Option<Time>>,
}

struct Route {
    links: Vec<usize>,
    to: usize,
}

impl<S: Station> Course<S> {
    pub fn new(stations: Vec<S>, links: Vec<Link>) -> Course<S> {
        let timers = vec![None; stations.len()];
        Course { now: Time::ZERO, stations, links, routes: BTreeMap::new(), timers }
    }

    /// Packets from one address to the other pass `links` in this order and arrive at station `to`.
    pub fn route(&mut self, from: IpAddr, dest: IpAddr, links: &[usize], to: usize) {
        self.routes.insert((from, dest), Route { links: links.to_vec(), to });
    }

    /// Sends what a station has to send, and asks when it wants to be called.
    pub fn flush(&mut self, station: usize) {
        while let Some(packet) = self.stations[station].poll_transmit(self.now) {
            if let Some(route) = self.routes.get(&(packet.source(), packet.destination())) {
                self.links[route.links[0]].push(self.now, packet);
            }
        }
        self.timers[station] = self.stations[station].poll_timeout();
    }

    /// Goes on until `deadline`, or until `done` says that it is enough.
    pub fn run_until(&mut self, deadline: Time, done: impl Fn(&[S]) -> bool) {
        (0..self.stations.len()).for_each(|station| self.flush(station));
        while !done(&self.stations) && self.step(deadline) {}
        if !done(&self.stations) {
            self.now = self.now.max(deadline);
        }
    }

    /// Processes the next event, unless it is later than `deadline`.
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

    /// A packet comes out of a link.
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
