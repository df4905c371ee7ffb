//! A small test track: two connections, a link in each direction, and an event loop.
#![allow(dead_code, unused_imports, reason = "every test uses another part")]

pub mod kernel;

use std::collections::VecDeque;
use std::sync::LazyLock;

use trackbed_core::Bitrate;

// The vocabulary of these tests.
pub use bytes::Bytes;
pub use std::collections::BTreeMap;
pub use std::net::{IpAddr, SocketAddr};
pub use std::time::Duration;
pub use trackbed_core::packet::Ecn;
pub use trackbed_core::{Packet, Ratio, Rng, Seed, Time};
pub use trackbed_tcp::config::{BufferSize, EcnMode, KeepAlive};
pub use trackbed_tcp::multipath::{Endpoint, MultipathConfig, MultipathConnection};
pub use trackbed_tcp::schedulers::PathId;
pub use trackbed_tcp::{
    Config, Connection, Flags, Segment, Seq, State, TcpError, algorithms, reset_reply,
};

/// What happens to the packets that enter a link, besides the queue.
pub enum Fate {
    Pass,
    /// Each packet is lost with this probability.
    Random(Ratio, Box<Rng>),
    /// Every n-th packet that carries data is lost; the count so far.
    Every(u64, u64),
    /// Packets that enter in one of these spans are lost.
    Outage(Vec<(Time, Time)>),
    /// The packets with these numbers are lost, counted from 0; the count so far.
    List(Vec<u64>, u64),
}

/// One direction: serialisation at a rate, a drop-tail queue in packets, a fixed delay.
pub struct Link {
    rate: Bitrate,
    delay: Duration,
    queue_max: usize,
    fate: Fate,
    free_at: Time,
    /// When the packets leave the queue that are in it.
    departures: VecDeque<Time>,
    pub flying: VecDeque<(Time, Packet)>,
    pub packets: u64,
    pub dropped: u64,
    /// The machine takes its packets off the link up to this much later, at random.
    pub jitter: Option<(Duration, Box<Rng>)>,
}

impl Link {
    pub fn new(rate_mbps: u64, delay_ms: u64, queue_max: usize) -> Link {
        Link {
            rate: Bitrate::from_mbps(rate_mbps),
            delay: Duration::from_millis(delay_ms),
            queue_max,
            fate: Fate::Pass,
            free_at: Time::ZERO,
            departures: VecDeque::new(),
            flying: VecDeque::new(),
            packets: 0,
            dropped: 0,
            jitter: None,
        }
    }

    pub fn set_fate(&mut self, fate: Fate) {
        self.fate = fate;
    }

    pub fn with_fate(self, fate: Fate) -> Link {
        Link { fate, ..self }
    }

    pub fn push(&mut self, now: Time, packet: Packet) {
        self.packets += 1;
        let len = packet.len();
        let lost = self.is_lost(now, len);
        while self.departures.front().is_some_and(|&at| at <= now) {
            self.departures.pop_front();
        }
        // The packet that is being sent does not occupy the queue.
        if lost || self.departures.len() > self.queue_max {
            self.dropped += 1;
            return;
        }
        let departure = self.free_at.max(now) + self.rate.serialization(len);
        self.free_at = departure;
        self.departures.push_back(departure);
        let mut arrival = departure + self.delay;
        if let Some((most, rng)) = &mut self.jitter {
            arrival += rng.span(Duration::ZERO, *most);
        }
        let last = self.flying.back().map_or(Time::ZERO, |&(at, _)| at);
        self.flying.push_back((arrival.max(last), packet));
    }

    fn is_lost(&mut self, now: Time, len: usize) -> bool {
        match &mut self.fate {
            Fate::Pass => false,
            Fate::Random(chance, rng) => rng.chance(*chance),
            Fate::Every(n, count) => {
                *count += u64::from(len > 100);
                len > 100 && *count % *n == 0
            }
            Fate::Outage(spans) => spans.iter().any(|&(from, to)| from <= now && now < to),
            Fate::List(lost, count) => {
                *count += 1;
                lost.contains(&(*count - 1))
            }
        }
    }

    pub fn next(&self) -> Option<Time> {
        self.flying.front().map(|&(at, _)| at)
    }
}

/// Two connections and what joins them. `ends[0]` is the client.
pub struct Track {
    pub now: Time,
    pub ends: [Option<Connection>; 2],
    /// From the client, and to the client.
    pub links: [Link; 2],
    configs: [Config; 2],
    /// Initial sequence numbers, with which the phases of the timestamp clocks come.
    pub isns: [u32; 2],
}

impl Track {
    pub fn new(configs: [Config; 2], links: [Link; 2]) -> Track {
        Track { now: Time::ZERO, ends: [None, None], links, configs, isns: [1_000, 77_000] }
    }

    /// With the same settings at both ends.
    pub fn alike(config: Config, links: [Link; 2]) -> Track {
        Track::new([config.clone(), config], links)
    }

    pub fn client(&mut self) -> &mut Connection {
        self.ends[0].as_mut().expect("the client is there from the start")
    }

    pub fn server(&mut self) -> &mut Connection {
        self.ends[1].as_mut().expect("the server has seen the SYN")
    }

    /// Opens the connection now.
    pub fn open(&mut self) {
        let client = Connection::connect(
            self.now,
            &self.configs[0],
            ([10, 0, 0, 1], 40_000).into(),
            ([10, 0, 0, 2], 80).into(),
            self.isns[0],
        );
        self.ends[0] = Some(client);
        self.flush(0);
    }

    /// Sends what an end has to send.
    pub fn flush(&mut self, end: usize) {
        let Some(connection) = &mut self.ends[end] else { return };
        while let Some(packet) = connection.poll_transmit(self.now) {
            self.links[end].push(self.now, packet);
        }
    }

