//! Whom a server attends to: so many at once, and who has asked for nothing goes first.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::{Rc, Weak};

use trackbed_core::Time;
use trackbed_substrate::{Task, now, spawn};

/// The tasks of those whom a server attends to. When it is dropped, they are cancelled.
pub(crate) struct Guests {
    count_max: usize,
    present: Rc<RefCell<Present>>,
}

#[derive(Default)]
struct Present {
    next: u64,
    all: BTreeMap<u64, Guest>,
}

struct Guest {
    standing: Standing,
    task: Task<()>,
}

impl Guests {
    /// Room for so many, one at the least.
    pub(crate) fn new(count_max: usize) -> Guests {
        Guests { count_max: count_max.max(1), present: Rc::default() }
    }

    /// Attends to one more until `attending` ends. Where there is no room, somebody goes whose
    /// [standing](Standing) is lower than that of all others.
    pub(crate) fn admit(&self, standing: Standing, attending: impl Future<Output = ()> + 'static) {
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

    /// How many are present, for others to see.
    pub(crate) fn count(&self) -> GuestCount {
        GuestCount(Rc::downgrade(&self.present))
    }

    fn make_room(&self) {
        let mut present = self.present.borrow_mut();
        if present.all.len() < self.count_max {
            return;
        }
        let lowest = present.all.iter().min_by_key(|(_, guest)| guest.standing.0.get());
        let key = lowest.map(|(&key, _)| key);
        let gone = key.and_then(|key| present.all.remove(&key));
        drop(present);
        // What it holds may look at the others when it goes.
        drop(gone);
    }
}

/// See [`Guests::count`].
pub(crate) struct GuestCount(Weak<RefCell<Present>>);

impl GuestCount {
    pub(crate) fn get(&self) -> usize {
        self.0.upgrade().map_or(0, |present| present.borrow().all.len())
    }
}

/// What a guest has shown of itself; clones share it.
///
/// Who has asked for nothing yet, be it in the middle of a handshake or of a request's head, stands
/// below all who have, and below those who came later: a server that is flooded has to do with many
/// who stop half-way, and one that does not comes to its first request within some round trips.
/// Among those who have asked, the one stands lowest that has been silent for longest.
#[derive(Clone, Debug)]
pub(crate) struct Standing(Rc<Cell<Shown>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    has_asked: bool,
    last: Time,
}

impl Standing {
    /// That of somebody who has come just now.
    pub(crate) fn new() -> Standing {
        Standing(Rc::new(Cell::new(Shown { has_asked: false, last: now() })))
    }

    /// A request has come, as far as the service can be called.
    pub(crate) fn asked(&self) {
        self.0.set(Shown { has_asked: true, last: now() });
    }

    pub(crate) fn has_asked(&self) -> bool {
        self.0.get().has_asked
    }

    /// When it asked last, or came.
    pub(crate) fn last(&self) -> Time {
        self.0.get().last
    }
}

/// How many are in the middle of a handshake. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshakes(Rc<Cell<usize>>);

impl Handshakes {
    pub(crate) fn count(&self) -> usize {
        self.0.get()
    }

    /// One more, until what this returns is dropped.
    pub(crate) fn begin(&self) -> HandshakeUnderWay {
        self.0.set(self.0.get() + 1);
        HandshakeUnderWay(Rc::clone(&self.0))
    }
}

/// See [`Handshakes::begin`].
#[derive(Debug)]
pub(crate) struct HandshakeUnderWay(Rc<Cell<usize>>);

impl Drop for HandshakeUnderWay {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
