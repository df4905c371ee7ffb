//! A small test track with several paths: two hosts with Multipath TCP, a link for each path and
//! direction, an event loop, and a middlebox that may do anything.
#![allow(dead_code, reason = "every test uses another part")]

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use trackbed_core::{Bitrate, Packet, Ratio, Rng, Seed, Time};
use trackbed_tcp::multipath::{Key, MultipathConfig, MultipathConnection, join_token, refuse_join};
use trackbed_tcp::{Flags, Segment, reset_reply};

/// What a middlebox on a path does with a segment: `true` for one from the client.
pub type Middlebox = Box<dyn FnMut(bool, Segment) -> Vec<Segment> + Send>;

/// One path in both directions.
pub struct Lane {
    pub rate: Bitrate,
    pub delay: Duration,
    /// Packets that wait at most, in each direction.
    pub queue: usize,
    pub loss: Ratio,
    /// Some packets are delayed by up to this time.
    pub jitter: Duration,
    pub jittered: Ratio,
    /// Packets that enter in one of these spans are lost.
    pub outages: Vec<(Time, Time)>,
    pub middlebox: Option<Middlebox>,
    pub free_at: [Time; 2],
    pub departures: [VecDeque<Time>; 2],
    /// Packets and bytes that entered, from the client and from the server.
    pub packets: [u64; 2],
    pub bytes: [u64; 2],
}

impl Lane {
    pub fn new(rate_mbps: u64, delay_ms: u64) -> Lane {
        Lane {
            rate: Bitrate::from_mbps(rate_mbps),
            delay: Duration::from_millis(delay_ms),
            queue: 100,
            loss: Ratio::from_parts(0, 1),
            jitter: Duration::ZERO,
            jittered: Ratio::from_parts(0, 1),
            outages: Vec::new(),
            middlebox: None,
            free_at: [Time::ZERO; 2],
            departures: Default::default(),
            packets: [0; 2],
            bytes: [0; 2],
        }
    }
}

pub struct Host {
    pub config: MultipathConfig,
    pub connection: Option<MultipathConnection>,
    pub rng: Rng,
    next_port: u16,
    /// What it writes, and how far it has.
    pub to_write: u64,
    pub written: u64,
    pub read: u64,
    pub ended: bool,
    closed: bool,
    pub slow_reader: bool,
    /// It sends zeros and does not look at what it reads: where speed is measured.
    pub careless: bool,
    /// When it read what, if that is wanted.
    pub log: Option<Vec<(Time, usize)>>,
}

impl Host {
    pub fn new(config: MultipathConfig, rng: Rng) -> Host {
        Host {
            config,
            connection: None,
            rng,
            next_port: 40_001,
            to_write: 0,
            written: 0,
            read: 0,
            ended: false,
            closed: false,
            slow_reader: false,
            careless: false,
            log: None,
        }
    }

    pub fn connection(&mut self) -> &mut MultipathConnection {
        self.connection.as_mut().expect("there is a connection")
    }

    pub fn connect(&mut self, now: Time, ends: (SocketAddr, SocketAddr)) {
        let (key, isn) = (Key(self.rng.next_u64()), self.rng.next_u64() as u32);
        self.connection = Some(MultipathConnection::connect(now, &self.config, ends, key, isn));
    }

    /// Takes a segment. Returns the reset for one that belongs to no connection.
    pub fn handle(&mut self, now: Time, segment: Segment, listens: bool) -> Option<Packet> {
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK);
        let joins = join_token(&segment).is_some();
        let Some(connection) = &mut self.connection else {
            if !(opens && listens) || joins {
                return reset_reply(&segment);
            }
            let (key, isn) = (Key(self.rng.next_u64()), self.rng.next_u64() as u32);
            let connection = MultipathConnection::accept(now, &self.config, &segment, key, isn);
            self.connection = Some(connection);
            return None;
        };
        let ends = (segment.destination, segment.source);
        if connection.paths().any(|path| (path.local, path.remote) == ends) {
            connection.handle_segment(now, segment);
            None
        } else if joins {
            let (isn, nonce) = (self.rng.next_u64() as u32, self.rng.next_u64() as u32);
            let joined = connection.accept_join(now, &segment, isn, nonce);
            joined.is_err().then(|| refuse_join(&segment))
        } else {
            reset_reply(&segment)
        }
    }

    /// The next packet to send.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let connection = self.connection.as_mut()?;
        while let Some(request) = connection.poll_join() {
            let (isn, nonce) = (self.rng.next_u64() as u32, self.rng.next_u64() as u32);
            connection.join(now, &request, self.next_port, isn, nonce);
            self.next_port += 1;
        }
        connection.poll_transmit(now)
    }
}

