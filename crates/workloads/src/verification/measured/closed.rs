//! All signatures at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use trackbed_core::Seed;
use trackbed_v2x::traffic::Origin;
use trackbed_verifier::Path;
use trackbed_verifier::cache::KeyCache;
use trackbed_verifier::engine::{Done, Engine, Task, monotonic_nanos};

use super::super::plan::Plan;
use super::outcome::{Outcome, options, processors};
use super::script;
use crate::signatures::{TABLE_AFTER, parts};
use trackbed_core::event::UnitAccount;

/// The number of different signatures, which are used in turn.
const DIFFERENT: usize = 4_096;

/// An hour in nanoseconds: the limit for a crossing with very few messages.
const LONG: u64 = 3_600_000_000_000;

/// Verifies the signatures of a crossing's first messages, repeatedly.
pub(super) fn verify(plan: &Plan, signatures: u64, seed: &Seed) -> Result<Outcome, String> {
    let (tasks, forged) = tasks(plan, signatures, seed)?;
    let (wrong, last) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (wrongs, lasts) = (Arc::clone(&wrong), Arc::clone(&last));
    let on_done = move |done: Done| {
        let is_valid = done.verdict.is_some_and(|verdict| verdict.is_valid());
        let is_forged = forged[done.tag as usize % forged.len()];
        wrongs.fetch_add(u64::from(is_valid == is_forged), Ordering::Relaxed);
        lasts.fetch_max(done.finished_nanos, Ordering::Relaxed);
    };
    let options = trackbed_verifier::engine::Options {
        queue_max: usize::MAX,
        drops_late: false,
        ..options(plan)
    };
    let mut engine = Engine::start(&options, on_done)
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let begin = monotonic_nanos();
    engine.submit_all(tasks);
    let summary = engine.finish();
    match wrong.load(Ordering::Relaxed) {
        0 => {}
        wrong => return Err(format!("{wrong} verdicts were wrong: this is a bug in Trackbed")),
    }
    let account = UnitAccount {
        signatures: summary.verified.iter().sum(),
        busy: Duration::from_nanos(summary.cpu_nanos.iter().sum()),
        cores: processors() as u32,
        ..UnitAccount::default()
    };
    let end = last.load(Ordering::Relaxed).max(begin);
    Ok(Outcome { begin, end, decisions: Vec::new(), account })
}

/// Tasks, whose tags are the indices of the signatures, and whether each signature is forged.
fn tasks(plan: &Plan, count: u64, seed: &Seed) -> Result<(Vec<Task>, Vec<bool>), String> {
    let (script, mut receiver) =
        script::write(plan, seed, |number, at| number < DIFFERENT && at < LONG)?;
    let mut keys = KeyCache::new(plan.tables, Path::fastest());
    let (mut different, mut forged) = (Vec::new(), Vec::new());
    for line in &script.lines {
        let Ok(pending) = receiver.check(script.text(line), script.time_of_day(line.at)) else {
            continue;
        };
        for (place, job) in pending.jobs().iter().enumerate() {
            let Some((key, digest, signature)) = parts(job) else { continue };
            // The tables of keys that would be built during a longer run exist already.
            for _ in 0..TABLE_AFTER {
                keys.get(&key);
            }
            let (key, tag) = (keys.get(&key), different.len() as u64);
            let deadline_nanos = u64::MAX;
            different.push(Task { key, digest, signature, deadline_nanos, tag });
            forged.push(place == 0 && line.origin != Origin::Vehicle);
        }
        let genuine = [line.origin == Origin::Vehicle, true];
        // The verdict does not matter here; its certificate must be known.
        let _ = receiver.settle(pending, &genuine);
    }
    if different.is_empty() {
        return Err("the crossing has no message with a verifiable signature".to_owned());
    }
    Ok((different.iter().cycle().take(count as usize).cloned().collect(), forged))
}
