//! A contender for the air: a station, or a class of traffic of the access point.

use trackbed_core::{Rng, Time};

use super::timing::{Access, Timing};

#[derive(Debug)]
pub(super) struct Sender {
    /// The numbers of its flows; the one that was served last comes last.
    pub(super) flows: Vec<usize>,
    pub(super) access: Access,
    pub(super) rng: Rng,
    /// Failures since the last success, or since it last gave up.
    pub(super) failures: u64,
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

    /// A frame came to a sender that had none. If the medium is busy, it draws a back-off unless one
    /// is running; if not, it sends when that is over, perhaps at once (10.3.4.2, 10.23.2.2).
    pub(super) fn request(&mut self, now: Time, is_busy: bool, timing: &Timing) {
        if is_busy && self.slots == 0 {
            self.draw();
        } else if !is_busy && self.starts(timing) < now {
            (self.resumes, self.slots) = (now, 0);
        }
    }

    /// Before `heard` it hears that another one sends: the back-off stops.
    pub(super) fn freeze(&mut self, heard: Time, timing: &Timing) {
        if self.resumes < heard {
            let idle = ((heard - self.resumes).as_nanos() - 1) / timing.slot.as_nanos();
            let counted = idle + u128::from(timing.counts_busy_slots);
            self.slots = self.slots.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX));
        }
    }

    /// The medium is idle from `idle_from` on: the back-off goes on after AIFS.
    pub(super) fn resume(&mut self, idle_from: Time, timing: &Timing) {
        self.resumes = idle_from + timing.sifs + timing.slot * self.access.aifsn;
    }

    /// A transmission ended. After a failure the window doubles, unless that was the last attempt.
    pub(super) fn end(&mut self, success: bool, attempts: u64) {
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