/// Two hosts; `hosts[0]` is the client.
pub struct World {
    pub now: Time,
    pub hosts: [Host; 2],
    pub lanes: Vec<Lane>,
    flying: BTreeMap<(Time, u64), (usize, Packet)>,
    sent: u64,
    rng: Rng,
    pub steps: u64,
    /// Every packet that entered a lane.
    pub capture: Option<Vec<(Time, Packet)>>,
}

pub fn seconds(value: u64) -> Time {
    Time::from_millis(value * 1_000)
}

pub fn client_ip(lane: usize) -> IpAddr {
    [10, lane as u8, 0, 1].into()
}

pub fn server_ip(lane: usize) -> IpAddr {
    [10, lane as u8, 0, 2].into()
}

pub fn client_address() -> SocketAddr {
    SocketAddr::new(client_ip(0), 40_000)
}

pub fn server_address() -> SocketAddr {
    SocketAddr::new(server_ip(0), 80)
}

impl World {
    pub fn new(seed: u64, configs: [MultipathConfig; 2], lanes: Vec<Lane>) -> World {
        let seed = Seed::of_run(seed, 0);
        let [client, server] = configs;
        let hosts =
            [Host::new(client, seed.stream("client")), Host::new(server, seed.stream("server"))];
        World {
            now: Time::ZERO,
            hosts,
            lanes,
            flying: BTreeMap::new(),
            sent: 0,
            rng: seed.stream("lanes"),
            steps: 0,
            capture: None,
        }
    }

    pub fn open(&mut self) {
        self.hosts[0].connect(self.now, (client_address(), server_address()));
        self.flush(0);
    }

    /// Runs until `until` or until nothing happens any more; true if something is still to happen.
    pub fn run_until(&mut self, until: Time) -> bool {
        while let Some(at) = self.next_event() {
            if at > until {
                self.now = until;
                return true;
            }
            self.step(at);
        }
        false
    }

    pub fn next_event(&self) -> Option<Time> {
        let timers = self.hosts.iter().filter_map(|host| host.connection.as_ref()?.poll_timeout());
        let packet = self.flying.keys().next().map(|&(at, _)| at);
        timers.chain(packet).min()
    }

    fn step(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.steps += 1;
        if let Some((&(arrival, number), _)) = self.flying.first_key_value()
            && arrival <= self.now
        {
            let (host, packet) = self.flying.remove(&(arrival, number)).expect("it is there");
            self.deliver(host, &packet);
            return self.work(host);
        }
        for host in 0..2 {
            if let Some(connection) = &mut self.hosts[host].connection
                && connection.poll_timeout().is_some_and(|at| at <= self.now)
            {
                connection.handle_timeout(self.now);
                self.work(host);
            }
        }
    }

    fn deliver(&mut self, index: usize, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        if let Some(reset) = self.hosts[index].handle(self.now, segment, index == 1) {
            self.send(index, reset);
        }
    }

    /// Lets the host's application and connection do what they can.
    pub fn work(&mut self, index: usize) {
        self.flush(index);
        self.read(index);
        self.write(index);
    }

    fn read(&mut self, index: usize) {
        let now = self.now;
        let host = &mut self.hosts[index];
        if host.slow_reader && host.rng.below(4) != 0 {
            return;
        }
        let Some(connection) = &mut host.connection else { return };
        while let Ok(Some(data)) = connection.read(now, 100_000) {
            if data.is_empty() {
                host.ended = true;
                break;
            }
            let checked = if host.careless { &[] } else { &data[..] };
            for (at, &byte) in (host.read..).zip(checked) {
                assert_eq!(byte, pattern(1 - index, at), "host {index} reads a wrong byte at {at}");
            }
            host.read += data.len() as u64;
            if let Some(log) = &mut host.log {
                log.push((now, data.len()));
            }
        }
        self.flush(index);
    }

