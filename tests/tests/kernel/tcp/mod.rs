//! The engine against the kernel's TCP, on the wire: what both sides send is also checked against
//! the RFCs.

mod case;
mod directed;
mod ground;
mod host;
mod wire;

use self::case::Case;
use self::ground::{Outcome, Setup};
use crate::app::Failure;
use crate::random::{self, Played};
use crate::*;

#[test]
#[ignore = "thorough: real time"]
fn random_cases_end_well() {
    where_possible!();
    random::play_all("tcp", CASES, |number| {
        let case = Case::new(number);
        let outcome = ground::play(&case.setup);
        let (engine, kernel) = (&outcome.engine, &outcome.kernel);
        Played {
            problems: problems(&case.setup, &outcome),
            met: met(&outcome),
            description: format!("{case}\n  engine: {engine:?}\n  kernel: {kernel:?}"),
            packets: outcome.packets,
        }
    });
}

fn problems(setup: &Setup, outcome: &Outcome) -> Vec<String> {
    let scripts = (&setup.engine.script, &setup.kernel.script);
    let ends = verdict::problems(scripts, outcome.engine.as_ref(), &outcome.kernel.report);
    let mut problems = [wire::problems(setup, &outcome.packets), ends].concat();
    if !outcome.leftovers.is_empty() {
        problems.push(format!("the kernel's sockets stay in states {:?}", outcome.leftovers));
    }
    problems
}

fn met(outcome: &Outcome) -> Vec<(&'static str, u64)> {
    let seen = |point| outcome.packets.iter().filter(|seen| seen.point == point).count() as u64;
    let engine = outcome.engine.as_ref();
    let counted = |count: fn(&Stats) -> u64| engine.map_or(0, |engine| count(&engine.stats));
    let reports = engine.map(|engine| [&engine.report, &outcome.kernel.report]);
    let resets = reports.into_iter().flatten().filter(|it| it.failure == Some(Failure::Reset));
    vec![
        ("lost", seen(Point::Dropped(DropReason::Loss))),
        ("overflowed", seen(Point::Dropped(DropReason::QueueFull))),
        ("damaged", seen(Point::Altered(Alteration::Corrupted))),
        ("doubled", seen(Point::Altered(Alteration::Duplicated))),
        ("held back", seen(Point::Altered(Alteration::HeldBack))),
        ("marked", seen(Point::Altered(Alteration::Marked))),
        ("retransmitted", counted(|stats| stats.retransmissions)),
        ("timeouts", counted(|stats| stats.timeouts)),
        ("undone", counted(|stats| stats.undos)),
        ("resets", resets.count() as u64),
    ]
}

const CASES: u64 = 300;
