//! Random cases: everything follows from a number.

use std::fmt;

use trackbed_net::models::{Corruption, Duplication, Reordering};
use trackbed_net::queue::Codel;
use trackbed_tcp::algorithms;
use trackbed_tcp::config::BufferSize;
use trackbed_tests::random::Dice;

use super::ground::{EngineSide, KernelSide, Setup};
use crate::app::{End, Pace, Script};
use crate::random::{ENGINE_KEEP_ALIVE, KEEP_ALIVE};
use crate::socket::Options;
use crate::*;

#[derive(Debug)]
pub struct Case {
    pub number: u64,
    pub setup: Setup,
    /// The share of packets that the worse direction loses.
    loss: f64,
    /// Bytes that may be sent, so that the case ends in time.
    budget: u64,
}

impl Case {
    /// The case of this number, always the same.
    pub fn new(number: u64) -> Case {
        let seed = Seed::of_run(SERIES, number);
        let mut dice = Dice(seed.stream("case"));
        let ipv6 = dice.one_in(3);
        let mut case = Case {
            number,
            setup: Setup { seed, ipv6, engine_dials: dice.one_in(2), ..Setup::default() },
            loss: 0.0,
            budget: 5_000_000,
        };
        case.choose_links(&mut dice);
        case.setup.engine = engine(&mut dice, ipv6);
        case.setup.kernel = kernel(&mut dice, ipv6);
        case.spare_small_buffers();
        case.choose_scripts(&mut dice);
        case
    }

    /// A window of less than two segments may open only at the rate of its probes.
    fn spare_small_buffers(&mut self) {
        let Setup { engine, kernel, .. } = &self.setup;
        let own = [engine.config.receive_buffer.max, engine.config.send_buffer.max];
        let others = kernel.options.receive_buffer.map_or(u64::MAX, |bytes| bytes as u64);
        let least = own.into_iter().map(u64::from).chain([others]).min().unwrap_or(others);
        let segment = engine.config.mtu.max(kernel.mtu);
        let rounds = if least < 4 * u64::from(segment) { 20 } else { 100 };
        self.budget = self.budget.min(least * rounds);
    }

    fn choose_links(&mut self, dice: &mut Dice) {
        let worst = dice.pick(&[0, 10, 50, 100]);
        self.setup.up = self.choose_link(dice, worst);
        self.setup.down = self.choose_link(dice, worst);
        self.budget = self.budget.min(match self.loss {
            loss if loss > 0.05 => 200_000,
            loss if loss > 0.01 => 800_000,
            loss if loss > 0.0 => 3_000_000,
            _ => self.budget,
        });
    }

    fn choose_link(&mut self, dice: &mut Dice, worst: u64) -> LinkSpec {
        let mut link = LinkSpec::new().with(Delay::fixed(dice.micros(0, 20_000)));
        if dice.one_in(2) {
            let mbps = dice.pick(&[1, 3, 10, 30, 100]);
            self.budget = self.budget.min(mbps * 400_000);
            let rate = Bitrate::from_mbps(mbps);
            link = match dice.below(3) {
                0 => link.with(Rate::new(rate, Codel::default())),
                _ => link.with(Rate::new(rate, DropTail::of_packets(dice.between(5, 200)))),
            };
        }
        let loss = per_mille(dice, worst);
        self.loss = self.loss.max(loss.as_f64());
        link = link.with(Loss::bernoulli(loss));
        if dice.one_in(3) {
            let (probability, hold) = (per_mille(dice, 50), dice.micros(500, 15_000));
            link = link.with(Reordering { probability, hold });
        }
        if dice.one_in(4) {
            link = link.with(Duplication { probability: per_mille(dice, 50) });
        }
        if dice.one_in(4) {
            let probability = per_mille(dice, worst.clamp(5, 20));
            self.loss = self.loss.max(probability.as_f64());
            link = link.with(Corruption { probability });
        }
        link
    }

