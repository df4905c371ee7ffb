//! The changes of a run, with their times.

use std::time::Duration;

use trackbed_core::Ratio;

/// A change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// From now on the one-way delay of a packet, in both directions.
    Delay(Duration),
    /// Clients drop their connections and open new ones.
    Reconnect,
    /// Viewers jump to this place: a share of the media's length, less than 100 %.
    Seek(Ratio),
}

/// A change and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Since the start of the measured part of a run.
    pub at: Duration,
    /// The change.
    pub change: Change,
}

/// All changes of a run, in order of time; at one time in the order of [`Change`]. As text it is a
/// table of comma-separated values, see [`Timeline::from_str`](std::str::FromStr).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    moments: Vec<Moment>,
}

impl Timeline {
    /// The timeline of `moments`, which may be in any order.
    ///
    /// # Errors
    /// If two of a kind are at one time, the first delay is late, or a seek goes to the very end.
    pub fn new(mut moments: Vec<Moment>) -> Result<Timeline, TimelineError> {
        moments.sort();
        let problem = |at: Duration, what: &'static str| Err(TimelineError { at, what });
        let is_delay = |moment: &&Moment| matches!(moment.change, Change::Delay(_));
        let rivals = |pair: &&[Moment]| {
            let [one, other] = pair else { return false };
            let kind = |moment: &Moment| std::mem::discriminant(&moment.change);
            one.at == other.at && kind(one) == kind(other)
        };
        if let Some(pair) = moments.windows(2).find(rivals) {
            return problem(
                pair[0].at,
                "two changes of the same kind at one time; remove one of them",
            );
        }
        if let Some(first) = moments.iter().find(is_delay).filter(|first| !first.at.is_zero()) {
            return problem(first.at, "the first delay must hold from the start; add one at 0 s");
        }
        let beyond = |moment: &&Moment| moment.change == Change::Seek(Ratio::ONE);
        if let Some(moment) = moments.iter().find(beyond) {
            return problem(
                moment.at,
                "there is nothing to play at the end; seek to less than 100 %",
            );
        }
        Ok(Timeline { moments })
    }

    /// The changes, in order of time.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The link delays with their start times, the last one stays; empty if it has none.
    pub fn delays(&self) -> impl Iterator<Item = (Duration, Duration)> + '_ {
        self.moments.iter().filter_map(|moment| match moment.change {
            Change::Delay(delay) => Some((moment.at, delay)),
            Change::Reconnect | Change::Seek(_) => None,
        })
    }
}

/// Why changes do not form a timeline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {}: {what}", trackbed_core::units::format_duration(*.at))]
pub struct TimelineError {
    /// The time of the wrong change.
    pub at: Duration,
    /// What is wrong with it, and the remedy.
    pub what: &'static str,
}
