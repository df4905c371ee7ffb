//! The runs of a search.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use trackbed_analysis::drops::Ended;
use trackbed_core::Time;
use trackbed_measure::drops::{DropVerdict, Pattern, Place};
use trackbed_measure::results::Outcome;
use trackbed_net::LinkSpec;
use trackbed_net::models::{Chosen, Fault};
use trackbed_net::spec::Stage;
use trackbed_scenario::{Cell, Plan};
use trackbed_substrate::{Cancel, RunError};

use super::judge::Judge;
use super::question::{Ground, Question};
use super::watch::{Trial, Watcher};
use crate::run::{Onlooker as _, Runner, Unfinished};

/// Longer than any timer that is doubled a few times.
pub(super) const LIMIT: Time = Time::from_millis(3_600_000);

/// What packets may take on the wire beside delays and timers, and the granularity of timers (RFC 9002 section
/// 6.1.2), in milliseconds; and what a machine in real time may add.
const SLACK_MS: f64 = 3.0;
const REAL_MS: f64 = 15.0;

/// Executes the runs of a cell.
pub(super) struct Trials<'a> {
    pub plan: &'a mut Plan,
    pub original: Cell,
    pub index: u32,
    pub ground: Ground<'a>,
    pub question: &'a Question,
}

impl Trials<'_> {
    pub fn is_real(&self) -> bool {
        matches!(self.ground, Ground::Emulated(_))
    }

    /// The run without a fault, which must complete, and what others are compared with. In real time the second
    /// fastest of three.
    pub fn base(&mut self) -> Result<(Trial, Judge), String> {
        let count = if self.is_real() { 3 } else { 1 };
        let mut completed = Vec::new();
        for _ in 0..count {
            let trial = self.one(&[]);
            match &trial.ended {
                Ended::Complete(took) => completed.push((*took, trial)),
                Ended::Stalled(why) | Ended::Failed(why) => {
                    return Err(format!("without a fault the run does not complete: {why}"));
                }
            }
        }
        completed.sort_by(|one, other| one.0.total_cmp(&other.0));
        let spread = completed[count - 1].0 - completed[0].0;
        let (completion_ms, base) = completed.swap_remove(count / 2);
        let rtt = base.trace.round_trip(base.span.0).unwrap_or_default();
        let real_ms = if self.is_real() { REAL_MS + 2.0 * spread } else { 0.0 };
        let slack_ms = SLACK_MS + 0.05 * rtt.as_secs_f64() * 1e3 + real_ms;
        let transport = self.original.endpoint.protocol.capabilities().transport;
        Ok((base, Judge { transport, rtt, completion_ms, slack_ms }))
    }

    /// Executes the runs in which these places meet the fault, in this order. Fewer if it is cancelled.
    pub fn all(&mut self, chosen: &[Vec<Place>], finished: &(dyn Fn(usize) + Sync)) -> Vec<Trial> {
        let cancel = &self.question.cancel;
        if self.is_real() {
            let mut trials = Vec::new();
            for places in chosen.iter().take_while(|_| !cancel.is_cancelled()) {
                trials.push(self.one(places));
                finished(trials.len());
            }
            return trials;
        }
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || {
            while !cancel.is_cancelled() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(places) = chosen.get(number) else { break };
                let trial = self.virtually(places);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.insert(number, trial);
                finished(done.len());
            }
        };
        thread::scope(|scope| (0..self.question.jobs).for_each(|_| drop(scope.spawn(work))));
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let in_order =
            done.into_iter().enumerate().take_while(|(place, (number, _))| place == number);
        in_order.map(|(_, (_, trial))| trial).collect()
    }

    fn one(&mut self, places: &[Place]) -> Trial {
        let Ground::Emulated(emulated) = self.ground else { return self.virtually(places) };
        let watcher = Watcher::default();
        self.plan.cells[self.index as usize] = altered(&self.original, self.question.fault, places);
        let unit = (&[self.index][..], self.question.run);
        let result = emulated.observe(self.plan, unit, Some(&watcher)).remove(0);
        let ended = match &result.outcome {
            Outcome::Samples(samples) => completion(samples),
            Outcome::Failed(why) => Ended::Failed(why.clone()),
        };
        watcher.trial(ended)
    }

    fn virtually(&self, places: &[Place]) -> Trial {
        let watcher = Watcher::default();
        let cell = altered(&self.original, self.question.fault, places);
        let runner = Runner::new(Cancel::default()).with_time_limit(LIMIT);
        let unit = (self.plan.seed, self.question.run);
        let ended = match runner.record(&cell, unit, Some(&watcher)) {
            Ok(records) => {
                watcher.keep(&records);
                match crate::logs::measured(&records).0 {
                    Outcome::Samples(samples) => completion(&samples),
                    Outcome::Failed(why) => Ended::Failed(why),
                }
            }
            Err(Unfinished::Run(RunError::Stalled { reason, .. })) => {
                Ended::Stalled(reason.to_string())
            }
            Err(other) => Ended::Failed(other.to_string()),
        };
        watcher.trial(ended)
    }

    /// In real time, a verdict that is a fault of the ends is given only where a second run gives it too.
    pub fn confirmed(&mut self, pattern: Pattern, judge: impl Fn(&Trial) -> Pattern) -> Pattern {
        if !(self.is_real() && pattern.verdict.is_red()) || self.question.cancel.is_cancelled() {
            return pattern;
        }
        match judge(&self.one(&pattern.packets)).verdict == pattern.verdict {
            true => pattern,
            false => Pattern { verdict: DropVerdict::NotReproducible, ..pattern },
        }
    }
}

/// The time that is compared, whichever the workload has.
fn completion(samples: &BTreeMap<String, Vec<f64>>) -> Ended {
    let largest = |name: &str| samples.get(name).map(|it| it.iter().copied().fold(0.0, f64::max));
    let found = ["completion_ms", "plt_ms", "rtt_ms"].into_iter().find_map(largest);
    found.map_or_else(|| Ended::Failed("nothing was answered".to_owned()), Ended::Complete)
}

/// The cell without random faults of its link, where the packets of these places meet a fault.
pub(super) fn altered(cell: &Cell, fault: Fault, places: &[Place]) -> Cell {
    let mut cell = cell.clone();
    for link in cell.network.paths.iter_mut().chain(&mut cell.network.access) {
        for direction in [&mut link.up, &mut link.down] {
            let kept = direction.models().iter().filter(|model| !RANDOM.contains(&model.stage()));
            let clean = kept.fold(LinkSpec::new(), |spec, model| spec.then(Arc::clone(model)));
            *direction = clean;
        }
    }
    let link = &mut cell.network.paths[0];
    for (up, direction) in [(true, &mut link.up), (false, &mut link.down)] {
        let packets = places.iter().filter(|place| place.up == up);
        let packets = packets.map(|place| (place.content.clone(), place.number)).collect();
        *direction = direction.clone().with(Chosen { fault, packets });
    }
    cell
}

/// The stages of models that lose or alter packets by chance.
pub(super) const RANDOM: [Stage; 4] =
    [Stage::Loss, Stage::Corruption, Stage::Duplication, Stage::Reordering];
