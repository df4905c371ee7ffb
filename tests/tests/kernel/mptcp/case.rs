//! Random cases: everything follows from a number.

use std::fmt;

use trackbed_net::models::{Outage, Reordering, Spells};
use trackbed_tcp::multipath::{Endpoint, Reinjection};
use trackbed_tcp::{algorithms, schedulers};
use trackbed_tests::random::Dice;

use super::ground::{Setup, engine_address, kernel_address};
use super::host::Deed;
use crate::app::{End, Pace, Script};
use crate::random::{ENGINE_KEEP_ALIVE, KEEP_ALIVE};
use crate::*;

#[derive(Debug)]
pub struct Case {
    pub number: u64,
    pub setup: Setup,
}

impl Case {
    /// The case of this number, always the same.
    pub fn new(number: u64) -> Case {
        let seed = Seed::of_run(SERIES, number);
        let mut dice = Dice(seed.stream("case"));
        let mut setup = Setup { seed, engine_dials: dice.one_in(2), ..Setup::default() };
        let mut budget = 4_000_000;
        for path in 0..2 {
            for direction in 0..2 {
                setup.paths[path][direction] = link(&mut dice, &mut budget, path);
            }
        }
        choose_ends(&mut setup, &mut dice);
        setup.engine.script = script(&mut dice, budget);
        setup.kernel.script = script(&mut dice, budget);
        match dice.below(10) {
            // A reset may be lost, so an idle side sends keep-alive probes.
            0 => {
                setup.engine.script.end = End::Abort(dice.millis(50, 600));
                setup.kernel.options.keep_alive = Some(KEEP_ALIVE);
            }
            1 => {
                setup.kernel.script.end = End::Abort(dice.millis(50, 600));
                setup.engine.config.tcp.keepalive = Some(ENGINE_KEEP_ALIVE);
            }
            2 => setup.engine.script.after_peer = true,
            3 => setup.kernel.script.after_peer = true,
            _ => {}
        }
        choose_deeds(&mut setup, &mut dice);
        Case { number, setup }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setup { engine_dials, paths, engine, kernel, .. } = &self.setup;
        writeln!(f, "case {}", self.number)?;
        writeln!(f, "  the engine dials: {engine_dials}")?;
        for (number, [up, down]) in paths.iter().enumerate() {
            writeln!(f, "  path {number}: to the kernel {:?}", up.models())?;
            writeln!(f, "          to the engine {:?}", down.models())?;
        }
        writeln!(f, "  engine: {engine:?}")?;
        write!(f, "  kernel: {kernel:?}")
    }
}

/// The opening side, and the configuration of both.
fn choose_ends(setup: &mut Setup, dice: &mut Dice) {
    setup.engine.config = engine(dice);
    setup.kernel.checksum = dice.one_in(4);
    // A peer without Multipath TCP.
    setup.kernel.options.multipath = !dice.one_in(10);
    setup.kernel.options.congestion = if dice.one_in(2) { "reno" } else { "cubic" };
    let flags = dice.pick(&["subflow", "subflow fullmesh", "subflow backup"]);
    let endpoint = Endpoint {
        backup: dice.one_in(5),
        fullmesh: dice.one_in(3),
        ..Endpoint::subflow(engine_address(1))
    };
    let announced = dice.one_in(3);
    let config = &mut setup.engine.config;
    match (setup.engine_dials, announced) {
        (true, false) => config.endpoints = vec![endpoint],
        (true, true) => {
            setup.kernel.endpoints = vec![format!("{} id 1 signal", kernel_address(1))];
        }
        (false, false) => {
            setup.kernel.endpoints = vec![format!("{} id 1 {flags}", kernel_address(1))];
        }
        (false, true) => config.endpoints = vec![Endpoint::signal(engine_address(1))],
    }
}

