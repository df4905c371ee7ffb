//! The division of a fixed number of verifications among threads in the study of 2018: a closed
//! loop, without arrival times and deadlines as in [`engine`](crate::engine).

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::engine::Split;

/// A number of verifications, divided among threads.
#[derive(Debug)]
pub struct Division {
    split: Split,
    count: usize,
    threads: usize,
    batch: usize,
    /// The remaining verifications, if the division is dynamic.
    next: AtomicUsize,
}

impl Division {
    /// `count` verifications for `threads`, at most `batch` at a time. Static: equal consecutive
    /// shares, like OpenMP's default. Dynamic: a free thread takes the next batch.
    #[must_use]
    pub fn new(split: Split, count: usize, threads: usize, batch: usize) -> Self {
        let (threads, batch) = (threads.max(1), batch.max(1));
        Self { split, count, threads, batch, next: AtomicUsize::new(0) }
    }

    /// The batches of one of the threads, counted from 0.
    pub fn batches(&self, thread: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut share = self.share(thread)..self.share(thread + 1);
        std::iter::from_fn(move || {
            let (start, end) = match self.split {
                Split::Static => (share.start, share.end),
                // Each thread adds once after the end, so this does not overflow.
                Split::Dynamic => (self.next.fetch_add(self.batch, Ordering::Relaxed), self.count),
            };
            let end = end.min(start.saturating_add(self.batch));
            share.start = end;
            (start < end).then_some(start..end)
        })
    }

    /// Where the static share of a thread begins; shares differ by one at most.
    fn share(&self, thread: usize) -> usize {
        let place = self.count as u128 * thread as u128 / self.threads as u128;
        usize::try_from(place).unwrap_or(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By threads that really run at once.
    #[test]
    fn each_item_is_handed_out_exactly_once() {
        for split in [Split::Static, Split::Dynamic] {
            for (count, threads, batch) in [(0, 1, 1), (1, 3, 32), (10_007, 7, 32), (5_000, 16, 1)]
            {
                let division = Division::new(split, count, threads, batch);
                let taken: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                std::thread::scope(|scope| {
                    for thread in 0..threads {
                        let (division, taken) = (&division, &taken);
                        scope.spawn(move || {
                            for range in division.batches(thread) {
                                assert!((1..=batch).contains(&range.len()));
                                for item in &taken[range] {
                                    item.fetch_add(1, Ordering::Relaxed);
                                }
                            }
                        });
                    }
                });
                let case = format!("{split:?}, {count} for {threads} by {batch}");
                assert!(taken.iter().all(|item| item.load(Ordering::Relaxed) == 1), "{case}");
            }
        }
    }

    #[test]
    fn static_shares_are_equal_and_dynamic_ones_are_whatever_is_left() {
        let items = |division: &Division, thread| {
            division.batches(thread).map(|range| range.len()).sum::<usize>()
        };
        let fixed = Division::new(Split::Static, 100_003, 4, 32);
        assert_eq!(
            [0, 1, 2, 3].map(|thread| items(&fixed, thread)),
            [25_000, 25_001, 25_001, 25_001]
        );
        let shared = Division::new(Split::Dynamic, 100, 2, 32);
        let first = shared.batches(0).next();
        assert_eq!((first, items(&shared, 1), items(&shared, 0)), (Some(0..32), 68, 0));
    }
}
