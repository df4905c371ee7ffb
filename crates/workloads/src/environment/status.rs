//! The status changer: link delays and reconnections at a fixed period.

use std::time::Duration;

use trackbed_core::Seed;

use crate::environment::timeline::{Change, Moment};
use crate::environment::truncated_normal::TruncatedNormal;

/// Decides, at the start and after each period, the link's delay and whether clients reconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChanger {
    /// The distribution of link delays; `None` leaves the delay unchanged.
    pub delay: Option<TruncatedNormal>,
    /// The time between two decisions; above zero.
    pub period: Duration,
    /// The number of reconnections. The ends of periods at which they happen are drawn without
    /// replacement, so that the number is exact; with one more, all the others stay where they are.
    pub reconnections: u32,
}

impl StatusChanger {
    /// The decisions after the first one within `duration`: the maximum number of reconnections.
    pub fn decisions(&self, duration: Duration) -> u64 {
        let (duration, period) = (duration.as_nanos(), self.period.as_nanos());
        // The last one must be before the end.
        u64::try_from(duration.div_ceil(period).saturating_sub(1)).unwrap_or(u64::MAX)
    }

    /// Its decisions within `duration`, in no particular order.
    pub fn moments(&self, seed: &Seed, duration: Duration) -> Vec<Moment> {
        let decisions = self.decisions(duration);
        let period = u64::try_from(self.period.as_nanos()).unwrap_or(u64::MAX);
        let at = |decision: u64| Duration::from_nanos(period.saturating_mul(decision));
        let mut delays = seed.stream("environment/delay");
        let delay = |decision: u64| {
            let change = Change::Delay(self.delay?.draw(&mut delays));
            Some(Moment { at: at(decision), change })
        };
        let mut moments: Vec<Moment> = (0..=decisions).filter_map(delay).collect();
        let reconnect = |decision: u64| Moment { at: at(decision), change: Change::Reconnect };
        moments.extend(self.reconnect_at(seed, decisions).into_iter().map(reconnect));
        moments
    }

    /// The first cards of a shuffled deck of all decisions (Fisher and Yates, from the front).
    fn reconnect_at(&self, seed: &Seed, decisions: u64) -> Vec<u64> {
        let mut rng = seed.stream("environment/reconnections");
        let mut deck: Vec<u64> = (1..=decisions).collect();
        let wanted = deck.len().min(self.reconnections as usize);
        for place in 0..wanted {
            let left = deck.len() - place;
            deck.swap(place, place + rng.below(left as u64) as usize);
        }
        deck.truncate(wanted);
        deck
    }
}
