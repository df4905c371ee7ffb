//! How early to wake up.

use std::time::Duration;

use crate::clock::nanos;

/// How long before a packet is due to wake up: the kernel's wake-up latency, except for its slowest
/// one percent. On a virtual machine this may be a quarter of a millisecond.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// A moving estimate of a high quantile of the wake-up latency, in nanoseconds.
    late: u64,
}

impl Lead {
    pub(crate) fn nanos(&self) -> u64 {
        self.late.clamp(LEAD_MIN, LEAD_MAX)
    }

    /// Adds the latency of a wake-up.
    ///
    /// Steps up are larger than steps down, so that they balance at the quantile.
    pub(crate) fn learn(&mut self, late: Duration) {
        let late = nanos(late);
        let step = self.late / 16 + 1_000;
        self.late = match late > self.late {
            true => self.late + step,
            false => self.late - step.min(self.late) / 32,
        };
    }
}

const LEAD_MIN: u64 = 20_000;
const LEAD_MAX: u64 = 500_000;
