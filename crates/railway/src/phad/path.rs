//! The state of one path: whether it is a backup, and whether it receives data again.

use std::time::Duration;

use trackbed_core::Time;

use super::{Range, Settings};
use crate::motion::Direction;

#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub(super) usable: bool,
    /// Bytes received so far.
    pub(super) received: u64,
    phase: Phase,
    /// Ranges that are over, although the position may still be inside.
    spent: Vec<Range>,
    /// No order before this time, because the kernel has just refused one.
    not_before: Time,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Free,
    /// A backup, because of a range.
    Flagged { since: Time, range: Range },
    /// No longer a backup; waits for data.
    Returning(Returning),
}

#[derive(Clone, Copy, Debug)]
struct Returning {
    since: Time,
    /// When to check next.
    look_at: Time,
    /// The bytes received until then, on this path and on others.
    received: u64,
    elsewhere: u64,
    repeats: u32,
    /// The kernel refused; the order is repeated whether data arrives or not.
    refused: bool,
}

impl Path {
    pub(super) fn is_flagged(&self) -> bool {
        matches!(self.phase, Phase::Flagged { .. })
    }

    pub(super) fn flagged(&self) -> Option<(Time, Range)> {
        match self.phase {
            Phase::Flagged { since, range } => Some((since, range)),
            Phase::Free | Phase::Returning(_) => None,
        }
    }

    pub(super) fn may_be_flagged(&self, now: Time) -> bool {
        self.usable && !self.is_flagged() && now >= self.not_before
    }

    pub(super) fn flag(&mut self, now: Time, range: Range) {
        self.phase = Phase::Flagged { since: now, range };
    }

    /// The flag was not set after all.
    pub(super) fn unset(&mut self, not_before: Time) {
        self.phase = Phase::Free;
        self.not_before = not_before;
    }

    pub(super) fn release(&mut self, now: Time, elsewhere: u64, settings: &Settings) {
        let look_at = now + settings.repeat_after;
        let (received, refused) = (self.received, false);
        let returning = Returning { since: now, look_at, received, elsewhere, repeats: 0, refused };
        self.phase = Phase::Returning(returning);
    }

    pub(super) fn return_later(&mut self, now: Time, settings: &Settings) {
        if let Phase::Returning(returning) = &mut self.phase {
            returning.refused = true;
            returning.look_at = now + settings.repeat_after;
        }
    }

    /// Whether the flag must be cleared again. If only a part of this succeeds, the path may become a backup
    /// again, so it is only done while another path is usable (`may_repeat`).
    pub(super) fn misses_data(
        &mut self,
        now: Time,
        elsewhere: u64,
        may_repeat: bool,
        settings: &Settings,
    ) -> bool {
        let Phase::Returning(returning) = &mut self.phase else { return false };
        if returning.refused {
            let due = now >= returning.look_at;
            returning.look_at = if due { now + settings.repeat_after } else { returning.look_at };
            returning.refused &= !due;
            return due;
        }
        let is_back = self.received.saturating_sub(returning.received) >= settings.back_bytes;
        let given_up = returning.repeats >= settings.repeats_max
            || now.since(returning.since) >= GIVE_UP_AFTER;
        if is_back || given_up {
            self.phase = Phase::Free;
            return false;
        }
        if now < returning.look_at || !may_repeat {
            return false;
        }
        returning.look_at = now + settings.repeat_after;
        // Without any traffic, no data can be missing.
        let flows = elsewhere.saturating_sub(returning.elsewhere) >= settings.back_bytes;
        if flows {
            returning.elsewhere = elsewhere;
            returning.repeats += 1;
        }
        flows
    }

    pub(super) fn spend(&mut self, range: Range) {
        if !self.has_spent(range) {
            self.spent.push(range);
        }
    }

    pub(super) fn has_spent(&self, range: Range) -> bool {
        self.spent.contains(&range)
    }

    /// Ranges that are far enough behind, or ahead again, count again.
    pub(super) fn forget_spent(
        &mut self,
        direction: Direction,
        along: f64,
        ahead: f64,
        settings: &Settings,
    ) {
        self.spent.retain(|range| {
            let (begin, end) = range.along(direction);
            along < end + settings.hysteresis_m && ahead > begin - settings.hysteresis_m
        });
    }
}

/// After this time, a path's data is no longer waited for.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);
