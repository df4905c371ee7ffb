//! Random operations on two connections over a channel that loses, reorders, duplicates and damages
//! packets: every byte arrives once and in order, or the connection fails cleanly; nothing panics
//! or runs for ever. A failure names the seed that repeats it.
//!
//! `CHAOS_RUNS=100000 cargo test --release -p trackbed-tcp --test engine chaos` hunts for longer.

use crate::random::setting;
use crate::track::*;

/// How bad the channel is, in per cent.
#[derive(Debug)]
struct Faults {
    loss: u64,
    reorder: u64,
    duplicate: u64,
    damage: u64,
    delay_ms: u64,
}

struct Side {
    connection: Option<Connection>,
    config: Config,
    to_write: usize,
    written: usize,
    read: usize,
    ended: bool,
    closes: bool,
    aborts_at: Option<usize>,
    lazy: bool,
}

/// Packets on their way, by arrival and number.
type Flying = BTreeMap<(Time, u64), (usize, Packet)>;

struct World {
    now: Time,
    rng: Rng,
    faults: Faults,
    sides: [Side; 2],
    flying: Flying,
    sent: u64,
    healed: bool,
}

impl World {
    fn new(seed: u64) -> World {
        let mut rng = Seed::of_run(seed, 0).stream("chaos");
        let mut percent = |most: u64| if rng.below(2) == 0 { 0 } else { rng.below(most + 1) };
        let faults = Faults {
            loss: percent(30),
            reorder: percent(50),
            duplicate: percent(30),
            damage: percent(10),
            delay_ms: percent(200) + 1,
        };
        let sides = [Side::random(&mut rng), Side::random(&mut rng)];
        let flying = Flying::new();
        World { now: Time::ZERO, rng, faults, sides, flying, sent: 0, healed: false }
    }

    fn chance(&mut self, percent: u64) -> bool {
        !self.healed && self.rng.chance(Ratio::from_parts(percent, 100))
    }

    fn send(&mut self, from: usize, packet: Packet) {
        if self.chance(self.faults.loss) {
            return;
        }
        let copies = if self.chance(self.faults.duplicate) { 2 } else { 1 };
        for _ in 0..copies {
            let mut packet = packet.clone();
            if self.chance(self.faults.damage) {
                packet = packet.with_flipped_bit(self.rng.next_u64());
            }
            if self.chance(5) {
                packet = packet.with_congestion_experienced();
            }
            let mut delay = Duration::from_millis(self.faults.delay_ms);
            if self.chance(self.faults.reorder) {
                delay += self.rng.span(Duration::ZERO, Duration::from_millis(100));
            }
            self.sent += 1;
            self.flying.insert((self.now + delay, self.sent), (1 - from, packet));
        }
    }

    fn flush(&mut self, end: usize) {
        let mut burst = 0;
        while let Some(connection) = &mut self.sides[end].connection {
            let Some(packet) = connection.poll_transmit(self.now) else { break };
            burst += 1;
            assert!(burst < 20_000, "a call makes packets without end");
            self.send(end, packet);
        }
    }

    fn step(&mut self) -> bool {
        let timers = self.sides.iter().filter_map(|side| side.connection.as_ref()?.poll_timeout());
        let packet = self.flying.keys().next().copied();
        let Some(at) = timers.chain(packet.map(|(at, _)| at)).min() else { return false };
        self.now = self.now.max(at);
        if let Some(key) = packet.filter(|&(arrival, _)| arrival <= at) {
            let (end, packet) = self.flying.remove(&key).unwrap();
            self.arrive(end, &packet);
        } else {
            for end in 0..2 {
                let Some(connection) = &mut self.sides[end].connection else { continue };
                if connection.poll_timeout().is_some_and(|due| due <= self.now) {
                    connection.handle_timeout(self.now);
                    self.flush(end);
                    let next =
                        self.sides[end].connection.as_ref().and_then(Connection::poll_timeout);
                    assert!(next.is_none_or(|next| next > at), "a timer fires in place");
                }
            }
        }
        for end in 0..2 {
            self.act(end);
            self.flush(end);
        }
        true
    }

    fn arrive(&mut self, end: usize, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        let side = &mut self.sides[end];
        match &mut side.connection {
            Some(connection) if connection.is_closed() => {
                if let Some(reset) = reset_reply(&segment) {
                    self.send(end, reset);
                }
            }
            Some(connection) => connection.handle_segment(self.now, segment),
            None if segment.has(Flags::SYN) => {
                let isn = self.rng.next_u64() as u32;
                side.connection = Some(Connection::accept(self.now, &side.config, &segment, isn));
            }
            None => {}
        }
    }

