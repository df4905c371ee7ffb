//! Verdicts on trials.

use std::time::Duration;

use trackbed_analysis::drops::{self, Bound};
use trackbed_connection::Transport;
use trackbed_measure::drops::{DropVerdict, Pattern, Place};

use super::watch::Trial;

/// What the trials of a cell are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    pub transport: Transport,
    pub rtt: Duration,
    /// Without a fault.
    pub completion_ms: f64,
    /// What may be added to the time that a standard gives.
    pub slack_ms: f64,
}

impl Judge {
    pub fn bound(&self, trial: &Trial, index: usize) -> Option<Bound> {
        trial.trace.bound(index, self.transport, (trial.span.0, self.rtt))
    }

    pub fn verdict(&self, places: Vec<Place>, trial: &Trial, bound: Option<Bound>) -> Pattern {
        let ended = (&trial.ended, trial.trace.met);
        drops::judge(places, ended, bound, (self.completion_ms, self.slack_ms))
    }

    /// The verdict on the loss of one packet, which its sender must not take for lost too soon either.
    pub fn single(
        &self,
        (at, place): (usize, Place),
        trial: &Trial,
        bound: Option<Bound>,
    ) -> Pattern {
        let pattern = self.verdict(vec![place], trial, bound);
        let repeated = trial.trace.repeated(at, (trial.span.0, self.rtt));
        let early = repeated.zip(bound).filter(|(after, bound)| *after < EARLY * bound.least_ms());
        match early {
            Some((after, _)) if pattern.verdict == DropVerdict::InTime => Pattern {
                verdict: DropVerdict::Early,
                reason: Some(format!("sent again after {after:.1} ms, before any sample")),
                ..pattern
            },
            _ => pattern,
        }
    }
}

/// A timer without a sample may be this much shorter than the standard's without being a fault.
const EARLY: f64 = 0.9;
