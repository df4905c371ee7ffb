//! Two connections of TCP, or of Multipath TCP over two paths, a faulty channel, and any sequence of
//! operations: what is read is a prefix of what was written, and nothing panics, also where a middlebox changes
//! segments.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use trackbed_core::packet::{IpHeader, TooBig, transport_checksum};
use trackbed_core::{Packet, Time};
use trackbed_tcp::multipath::{Endpoint, Key, MultipathConfig, MultipathConnection, join_token};
use trackbed_tcp::schedulers::PathId;
use trackbed_tcp::{Config, Connection, Flags, QuotedSegment, Segment};

/// One input: a byte of settings, then two bytes an operation, what to do and how much.
pub fn run(data: &[u8]) {
    operate(data, Setup::plain);
}

/// The same with Multipath TCP.
pub fn run_multipath(data: &[u8]) {
    operate(data, Setup::multipath);
}

fn operate(data: &[u8], setup: fn(u8) -> Setup) {
    let Some((&settings, operations)) = data.split_first() else { return };
    let mut track = Track::new(setup(settings));
    for operation in operations.chunks_exact(2).take(2_000) {
        track.step(operation[0], operation[1]);
    }
}

enum Setup {
    Plain(Config),
    Multipath(MultipathConfig),
}

impl Setup {
    fn plain(settings: u8) -> Setup {
        let off = |bit: u8| settings & bit != 0;
        let mut config = Config { nagle: !off(1), sack: !off(2), ..Config::default() };
        (config.timestamps, config.window_scaling) = (!off(4), !off(8));
        (config.delayed_ack, config.tail_loss_probe) = (!off(16), !off(32));
        Setup::Plain(config)
    }

    fn multipath(settings: u8) -> Setup {
        Setup::Multipath(MultipathConfig {
            checksum: settings & 1 != 0,
            short_numbers: settings & 2 != 0,
            opportunistic: settings & 4 != 0,
            endpoints: vec![Endpoint::subflow(address(1, 1))],
            rejoin: (settings & 8 != 0).then_some(Duration::from_millis(100)),
            ..MultipathConfig::default()
        })
    }

    fn connect(&self) -> Engine {
        let (from, to) =
            (SocketAddr::new(address(0, 1), 4_000), SocketAddr::new(address(0, 2), 80));
        match self {
            Setup::Plain(config) => {
                Engine::Plain(Connection::connect(Time::ZERO, config, from, to, 0xffff_ff00))
            }
            Setup::Multipath(config) => Engine::Multipath(MultipathConnection::connect(
                Time::ZERO,
                config,
                (from, to),
                Key(1),
                0xffff_ff00,
            )),
        }
    }

    fn accept(&self, now: Time, syn: &Segment) -> Engine {
        let isn = 0x7fff_ff00;
        match self {
            Setup::Plain(config) => Engine::Plain(Connection::accept(now, config, syn, isn)),
            Setup::Multipath(config) => {
                Engine::Multipath(MultipathConnection::accept(now, config, syn, Key(2), isn))
            }
        }
    }
}

enum Engine {
    Plain(Connection),
    Multipath(MultipathConnection),
}

/// Calls a method that both engines have.
macro_rules! call {
    ($end:expr, $method:ident($($argument:expr),*)) => {
        match &mut $end.connection {
            Engine::Plain(connection) => connection.$method($($argument),*),
            Engine::Multipath(connection) => connection.$method($($argument),*),
        }
    };
}

/// Both ends, what is on the way, and what was written and read so far.
struct Track {
    now: Time,
    setup: Setup,
    ends: [Option<End>; 2],
    /// To the client and to the server.
    ways: [VecDeque<Packet>; 2],
    next_port: u16,
    /// Whether a segment was changed, so that anything may be read.
    forged: bool,
}

struct End {
    connection: Engine,
    written: u64,
    read: u64,
}

impl End {
    fn new(connection: Engine) -> Option<End> {
        Some(End { connection, written: 0, read: 0 })
    }

    /// Byte `i` of either direction is `i mod 251`.
    fn write(&mut self, now: Time, len: usize) {
        let data: Vec<u8> = (self.written..).take(len).map(pattern).collect();
        if let Ok(taken) = call!(self, write(now, &data)) {
            self.written += taken as u64;
        }
    }

    fn read(&mut self, now: Time, len: usize, forged: bool) {
        while let Ok(Some(data)) = call!(self, read(now, len.max(1))) {
            if data.is_empty() {
                return;
            }
            for byte in data {
                assert!(forged || byte == pattern(self.read), "bytes arrive in order");
                self.read += 1;
            }
        }
    }
}

impl Track {
    fn new(setup: Setup) -> Track {
        let ends = [End::new(setup.connect()), None];
        let (now, ways) = (Time::ZERO, Default::default());
        let mut track = Track { now, setup, ends, ways, next_port: 4_001, forged: false };
        track.flush();
        track
    }

