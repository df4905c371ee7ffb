//! How often the summary is updated during a campaign.

use std::time::Duration;

/// Decides when to update the summary: about every second, but so that all updates together take at
/// most about a tenth of the time, however long one takes.
///
/// Times count from the start of the campaign.
#[derive(Clone, Copy, Debug)]
pub struct Refresh {
    next: Duration,
}

impl Refresh {
    /// Whether an update is due.
    pub fn is_due(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// Call this after an update, with the times of its start and end.
    pub fn done(&mut self, began: Duration, ended: Duration) {
        let took = ended.saturating_sub(began);
        self.next = ended.saturating_add(INTERVAL_MIN.max(took.saturating_mul(PAUSE_FACTOR)));
    }
}

impl Default for Refresh {
    /// At the start of a campaign.
    fn default() -> Refresh {
        Refresh { next: INTERVAL_MIN }
    }
}

const INTERVAL_MIN: Duration = Duration::from_secs(1);
const PAUSE_FACTOR: u32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_every_second() {
        let mut refresh = Refresh::default();
        assert!(!refresh.is_due(Duration::from_millis(999)));
        assert!(refresh.is_due(Duration::from_secs(1)));
        refresh.done(Duration::from_secs(1), Duration::from_millis(1_010));
        assert!(!refresh.is_due(Duration::from_millis(2_009)));
        assert!(refresh.is_due(Duration::from_millis(2_010)));
    }

    #[test]
    fn it_takes_a_tenth_of_the_time_at_most() {
        let mut refresh = Refresh::default();
        let (mut now, mut spent, took) = (Duration::ZERO, Duration::ZERO, Duration::from_secs(2));
        while now < Duration::from_secs(1_000) {
            now += Duration::from_millis(100);
            if refresh.is_due(now) {
                refresh.done(now, now + took);
                (now, spent) = (now + took, spent + took);
            }
        }
        assert!((96..=100).contains(&spent.as_secs()), "{spent:?}");
    }
}
