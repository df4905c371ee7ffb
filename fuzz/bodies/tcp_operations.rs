//! Two connections, a faulty channel, and any sequence of operations: what is read is a prefix of
//! what was written, and nothing panics.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use trackbed_core::{Packet, Time};
use trackbed_tcp::{Config, Connection, Flags, Segment};

/// One input: two bytes an operation, what to do and how much.
pub fn run(data: &[u8]) {
    let mut track = Track::new();
    for operation in data.chunks_exact(2).take(2_000) {
        track.step(operation[0], operation[1]);
    }
}

/// Both ends, what is on the way, and what was written and read so far.
struct Track {
    now: Time,
    /// The client and, once it is there, the server.
    ends: [Option<End>; 2],
    /// To the client and to the server.
    ways: [VecDeque<Packet>; 2],
}

struct End {
    connection: Connection,
    written: u64,
    read: u64,
}

impl End {
    fn new(connection: Connection) -> Option<End> {
        Some(End { connection, written: 0, read: 0 })
    }

    /// Byte `i` of either direction is `i mod 251`.
    fn write(&mut self, now: Time, len: usize) {
        let data: Vec<u8> = (self.written..).take(len).map(pattern).collect();
        if let Ok(taken) = self.connection.write(now, &data) {
            self.written += taken as u64;
        }
    }

    fn read(&mut self, now: Time, len: usize) {
        while let Ok(Some(data)) = self.connection.read(now, len.max(1)) {
            if data.is_empty() {
                return;
            }
            for byte in data {
                assert_eq!(byte, pattern(self.read), "bytes arrive in order");
                self.read += 1;
            }
        }
    }

    fn flush(&mut self, now: Time, out: &mut VecDeque<Packet>) {
        for _ in 0..10_000 {
            match self.connection.poll_transmit(now) {
                Some(packet) => out.push_back(packet),
                None => return,
            }
        }
        panic!("a connection sends without end at one instant");
    }
}

impl Track {
    fn new() -> Track {
        let now = Time::ZERO;
        let client = Connection::connect(now, &Config::default(), CLIENT, SERVER, 0xffff_ff00);
        let mut track = Track { now, ends: [End::new(client), None], ways: Default::default() };
        track.flush();
        track
    }

    fn step(&mut self, what: u8, amount: u8) {
        self.now += Duration::from_micros(u64::from(amount) * 50);
        let (now, side) = (self.now, usize::from(what & 1));
        let len = usize::from(amount) * 40;
        match what % 16 {
            0 | 1 => self.on(side, |end| end.write(now, len)),
            2 | 3 => self.on(side, |end| end.read(now, len)),
            4..=6 => self.deliver(1),
            7..=9 => self.deliver(0),
            10 | 11 => drop(self.ways[1 - side].pop_front()),
            12 => self.ways[1].rotate_left(usize::from(self.ways[1].len() > 1)),
            13 => self.damage(u64::from(amount)),
            14 => self.expire(),
            _ => self.end(amount),
        }
        self.flush();
        if let [Some(client), Some(server)] = &self.ends {
            assert!(server.read <= client.written && client.read <= server.written);
        }
    }

    fn on(&mut self, side: usize, act: impl FnOnce(&mut End)) {
        if let Some(end) = &mut self.ends[side] {
            act(end);
        }
    }

    fn deliver(&mut self, side: usize) {
        let Some(packet) = self.ways[side].pop_front() else { return };
        let Ok(segment) = Segment::parse(&packet) else { return };
        match &mut self.ends[side] {
            Some(end) => end.connection.handle_segment(self.now, segment),
            None if segment.has(Flags::SYN) && !segment.has(Flags::ACK) => {
                let config = Config::default();
                let connection = Connection::accept(self.now, &config, &segment, 0x7fff_ff00);
                self.ends[side] = End::new(connection);
            }
            None => {}
        }
    }

    /// Flips a bit of the packet that is next; its checksum lets the receiver notice.
    fn damage(&mut self, bit: u64) {
        if let Some(packet) = self.ways[1].pop_front() {
            self.ways[1].push_front(packet.with_flipped_bit(bit));
        }
    }

    /// Lets time pass until the next timer of either end, and fires what is due.
    fn expire(&mut self) {
        let timers = self.ends.iter().flatten().filter_map(|end| end.connection.poll_timeout());
        let Some(at) = timers.min() else { return };
        self.now = self.now.max(at);
        for end in self.ends.iter_mut().flatten() {
            end.connection.handle_timeout(self.now);
        }
    }

    fn end(&mut self, amount: u8) {
        let (now, side) = (self.now, usize::from(amount & 1));
        match amount % 8 {
            0 | 1 => self.on(side, |end| end.connection.close(now)),
            2 | 3 => self.on(side, |end| end.connection.abort(now)),
            _ => {}
        }
    }

    fn flush(&mut self) {
        for (side, end) in self.ends.iter_mut().enumerate() {
            if let Some(end) = end {
                end.flush(self.now, &mut self.ways[1 - side]);
            }
        }
    }
}

fn pattern(at: u64) -> u8 {
    (at % 251) as u8
}

const CLIENT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 4_000);
const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2)), 80);
