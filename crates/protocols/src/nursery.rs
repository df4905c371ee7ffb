//! Tasks tied to the lifetime of their owner.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use trackbed_substrate::{Task, spawn};

/// A set of running tasks. When its last clone is dropped, those that still run are cancelled.
#[derive(Clone, Default)]
pub(crate) struct Nursery(Rc<RefCell<Running>>);

#[derive(Default)]
struct Running {
    next: u64,
    tasks: BTreeMap<u64, Task<()>>,
}

impl Nursery {
    /// Runs `future` concurrently with the caller. The task must not hold a clone of this nursery,
    /// or neither of them would ever end.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let mut running = self.0.borrow_mut();
        let key = running.next;
        running.next += 1;
        let set = Rc::downgrade(&self.0);
        let task = spawn(async move {
            future.await;
            let this = set.upgrade().and_then(|set| set.borrow_mut().tasks.remove(&key));
            // The task has reached its end; there is nothing left to cancel.
            this.into_iter().for_each(Task::detach);
        });
        running.tasks.insert(key, task);
    }
}
