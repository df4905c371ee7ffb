//! The processors of a roadside unit in virtual time, for which signatures wait.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use futures_channel::oneshot;
use trackbed_core::Time;
use trackbed_substrate::{now, sleep_until, spawn};
use trackbed_verifier::cache::Policy;
use trackbed_verifier::engine::Split;
use trackbed_verifier::engine::model::{Model, Rules, Task};

use super::Equipment;
use crate::boards::{AUTHORITY, KeyCosts};

pub(super) struct Processors {
    /// The time for all checks of a message except its signature, in nanoseconds.
    message_nanos: u64,
    deadline: Duration,
    state: RefCell<State>,
}

struct State {
    model: Model,
    keys: KeyCosts,
    /// The tasks that wait for a signature, by its number.
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
    submitted: u64,
    alarm: Option<u64>,
}

impl Processors {
    pub(super) fn new(equipment: &Equipment, tables: Policy) -> Processors {
        let Equipment { board, workers, deadline, .. } = equipment;
        Processors {
            message_nanos: board.costs.message,
            deadline: *deadline,
            state: RefCell::new(State {
                model: Model::new(&board.cores(*workers), Rules::unbounded(Split::Dynamic)),
                keys: KeyCosts::new(board.costs, tables),
                waiting: BTreeMap::new(),
                submitted: 0,
                alarm: None,
            }),
        }
    }

    /// Resolves when a message that arrived at `heard` and, if it is new, its ticket are verified.
    pub(super) async fn work_on(self: &Rc<Self>, (ticket, is_new): (u64, bool), heard: Time) {
        let deadline_nanos = (heard + self.deadline).as_nanos();
        let mut verdicts = Vec::with_capacity(2);
        {
            let mut state = self.state.borrow_mut();
            let message = state.keys.signature(ticket) + self.message_nanos;
            let certificate = is_new.then(|| state.keys.signature(AUTHORITY));
            for nanos in std::iter::once(message).chain(certificate) {
                verdicts.push(state.submit(deadline_nanos, nanos));
            }
        }
        self.go_on();
        for verdict in verdicts {
            // The worker is not dropped before it is done.
            let _ = verdict.await;
        }
    }

    fn go_on(self: &Rc<Self>) {
        let here = now().as_nanos();
        let mut state = self.state.borrow_mut();
        state.model.advance(here);
        while let Some(done) = state.model.next_done() {
            if let Some(waiter) = state.waiting.remove(&done.tag) {
                // A message may have been given up with its connection.
                let _ = waiter.send(());
            }
        }
        state.alarm = state.alarm.filter(|at| *at > here);
        let Some(next) = state.model.next_wake() else { return };
        if state.alarm.is_none_or(|at| next < at) {
            state.alarm = Some(next);
            let processors = Rc::clone(self);
            spawn(async move {
                sleep_until(Time::from_nanos(next)).await;
                processors.go_on();
            })
            .detach();
        }
    }
}

impl State {
    fn submit(&mut self, deadline_nanos: u64, nanos: u64) -> oneshot::Receiver<()> {
        let tag = self.submitted;
        self.submitted += 1;
        let (waiter, verdict) = oneshot::channel();
        let task = Task { tag, deadline_nanos, nanos };
        // The queue is unbounded; a refused task would drop its channel and be done at once.
        if self.model.submit(now().as_nanos(), task).is_ok() {
            self.waiting.insert(tag, waiter);
        }
        verdict
    }
}
