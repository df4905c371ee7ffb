//! The unit in virtual time: cores that take as long as a board's.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trackbed_core::event::Judgement;
use trackbed_core::{Event, Time};
use trackbed_substrate::{now, sleep_until};
use trackbed_v2x::location::Position;
use trackbed_v2x::traffic::{Origin, Schedule, Turn};
use trackbed_verifier::cache::{Policy, Residence};
use trackbed_verifier::engine::model::{Core, Done, Model, Rules, Task, closed_loop};

use super::boards::Costs;
use super::book::{Book, NOTHING_HEARD, Used, account};
use super::plan::Plan;
use crate::contract::Stage;

/// Verifies so many signatures that all are there at the beginning.
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
    let used = Used { signatures, busy, cores: all, ..Used::default() };
    account(&stage.log, now(), span, used);
}

/// Hears a crossing and decides about each message.
pub(super) async fn crossing(plan: &Plan, stage: &Stage) -> Result<(), String> {
    let started = now();
    stage.log.record(started, Event::Started);
    stage.log.record(started, Event::DeadlineSet { after: plan.deadline });
    let (from, until) = (started + plan.warm_up, started + plan.duration);
    stage.log.record(started, Event::WindowSet { from, until });
    let mut unit = Unit::new(plan, started, Book::new(stage.log.clone()));
    let schedule = Schedule::new(plan.crossing.clone(), &stage.seed, Position::default());
    let end = Time::ZERO + plan.duration;
    for turn in schedule.take_while(|turn| turn.at < end) {
        // Whoever watches the run sees it go on.
        if unit.since(turn.at) >= PACE {
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

/// How much virtual time goes by at once.
const PACE: Duration = Duration::from_millis(100);

/// A unit at work. Its own time begins with the run.
struct Unit<'p> {
    plan: &'p Plan,
    costs: Costs,
    started: Time,
    seen: Time,
    model: Model,
    cores: u32,
    book: Book,
    /// Messages whose signatures are not all verified, by their numbers.
    open: BTreeMap<u64, Open>,
    /// Messages that were taken, which are their numbers.
    taken: u64,
    /// Messages of vehicles in the measured window.
    heard: u64,
    /// Pseudonyms whose certificate has been verified.
    known: BTreeSet<u64>,
    tables: Residence<u64, ()>,
    tables_max: usize,
    signatures: u64,
    waiting_max: u64,
}

/// A message that waits for verdicts.
struct Open {
    heard: Time,
    origin: Origin,
    pseudonym: u64,
    signatures: u32,
    brings_certificate: bool,
    /// Why not all of them are verified.
    dropped: Option<Judgement>,
}

/// What keys are called beside pseudonyms: no slot has this number.
const AUTHORITY: u64 = u64::MAX;

impl<'p> Unit<'p> {
    fn new(plan: &'p Plan, started: Time, book: Book) -> Unit<'p> {
        let cores = cores(plan);
        let rules = Rules {
            split: plan.split,
            queue_max: plan.queue_max,
            drops_late: plan.drops_late,
            share_permille: share_permille(plan, cores.len()),
        };
        let costs = plan.board.costs;
        let bytes = costs.tables.map_or(usize::MAX, |tables| tables.bytes);
        Unit {
            plan,
            costs,
            started,
            seen: Time::ZERO,
            model: Model::new(&cores, rules),
            cores: all_cores(plan, cores.len()) as u32,
            book,
            open: BTreeMap::new(),
            taken: 0,
            heard: 0,
            known: BTreeSet::new(),
            tables: Residence::new(plan.tables, bytes),
            tables_max: 0,
            signatures: 0,
            waiting_max: 0,
        }
    }

    fn since(&self, at: Time) -> Duration {
        at.since(self.seen)
    }

    fn absolute(&self, nanos: u64) -> Time {
        self.started + Duration::from_nanos(nanos)
    }

    /// Takes a message that comes.
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
        let mut work = vec![self.signature(turn.pseudonym) + self.costs.message];
        if brings_certificate {
            work.push(self.signature(AUTHORITY));
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

    /// What a signature by this key takes, and the table that it may get.
    fn signature(&mut self, key: u64) -> u64 {
        let Some(costs) = self.costs.tables else { return self.costs.signature };
        let mut built = 0;
        let has_table = self.tables.get(key, || built = costs.build).is_some();
        self.tables_max = self.tables_max.max(self.tables.len());
        match has_table {
            true => costs.signature + built,
            false => self.costs.signature,
        }
    }

    fn advance(&mut self, nanos: u64) {
        self.model.advance(nanos);
        while let Some(done) = self.model.next_done() {
            self.settle(done);
        }
    }

    /// Takes a verdict; the last one of a message decides about it.
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

    /// Comes to an end with what waits, and says when that is.
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
        let tables_bytes = self.costs.tables.map_or(0, |tables| tables.bytes * self.tables_max);
        let used = Used {
            heard: self.heard,
            signatures: self.signatures,
            busy: Duration::from_nanos(self.model.busy_nanos().iter().sum()),
            cores: self.cores,
            waiting_max: self.waiting_max,
            tables_bytes: tables_bytes as u64,
        };
        self.book.close(now, used);
    }
}

/// The cores that verify, the first ones of the board.
fn cores(plan: &Plan) -> Vec<Core> {
    let Costs { batch, .. } = plan.board.costs;
    let all = plan.board.cores.iter().flat_map(|(count, slowdown)| vec![*slowdown; *count]);
    let all: Vec<u32> = all.collect();
    let workers = plan.workers.unwrap_or(plan.board.usual).min(all.len());
    let slowed = |(number, permille): (usize, &u32)| match number >= workers.div_ceil(2) {
        true => (u64::from(*permille) * u64::from(plan.slow_half_permille) / 1000) as u32,
        false => *permille,
    };
    let core = |slowdown_permille| Core { batch_nanos: batch, slowdown_permille };
    all.iter().take(workers).enumerate().map(slowed).map(core).collect()
}

/// How many cores the unit has: as many as are usual for the board, or as verify.
fn all_cores(plan: &Plan, workers: usize) -> usize {
    plan.board.usual.max(workers)
}

/// What each worker may take of its core for all to keep to the budget of the board.
fn share_permille(plan: &Plan, workers: usize) -> u32 {
    let all = all_cores(plan, workers) as u64;
    let share = u64::from(plan.budget_permille) * all / workers.max(1) as u64;
    u32::try_from(share).unwrap_or(1000).clamp(1, 1000)
}
