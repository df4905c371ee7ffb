//! The order in which guests go, kept so that the first is found without a look at all of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::net::IpAddr;

use rustc_hash::FxHashMap;
use trackbed_core::Time;

/// Guests of one kind, by the address that they came from. Times may lag behind what guests have done
/// since: a guest that turns out to have asked later is put further back when it is looked at.
#[derive(Debug, Default)]
pub(super) struct Order {
    len: usize,
    sources: FxHashMap<IpAddr, BTreeSet<(Time, u64)>>,
    /// Each address once, by its number of guests, and the guest that has been silent for longest.
    ranks: BTreeSet<(Reverse<usize>, Time, u64)>,
}

impl Order {
    pub fn len(&self) -> usize {
        self.len
    }

    /// The guest that goes first: of the address with the most guests the one that has been silent for
    /// longest, and where several addresses have as many, that of all of these.
    pub fn first(&self) -> Option<u64> {
        self.ranks.first().map(|(_, _, key)| *key)
    }

    /// Adds guest `key`, which was last active at `last`.
    pub fn add(&mut self, source: IpAddr, last: Time, key: u64) {
        self.change(source, |guests| guests.insert((last, key)));
        self.len += 1;
    }

    /// Takes out the guest that was added so.
    pub fn remove(&mut self, source: IpAddr, last: Time, key: u64) {
        self.change(source, |guests| guests.remove(&(last, key)));
        self.len -= 1;
    }

    fn change(&mut self, source: IpAddr, act: impl FnOnce(&mut BTreeSet<(Time, u64)>) -> bool) {
        let guests = self.sources.entry(source).or_default();
        let rank = |guests: &BTreeSet<(Time, u64)>| {
            guests.first().map(|(last, key)| (Reverse(guests.len()), *last, *key))
        };
        if let Some(rank) = rank(guests) {
            self.ranks.remove(&rank);
        }
        let is_done = act(guests);
        debug_assert!(is_done, "a guest is added once, and taken out as it was added");
        match rank(guests) {
            Some(rank) => drop(self.ranks.insert(rank)),
            None => drop(self.sources.remove(&source)),
        }
    }
}
