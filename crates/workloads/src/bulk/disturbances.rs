//! When a transfer is disturbed, and how.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::Disturbance;

/// The disturbances of a transfer, in order.
///
/// They happen at points of progress, not of time, so that every protocol loses its connection
/// after the same work: a slower one is not disturbed more often. The points divide the transfer
/// evenly and are the same in every run; only the links differ from run to run. A move comes before
/// a reconnection at the same point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Disturbances(Vec<(u64, Disturbance)>);

impl Disturbances {
    /// These numbers of reconnections and moves in a transfer of `bytes`: number k of N of a kind
    /// happens when k / (N + 1) of the bytes have arrived.
    pub(super) fn new(bytes: u64, reconnections: u32, moves: u32) -> Disturbances {
        let points = |count: u32, disturbance| {
            let parts = u128::from(count) + 1;
            (1..parts).map(move |part| {
                let point = u128::from(bytes) * part / parts;
                // It is less than `bytes`.
                (point as u64, disturbance)
            })
        };
        let mut all: Vec<_> = points(moves, Disturbance::Move)
            .chain(points(reconnections, Disturbance::Reconnection))
            .collect();
        all.sort_by_key(|(point, _)| *point);
        Disturbances(all)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Disturbance number `index`, from 0: the number of bytes at which it happens, and its kind.
    pub(super) fn get(&self, index: usize) -> Option<(u64, Disturbance)> {
        self.0.get(index).copied()
    }

    pub(super) fn up_to(&self, bytes: u64) -> usize {
        self.0.partition_point(|(point, _)| *point <= bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Silence {
    longest: Duration,
    /// The last arrival, or the disturbance.
    last: Time,
}

impl Silence {
    /// Starts at a disturbance.
    pub(super) fn since(disturbance: Time) -> Silence {
        Silence { longest: Duration::ZERO, last: disturbance }
    }

    pub(super) fn end(&mut self, now: Time) {
        self.longest = self.longest.max(now - self.last);
        self.last = now;
    }

    pub(super) fn longest(self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Disturbance::{Move, Reconnection};

    #[test]
    fn they_divide_the_transfer_evenly() {
        assert!(Disturbances::new(1_000, 0, 0).is_empty());
        let three = Disturbances::new(1_000, 3, 0);
        assert_eq!(three.0, [250, 500, 750].map(|point| (point, Reconnection)));
        let mixed = Disturbances::new(1_000, 1, 3);
        assert_eq!(mixed.0, [(250, Move), (500, Move), (500, Reconnection), (750, Move)]);
        assert_eq!([249, 250, 499, 500, 1_000].map(|bytes| mixed.up_to(bytes)), [0, 1, 1, 3, 4]);
        let large = Disturbances::new(u64::MAX, 1, 0);
        assert_eq!(large.get(0), Some((u64::MAX / 2, Reconnection)));
        assert_eq!(large.get(1), None);
        let least = Disturbances::new(4, 3, 0);
        assert_eq!(least.0.iter().map(|(point, _)| *point).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
