//! The broker on its connections: bytes and time for the state machine, and its messages for the
//! service.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_io::AsyncRead as _;
use trackbed_connection::Service;
use trackbed_core::Time;
use trackbed_mqtt::Message;
use trackbed_mqtt::broker::{Broker, ConnectionId, Flow, Limits};
use trackbed_substrate::{Standing, now};

use super::convention;
use super::outgoing::Outgoing;
use super::service::Calls;
use crate::alarm::Alarm;
use crate::config::ServerLimits;
use crate::nursery::Nursery;
use crate::pieces::Budget;
use crate::tcp_transport::Stream;

/// The broker, and the tasks to wake.
pub(super) struct Front {
    broker: RefCell<Broker>,
    service: Rc<dyn Service>,
    connections: RefCell<BTreeMap<ConnectionId, Seat>>,
    /// When the timer rings.
    armed: Cell<Option<Time>>,
    timer: Cell<Option<Waker>>,
    /// What a connection has just received.
    received: RefCell<Box<[u8]>>,
    _tasks: Nursery,
}

/// The data of a connection outside the state machine.
struct Seat {
    task: Option<Waker>,
    calls: Rc<Calls>,
    /// Answers that wait until the client has taken what comes before them.
    waiting: Vec<Waker>,
}

impl Front {
    /// A broker in front of `service`, with the server's limit on connections and sessions.
    pub fn start(service: Rc<dyn Service>, limits: &ServerLimits) -> Rc<Front> {
        let (connections, sessions) = (limits.connections, limits.connections);
        let all = Limits { connections, sessions, ..Limits::default() };
        // Where strangers connect: no more than clients of ours need, which subscribe to their answers alone.
        let limits = match limits.buffered {
            Some(most) => Limits {
                waiting_bytes: most / 8,
                output_bytes: all.output_bytes / 8,
                subscriptions: 4,
                topic_levels: 16,
                retained: 0,
                session_expiry: Duration::ZERO,
                ..all
            },
            None => all,
        };
        Rc::new_cyclic(|front| {
            let tasks = Nursery::default();
            tasks.spawn(keep_time(Weak::clone(front)));
            Front {
                broker: RefCell::new(Broker::new(limits).with_service(convention::SERVICE)),
                service,
                connections: RefCell::default(),
                armed: Cell::new(None),
                timer: Cell::new(None),
                received: RefCell::new(vec![0; READ_LEN].into()),
                _tasks: tasks,
            }
        })
    }

    /// Publishes an answer.
    pub fn publish(&self, message: Message) {
        self.broker.borrow_mut().publish(message, now());
        self.settle();
    }

