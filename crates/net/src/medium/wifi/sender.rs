//! A contender for the air: a station, or a class of traffic of the access point.

use std::time::Duration;

use trackbed_core::{Rng, Time};

use super::timing::{Access, Timing};

#[derive(Debug)]
pub(super) struct Sender {
    /// The numbers of its flows; the one that was served last comes last.
    pub(super) flows: Vec<usize>,
    pub(super) access: Access,
    pub(super) rng: Rng,
    /// Failures since the last success, or since it last gave up.
    pub(super) failures: u32,
    /// The slots of back-off that are left at `resumes`.
    pub(super) slots: u32,
    /// When the medium has been idle long enough for its first slot.
    pub(super) resumes: Time,
}

impl Sender {
    /// When it sends, if it has a frame and hears nothing before.
    pub(super) fn starts(&self, timing: &Timing) -> Time {
        self.resumes + timing.slot * self.slots
    }

    /// A frame came to a sender that had none. If it finds the medium busy, it draws a back-off unless
    /// one is running (10.3.4.2, 10.23.2.2). If not, it sends at once, in EDCA when the next slot
    /// begins (10.23.2.4).
    pub(super) fn request(&mut self, now: Time, is_busy: bool, timing: &Timing) {
        if is_busy && self.slots == 0 {
            self.draw();
        } else if !is_busy && self.starts(timing) < now {
            self.slots = 0;
            let idle = nanos(now - self.resumes).next_multiple_of(nanos(timing.slot));
            let slot = self.resumes + Duration::from_nanos(idle);
            self.resumes = if timing.counts_busy_slots { slot } else { now };
        }
    }

    /// Before `heard` it hears that another one sends: the back-off stops.
    pub(super) fn freeze(&mut self, heard: Time, timing: &Timing) {
        if self.resumes < heard {
            let idle = (nanos(heard - self.resumes) - 1) / nanos(timing.slot);
            let counted = idle + u64::from(timing.counts_busy_slots);
            self.slots = self.slots.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX));
        }
    }

    /// The medium is idle from `idle_from` on: the back-off goes on after AIFS.
    pub(super) fn resume(&mut self, idle_from: Time, timing: &Timing) {
        self.resumes = idle_from + timing.sifs + timing.slot * self.access.aifsn;
    }

    /// After a success the window is the least one; after a failure it doubles, unless that was the
    /// last attempt.
    pub(super) fn end(&mut self, success: bool, attempts: u32) {
        let failures = self.failures + 1;
        self.failures = if success || failures >= attempts { 0 } else { failures };
        self.draw();
    }

    fn draw(&mut self) {
        let window = (u64::from(self.access.cw_min) + 1) << self.failures.min(31);
        let slots = self.rng.below(window.min(u64::from(self.access.cw_max) + 1));
        self.slots = u32::try_from(slots).unwrap_or(u32::MAX);
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
