//! The requests of a connection, on their way to the service and back.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use bytes::Bytes;
use trackbed_connection::{Error, Request, Step};
use trackbed_mqtt::broker::ConnectionId;
use trackbed_mqtt::{Message, Qos};
use trackbed_substrate::{Task, spawn};

use super::broker::Front;
use super::convention::{self, Call, Caller, MQTT, Part};
use super::parts::Parts;
use crate::config::STREAMS_MAX;
use crate::framing::{check_path, final_status};
use crate::pieces::{Budget, Pieces, queue};

pub(super) struct Calls {
    front: Weak<Front>,
    connection: ConnectionId,
    budget: Budget,
    /// By caller and a local number: a client may repeat a request before its response.
    running: RefCell<BTreeMap<(Caller, u64), Running>>,
    next: Cell<u64>,
}

struct Running {
    /// Receives the request's body, until it has ended.
    body: Option<Pieces>,
    /// The task that answers, until it has.
    task: Option<Task<()>>,
}

impl Calls {
    pub fn new(front: Weak<Front>, connection: ConnectionId, budget: Budget) -> Calls {
        Calls { front, connection, budget, running: RefCell::default(), next: Cell::new(0) }
    }

    /// A message has come from `client`, below the service's topic. Other messages, and parts of
    /// finished requests, are ignored.
    pub fn arrived(self: &Rc<Calls>, client: &Arc<str>, message: &Message) {
        let Some(call) = convention::read_request(client, message) else { return };
        let piece = || message.payload.clone();
        let mut calls = self.running.borrow_mut();
        let of_caller = (call.caller.clone(), 0)..=(call.caller.clone(), u64::MAX);
        if let Some((name, running)) = calls.range_mut(of_caller).next_back() {
            if let Some(body) = &running.body {
                body.push(piece());
                match call.part {
                    Part::More => return,
                    Part::Last => body.end(Ok(())),
                    Part::Broken => body.end(Err(given_up())),
                }
                if call.part == Part::Last && running.task.is_some() {
                    running.body = None;
                    return;
                }
            }
            // The answer is not wanted any more, or was complete before the request.
            if running.body.is_some() || call.part == Part::Broken {
                let name = name.clone();
                let over = calls.remove(&name);
                drop(calls);
                return drop(over);
            }
        }
        if call.part == Part::Broken {
            return;
        }
        let refusal = match check_path(MQTT.protocol, &call.path) {
            Err(_) => Some(400),
            Ok(()) => (calls.len() >= STREAMS_MAX as usize).then_some(503),
        };
        if let Some(status) = refusal {
            drop(calls);
            return self.refuse(&call, status);
        }
        let (body, arrivals) = queue(&self.budget);
        body.push(piece());
        if call.part == Part::Last {
            body.end(Ok(()));
        }
        let body = (call.part == Part::More).then_some(body);
        let key = self.next.replace(self.next.get() + 1);
        let caller = call.caller.clone();
        let arriving = arrivals.into_body();
        let request = Request { priority: call.priority, ..Request::new(call.path, arriving) };
        let answering = self.answering(call.caller, call.qos, key);
        let task = Some(spawn(answering.answer(request)));
        calls.insert((caller, key), Running { body, task });
    }

    fn answering(self: &Rc<Calls>, caller: Caller, qos: Qos, key: u64) -> Answering {
        let calls = Rc::downgrade(self);
        let (front, connection) = (Weak::clone(&self.front), self.connection);
        Answering { calls, front, connection, caller, qos, key }
    }

    fn refuse(&self, call: &Call, status: u16) {
        let message = convention::answer(&call.caller, call.qos, Part::Last, status, b"");
        if let (Some(front), Some(message)) = (self.front.upgrade(), message) {
            front.publish(message);
        }
    }

    /// A request was answered; its entry stays while its body still arrives.
    fn answered(&self, caller: &Caller, key: u64) {
        let mut calls = self.running.borrow_mut();
        let name = (caller.clone(), key);
        let Some(running) = calls.get_mut(&name) else { return };
        // The task has reached its end; there is nothing left to cancel.
        running.task.take().into_iter().for_each(Task::detach);
        if running.body.is_none() {
            calls.remove(&name);
        }
    }
}

/// One answer. It holds nothing that holds its task.
struct Answering {
    calls: Weak<Calls>,
    front: Weak<Front>,
    connection: ConnectionId,
    caller: Caller,
    qos: Qos,
    key: u64,
}

impl Answering {
    async fn answer(self, request: Request) {
        let Some(call) = self.front.upgrade().map(|front| front.service().call(request)) else {
            return;
        };
        let response = call.await;
        let status = final_status(response.status);
        let mut parts = Parts::new(response.body);
        // A part is made when there is room for it, and sent if there still is.
        while self.has_room().await {
            let (part, bytes) = match parts.next().await {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(_) => (Part::Broken, Bytes::new()),
            };
            if !self.has_room().await {
                break;
            }
            let message = convention::answer(&self.caller, self.qos, part, status, &bytes);
            let (Some(message), Some(front)) = (message, self.front.upgrade()) else { break };
            front.publish(message);
        }
        if let Some(calls) = self.calls.upgrade() {
            calls.answered(&self.caller, self.key);
        }
    }

    /// Waits until the client has taken what was published before; false if it is gone.
    async fn has_room(&self) -> bool {
        poll_fn(|cx| match self.front.upgrade() {
            Some(front) => front.poll_room(self.connection, cx),
            None => std::task::Poll::Ready(false),
        })
        .await
    }
}

fn given_up() -> Error {
    Error::transient(MQTT.protocol, Step::Receive, "the client cancelled the request")
}