    /// Ready when the connection's client has room for an answer: false if it is gone.
    pub fn poll_room(&self, id: ConnectionId, cx: &Context<'_>) -> Poll<bool> {
        match self.broker.borrow().has_room(id) {
            None => Poll::Ready(false),
            Some(true) => Poll::Ready(true),
            Some(false) => {
                if let Some(seat) = self.connections.borrow_mut().get_mut(&id) {
                    seat.waiting.push(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// After every call into the broker: passes messages to the service, and wakes the timer and
    /// tasks with bytes to send.
    fn settle(self: &Front) {
        loop {
            let arrived = self.broker.borrow_mut().next_arrived();
            let Some(arrived) = arrived else { break };
            let seats = self.connections.borrow();
            let calls = seats.get(&arrived.connection).map(|seat| Rc::clone(&seat.calls));
            drop(seats);
            if let Some(calls) = calls {
                calls.arrived(&arrived.client, &arrived.message);
            }
        }
        loop {
            let ready = self.broker.borrow_mut().next_ready();
            let Some(ready) = ready else { break };
            let mut seats = self.connections.borrow_mut();
            if let Some(task) = seats.get_mut(&ready).and_then(|seat| seat.task.take()) {
                task.wake();
            }
        }
        let next = self.broker.borrow().next_timeout();
        let rings_before = |next| self.armed.get().is_some_and(|armed| armed <= next);
        if next.is_some_and(|next| !rings_before(next))
            && let Some(timer) = self.timer.take()
        {
            timer.wake();
        }
    }

    /// The application behind it.
    pub fn service(&self) -> &dyn Service {
        &*self.service
    }

    /// The client of a connection has received bytes.
    fn wake_waiting(&self, id: ConnectionId) {
        let mut seats = self.connections.borrow_mut();
        if let Some(seat) = seats.get_mut(&id) {
            seat.waiting.drain(..).for_each(Waker::wake);
        }
    }

    fn seat(&self, id: ConnectionId, cx: &Context<'_>) {
        let mut seats = self.connections.borrow_mut();
        if let Some(seat) = seats.get_mut(&id) {
            seat.task = Some(cx.waker().clone());
        }
    }
}

/// Runs the broker's timeouts while the broker exists.
async fn keep_time(front: Weak<Front>) {
    let mut alarm = Alarm::default();
    poll_fn(|cx| {
        let Some(front) = front.upgrade() else { return Poll::Ready(()) };
        front.timer.set(Some(cx.waker().clone()));
        loop {
            front.broker.borrow_mut().handle_timeout(now());
            let next = front.broker.borrow().next_timeout();
            front.armed.set(next);
            front.settle();
            if !alarm.has_fired(next, cx) {
                return Poll::Pending;
            }
        }
    })
    .await;
}

pub(super) async fn serve(front: Rc<Front>, mut stream: Stream, standing: Standing) {
    let opened = front.broker.borrow_mut().open(now());
    let Some(id) = opened else { return stream.abort() };
    let budget = Budget::new(BODIES_MAX);
    let calls = Rc::new(Calls::new(Rc::downgrade(&front), id, budget.clone()));
    let seat = Seat { task: None, calls, waiting: Vec::new() };
    front.connections.borrow_mut().insert(id, seat);
    front.settle();
    let _leaving = Leaving { front: Rc::clone(&front), id };
    let mut carrier = Carrier {
        front,
        id,
        stream: stream.clone(),
        standing,
        budget,
        outgoing: Outgoing::default(),
        flow: Flow::Open,
        is_held: false,
    };
    if poll_fn(|cx| carrier.poll(cx)).await {
        // The last bytes are lost if the client is gone.
        let _gone = stream.close().await;
    } else {
        stream.abort();
    }
}

/// Tells the broker that a connection is gone, however its task ends.
struct Leaving {
    front: Rc<Front>,
    id: ConnectionId,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let seat = self.front.connections.borrow_mut().remove(&self.id);
        self.front.broker.borrow_mut().close(self.id, now());
        self.front.settle();
        // The calls under way end with it, when nothing is borrowed any more.
        drop(seat);
    }
}

struct Carrier {
    front: Rc<Front>,
    id: ConnectionId,
    stream: Stream,
    standing: Standing,
    budget: Budget,
    outgoing: Outgoing,
    flow: Flow,
    is_held: bool,
}

impl Carrier {
    /// Ready when the connection is over: true if it should be closed in order.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        self.front.seat(self.id, cx);
        for _ in 0..TURNS_MAX {
            let Ok(has_written) = self.poll_write(cx) else { return Poll::Ready(false) };
            if self.flow == Flow::Closing && self.outgoing.is_empty() {
                // A client that does not read may not keep its connection open this way.
                return Poll::Ready(true);
            }
            let is_held = self.budget.is_used_up(cx);
            if is_held != self.is_held {
                self.is_held = is_held;
                self.front.broker.borrow_mut().hold(self.id, is_held, now());
            }
            if is_held || self.flow == Flow::Closing {
                if !has_written {
                    return Poll::Pending;
                }
                continue;
            }
            let mut received = self.front.received.borrow_mut();
            match Pin::new(&mut self.stream).poll_read(cx, &mut received) {
                Poll::Pending if has_written => {}
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) | Poll::Ready(Err(_)) => return Poll::Ready(false),
                Poll::Ready(Ok(len)) => {
                    self.front.broker.borrow_mut().receive(self.id, &received[..len], now());
                    drop(received);
                    // There is room for messages once the CONNECT was taken.
                    if self.standing.has_asked()
                        || self.front.broker.borrow().has_room(self.id).is_some()
                    {
                        self.standing.asked();
                    }
                    self.front.settle();
                    self.front.seat(self.id, cx);
                    self.front.wake_waiting(self.id);
                }
            }
        }
        // Other tasks get a turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Passes the broker's bytes to the stream; true if there were any.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> std::io::Result<bool> {
        let (front, id, flow) = (&self.front, self.id, &mut self.flow);
        let has_written = self.outgoing.poll_write(&mut self.stream, cx, |bytes| {
            *flow = front.broker.borrow_mut().take_output(id, now(), bytes);
        })?;
        if has_written {
            self.front.wake_waiting(self.id);
        }
        Ok(has_written)
    }
}

/// How much of the bodies of requests may wait for the service, for each connection.
const BODIES_MAX: usize = 1 << 20;
const READ_LEN: usize = 64 << 10;
/// How often a connection reads and writes before others get a turn.
const TURNS_MAX: usize = 16;
