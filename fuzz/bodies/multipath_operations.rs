//! Two Multipath TCP connections over two paths, a faulty channel, and any sequence of operations:
//! what is read is a prefix of what was written, and nothing panics.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use trackbed_core::{Packet, Time};
use trackbed_tcp::multipath::{Endpoint, Key, MultipathConfig, MultipathConnection, join_token};
use trackbed_tcp::schedulers::PathId;
use trackbed_tcp::{Flags, Segment};

/// One input: a byte of settings, then two bytes an operation, what to do and how much.
pub fn run(data: &[u8]) {
    let Some((&settings, operations)) = data.split_first() else { return };
    let mut track = Track::new(settings);
    for operation in operations.chunks_exact(2).take(2_000) {
        track.step(operation[0], operation[1]);
    }
}

/// Both ends, what is on the way, and what was written and read so far.
struct Track {
    now: Time,
    config: MultipathConfig,
    ends: [Option<End>; 2],
    /// To the client and to the server.
    ways: [VecDeque<Packet>; 2],
    next_port: u16,
}

struct End {
    connection: MultipathConnection,
    written: u64,
    read: u64,
}

impl End {
    fn new(connection: MultipathConnection) -> Option<End> {
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
}

impl Track {
    fn new(settings: u8) -> Track {
        let config = MultipathConfig {
            checksum: settings & 1 != 0,
            short_numbers: settings & 2 != 0,
            opportunistic: settings & 4 != 0,
            endpoints: vec![Endpoint::subflow(address(1, 1))],
            rejoin: (settings & 8 != 0).then_some(Duration::from_millis(100)),
            ..MultipathConfig::default()
        };
        let ends = (SocketAddr::new(address(0, 1), 4_000), SocketAddr::new(address(0, 2), 80));
        let client = MultipathConnection::connect(Time::ZERO, &config, ends, Key(1), 0xffff_ff00);
        let mut track = Track {
            now: Time::ZERO,
            config,
            ends: [End::new(client), None],
            ways: Default::default(),
            next_port: 4_001,
        };
        track.flush();
        track
    }

    fn step(&mut self, what: u8, amount: u8) {
        self.now += Duration::from_micros(u64::from(amount) * 50);
        let (now, side) = (self.now, usize::from(what >> 4 & 1));
        let len = usize::from(amount) * 40;
        match what & 0xf {
            0 | 1 => self.on(side, |end| end.write(now, len)),
            2 => self.on(side, |end| end.read(now, len)),
            3..=7 => self.deliver(side),
            8 => drop(self.ways[side].pop_front()),
            9 => self.ways[side].rotate_left(usize::from(self.ways[side].len() > 1)),
            10 => self.damage(side, u64::from(amount)),
            11 | 12 => self.expire(),
            13 => self.prioritise(side, amount),
            14 => self.move_address(amount),
            _ => self.end(side, amount),
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
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK);
        match &mut self.ends[side] {
            Some(end) => {
                let ends = (segment.destination, segment.source);
                let known = end.connection.paths().any(|path| (path.local, path.remote) == ends);
                if !known && join_token(&segment).is_some() {
                    let _ = end.connection.accept_join(self.now, &segment, 77, 88);
                } else {
                    end.connection.handle_segment(self.now, segment);
                }
            }
            None if opens && join_token(&segment).is_none() => {
                let (config, key) = (&self.config, Key(2));
                let isn = 0x7fff_ff00;
                self.ends[side] =
                    End::new(MultipathConnection::accept(self.now, config, &segment, key, isn));
            }
            None => {}
        }
    }

    /// Flips a bit of the packet that is next; its checksum lets the receiver notice.
    fn damage(&mut self, side: usize, bit: u64) {
        if let Some(packet) = self.ways[side].pop_front() {
            self.ways[side].push_front(packet.with_flipped_bit(bit));
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

    fn prioritise(&mut self, side: usize, amount: u8) {
        let now = self.now;
        let id = PathId(u32::from(amount >> 2 & 3));
        self.on(side, |end| {
            end.connection.set_backup(now, id, amount & 1 != 0);
            end.connection.set_blocked(now, id, amount & 2 != 0);
        });
    }

    fn move_address(&mut self, amount: u8) {
        let now = self.now;
        let moved = address(amount >> 1 & 1, 1);
        self.on(0, |end| match amount & 1 {
            0 => end.connection.remove_address(now, moved),
            _ => end.connection.add_address(now, Endpoint::subflow(moved)),
        });
    }

    fn end(&mut self, side: usize, amount: u8) {
        let now = self.now;
        match amount % 8 {
            0 => self.on(side, |end| end.connection.close(now)),
            1 => self.on(side, |end| end.connection.abort(now)),
            _ => {}
        }
    }

    fn flush(&mut self) {
        for (side, end) in self.ends.iter_mut().enumerate() {
            let Some(end) = end else { continue };
            for _ in 0..10_000 {
                while let Some(request) = end.connection.poll_join() {
                    end.connection.join(self.now, &request, self.next_port, 5_000, 99);
                    self.next_port = self.next_port.wrapping_add(1).max(4_001);
                }
                let Some(packet) = end.connection.poll_transmit(self.now) else { break };
                self.ways[1 - side].push_back(packet);
            }
            assert!(end.connection.poll_transmit(self.now).is_none(), "it sends without end");
        }
    }
}

fn address(path: u8, host: u8) -> IpAddr {
    Ipv4Addr::new(10, path, 0, host).into()
}

fn pattern(at: u64) -> u8 {
    (at % 251) as u8
}