fn choose_deeds(setup: &mut Setup, dice: &mut Dice) {
    let first = dice.millis(100, 1_000);
    let second = first + dice.millis(50, 1_000);
    match dice.below(6) {
        0 | 1 => {
            let path = dice.below(2) as usize;
            setup.engine.deeds =
                vec![(first, Deed::Backup(path, true)), (second, Deed::Backup(path, false))];
        }
        2 | 3 if !setup.kernel.endpoints.is_empty() => {
            let change = |flag: &str| format!("endpoint change id 1 {flag}");
            setup.kernel.deeds = vec![(first, change("backup")), (second, change("nobackup"))];
        }
        4 if setup.engine_dials => {
            let endpoint = Endpoint::subflow(engine_address(1));
            setup.engine.deeds = vec![
                (first, Deed::LoseAddress(engine_address(1))),
                (second, Deed::GainAddress(endpoint)),
            ];
        }
        4 if !setup.kernel.endpoints.is_empty() => {
            let again = setup.kernel.endpoints[0].clone();
            setup.kernel.deeds = vec![
                (first, "endpoint delete id 1".to_owned()),
                (second, format!("endpoint add {again}")),
            ];
        }
        // One path is gone for a while, in both directions.
        5 => {
            let (path, for_long) = (dice.below(2) as usize, dice.millis(300, 3_000));
            for spec in &mut setup.paths[path] {
                let begin = Time::ZERO + first;
                let down = Spells::new([(begin, begin + for_long)]).expect("in order");
                *spec = spec.clone().with(Outage { down });
            }
        }
        _ => {}
    }
}

fn link(dice: &mut Dice, budget: &mut u64, path: usize) -> LinkSpec {
    let mbps = dice.pick(&[2, 5, 10, 25, 50]);
    if path == 0 {
        *budget = (*budget).min(mbps * 200_000);
    }
    let mut link = LinkSpec::new()
        .with(Delay::fixed(dice.millis(0, 40)))
        .with(Rate::new(Bitrate::from_mbps(mbps), DropTail::of_packets(dice.between(10, 200))));
    if dice.one_in(3) {
        link = link.with(Loss::bernoulli(Ratio::from_parts(dice.below(20), 1_000)));
        *budget = (*budget).min(500_000);
    }
    if dice.one_in(4) {
        let probability = Ratio::from_parts(dice.below(30), 1_000);
        link = link.with(Reordering { probability, hold: dice.millis(1, 10) });
    }
    link
}

fn engine(dice: &mut Dice) -> MultipathConfig {
    let tcp = Config {
        congestion: dice.pick(algorithms()),
        nagle: dice.one_in(2),
        batching: dice.one_in(2),
        sack: !dice.one_in(5),
        timestamps: !dice.one_in(5),
        ecn: dice.pick(&[EcnMode::Off, EcnMode::Passive, EcnMode::Active]),
        ..Config::default()
    };
    MultipathConfig {
        tcp,
        scheduler: dice.pick(schedulers::algorithms()),
        opportunistic: dice.one_in(2),
        checksum: dice.one_in(4),
        short_numbers: dice.one_in(4),
        reinjection: Some(dice.pick(&[Reinjection::Timeout, Reinjection::Stale(4)])),
        ..MultipathConfig::default()
    }
}

fn script(dice: &mut Dice, budget: u64) -> Script {
    let send = match dice.below(6) {
        0 => 0,
        1 => dice.below(5_000),
        _ => dice.below(budget + 1),
    };
    let mut script = Script::sending(send);
    if dice.one_in(5) {
        let block = dice.between(50, 5_000) as usize;
        script.write = Pace { block, pause: dice.millis(0, 10) };
        script.send = script.send.min(block as u64 * 200);
    }
    if dice.one_in(5) {
        let block = dice.between(5_000, 30_000) as usize;
        script.read = Pace { block, pause: dice.millis(1, 3) };
    }
    if dice.one_in(5) {
        script.stall = Some((dice.below(budget + 1), dice.millis(100, 1_500)));
    }
    script
}

/// Another series is another set of cases.
const SERIES: u64 = 1;
