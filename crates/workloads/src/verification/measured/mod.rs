//! The unit in real time: this machine, on a separate thread beside the executor.

mod closed;
mod outcome;
pub(super) mod script;
mod unit;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use trackbed_core::event::{UnitAccount, Verification};
use trackbed_core::{Event, Time};
use trackbed_substrate::{now, sleep};
use trackbed_verifier::engine::monotonic_nanos;

use super::book::Book;
use super::plan::{Load, Plan};
use crate::contract::Stage;
use outcome::{Decision, Outcome};

/// Ends the unit's thread when the run no longer waits for it.
struct Alive(Arc<AtomicBool>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

pub(super) async fn run(plan: &Arc<Plan>, stage: &Stage) -> Result<(), String> {
    let alive = Alive(Arc::new(AtomicBool::new(true)));
    let (goes_on, seed, shared) = (Arc::clone(&alive.0), stage.seed, Arc::clone(plan));
    let work = move || match shared.load {
        Load::Crossing => unit::crossing(&shared, &seed, &goes_on),
        Load::Closed { signatures } => closed::verify(&shared, signatures, &seed),
    };
    let thread = std::thread::Builder::new().name("unit".to_owned()).spawn(work);
    let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
    while !thread.is_finished() {
        sleep(LOOK_EVERY).await;
    }
    let outcome =
        thread.join().map_err(|_| "the unit has panicked: this is a bug in Trackbed")??;
    enter(plan, stage, outcome);
    Ok(())
}

const LOOK_EVERY: Duration = Duration::from_millis(20);

fn enter(plan: &Plan, stage: &Stage, mut outcome: Outcome) {
    // Both clocks are CLOCK_MONOTONIC; the run's begins later.
    let (here, there) = (now(), monotonic_nanos());
    let absolute =
        |nanos: u64| Time::from_nanos(here.as_nanos().saturating_sub(there.saturating_sub(nanos)));
    let begin = absolute(outcome.begin);
    stage.log.record(begin, Event::Started);
    if plan.load != Load::Crossing {
        let span = Duration::from_nanos(outcome.end - outcome.begin);
        let account = Verification::Accounted(UnitAccount { span, ..outcome.account });
        return stage.log.record(absolute(outcome.end), Event::Verification(account));
    }
    stage.log.record(begin, Event::DeadlineSet { after: plan.deadline });
    let (from, until) = (begin + plan.warm_up, begin + plan.duration);
    stage.log.record(begin, Event::WindowSet { from, until });
    outcome.decisions.sort_by_key(|decision| decision.at);
    let mut book = Book::new(stage.log.clone());
    for Decision { at, heard, origin, judgement } in outcome.decisions {
        book.judge(absolute(at), absolute(heard), origin, judgement);
    }
    book.close(absolute(outcome.end), outcome.account);
}
