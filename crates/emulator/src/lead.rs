//! How early to wake.

use std::time::Duration;

/// How long before a packet is due to be awake: what the kernel takes to wake us, except for the
/// slowest times in a hundred. On a virtual machine that may well be a quarter of a millisecond.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// A moving estimate of a high quantile of how late the kernel wakes us, in nanoseconds.
    late: u64,
}

impl Lead {
    pub(crate) fn nanos(&self) -> u64 {
        self.late.clamp(LEAD_MIN, LEAD_MAX)
    }

    /// Takes in by how much a wake was late.
    ///
    /// Steps up are so much larger than steps down that there is balance at the quantile.
    pub(crate) fn learn(&mut self, late: Duration) {
        let late = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        let step = self.late / 16 + 1_000;
        self.late = match late > self.late {
            true => self.late + step,
            false => self.late - step.min(self.late) / 32,
        };
    }
}

const LEAD_MIN: u64 = 20_000;
const LEAD_MAX: u64 = 500_000;
