//! The clients that a server serves: a limited number, and those without a request are displaced
//! first.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, Ipv6Addr};
use std::rc::{Rc, Weak};

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
}

#[derive(Debug)]
struct Guest {
    standing: Standing,
    task: Task<()>,
}

impl Guests {
    /// Room for this number, at least one.
    pub fn new(count_max: usize) -> Guests {
        Guests { count_max: count_max.max(1), present: Rc::default() }
    }

    /// Serves one more client until `attending` ends. Without room, the one with the lowest
    /// [standing](Standing) is displaced.
    pub fn admit(&self, standing: Standing, attending: impl Future<Output = ()> + 'static) {
        self.make_room();
        let mut present = self.present.borrow_mut();
        let key = present.next;
        present.next += 1;
        let all = Rc::downgrade(&self.present);
        let task = spawn(async move {
            attending.await;
            let guest = all.upgrade().and_then(|all| all.borrow_mut().all.remove(&key));
            // The task has reached its end; there is nothing left to cancel.
            guest.into_iter().for_each(|guest| guest.task.detach());
        });
        present.all.insert(key, Guest { standing, task });
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

    fn make_room(&self) {
        if self.present.borrow().all.len() >= self.count_max {
            self.dismiss_one();
        }
    }

    fn dismiss_one(&self) -> bool {
        let mut present = self.present.borrow_mut();
        let mut peers: BTreeMap<(bool, IpAddr), usize> = BTreeMap::new();
        for Guest { standing, .. } in present.all.values() {
            *peers.entry((standing.has_asked(), standing.source)).or_default() += 1;
        }
        let newcomers = present.all.values().filter(|guest| !guest.standing.has_asked()).count();
        let spares_newcomers = newcomers < present.all.len() / NEWCOMERS;
        let rank = |(_, Guest { standing, .. }): &(&u64, &Guest)| {
            let Shown { has_asked, last } = standing.shown.get();
            let alike = peers.get(&(has_asked, standing.source)).copied();
            (has_asked != spares_newcomers, Reverse(alike), last)
        };
        let lowest = present.all.iter().min_by_key(rank);
        let key = lowest.map(|(&key, _)| key);
        let gone = key.and_then(|key| present.all.remove(&key));
        drop(present);
        // Its destructor may access the others.
        gone.map(drop).is_some()
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
    shown: Rc<Cell<Shown>>,
}

#[derive(Clone, Copy, Debug)]
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
        let shown = Shown { has_asked: false, last: now() };
        Standing { source, shown: Rc::new(Cell::new(shown)) }
    }

    /// Records a request that is complete enough for the service.
    pub fn asked(&self) {
        self.shown.set(Shown { has_asked: true, last: now() });
    }

    /// Whether there was a request.
    pub fn has_asked(&self) -> bool {
        self.shown.get().has_asked
    }

    /// The time of its last request, or of its arrival.
    pub fn last(&self) -> Time {
        self.shown.get().last
    }
}
