//! The rules of every case: whole streams, clean ends, reported resets.

use crate::app::{End, Failure, Report, Script};
use crate::engine::Ended;
use crate::*;

/// The problems in the results of the engine, if a connection reached it, and of the kernel.
pub fn problems<S>(
    scripts: (&Script, &Script),
    ended: Option<&Ended<S>>,
    kernel: &Report,
) -> Vec<String> {
    let mut problems = Vec::new();
    let engine = ended.map(|engine| &engine.report);
    match (engine, is_abort(scripts.0), is_abort(scripts.1)) {
        (None, _, _) => problems.push("no connection reached the engine".to_owned()),
        (Some(engine), false, false) => {
            whole("engine", engine, scripts.0, scripts.1, &mut problems);
            whole("kernel", kernel, scripts.1, scripts.0, &mut problems);
            problems.extend(ended.and_then(unclean_end));
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

/// One side closed in order and the other followed: neither reports an error.
fn unclean_end<S>(engine: &Ended<S>) -> Option<String> {
    let clean = engine.error.is_none() && matches!(engine.state, State::TimeWait | State::Closed);
    (!clean).then(|| format!("the engine ended in {:?}, {:?}", engine.state, engine.error))
}

/// A side that is reset sees a reset and no clean end. A kernel connection that was not yet
/// accepted sees nothing at all.
fn reset(who: &str, victim: &Report, aborter: &Report, problems: &mut Vec<String>) {
    let never = victim.failure == Some(Failure::NeverAccepted);
    let seen = victim.failure == Some(Failure::Reset) && !victim.ended;
    if !aborter.aborted || !(seen || (never && who == "kernel")) {
        problems.push(format!("the {who} should see a reset: {victim:?}; by {aborter:?}"));
    }
}
