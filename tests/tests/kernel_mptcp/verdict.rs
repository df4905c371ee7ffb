//! What every case has to keep to: whole streams and clean ends, or resets that are seen.

use trackbed_tcp::State;

use crate::app::{End, Failure, Report, Script};
use crate::ground::{Outcome, Setup};

/// What is wrong with what a case left behind.
pub fn problems(setup: &Setup, outcome: &Outcome) -> Vec<String> {
    let mut problems = Vec::new();
    let engine = outcome.engine.as_ref().map(|engine| &engine.report);
    let kernel = &outcome.kernel.report;
    let scripts = (&setup.engine.script, &setup.kernel.script);
    match (engine, is_abort(scripts.0), is_abort(scripts.1)) {
        (None, _, _) => problems.push("no connection reached the engine".to_owned()),
        (Some(engine), false, false) => {
            whole("engine", engine, scripts.0, scripts.1, &mut problems);
            whole("kernel", kernel, scripts.1, scripts.0, &mut problems);
            clean_end(outcome, &mut problems);
        }
        (Some(engine), true, _) => reset("kernel", kernel, engine, &mut problems),
        (Some(engine), false, true) => reset("engine", engine, kernel, &mut problems),
    }
    for (who, report) in [("engine", engine), ("kernel", Some(kernel))] {
        if let Some(at) = report.and_then(|report| report.wrong_at) {
            problems.push(format!("the {who} read a wrong byte at {at}"));
        }
    }
    problems
}

fn is_abort(script: &Script) -> bool {
    matches!(script.end, End::Abort(_))
}

/// Everything was sent, everything came, and both ends were read.
fn whole(who: &str, report: &Report, own: &Script, peer: &Script, problems: &mut Vec<String>) {
    let right = report.failure.is_none()
        && report.sent == own.send
        && report.received == peer.send
        && report.ended
        && report.finished;
    if !right {
        let (sends, gets) = (own.send, peer.send);
        problems.push(format!("the {who}, to send {sends} and to get {gets}: {report:?}"));
    }
}

/// One side closed in order and the other followed: nobody knows of an error.
fn clean_end(outcome: &Outcome, problems: &mut Vec<String>) {
    let Some(engine) = &outcome.engine else { return };
    if engine.error.is_some() || !matches!(engine.state, State::TimeWait | State::Closed) {
        problems.push(format!("the engine ended in {:?}, {:?}", engine.state, engine.error));
    }
}

/// Whoever is reset sees a reset and no clean end. A kernel that was not yet accepted from sees
/// nothing at all.
fn reset(who: &str, victim: &Report, aborter: &Report, problems: &mut Vec<String>) {
    let never = victim.failure == Some(Failure::NeverAccepted);
    let seen = victim.failure == Some(Failure::Reset) && !victim.ended;
    if !aborter.aborted || !(seen || (never && who == "kernel")) {
        problems.push(format!("the {who} should see a reset: {victim:?}; by {aborter:?}"));
    }
}
