//! A timeline at its place in a run.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;

use crate::environment::parameters::Reconnect;
use crate::environment::timeline::{Change, Timeline};

/// A timeline and its start in the time of a run. The default is no change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    begin: Time,
    timeline: Arc<Timeline>,
    reconnect: Reconnect,
}

impl Course {
    /// `timeline`, starting at `begin`.
    pub fn new(begin: Time, timeline: Arc<Timeline>) -> Course {
        Course { begin, timeline, reconnect: Reconnect::default() }
    }

    /// The same with another kind of reconnections.
    pub fn reconnecting(self, reconnect: Reconnect) -> Course {
        Course { reconnect, ..self }
    }

    /// The kind of reconnection.
    pub fn reconnect(&self) -> Reconnect {
        self.reconnect
    }

    /// When it begins. The measured part of the run should not begin earlier.
    pub fn begin(&self) -> Time {
        self.begin
    }

    /// The changes.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The changes at their times in the run, in order.
    pub fn changes(&self) -> impl Iterator<Item = (Time, Change)> + '_ {
        self.timeline.moments().iter().map(|moment| (self.begin + moment.at, moment.change))
    }

    /// The link delays with their start times in the run; the last one stays. The first one holds
    /// from the start of the run; empty if the timeline has no delays.
    pub fn delays(&self) -> impl Iterator<Item = (Time, Duration)> + '_ {
        self.timeline.delays().map(|(at, delay)| match at.is_zero() {
            true => (Time::ZERO, delay),
            false => (self.begin + at, delay),
        })
    }
}