    fn write(&mut self, index: usize) {
        let now = self.now;
        loop {
            let host = &mut self.hosts[index];
            let Some(connection) = &mut host.connection else { return };
            if !connection.is_established() || host.closed {
                return;
            }
            if host.written == host.to_write {
                host.closed = true;
                connection.close(now);
                return self.flush(index);
            }
            if !connection.is_writable() {
                return;
            }
            let len = (host.to_write - host.written).min(65_536);
            let mut data = match host.careless {
                true => Bytes::from_static(&ZEROS).slice(..len as usize),
                false => {
                    let range = host.written..host.written + len;
                    range.map(|at| pattern(index, at)).collect::<Vec<u8>>().into()
                }
            };
            let Ok(taken) = connection.write_bytes(now, &mut data) else { return };
            host.written += taken as u64;
            self.flush(index);
            if taken == 0 {
                return;
            }
        }
    }

    /// Sends what a host has to send.
    pub fn flush(&mut self, index: usize) {
        let mut burst = 0;
        while let Some(packet) = self.hosts[index].poll_transmit(self.now) {
            burst += 1;
            assert!(burst < 50_000, "a call makes packets without end");
            self.send(index, packet);
        }
    }

    fn send(&mut self, from: usize, packet: Packet) {
        if let Some(capture) = &mut self.capture {
            capture.push((self.now, packet.clone()));
        }
        let client = if from == 0 { packet.source() } else { packet.destination() };
        let IpAddr::V4(client) = client else { panic!("this track speaks IPv4") };
        let lane = usize::from(client.octets()[1]);
        let Some(middlebox) = &mut self.lanes[lane].middlebox else {
            return self.enter(lane, from, packet);
        };
        let Ok(segment) = Segment::parse(&packet) else { return };
        for segment in middlebox(from == 0, segment) {
            self.enter(lane, from, segment.emit());
        }
    }

    fn enter(&mut self, lane: usize, from: usize, packet: Packet) {
        let (now, lane) = (self.now, &mut self.lanes[lane]);
        lane.packets[from] += 1;
        lane.bytes[from] += packet.len() as u64;
        let departures = &mut lane.departures[from];
        while departures.front().is_some_and(|&at| at <= now) {
            departures.pop_front();
        }
        let out = lane.outages.iter().any(|&(begin, end)| begin <= now && now < end);
        if self.rng.chance(lane.loss) || out || departures.len() > lane.queue {
            return;
        }
        let departure = lane.free_at[from].max(now) + lane.rate.serialization(packet.len());
        lane.free_at[from] = departure;
        departures.push_back(departure);
        let mut arrival = departure + lane.delay;
        if self.rng.chance(lane.jittered) {
            arrival += self.rng.span(Duration::ZERO, lane.jitter);
        }
        self.sent += 1;
        self.flying.insert((arrival, self.sent), (1 - from, packet));
    }

    /// Opens the connection, the hosts writing this many bytes, and runs until `until`.
    pub fn begin(&mut self, to_write: [u64; 2], until: Time) {
        [self.hosts[0].to_write, self.hosts[1].to_write] = to_write;
        self.open();
        self.run_until(until);
    }

    /// Runs until `until`, when everything must have arrived.
    #[track_caller]
    pub fn finish(&mut self, until: Time) {
        self.run_until(until);
        let [client, server] = &self.hosts;
        assert!(self.is_complete(), "{} and {} bytes read", client.read, server.read);
    }

    /// Both sides read everything that the other wrote, to its end.
    pub fn is_complete(&self) -> bool {
        let [client, server] = &self.hosts;
        client.ended
            && server.ended
            && client.read == server.to_write
            && server.read == client.to_write
    }
}

static ZEROS: [u8; 65_536] = [0; 65_536];

/// Byte `at` of what host `index` writes.
pub fn pattern(index: usize, at: u64) -> u8 {
    (at.wrapping_mul(31) >> 3) as u8 ^ (at as u8).wrapping_mul(7) ^ (index as u8 * 91)
}