    /// The application of an end writes `data`. Returns what it sends at once, not yet delivered.
    pub fn write(&mut self, end: usize, data: &[u8]) -> Vec<Segment> {
        let connection = self.ends[end].as_mut().expect("it is there");
        connection.write(self.now, data).unwrap();
        drain(connection, self.now)
    }

    /// Segments arrive at an end at once. Returns its answers.
    pub fn hear(
        &mut self,
        end: usize,
        segments: impl IntoIterator<Item = Segment>,
    ) -> Vec<Segment> {
        let connection = self.ends[end].as_mut().expect("it is there");
        segments.into_iter().for_each(|segment| connection.handle_segment(self.now, segment));
        drain(connection, self.now)
    }

    /// The application of an end reads everything there is. Returns the lengths.
    pub fn read_all(&mut self, end: usize) -> Vec<usize> {
        let connection = self.ends[end].as_mut().expect("it is there");
        let parts = std::iter::from_fn(|| connection.read(self.now, 10_000).unwrap());
        parts.map(|part| part.len()).collect()
    }

    pub fn next_event(&self) -> Option<Time> {
        let links = self.links.iter().filter_map(Link::next);
        links.chain(self.ends.iter().flatten().filter_map(Connection::poll_timeout)).min()
    }

    /// Processes the next event; returns the end that it concerns.
    pub fn step(&mut self) -> Option<usize> {
        let at = self.next_event()?;
        self.now = self.now.max(at);
        for link in 0..2 {
            if self.links[link].next() == Some(at) {
                let packet = self.links[link].flying.pop_front()?.1;
                self.deliver(1 - link, &packet);
                return Some(1 - link);
            }
        }
        for end in 0..2 {
            if let Some(connection) = &mut self.ends[end]
                && connection.poll_timeout() == Some(at)
            {
                connection.handle_timeout(self.now);
                return Some(end);
            }
        }
        None
    }

    fn deliver(&mut self, end: usize, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        match &mut self.ends[end] {
            Some(connection) => connection.handle_segment(self.now, segment),
            None => {
                let config = &self.configs[end];
                self.ends[end] = Some(Connection::accept(self.now, config, &segment, self.isns[1]));
            }
        }
    }
}

/// The settings with the congestion controller of this name.
pub fn tcp(congestion: &str) -> Config {
    let found = algorithms().iter().find(|entry| entry.name == congestion);
    Config { congestion: found.expect("it is registered"), ..Config::default() }
}

/// 100 Mbit/s, 10 ms and 1,000 packets.
pub fn link() -> Link {
    Link::new(100, 10, 1_000)
}

/// Processes everything for this long.
pub fn run_for(track: &mut Track, span: Duration) {
    run(track, track.now + span);
}

/// Processes everything up to `until`.
pub fn run(track: &mut Track, until: Time) {
    while track.next_event().is_some_and(|at| at <= until) {
        track.step();
        (0..2).for_each(|end| track.flush(end));
    }
    track.now = until;
}

/// Every packet that the connection wants to send.
pub fn drain(connection: &mut Connection, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| connection.poll_transmit(now))
        .map(|packet| Segment::parse(&packet).unwrap())
        .collect()
}

/// A request of 24 bytes, as soon as the connection is open, and an answer of `size` bytes.
/// Returns when the client has read the last byte of it, from `connect` on.
pub fn request(track: &mut Track, size: usize) -> Time {
    let mut exchange = Exchange::begin(track, size);
    assert_eq!(exchange.run_until(Time::MAX), size);
    track.now
}

/// A request and an answer under way.
pub struct Exchange<'a> {
    pub track: &'a mut Track,
    size: usize,
    asked: bool,
    heard: usize,
    unwritten: usize,
    got: usize,
}

impl<'a> Exchange<'a> {
    pub fn begin(track: &'a mut Track, size: usize) -> Exchange<'a> {
        track.open();
        Exchange { track, size, asked: false, heard: 0, unwritten: size, got: 0 }
    }

    /// Goes on until everything has arrived, or until `deadline`; returns how much has arrived.
    pub fn run_until(&mut self, deadline: Time) -> usize {
        while self.got < self.size && self.track.next_event().is_some_and(|at| at <= deadline) {
            let end = self.track.step().expect("there was an event");
            // The machine answers a packet before the application wakes up.
            self.track.flush(end);
            if end == 0 { self.act_as_client() } else { self.act_as_server() }
        }
        self.got
    }

    fn act_as_client(&mut self) {
        let now = self.track.now;
        let connection = self.track.client();
        if !self.asked && connection.is_established() {
            self.asked = true;
            connection.write(now, &[0; REQUEST_LEN]).expect("it is open");
        }
        while let Some(data) = connection.read(now, usize::MAX).expect("no error") {
            assert!(!data.is_empty(), "no side closes");
            self.got += data.len();
        }
        self.track.flush(0);
    }

    fn act_as_server(&mut self) {
        let now = self.track.now;
        while let Some(data) = self.track.server().read(now, usize::MAX).expect("no error") {
            self.heard += data.len();
        }
        self.track.flush(1);
        while self.heard == REQUEST_LEN && self.unwritten > 0 && self.track.server().is_writable() {
            let mut chunk = ZEROS.slice(..self.unwritten.min(ZEROS.len()));
            self.unwritten -= self.track.server().write_bytes(now, &mut chunk).expect("it is open");
            self.track.flush(1);
        }
    }
}

const REQUEST_LEN: usize = 24;
/// What is sent; a writer that blocks hands over everything at once. An array would be 128 MiB of each
/// test's executable.
pub static ZEROS: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![0; 1 << 27]));