    fn act(&mut self, end: usize) {
        let now = self.now;
        let lazy = self.sides[end].lazy && !self.healed && self.rng.below(10) > 0;
        let max = 1 + self.rng.below(5_000) as usize;
        let side = &mut self.sides[end];
        let Some(connection) = &mut side.connection else { return };
        if side.aborts_at.is_some_and(|at| side.read + side.written >= at) {
            side.aborts_at = None;
            connection.abort(now);
        }
        while !lazy && !side.ended {
            match connection.read(now, max) {
                Ok(Some(data)) if data.is_empty() => side.ended = true,
                Ok(Some(data)) => {
                    for byte in data {
                        assert_eq!(byte, pattern(1 - end, side.read), "byte {}", side.read);
                        side.read += 1;
                    }
                }
                Ok(None) | Err(_) => break,
            }
        }
        if side.written < side.to_write {
            let len = max.min(side.to_write - side.written);
            let data: Vec<u8> = (0..len).map(|at| pattern(end, side.written + at)).collect();
            side.written += connection.write(now, &data).unwrap_or(0);
        } else if !side.closes {
            side.closes = true;
            connection.close(now);
        }
    }

    fn is_done(&self) -> bool {
        self.sides
            .iter()
            .all(|side| side.connection.as_ref().is_none_or(|connection| connection.is_closed()))
    }
}

impl Side {
    fn random(rng: &mut Rng) -> Side {
        let mut pick = |count: u64| rng.below(count);
        let buffers = [1_000, 3_000, 20_000, 131_072];
        let buffer = |which: u64| {
            let initial = buffers[which as usize % 4];
            BufferSize { initial, max: if which < 4 { initial } else { 4_000_000 } }
        };
        let config = Config {
            congestion: algorithms()[pick(algorithms().len() as u64) as usize],
            receive_buffer: buffer(pick(8)),
            send_buffer: buffer(pick(8)),
            mtu: [576, 1_280, 1_500, 9_000][pick(4) as usize],
            nagle: pick(2) == 0,
            batching: pick(2) == 0,
            delayed_ack: pick(4) > 0,
            sack: pick(3) > 0,
            timestamps: pick(3) > 0,
            window_scaling: pick(3) > 0,
            tail_loss_probe: pick(3) > 0,
            ecn: [EcnMode::Off, EcnMode::Passive, EcnMode::Active][pick(3) as usize],
            keepalive: (pick(3) == 0)
                .then(|| KeepAlive { idle: Duration::from_secs(5), ..KeepAlive::default() }),
            ..Config::default()
        };
        let to_write = [0, 10, 5_000, 200_000][pick(4) as usize];
        let aborts_at = (pick(10) == 0).then(|| pick(100_000) as usize);
        Side {
            connection: None,
            config,
            to_write,
            written: 0,
            read: 0,
            ended: false,
            closes: false,
            aborts_at,
            lazy: pick(3) == 0,
        }
    }
}

/// What the side `end` writes at `at`.
fn pattern(end: usize, at: usize) -> u8 {
    (at * 7 + at / 251 + end * 13) as u8
}

fn addresses() -> [SocketAddr; 2] {
    [([10, 0, 0, 1], 1_000).into(), ([10, 0, 0, 2], 80).into()]
}

/// First the channel is faulty; then it heals, and connections that have not failed must complete.
fn run(seed: u64) -> bool {
    let mut world = World::new(seed);
    let [local, remote] = addresses();
    let isn = world.rng.next_u64() as u32;
    let client = Connection::connect(world.now, &world.sides[0].config, local, remote, isn);
    world.sides[0].connection = Some(client);
    world.flush(0);
    let mut events = 0;
    while !world.is_done() && world.step() {
        events += 1;
        assert!(events < 400_000, "seed {seed}: no end at {}, {:?}", world.now, world.faults);
        world.healed |= world.now > Time::from_millis(60_000);
    }
    let failed = world
        .sides
        .iter()
        .any(|side| side.connection.as_ref().is_none_or(|connection| connection.error().is_some()));
    // If one side failed and its reset was lost, the other may wait for ever (RFC 9293 section
    // 3.5.1); if neither did, neither may.
    let states = world.sides.each_ref().map(|side| side.connection.as_ref().map(|c| c.state()));
    assert!(failed || world.is_done(), "seed {seed}: stalled at {}, {states:?}", world.now);
    if !failed {
        for end in 0..2 {
            world.act(end);
            let (reader, writer) = (&world.sides[end], &world.sides[1 - end]);
            assert!(reader.ended, "seed {seed}: side {end} did not see the end");
            assert_eq!(reader.read, writer.to_write, "seed {seed}: side {end}");
        }
    }
    !failed
}

#[test]
fn every_byte_arrives_once_and_in_order_or_the_connection_fails_cleanly() {
    let runs = setting("CHAOS_RUNS").unwrap_or(400);
    let complete = (0..runs).filter(|&seed| run(seed)).count() as u64;
    // Most runs must not fail.
    assert!(complete > runs / 2, "only {complete} of {runs} runs were completed");
}
