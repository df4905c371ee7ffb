//! The clients of a server: a limited number. Those without a request are displaced first.

use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::net::{IpAddr, Ipv6Addr};
use std::rc::{Rc, Weak};

use rustc_hash::FxHashMap;
use trackbed_core::Time;

use crate::clock::now;
use crate::executor::{Task, spawn};

/// The tasks of a server's clients. When it is dropped, they are cancelled.
#[derive(Debug)]
pub struct Guests {
    count_max: usize,
    present: Rc<RefCell<Present>>,
}

#[derive(Debug, Default)]
struct Present {
    next: u64,
    exhausted: u64,
    all: BTreeMap<u64, Guest>,
    newcomers: Order,
    known: Order,
    /// Newcomers that have asked since this was looked at last.
    risen: Rc<RefCell<Vec<u64>>>,
}

#[derive(Debug)]
struct Guest {
    standing: Standing,
    task: Task<()>,
    /// What it had shown when it was put in order.
    placed: Shown,
}

impl Guests {
    /// Room for this number, at least one.
    pub fn new(count_max: usize) -> Guests {
        Guests { count_max: count_max.max(1), present: Rc::default() }
    }

    /// Serves one more client until `attending` ends. Without room, the one with the lowest
    /// [standing](Standing) is displaced.
    pub fn admit(&self, standing: Standing, attending: impl Future<Output = ()> + 'static) {
        if self.present.borrow().all.len() >= self.count_max {
            self.dismiss_one();
        }
        let mut present = self.present.borrow_mut();
        let key = present.next;
        present.next += 1;
        let all = Rc::downgrade(&self.present);
        let task = spawn(async move {
            attending.await;
            let guest = all.upgrade().and_then(|all| all.borrow_mut().remove(key));
            // The task has reached its end; there is nothing left to cancel.
            guest.into_iter().for_each(|guest| guest.task.detach());
        });
        present.add(key, standing, task);
    }

    /// A shared counter of the clients present.
    pub fn count(&self) -> GuestCount {
        GuestCount(Rc::downgrade(&self.present))
    }

    /// Called when the machine has no room for another client: displaces the one with the lowest
    /// standing. Returns whether there was one.
    pub fn relieve(&self) -> bool {
        self.present.borrow_mut().exhausted += 1;
        self.dismiss_one()
    }

    fn dismiss_one(&self) -> bool {
        let mut present = self.present.borrow_mut();
        let key = present.lowest();
        let gone = key.and_then(|key| present.remove(key));
        drop(present);
        // Its destructor may access the others.
        gone.map(drop).is_some()
    }
}

impl Present {
    fn add(&mut self, key: u64, standing: Standing, task: Task<()>) {
        // Keeps the list short while no guest is displaced.
        self.put_risen_in_order();
        let placed = standing.known.shown.get();
        let _of_another_house = standing.known.house.set((Rc::downgrade(&self.risen), key));
        self.order_of(placed).add(standing.source, placed.last, key);
        self.all.insert(key, Guest { standing, task, placed });
    }

    fn remove(&mut self, key: u64) -> Option<Guest> {
        let guest = self.all.remove(&key)?;
        self.order_of(guest.placed).remove(guest.standing.source, guest.placed.last, key);
        Some(guest)
    }

    fn order_of(&mut self, shown: Shown) -> &mut Order {
        if shown.has_asked { &mut self.known } else { &mut self.newcomers }
    }

    /// The lowest-ranked client. Times only grow, so the first by an old time that has not changed since is
    /// the first.
    fn lowest(&mut self) -> Option<u64> {
        self.put_risen_in_order();
        loop {
            let spares_newcomers = self.newcomers.len() < self.all.len() / NEWCOMERS;
            let key = match spares_newcomers {
                true => self.known.first().or_else(|| self.newcomers.first()),
                false => self.newcomers.first().or_else(|| self.known.first()),
            }?;
            if !self.put_in_order(key) {
                return Some(key);
            }
        }
    }

    fn put_risen_in_order(&mut self) {
        let risen = std::mem::take(&mut *self.risen.borrow_mut());
        for key in risen {
            self.put_in_order(key);
        }
    }

    /// Moves a guest to its current rank; returns whether it moved.
    fn put_in_order(&mut self, key: u64) -> bool {
        let Some(guest) = self.all.get_mut(&key) else { return false };
        let shown = guest.standing.known.shown.get();
        let before = std::mem::replace(&mut guest.placed, shown);
        let source = guest.standing.source;
        if before == shown {
            return false;
        }
        self.order_of(before).remove(source, before.last, key);
        self.order_of(shown).add(source, shown.last, key);
        true
    }
}

/// One place in this many is for clients without a request.
const NEWCOMERS: usize = 4;

/// See [`Guests::count`].
#[derive(Debug)]
pub struct GuestCount(Weak<RefCell<Present>>);

impl GuestCount {
    /// Their number.
    pub fn get(&self) -> usize {
        self.0.upgrade().map_or(0, |present| present.borrow().all.len())
    }

    /// How often the machine had [no room](Guests::relieve).
    pub fn exhausted(&self) -> u64 {
        self.0.upgrade().map_or(0, |present| present.borrow().exhausted)
    }
}

/// The standing of a client; clones share it.
///
/// Clients without a request yet, for example in the middle of a handshake or of a request's head,
/// rank below all others: in a flood most clients stop half-way, while an honest one sends its
/// first request within a few round trips. To allow that, newcomers have a quarter of the places:
/// while they are fewer, they rank above the others. Within each group the clients of the address
/// with the most clients rank lowest, so that a flood from one address displaces itself (for IPv6
/// the first 64 bits, which belong to one subscriber). Among these the oldest, or the one silent
/// for longest, ranks lowest.
#[derive(Clone, Debug)]
pub struct Standing {
    source: IpAddr,
    known: Rc<Known>,
}

#[derive(Debug)]
struct Known {
    shown: Cell<Shown>,
    /// Where to report the first request, and the number to report.
    house: OnceCell<(Weak<RefCell<Vec<u64>>>, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    has_asked: bool,
    last: Time,
}

impl Standing {
    /// The standing of a new client from `source`.
    pub fn new(source: IpAddr) -> Standing {
        let source = match source.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64))),
            v4 @ IpAddr::V4(_) => v4,
        };
        let shown = Cell::new(Shown { has_asked: false, last: now() });
        Standing { source, known: Rc::new(Known { shown, house: OnceCell::new() }) }
    }

    /// Where it is from: its address, for IPv6 the first 64 bits.
    pub fn source(&self) -> IpAddr {
        self.source
    }

    /// Records a request that is complete enough for the service.
    pub fn asked(&self) {
        let before = self.known.shown.replace(Shown { has_asked: true, last: now() });
        if before.has_asked {
            return;
        }
        let house = self.known.house.get();
        if let Some((risen, key)) = house.and_then(|(risen, key)| Some((risen.upgrade()?, key))) {
            risen.borrow_mut().push(*key);
        }
    }

    /// Whether there was a request.
    pub fn has_asked(&self) -> bool {
        self.known.shown.get().has_asked
    }

    /// The time of its last request, or of its arrival.
    pub fn last(&self) -> Time {
        self.known.shown.get().last
    }
}

/// Guests of one kind, by the address that they came from. Times may lag behind what guests have done
/// since: a guest that turns out to have asked later is put further back when it is looked at.
#[derive(Debug, Default)]
struct Order {
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
