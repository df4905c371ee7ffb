//! The unit in virtual time: cores with the speed of a board's.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::time::Duration;

use trackbed_core::event::{Judgement, UnitAccount, Verification};
use trackbed_core::{Event, Time};
use trackbed_outward::files;
use trackbed_substrate::{now, sleep_until};
use trackbed_v2x::location::Position;
use trackbed_v2x::traffic::{Origin, Recording, Schedule, Turn};
use trackbed_verifier::cache::Policy;
use trackbed_verifier::engine::model::{Core, Done, Model, Rules, Task, closed_loop};

use super::book::{Book, NOTHING_HEARD};
use super::plan::{MESSAGES_MAX, Plan, Recorded};
use crate::boards::{AUTHORITY, KeyCosts};
use crate::contract::Stage;

/// Verifies this number of signatures, all present at the beginning.
pub(super) async fn closed(plan: &Plan, signatures: u64, stage: &Stage) {
    let started = now();
    stage.log.record(started, Event::Started);
    let costs = plan.board.costs;
    let nanos = match (plan.tables, costs.tables) {
        (Policy::Lru { .. }, Some(tables)) => tables.signature,
        _ => costs.signature,
    };
    let cores = cores(plan);
    let rules =
        Rules { share_permille: share_permille(plan, cores.len()), ..Rules::unbounded(plan.split) };
    let outcome = closed_loop(signatures as usize, nanos, &cores, rules);
    let span = Duration::from_nanos(outcome.makespan_nanos);
    sleep_until(started + span).await;
    let busy = Duration::from_nanos(outcome.busy_nanos.iter().sum());
    let all = all_cores(plan, cores.len()) as u32;
    let account = UnitAccount { span, signatures, busy, cores: all, ..UnitAccount::default() };
    stage.log.record(now(), Event::Verification(Verification::Accounted(account)));
}

pub(super) async fn crossing(plan: &Plan, stage: &Stage) -> Result<(), String> {
    let started = now();
    stage.log.record(started, Event::Started);
    stage.log.record(started, Event::DeadlineSet { after: plan.deadline });
    let (from, until) = (started + plan.warm_up, started + plan.duration);
    stage.log.record(started, Event::WindowSet { from, until });
    let mut unit = Unit::new(plan, started, Book::new(stage.log.clone()));
    let end = Time::ZERO + plan.duration;
    for turn in turns(plan, stage)? {
        let turn = turn?;
        if turn.at >= end {
            break;
        }
        if unit.taken > MESSAGES_MAX as u64 {
            return Err(format!("more than {MESSAGES_MAX:.0} messages: make `duration` shorter"));
        }
        // Lets observers of the run see its progress.
        if turn.at.since(unit.seen) >= PACE {
            sleep_until(unit.absolute(turn.at.as_nanos())).await;
            unit.seen = turn.at;
        }
        unit.hear(&turn);
    }
    let last = unit.finish(plan.duration);
    sleep_until(last.max(until)).await;
    if unit.heard == 0 {
        return Err(NOTHING_HEARD.to_owned());
    }
    unit.close(now());
    Ok(())
}

/// What the vehicles send, without end or until that of their file.
fn turns(
    plan: &Plan,
    stage: &Stage,
) -> Result<Box<dyn Iterator<Item = Result<Turn, String>>>, String> {
    let crossing = plan.crossing.clone();
    let Some(Recorded { file, centre }) = &plan.recording else {
        let schedule = Schedule::new(crossing, &stage.seed, Position::default());
        return Ok(Box::new(schedule.map(Ok)));
    };
    let name = file.display().to_string();
    let opened = files::open(file).map_err(|why| format!("cannot read {name}: {why}"))?;
    let turns = Recording::new(BufReader::new(opened), crossing, *centre, &stage.seed);
    Ok(Box::new(turns.map(move |turn| turn.map_err(|why| format!("{name}: {why}")))))
}

/// The virtual time that passes in one step.
const PACE: Duration = Duration::from_millis(100);

struct Unit<'p> {
    plan: &'p Plan,
    started: Time,
    seen: Time,
    model: Model,
    cores: u32,
    /// How many of the workers are cores of the CPU.
    cpus: usize,
    book: Book,
    /// Messages whose signatures are not all verified, by their numbers.
    open: BTreeMap<u64, Open>,
    /// The number of messages received, from which they get their numbers.
    taken: u64,
    /// Messages of vehicles in the measured window.
    heard: u64,
    /// Pseudonyms whose certificate has been verified.
    known: BTreeSet<u64>,
    keys: KeyCosts,
    signatures: u64,
    waiting_max: u64,
}

struct Open {
    heard: Time,
    origin: Origin,
    pseudonym: u64,
    signatures: u32,
    brings_certificate: bool,
    /// Why some of them are not verified.
    dropped: Option<Judgement>,
}

