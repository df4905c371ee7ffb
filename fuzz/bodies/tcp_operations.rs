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
    client: End,
    server: Option<End>,
    to_server: VecDeque<Packet>,
    to_client: VecDeque<Packet>,
}

struct End {
    connection: Connection,
    written: u64,
    read: u64,
}

impl End {
    fn new(connection: Connection) -> End {
        End { connection, written: 0, read: 0 }
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
        let mut track = Track {
            now,
            client: End::new(client),
            server: None,
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
        };
        track.client.flush(now, &mut track.to_server);
        track
    }

    fn step(&mut self, what: u8, amount: u8) {
        self.now += Duration::from_micros(u64::from(amount) * 50);
        let now = self.now;
        let len = usize::from(amount) * 40;
        match what % 16 {
            0 => self.client.write(now, len),
            1 => self.on_server(|end| end.write(now, len)),
            2 => self.client.read(now, len),
            3 => self.on_server(|end| end.read(now, len)),
            4..=6 => self.deliver(true),
            7..=9 => self.deliver(false),
            10 => drop(self.to_server.pop_front()),
            11 => drop(self.to_client.pop_front()),
            12 => self.to_server.rotate_left(usize::from(self.to_server.len() > 1)),
            13 => self.damage(u64::from(amount)),
            14 => self.expire(),
            _ => self.end(amount),
        }
        self.flush();
        if let Some(server) = &self.server {
            assert!(server.read <= self.client.written && self.client.read <= server.written);
        }
    }

    fn on_server(&mut self, act: impl FnOnce(&mut End)) {
        if let Some(server) = &mut self.server {
            act(server);
        }
    }

    fn deliver(&mut self, to_server: bool) {
        let queue = if to_server { &mut self.to_server } else { &mut self.to_client };
        let Some(packet) = queue.pop_front() else { return };
        let Ok(segment) = Segment::parse(&packet) else { return };
        match (to_server, &mut self.server) {
            (false, _) => self.client.connection.handle_segment(self.now, segment),
            (true, Some(server)) => server.connection.handle_segment(self.now, segment),
            (true, None) if segment.has(Flags::SYN) && !segment.has(Flags::ACK) => {
                let config = Config::default();
                let connection = Connection::accept(self.now, &config, &segment, 0x7fff_ff00);
                self.server = Some(End::new(connection));
            }
            (true, None) => {}
        }
    }

    /// Flips a bit of the packet that is next; its checksum lets the receiver notice.
    fn damage(&mut self, bit: u64) {
        if let Some(packet) = self.to_server.pop_front() {
            self.to_server.push_front(packet.with_flipped_bit(bit));
        }
    }

    /// Lets time pass until the next timer of either end, and fires what is due.
    fn expire(&mut self) {
        let ends = [Some(&self.client), self.server.as_ref()];
        let timeouts = ends.into_iter().flatten().filter_map(|end| end.connection.poll_timeout());
        let Some(at) = timeouts.min() else { return };
        self.now = self.now.max(at);
        let now = self.now;
        self.client.connection.handle_timeout(now);
        self.on_server(|end| end.connection.handle_timeout(now));
    }

    fn end(&mut self, amount: u8) {
        let now = self.now;
        match amount % 8 {
            0 => self.client.connection.close(now),
            1 => self.on_server(|end| end.connection.close(now)),
            2 => self.client.connection.abort(now),
            3 => self.on_server(|end| end.connection.abort(now)),
            _ => {}
        }
    }

    fn flush(&mut self) {
        self.client.flush(self.now, &mut self.to_server);
        if let Some(server) = &mut self.server {
            server.flush(self.now, &mut self.to_client);
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
