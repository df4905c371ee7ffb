//! The engine against the kernel's TCP, on the wire: what both sides send is also checked against
//! the RFCs.

mod case;
mod directed;
mod ground;
mod host;
mod wire;

use std::sync::atomic::{AtomicUsize, Ordering};

use trackbed_net::{Alteration, DropReason, Point};

use self::case::Case;
use self::ground::{Outcome, Setup};
use crate::app::Failure;
use crate::{capture, is_possible, random, verdict};

#[test]
#[ignore = "thorough: real time"]
fn random_cases_end_well() {
    where_possible!();
    let met = Met::default();
    let are_usual = random::play_all("tcp", CASES, |number| {
        let case = Case::new(number);
        let outcome = ground::play(&case.setup);
        met.note(&outcome);
        (problems(&case.setup, &outcome), move || tell(&case, &outcome))
    });
    println!("{met:?}");
    assert!(!are_usual || met.everything(), "the cases spare something: {met:?}");
}

/// The problems in the results of a case.
fn problems(setup: &Setup, outcome: &Outcome) -> Vec<String> {
    let scripts = (&setup.engine.script, &setup.kernel.script);
    let ends = verdict::problems(scripts, outcome.engine.as_ref(), &outcome.kernel.report);
    let mut problems = [wire::problems(setup, &outcome.packets), ends].concat();
    if !outcome.leftovers.is_empty() {
        problems.push(format!("the kernel's sockets stay in states {:?}", outcome.leftovers));
    }
    problems
}

/// What the cases covered: uncovered features are not tested.
#[derive(Debug, Default)]
struct Met {
    lost: AtomicUsize,
    overflowed: AtomicUsize,
    damaged: AtomicUsize,
    doubled: AtomicUsize,
    held_back: AtomicUsize,
    marked: AtomicUsize,
    retransmitted: AtomicUsize,
    timeouts: AtomicUsize,
    undone: AtomicUsize,
    resets: AtomicUsize,
}

impl Met {
    fn note(&self, outcome: &Outcome) {
        for seen in &outcome.packets {
            let counter = match seen.point {
                Point::Dropped(DropReason::Loss) => &self.lost,
                Point::Dropped(DropReason::QueueFull) => &self.overflowed,
                Point::Altered(Alteration::Corrupted) => &self.damaged,
                Point::Altered(Alteration::Duplicated) => &self.doubled,
                Point::Altered(Alteration::HeldBack) => &self.held_back,
                Point::Altered(Alteration::Marked) => &self.marked,
                _ => continue,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let Some(engine) = &outcome.engine else { return };
        let add = |counter: &AtomicUsize, n: u64| counter.fetch_add(n as usize, Ordering::Relaxed);
        add(&self.retransmitted, engine.stats.retransmissions);
        add(&self.timeouts, engine.stats.timeouts);
        add(&self.undone, engine.stats.undos);
        let reports = [&engine.report, &outcome.kernel.report];
        let resets = reports.iter().filter(|report| report.failure == Some(Failure::Reset));
        add(&self.resets, resets.count() as u64);
    }

    fn everything(&self) -> bool {
        let Met { lost, overflowed, damaged, doubled, held_back, .. } = self;
        let Met { marked, retransmitted, timeouts, undone, resets, .. } = self;
        let counters = [lost, overflowed, damaged, doubled, held_back];
        let others = [marked, retransmitted, timeouts, undone, resets];
        counters.iter().chain(&others).all(|counter| counter.load(Ordering::Relaxed) > 0)
    }
}

fn tell(case: &Case, outcome: &Outcome) {
    println!("{case}\n  engine: {:?}\n  kernel: {:?}", outcome.engine, outcome.kernel);
    let path = std::env::temp_dir().join(format!("trackbed-kernel-tcp-{}.pcapng", case.number));
    let written = capture::write(&path, &random::command("tcp", case.number), &outcome.packets);
    println!("packets: {} ({written:?})", path.display());
}

const CASES: u64 = 300;
