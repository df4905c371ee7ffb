//! A unit at a crossing: one thread that checks and settles, and workers that verify.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Channel, RecvTimeoutError, channel};
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_core::event::{Judgement, UnitAccount};
use trackbed_v2x::Receiver;
use trackbed_v2x::check::Pending;
use trackbed_v2x::traffic::Origin;
use trackbed_verifier::cache::KeyCache;
use trackbed_verifier::engine::{
    Done, Engine, LaterTables, Task, monotonic_nanos, thread_cpu_nanos,
};
use trackbed_verifier::{KeyTable, Path};

use super::super::book::NOTHING_HEARD;
use super::super::plan::Plan;
use super::outcome::{Decision, Outcome, options, processors};
use super::script::{self, Line, Script};
use crate::signatures::{judgement, parts};

pub(super) fn crossing(plan: &Plan, seed: &Seed, goes_on: &AtomicBool) -> Result<Outcome, String> {
    let duration = plan.duration.as_nanos() as u64;
    let is_wanted = |_, at| at < duration && goes_on.load(Ordering::Relaxed);
    let (script, receiver) = script::write(plan, seed, is_wanted)?;
    let (done, verdicts) = channel();
    let on_done = move |one: Done| {
        // The receiver is gone if the unit has been given up.
        let _ = done.send(one);
    };
    let engine = Engine::start(&options(plan), on_done)
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let keys = LaterTables::start(KeyCache::new(plan.tables, Path::fastest()))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let mut unit = Unit {
        plan,
        script: &script,
        begin: monotonic_nanos() + LEAD,
        receiver,
        engine,
        keys,
        open: HashMap::new(),
        decisions: Vec::with_capacity(script.lines.len()),
        heard: 0,
        waiting_max: 0,
        tables_max: 0,
    };
    let used_before = thread_cpu_nanos();
    for (number, line) in script.lines.iter().enumerate() {
        unit.wait_for(unit.begin + line.at, &verdicts);
        unit.hear(number as u64, line);
        if !goes_on.load(Ordering::Relaxed) {
            return Err("the run was given up".to_owned());
        }
    }
    unit.wait_for_the_rest(&verdicts, goes_on)?;
    if unit.heard == 0 {
        return Err(NOTHING_HEARD.to_owned());
    }
    let front = thread_cpu_nanos() - used_before;
    Ok(unit.end(front))
}

/// Before the first message.
const LEAD: u64 = 20_000_000;
/// The interval for checking whether the run still waits for the unit.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Longer than workers may rest because of their budget.
const SILENCE_MAX: Duration = Duration::from_secs(120);

struct Unit<'a> {
    plan: &'a Plan,
    script: &'a Script,
    begin: u64,
    receiver: Receiver,
    engine: Engine,
    keys: LaterTables,
    open: HashMap<u64, Open<'a>>,
    decisions: Vec<Decision>,
    heard: u64,
    waiting_max: usize,
    tables_max: usize,
}

struct Open<'a> {
    pending: Pending<'a>,
    heard: u64,
    origin: Origin,
    verdicts: [bool; 2],
    waits_for: u32,
    /// Why some of them are not verified.
    dropped: Option<Judgement>,
}