    fn step(&mut self, what: u8, amount: u8) {
        self.now += Duration::from_micros(u64::from(amount) * 50);
        let (now, side) = (self.now, usize::from(what >> 4 & 1));
        let (len, forged) = (usize::from(amount) * 40, self.forged);
        match what & 0xf {
            0 | 1 => self.on(side, |end| end.write(now, len)),
            2 => self.on(side, |end| end.read(now, len, forged)),
            3..=7 => self.deliver(side),
            8 => drop(self.ways[side].pop_front()),
            9 => self.ways[side].rotate_left(usize::from(self.ways[side].len() > 1)),
            10 => self.forge(side, usize::from(amount), 1 << (what >> 5)),
            11 | 12 => self.expire(),
            13 => self.prioritise(side, amount),
            14 => self.move_address(amount),
            _ => self.end(side, amount),
        }
        self.flush();
        if let ([Some(client), Some(server)], false) = (&self.ends, self.forged) {
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
        let now = self.now;
        match &mut self.ends[side] {
            Some(end) => {
                let ends = (segment.destination, segment.source);
                if let Engine::Multipath(connection) = &mut end.connection
                    && connection.paths().all(|path| (path.local, path.remote) != ends)
                    && join_token(&segment).is_some()
                {
                    let _ = connection.accept_join(now, &segment, 77, 88);
                } else {
                    call!(end, handle_segment(now, segment));
                }
            }
            None if opens && join_token(&segment).is_none() => {
                self.ends[side] = End::new(self.setup.accept(now, &segment));
            }
            None => {}
        }
    }

    /// Changes a byte of the segment that is next, and its checksum.
    fn forge(&mut self, side: usize, at: usize, bits: u8) {
        let Some(packet) = self.ways[side].front_mut() else { return };
        let (source, destination) = (packet.source(), packet.destination());
        let (protocol, ecn) = (packet.protocol(), packet.ecn());
        let header = IpHeader { source, destination, protocol, ecn };
        let mut segment = packet.transport().to_vec();
        let at = at % segment.len();
        segment[at] ^= bits;
        segment[16..18].fill(0);
        let sum = transport_checksum(&header, &segment);
        segment[16..18].copy_from_slice(&sum.to_be_bytes());
        *packet = Packet::build(&header, segment.len(), |out| out.copy_from_slice(&segment));
        self.forged = true;
    }

    /// A router says that the next packet of an end is longer than it takes.
    fn too_big(&mut self, side: usize, mtu: u32) {
        let Some(packet) = self.ways[1 - side].front() else { return };
        let message = TooBig::parse(&TooBig::emit(address(0, 9), packet, mtu));
        let Some(quoted) = message.ok().and_then(|it| QuotedSegment::parse(&it)) else { return };
        let now = self.now;
        self.on(side, |end| match &mut end.connection {
            Engine::Plain(connection) => connection.handle_too_big(now, mtu, quoted.sequence),
            Engine::Multipath(connection) => connection.handle_too_big(now, mtu, &quoted),
        });
    }

    /// Lets time pass until the next timer of either end, and fires what is due.
    fn expire(&mut self) {
        let timers = self.ends.iter_mut().flatten().filter_map(|end| call!(end, poll_timeout()));
        let Some(at) = timers.min() else { return };
        self.now = self.now.max(at);
        for end in self.ends.iter_mut().flatten() {
            call!(end, handle_timeout(self.now));
        }
    }

    fn prioritise(&mut self, side: usize, amount: u8) {
        let now = self.now;
        let id = PathId(u32::from(amount >> 2 & 3));
        self.on(side, |end| {
            let Engine::Multipath(connection) = &mut end.connection else { return };
            connection.set_backup(now, id, amount & 1 != 0);
            connection.set_blocked(now, id, amount & 2 != 0);
        });
    }

    fn move_address(&mut self, amount: u8) {
        let now = self.now;
        let moved = address(amount >> 1 & 1, 1);
        self.on(0, |end| match &mut end.connection {
            Engine::Plain(_) => {}
            Engine::Multipath(connection) if amount & 1 == 0 => {
                connection.remove_address(now, moved);
            }
            Engine::Multipath(connection) => connection.add_address(now, Endpoint::subflow(moved)),
        });
    }

    fn end(&mut self, side: usize, amount: u8) {
        let now = self.now;
        match amount % 8 {
            0 => self.on(side, |end| call!(end, close(now))),
            1 => self.on(side, |end| call!(end, abort(now))),
            2 => self.too_big(side, u32::from(amount) * 8),
            _ => {}
        }
    }

    fn flush(&mut self) {
        for (side, end) in self.ends.iter_mut().enumerate() {
            let Some(end) = end else { continue };
            for _ in 0..10_000 {
                if let Engine::Multipath(connection) = &mut end.connection {
                    while let Some(request) = connection.poll_join() {
                        connection.join(self.now, &request, self.next_port, 5_000, 99);
                        self.next_port = self.next_port.wrapping_add(1).max(4_001);
                    }
                }
                let Some(packet) = call!(end, poll_transmit(self.now)) else { break };
                self.ways[1 - side].push_back(packet);
            }
            assert!(call!(end, poll_transmit(self.now)).is_none(), "it sends without end");
        }
    }
}

fn address(path: u8, host: u8) -> IpAddr {
    Ipv4Addr::new(10, path, 0, host).into()
}

fn pattern(at: u64) -> u8 {
    (at % 251) as u8
}