    fn choose_scripts(&mut self, dice: &mut Dice) {
        let budget = self.budget;
        let (engine, kernel) = (&mut self.setup.engine.script, &mut self.setup.kernel.script);
        *engine = script(dice, budget);
        *kernel = script(dice, budget);
        match dice.below(8) {
            // One direction only.
            0 => engine.send = 0,
            1 => kernel.send = 0,
            // One side waits for the other's end: it sends into a half-closed connection.
            2 => engine.after_peer = true,
            3 => kernel.after_peer = true,
            // Both close at once.
            4 => (engine.send, kernel.send) = (0, 0),
            // Everything at once.
            5 => {}
            // A reset at some moment. An idle side sends keep-alive probes.
            6 => {
                engine.end = End::Abort(dice.micros(0, 800_000));
                self.setup.kernel.options.keep_alive = Some(KEEP_ALIVE);
            }
            _ => {
                kernel.end = End::Abort(dice.micros(0, 800_000));
                self.setup.engine.config.keepalive = Some(ENGINE_KEEP_ALIVE);
            }
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setup { ipv6, engine_dials, up, down, engine, kernel, .. } = &self.setup;
        writeln!(f, "case {}", self.number)?;
        writeln!(f, "  IPv6 {ipv6}, the engine dials: {engine_dials}")?;
        writeln!(f, "  to the kernel: {:?}", up.models())?;
        writeln!(f, "  to the engine: {:?}", down.models())?;
        writeln!(f, "  engine: {engine:?}")?;
        write!(f, "  kernel: {kernel:?}")
    }
}

fn engine(dice: &mut Dice, ipv6: bool) -> EngineSide {
    let config = Config {
        congestion: dice.pick(algorithms()),
        mtu: mtu(dice, ipv6),
        nagle: dice.one_in(2),
        batching: dice.one_in(2),
        delayed_ack: !dice.one_in(4),
        sack: !dice.one_in(4),
        timestamps: !dice.one_in(4),
        window_scaling: !dice.one_in(4),
        tail_loss_probe: !dice.one_in(4),
        ecn: dice.pick(&[EcnMode::Off, EcnMode::Passive, EcnMode::Active]),
        receive_buffer: match dice.below(4) {
            0 => fixed(dice.between(4_000, 100_000)),
            _ => Config::default().receive_buffer,
        },
        send_buffer: match dice.below(4) {
            0 => fixed(dice.between(2_000, 50_000)),
            _ => Config::default().send_buffer,
        },
        ..Config::default()
    };
    // The clock of RFC 7323 wraps in one case of four: at 2^31 or at 2^32 ms.
    let clock_offset = match dice.below(8) {
        0 => (1 << 31) - dice.below(1_000),
        1 => (1 << 32) - dice.below(1_000),
        _ => dice.below(1 << 33),
    };
    let clock_offset = Duration::from_millis(clock_offset);
    EngineSide { config, clock_offset, ..EngineSide::default() }
}

fn kernel(dice: &mut Dice, ipv6: bool) -> KernelSide {
    let flag = |dice: &mut Dice| u8::from(!dice.one_in(4)).to_string();
    let settings = vec![
        ("tcp_timestamps", flag(dice)),
        ("tcp_sack", flag(dice)),
        ("tcp_window_scaling", flag(dice)),
        ("tcp_ecn", dice.below(3).to_string()),
    ];
    let options = Options {
        congestion: if dice.one_in(2) { "reno" } else { "cubic" },
        receive_buffer: dice.one_in(4).then(|| dice.between(2_000, 60_000) as usize),
        no_delay: dice.one_in(2),
        multipath: false,
        keep_alive: None,
    };
    KernelSide { mtu: mtu(dice, ipv6), settings, options, ..KernelSide::default() }
}

fn script(dice: &mut Dice, budget: u64) -> Script {
    let mut script = Script::sending(size(dice, budget));
    if dice.one_in(4) {
        // Small writes, for Nagle's algorithm and the ends of bursts.
        let block = dice.between(50, 5_000) as usize;
        script.write = Pace { block, pause: dice.micros(0, 10_000) };
        script.send = script.send.min(block as u64 * 300);
    }
    if dice.one_in(4) {
        let block = dice.between(1_000, 20_000) as usize;
        script.read = Pace { block, pause: dice.micros(100, 3_000) };
    }
    if dice.one_in(4) {
        script.stall = Some((size(dice, budget), dice.micros(100_000, 2_000_000)));
    }
    script
}

fn mtu(dice: &mut Dice, ipv6: bool) -> u32 {
    let least = if ipv6 { 1_280 } else { 576 };
    match dice.below(4) {
        0 => least,
        1 => dice.between(least.into(), 9_000) as u32,
        2 => 9_000,
        _ => 1_500,
    }
}

fn fixed(bytes: u64) -> BufferSize {
    BufferSize { initial: bytes as u32, max: bytes as u32 }
}

fn per_mille(dice: &mut Dice, most: u64) -> Ratio {
    Ratio::from_parts(dice.below(1_000 * most + 1), 1_000_000)
}

/// A size of any order of magnitude, of any amount, or near the most; at times zero.
fn size(dice: &mut Dice, most: u64) -> u64 {
    match dice.below(3) {
        0 => dice.below(most + 1),
        1 => most / 2 + dice.below(most / 2 + 1),
        _ => {
            let digits = dice.below(u64::from(most.max(1).ilog2()) + 2);
            dice.below(1 << digits).min(most)
        }
    }
}

/// Another series would be other cases under the same numbers.
const SERIES: u64 = 2;