impl Unit<'_> {
    /// Settles messages that have their verdicts until the next message is due, at least those
    /// available, also when `due` has passed.
    fn wait_for(&mut self, due: u64, verdicts: &Channel<Done>) {
        loop {
            let now = monotonic_nanos();
            let span = Duration::from_nanos(due.saturating_sub(now));
            match verdicts.recv_timeout(span) {
                Ok(done) => self.settle(&done),
                Err(RecvTimeoutError::Timeout) if monotonic_nanos() < due => {}
                // No worker is left: the open messages show it at the end.
                Err(_) => return,
            }
        }
    }

    /// Settles the open messages after the last arrival.
    fn wait_for_the_rest(
        &mut self,
        verdicts: &Channel<Done>,
        goes_on: &AtomicBool,
    ) -> Result<(), String> {
        let mut silence = Duration::ZERO;
        while !self.open.is_empty() {
            if !goes_on.load(Ordering::Relaxed) {
                return Err("the run was given up".to_owned());
            }
            match verdicts.recv_timeout(LOOK_EVERY) {
                Ok(done) => {
                    silence = Duration::ZERO;
                    self.settle(&done);
                }
                Err(RecvTimeoutError::Timeout) if silence < SILENCE_MAX => silence += LOOK_EVERY,
                Err(_) => {
                    let open = self.open.len();
                    return Err(format!(
                        "{open} messages got no verdict: this is a bug in Trackbed"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Receives a message. Its scheduled arrival counts, not the time at which it is handled.
    fn hear(&mut self, number: u64, line: &Line) {
        let (heard, now) = (self.begin + line.at, monotonic_nanos());
        let is_measured = line.at >= self.plan.warm_up.as_nanos() as u64;
        self.heard += u64::from(is_measured && line.origin != Origin::Flood);
        let deadline_nanos = heard + self.plan.deadline.as_nanos() as u64;
        if self.plan.drops_late && now > deadline_nanos {
            return self.decide(heard, line.origin, Judgement::Late);
        }
        // Its freshness depends on its arrival.
        let time = self.script.time_of_day(line.at);
        let pending = match self.receiver.check(self.script.text(line), time) {
            Ok(pending) => pending,
            Err(refusal) => return self.decide(heard, line.origin, judgement(&refusal)),
        };
        let mut open = Open {
            heard,
            origin: line.origin,
            verdicts: [false; 2],
            waits_for: 0,
            dropped: None,
            pending,
        };
        for (place, job) in open.pending.jobs().iter().enumerate() {
            let Some((key, digest, signature)) = parts(job) else { continue };
            let key = self.keys.get(&key);
            let tag = 2 * number + place as u64;
            match self.engine.submit(Task { key, digest, signature, deadline_nanos, tag }) {
                Ok(()) => open.waits_for += 1,
                Err(_full) => open.dropped = Some(Judgement::Overflow),
            }
        }
        self.waiting_max = self.waiting_max.max(self.engine.queued());
        self.tables_max = self.tables_max.max(self.keys.cache().tables());
        match open.waits_for {
            0 => self.decide(heard, line.origin, Judgement::Overflow),
            _ => {
                self.open.insert(number, open);
            }
        }
    }

    fn settle(&mut self, done: &Done) {
        let number = done.tag / 2;
        let Some(open) = self.open.get_mut(&number) else { return };
        match done.verdict {
            Some(verdict) => open.verdicts[(done.tag % 2) as usize] = verdict.is_valid(),
            None => {
                open.dropped.get_or_insert(Judgement::Late);
            }
        }
        open.waits_for -= 1;
        if open.waits_for > 0 {
            return;
        }
        let Some(open) = self.open.remove(&number) else { return };
        let judgement = match open.dropped {
            Some(dropped) => dropped,
            None => match self.receiver.settle(open.pending, &open.verdicts) {
                Ok(_) => Judgement::Accepted,
                Err(refusal) => judgement(&refusal),
            },
        };
        self.decide(open.heard, open.origin, judgement);
    }

    fn decide(&mut self, heard: u64, origin: Origin, judgement: Judgement) {
        self.decisions.push(Decision { at: monotonic_nanos(), heard, origin, judgement });
    }

    fn end(self, front_nanos: u64) -> Outcome {
        let end = monotonic_nanos();
        let summary = self.engine.finish();
        let busy = summary.cpu_nanos.iter().sum::<u64>() + front_nanos + self.keys.finish();
        let account = UnitAccount {
            span: Duration::ZERO,
            heard: self.heard,
            signatures: summary.verified.iter().sum(),
            busy: Duration::from_nanos(busy),
            cores: processors() as u32,
            waiting_max: self.waiting_max as u64,
            tables_bytes: (self.tables_max * KeyTable::BYTES) as u64,
        };
        Outcome { begin: self.begin, end, decisions: self.decisions, account }
    }
}
