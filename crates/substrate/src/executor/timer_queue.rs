//! Deadlines in order, made for timers that are reset for every packet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slab::Slab;
use trackbed_core::Time;

/// A set of timers, each with a payload `T`, in the order in which they are due.
///
/// Timers due at one instant come out by rank, then in the order in which they were set. That order
/// is deliberate: it depends on the program's actions, never on addresses or hashes.
///
/// Moving a deadline later, as transports do for nearly every packet, costs one store: the heap is
/// updated when the earlier deadline comes up.
#[derive(Debug)]
pub(crate) struct TimerQueue<T> {
    slots: Slab<Slot<T>>,
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
    /// Entries of the heap that no slot refers to any more.
    stale: usize,
}

impl<T> TimerQueue<T> {
    pub(crate) const fn new() -> TimerQueue<T> {
        TimerQueue { slots: Slab::new(), heap: BinaryHeap::new(), sequence: 0, stale: 0 }
    }

    /// Adds a timer that is not set yet. Lower ranks come first at one instant.
    pub(crate) fn insert(&mut self, rank: u32, payload: T) -> u32 {
        self.slots.insert(Slot { rank, armed: None, queued: None, payload }) as u32
    }

    pub(crate) fn remove(&mut self, key: u32) -> T {
        let slot = self.slots.remove(key as usize);
        if slot.queued.is_some() {
            self.stale += 1;
            self.compact();
        }
        slot.payload
    }

    /// Sets the timer, or with `None` disarms it. With the same deadline it keeps its place.
    pub(crate) fn set(&mut self, key: u32, deadline: Option<Time>) {
        let slot = &mut self.slots[key as usize];
        let Some(at) = deadline else {
            slot.armed = None;
            return;
        };
        if slot.armed.is_some_and(|armed| armed.at == at) {
            return;
        }
        self.sequence += 1;
        let armed = Armed { at, sequence: self.sequence };
        slot.armed = Some(armed);
        match slot.queued {
            Some(queued) if queued.at <= at => return,
            Some(_) => self.stale += 1,
            None => {}
        }
        slot.queued = Some(armed);
        let rank = slot.rank;
        self.heap.push(Reverse(Entry { at, rank, sequence: armed.sequence, key }));
        self.compact();
    }

    pub(crate) fn payload(&mut self, key: u32) -> &mut T {
        &mut self.slots[key as usize].payload
    }

    pub(crate) fn next(&mut self) -> Option<Time> {
        self.settle();
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Disarms and returns the first timer due at `now` or before.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<u32> {
        if self.next()? > now {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        let slot = &mut self.slots[entry.key as usize];
        (slot.armed, slot.queued) = (None, None);
        Some(entry.key)
    }

    /// Brings the top of the heap in line with its slot.
    fn settle(&mut self) {
        while let Some(mut top) = self.heap.peek_mut() {
            let Reverse(entry) = *top;
            let Some(slot) = self.slots.get_mut(entry.key as usize).filter(|s| s.is_for(&entry))
            else {
                std::collections::binary_heap::PeekMut::pop(top);
                self.stale -= 1;
                continue;
            };
            match slot.armed {
                Some(armed) if armed.sequence == entry.sequence => return,
                Some(armed) => {
                    slot.queued = Some(armed);
                    *top = Reverse(Entry { at: armed.at, sequence: armed.sequence, ..entry });
                }
                None => {
                    slot.queued = None;
                    std::collections::binary_heap::PeekMut::pop(top);
                }
            }
        }
    }

    /// Cleans the heap once more than half of it is stale, so that millions of short-lived timers
    /// with late deadlines do not pile up.
    fn compact(&mut self) {
        if self.stale > STALE_MIN && self.stale * 2 > self.heap.len() {
            let slots = &self.slots;
            self.heap.retain(|Reverse(entry)| {
                slots.get(entry.key as usize).is_some_and(|slot| slot.is_for(entry))
            });
            self.stale = 0;
        }
    }
}

#[derive(Debug)]
struct Slot<T> {
    rank: u32,
    armed: Option<Armed>,
    /// The heap entry of this slot: never later than `armed`.
    queued: Option<Armed>,
    payload: T,
}

impl<T> Slot<T> {
    fn is_for(&self, entry: &Entry) -> bool {
        self.queued.is_some_and(|queued| queued.sequence == entry.sequence)
    }
}

#[derive(Clone, Copy, Debug)]
struct Armed {
    at: Time,
    sequence: u64,
}

/// Ordered by time, rank and sequence; the key never decides, as the sequence is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Time,
    rank: u32,
    sequence: u64,
    key: u32,
}

const STALE_MIN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &mut TimerQueue<&'static str>) -> Vec<(u64, &'static str)> {
        let mut out = Vec::new();
        while let Some(at) = queue.next() {
            let key = queue.pop_due(at).unwrap();
            out.push((at.as_nanos(), *queue.payload(key)));
        }
        out
    }

    #[test]
    fn due_timers_come_by_time_then_rank_then_order_of_setting() {
        let mut queue = TimerQueue::new();
        for (rank, at, name) in
            [(1, 5, "b"), (0, 5, "a"), (0, 9, "d"), (1, 5, "c"), (0, 1, "first")]
        {
            let key = queue.insert(rank, name);
            queue.set(key, Some(Time::from_nanos(at)));
        }
        assert_eq!(drain(&mut queue), [(1, "first"), (5, "a"), (5, "b"), (5, "c"), (9, "d")]);
    }

    #[test]
    fn a_timer_that_moved_is_due_only_at_its_last_deadline() {
        let mut queue = TimerQueue::new();
        let moved = queue.insert(0, "moved");
        for at in [10, 30, 20, 5, 40] {
            queue.set(moved, Some(Time::from_nanos(at)));
        }
        let other = queue.insert(0, "other");
        queue.set(other, Some(Time::from_nanos(40)));
        assert_eq!(queue.pop_due(Time::from_nanos(39)), None);
        assert_eq!(drain(&mut queue), [(40, "moved"), (40, "other")]);
    }

    #[test]
    fn the_order_is_that_of_the_last_setting_even_after_a_lazy_move() {
        let mut queue = TimerQueue::new();
        let (a, b) = (queue.insert(0, "a"), queue.insert(0, "b"));
        queue.set(a, Some(Time::from_nanos(10)));
        queue.set(b, Some(Time::from_nanos(20)));
        queue.set(a, Some(Time::from_nanos(20)));
        assert_eq!(drain(&mut queue), [(20, "b"), (20, "a")]);
    }

    #[test]
    fn disarmed_and_removed_timers_never_come_due() {
        let mut queue = TimerQueue::new();
        let (a, b) = (queue.insert(0, "a"), queue.insert(0, "b"));
        queue.set(a, Some(Time::from_nanos(10)));
        queue.set(b, Some(Time::from_nanos(10)));
        queue.set(a, None);
        assert_eq!(queue.remove(b), "b");
        assert_eq!(queue.next(), None);
        queue.set(a, Some(Time::from_nanos(3)));
        assert_eq!(drain(&mut queue), [(3, "a")]);
    }

    #[test]
    fn timers_that_are_dropped_early_leave_no_heap_behind() {
        let mut queue = TimerQueue::new();
        for at in 0..100_000 {
            let key = queue.insert(0, ());
            queue.set(key, Some(Time::from_nanos(1_000_000 + at)));
            queue.remove(key);
        }
        assert!(queue.heap.len() <= 2 * STALE_MIN + 1, "{} entries", queue.heap.len());
    }
}
