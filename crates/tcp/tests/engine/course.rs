//! Several hosts and paths: packets follow a route of links that their addresses choose.

use crate::paths::Host;
use crate::track::*;

/// Hosts with Multipath TCP, and the links between them: clients that read, and after each the server
/// that writes to it without end once it is connected.
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

impl Course {
    pub fn new(links: Vec<Link>) -> Course {
        let (hosts, timers, routes) = (Vec::new(), Vec::new(), BTreeMap::new());
        Course { now: Time::ZERO, hosts, links, routes, timers }
    }

    /// Adds a client and a server, with the numbers that follow, and opens a connection from the
    /// first of `ends` to the second.
    pub fn connect(&mut self, configs: [MultipathConfig; 2], ends: (SocketAddr, SocketAddr)) {
        let seed = Seed::of_run(1, self.hosts.len() as u64);
        for (config, name) in configs.into_iter().zip(["client", "server"]) {
            self.hosts.push(Host::new(config, seed.stream(name)));
            self.timers.push(None);
        }
        let client = self.hosts.len() - 2;
        self.hosts[client].connect(self.now, ends);
    }

    /// Packets from one address to the other pass `links` in this order and arrive at host `to`.
    pub fn route(&mut self, from: IpAddr, dest: IpAddr, links: &[usize], to: usize) {
        self.routes.insert((from, dest), Route { links: links.to_vec(), to });
    }

    /// What each client, which every second host is, reads between these seconds, in Mbit/s.
    pub fn rates(&mut self, from: u64, until: u64) -> Vec<f64> {
        let [before, after] = [from, until].map(|second| {
            self.run_until(Time::from_millis(second * 1_000));
            self.hosts.iter().step_by(2).map(|client| client.read).collect::<Vec<_>>()
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
        while let Some(packet) = self.poll_transmit(host) {
            if let Some(route) = self.routes.get(&(packet.source(), packet.destination())) {
                self.links[route.links[0]].push(self.now, packet);
            }
        }
        let connection = self.hosts[host].connection.as_ref();
        self.timers[host] = connection.and_then(MultipathConnection::poll_timeout);
    }

    /// The next packet of a host. Its application acts before.
    fn poll_transmit(&mut self, index: usize) -> Option<Packet> {
        let host = &mut self.hosts[index];
        let connection = host.connection.as_mut()?;
        if index % 2 == 1 && connection.is_writable() {
            connection.write_bytes(self.now, &mut ZEROS.clone()).expect("it is open");
        }
        while let Some(data) = connection.read(self.now, usize::MAX).expect("no error") {
            host.read += data.len() as u64;
        }
        host.poll_transmit(self.now)
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
            let (to, segment) = (route.to, Segment::parse(&packet).expect("nothing damages it"));
            let reset = self.hosts[to].handle(self.now, segment, true);
            assert!(reset.is_none(), "every segment belongs to a connection");
            self.flush(to);
        }
    }
}
