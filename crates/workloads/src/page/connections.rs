//! The connections over which a page is loaded, as a browser keeps them: up to a limit, each opened
//! when needed; requests wait for the first free one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_channel::oneshot;
use trackbed_connection::{Error, Handshake};
use trackbed_substrate::{Task, spawn, spawn_named};

use crate::lines::close_gently;
use crate::phone::{Line, Phone};
use crate::tasks;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) connections_max: usize,
    pub(super) exchanges_max: usize,
    pub(super) keep_alive: bool,
}

pub(super) struct Connections {
    phone: Rc<Phone>,
    usage: Usage,
    handshake: Handshake,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// Requests that wait for a connection, the most urgent first, and equal ones in order.
    waiting: BTreeMap<(u8, u64), oneshot::Sender<Result<Lease, Error>>>,
    asked: u64,
    /// Open connections that can be used, by their numbers.
    open: BTreeMap<u32, Place>,
    opening: BTreeMap<u32, Task<()>>,
    failures: u32,
    closing: Vec<Task<()>>,
}

struct Place {
    line: Rc<Line>,
    exchanges: usize,
}

impl Connections {
    pub(super) fn new(phone: Rc<Phone>, usage: Usage, handshake: Handshake) -> Rc<Connections> {
        Rc::new(Connections { phone, usage, handshake, state: RefCell::default() })
    }

    /// A connection for one exchange. The waiting request with the lowest `urgency` goes first.
    pub(super) async fn take(self: &Rc<Self>, urgency: u8) -> Result<Lease, Error> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.state.borrow_mut();
            let key = (urgency, state.asked);
            state.asked += 1;
            state.waiting.insert(key, sender);
        }
        self.serve_waiting();
        receiver.await.expect("waiting requests are answered as long as the connections are in use")
    }

    fn serve_waiting(self: &Rc<Self>) {
        while let Some(line) = self.next_line() {
            let next = self.state.borrow_mut().waiting.pop_first();
            let (_, sender) = next.expect("a line is chosen for a waiting request");
            let connections = Rc::clone(self);
            // If the request is gone, the lease comes back at once.
            let _unwanted = sender.send(Ok(Lease { connections, line, broken: Cell::new(false) }));
        }
        let missing = {
            let state = self.state.borrow();
            let room =
                self.usage.connections_max - state.open.len().min(self.usage.connections_max);
            state.waiting.len().min(room).saturating_sub(state.opening.len())
        };
        for _ in 0..missing {
            self.open();
        }
    }

    /// The connection for the next waiting request, now with one more exchange. An idle one is
    /// preferred; one with exchanges is taken only if no more may be opened.
    fn next_line(&self) -> Option<Rc<Line>> {
        let mut state = self.state.borrow_mut();
        if state.waiting.is_empty() {
            return None;
        }
        let may_open = state.open.len() + state.opening.len() < self.usage.connections_max;
        let place = state.open.values_mut().min_by_key(|place| place.exchanges)?;
        let usable =
            place.exchanges == 0 || (!may_open && place.exchanges < self.usage.exchanges_max);
        usable.then(|| {
            place.exchanges += 1;
            Rc::clone(&place.line)
        })
    }

    fn open(self: &Rc<Self>) {
        let number = self.phone.next_connection();
        let opening = Rc::clone(&self.phone).open();
        let connections = Rc::clone(self);
        let name = format!("connection {number} of phone {}", self.phone.number);
        let task = spawn_named(name, async move {
            let opened = opening.await;
            connections.opened(number, opened);
        });
        self.state.borrow_mut().opening.insert(number, task);
    }

    fn opened(self: &Rc<Self>, number: u32, opened: Result<Rc<Line>, Error>) {
        let mut state = self.state.borrow_mut();
        // The calling task is at its end; there is nothing to cancel.
        state.opening.remove(&number).into_iter().for_each(Task::detach);
        match opened {
            Ok(line) => {
                state.failures = 0;
                state.open.insert(number, Place { line, exchanges: 0 });
            }
            Err(why) => {
                state.failures += 1;
                if !why.is_retryable() || state.failures >= ATTEMPTS_MAX {
                    for sender in std::mem::take(&mut state.waiting).into_values() {
                        let _unwanted = sender.send(Err(why.clone()));
                    }
                }
            }
        }
        drop(state);
        self.serve_waiting();
    }

    fn give_back(self: &Rc<Self>, line: &Rc<Line>, broken: bool) {
        let mut state = self.state.borrow_mut();
        let keep = self.usage.keep_alive && !broken;
        let done_with = match state.open.get_mut(&line.number) {
            Some(place) => {
                place.exchanges -= 1;
                let idle = place.exchanges == 0;
                if !keep {
                    state.open.remove(&line.number);
                }
                idle && !keep
            }
            // It was retired before; its other exchanges keep it open.
            None => Rc::strong_count(line) == 1,
        };
        if done_with {
            let (line, handshake) = (Rc::clone(line), self.handshake);
            state.closing.retain(|task| !task.is_finished());
            state.closing.push(spawn(async move { close_gently(&line, handshake).await }));
        }
        drop(state);
        self.serve_waiting();
    }

    pub(super) async fn close(&self) {
        let State { open, closing, opening, .. } = self.state.take();
        drop(opening);
        let closing_now = open.into_values().map(|place| {
            let line = place.line;
            spawn(async move { line.close().await })
        });
        tasks::join(closing.into_iter().chain(closing_now).collect()).await;
    }
}

/// A connection for one exchange, returned when this is dropped.
pub(super) struct Lease {
    connections: Rc<Connections>,
    line: Rc<Line>,
    broken: Cell<bool>,
}

impl Lease {
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Returns the connection and retires it. It is closed when its exchanges have ended.
    pub(super) fn put_away(self) {
        self.broken.set(true);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.connections.give_back(&self.line, self.broken.get());
    }
}

/// Maximum successive attempts to open a connection.
const ATTEMPTS_MAX: u32 = 3;