impl<'p> Unit<'p> {
    fn new(plan: &'p Plan, started: Time, book: Book) -> Unit<'p> {
        let mut cores = cores(plan);
        let cpus = cores.len();
        let rules = Rules {
            split: plan.split,
            queue_max: plan.queue_max,
            drops_late: plan.drops_late,
            share_permille: share_permille(plan, cores.len()),
        };
        let all = all_cores(plan, cpus) as u32;
        cores.extend(plan.board.device());
        Unit {
            plan,
            started,
            seen: Time::ZERO,
            model: Model::new(&cores, rules),
            cores: all,
            cpus,
            book,
            open: BTreeMap::new(),
            taken: 0,
            heard: 0,
            known: BTreeSet::new(),
            keys: KeyCosts::new(plan.board.costs, plan.tables),
            signatures: 0,
            waiting_max: 0,
        }
    }

    fn absolute(&self, nanos: u64) -> Time {
        self.started + Duration::from_nanos(nanos)
    }

    fn hear(&mut self, turn: &Turn) {
        let nanos = turn.at.as_nanos();
        self.advance(nanos);
        let heard = self.absolute(nanos);
        let is_measured = nanos >= self.plan.warm_up.as_nanos() as u64;
        self.heard += u64::from(is_measured && turn.origin != Origin::Flood);
        let is_known = self.known.contains(&turn.pseudonym);
        if !turn.has_certificate && !is_known {
            return self.book.judge(heard, heard, turn.origin, Judgement::UnknownSigner);
        }
        let brings_certificate =
            turn.has_certificate && (!is_known || self.plan.certificates_again);
        let number = self.taken;
        self.taken += 1;
        let mut work = vec![self.keys.signature(turn.pseudonym) + self.plan.board.costs.message];
        if brings_certificate {
            work.push(self.keys.signature(AUTHORITY));
        }
        let mut open = Open {
            heard,
            origin: turn.origin,
            pseudonym: turn.pseudonym,
            signatures: 0,
            brings_certificate,
            dropped: None,
        };
        let deadline_nanos = nanos + self.plan.deadline.as_nanos() as u64;
        for task in work {
            let task = Task { tag: number, deadline_nanos, nanos: task };
            match self.model.submit(nanos, task) {
                Ok(()) => open.signatures += 1,
                Err(_full) => open.dropped = Some(Judgement::Overflow),
            }
        }
        self.waiting_max = self.waiting_max.max(self.model.queued() as u64);
        match open.signatures {
            0 => self.book.judge(heard, heard, turn.origin, Judgement::Overflow),
            _ => {
                self.open.insert(number, open);
            }
        }
    }

    fn advance(&mut self, nanos: u64) {
        self.model.advance(nanos);
        while let Some(done) = self.model.next_done() {
            self.settle(done);
        }
    }

    fn settle(&mut self, done: Done) {
        self.signatures += u64::from(done.is_verified);
        let Some(open) = self.open.get_mut(&done.tag) else { return };
        open.signatures -= 1;
        if !done.is_verified {
            open.dropped.get_or_insert(Judgement::Late);
        }
        if open.signatures > 0 {
            return;
        }
        let Some(open) = self.open.remove(&done.tag) else { return };
        if open.brings_certificate && open.dropped.is_none() {
            self.known.insert(open.pseudonym);
        }
        let judgement = match (open.dropped, open.origin) {
            (Some(dropped), _) => dropped,
            (None, Origin::Vehicle) => Judgement::Accepted,
            (None, Origin::Forged | Origin::Flood) => Judgement::BadSignature,
        };
        let at = self.absolute(done.finished_nanos);
        self.book.judge(at, open.heard, open.origin, judgement);
    }

    /// Finishes the waiting messages, and returns the time of the last.
    fn finish(&mut self, duration: Duration) -> Time {
        let mut end = duration.as_nanos() as u64;
        self.advance(end);
        while let Some(next) = self.model.next_wake() {
            end = next;
            self.advance(end);
        }
        self.absolute(end)
    }

    fn close(self, now: Time) {
        let account = UnitAccount {
            span: Duration::ZERO,
            heard: self.heard,
            signatures: self.signatures,
            busy: Duration::from_nanos(self.model.busy_nanos().iter().take(self.cpus).sum()),
            cores: self.cores,
            waiting_max: self.waiting_max,
            tables_bytes: self.keys.tables_bytes(),
        };
        self.book.close(now, account);
    }
}

/// The cores that verify, the second half of them slowed.
fn cores(plan: &Plan) -> Vec<Core> {
    let mut cores = plan.board.cores(plan.workers);
    let fast = cores.len().div_ceil(2);
    for core in &mut cores[fast..] {
        let slowed = u64::from(core.slowdown_permille) * u64::from(plan.slow_half_permille) / 1000;
        core.slowdown_permille = slowed as u32;
    }
    cores
}

/// The number of the unit's cores: the board's default, or those that verify.
fn all_cores(plan: &Plan, workers: usize) -> usize {
    plan.board.usual.max(workers)
}

/// Each worker's share of its core, so that all together keep to the budget of the board.
fn share_permille(plan: &Plan, workers: usize) -> u32 {
    let all = all_cores(plan, workers) as u64;
    let share = u64::from(plan.budget_permille) * all / workers.max(1) as u64;
    u32::try_from(share).unwrap_or(1000).clamp(1, 1000)
}
