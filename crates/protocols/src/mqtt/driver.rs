//! The task of a client's connection: it alone reads and writes the stream.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_channel::oneshot;
use futures_io::AsyncRead as _;
use trackbed_connection::{Error, Result, Step};
use trackbed_mqtt::client::{Client, Event};
use trackbed_mqtt::{Fault, Message, Reason, Subscription};
use trackbed_substrate::now;

use super::convention::{self, MQTT, Part};
use super::outgoing::Outgoing;
use crate::alarm::Alarm;
use crate::config::{MqttAnswer, MqttParameters};
use crate::nursery::Nursery;
use crate::pieces::{Arrivals, Budget, Pieces, queue};
use crate::tcp_transport::{Stream, io_failed};

/// What the connection's task, its handle and its exchanges share.
pub(super) struct Shared {
    pub settings: MqttParameters,
    pub stream: Stream,
    pub client: RefCell<Client>,
    pub exchanges: RefCell<BTreeMap<u32, Exchange>>,
    pub next_exchange: Cell<u32>,
    /// Requests whose bodies are sent while they are produced.
    pub sending: RefCell<Option<Nursery>>,
    /// Resolves when the broker has accepted the connection, or with the error.
    pub opened: Cell<Option<oneshot::Sender<Result<()>>>>,
    /// The error that ended the connection, if any.
    over: RefCell<Option<Error>>,
    /// Handles and bodies that need the connection.
    users: Cell<usize>,
    pub is_closing: Cell<bool>,
    budget: Budget,
    task: Cell<Option<Waker>>,
    /// Senders that wait for room.
    waiting: RefCell<Vec<Waker>>,
}

/// A request that is not answered completely.
pub(super) struct Exchange {
    head: Option<oneshot::Sender<Result<(u16, Arrivals)>>>,
    /// The two ends of the queue for the response body: one receives it, the other is kept here
    /// until the head has arrived.
    body: Pieces,
    arrivals: Option<Arrivals>,
    /// How many parts of an echo have come.
    parts: u32,
}

impl Shared {
    pub fn new(settings: MqttParameters, stream: Stream, client: Client, window: usize) -> Shared {
        Shared {
            settings,
            stream,
            client: RefCell::new(client),
            exchanges: RefCell::default(),
            next_exchange: Cell::new(0),
            sending: RefCell::new(Some(Nursery::default())),
            opened: Cell::new(None),
            over: RefCell::default(),
            users: Cell::new(0),
            is_closing: Cell::new(false),
            budget: Budget::new(window),
            task: Cell::new(None),
            waiting: RefCell::default(),
        }
    }

    /// Wakes the task after a change.
    pub fn wake(&self) {
        self.task.take().into_iter().for_each(Waker::wake);
    }

    /// The error that ended the connection, if any.
    pub fn over(&self) -> Option<Error> {
        self.over.borrow().clone()
    }

    /// A new exchange, and what resolves with the head of its answer.
    pub fn begin(&self) -> (u32, oneshot::Receiver<Result<(u16, Arrivals)>>) {
        let number = self.next_exchange.replace(self.next_exchange.get().wrapping_add(1));
        let (head, answered) = oneshot::channel();
        let (body, arrivals) = queue(&self.budget);
        let exchange = Exchange { head: Some(head), body, arrivals: Some(arrivals), parts: 0 };
        self.exchanges.borrow_mut().insert(number, exchange);
        (number, answered)
    }

    /// Ready when a message would be sent at once; false if it never will.
    pub fn poll_room(&self, cx: &Context<'_>) -> Poll<bool> {
        if self.over.borrow().is_some() {
            return Poll::Ready(false);
        }
        if self.client.borrow().has_room() {
            return Poll::Ready(true);
        }
        self.waiting.borrow_mut().push(cx.waker().clone());
        Poll::Pending
    }

    /// Publishes a part of an exchange.
    pub fn publish(&self, message: Message, number: u32) -> Result<()> {
        if let Some(error) = self.over() {
            return Err(error);
        }
        let published = self.client.borrow_mut().publish(message, number.into(), now());
        self.wake();
        published.map_err(|fault| Error::lasting(MQTT.protocol, Step::Send, fault))
    }

    /// Ends an exchange with an error.
    pub fn fail(&self, number: u32, error: Error) {
        let exchange = self.exchanges.borrow_mut().remove(&number);
        if let Some(exchange) = exchange {
            exchange.fail(error);
        }
    }

    /// Ends everything.
    pub fn finish(&self, error: Error) {
        self.over.borrow_mut().get_or_insert_with(|| error.clone());
        let exchanges = std::mem::take(&mut *self.exchanges.borrow_mut());
        exchanges.into_values().for_each(|exchange| exchange.fail(error.clone()));
        if let Some(opened) = self.opened.take() {
            let _unless_nobody_waits = opened.send(Err(error));
        }
        self.waiting.take().into_iter().for_each(Waker::wake);
        drop(self.sending.take());
        self.wake();
    }

    fn happened(&self, event: Event) -> Result<()> {
        match event {
            Event::Connected { .. } => {
                let wanted = Subscription::new(self.filter(), self.settings.qos);
                let asked = self.client.borrow_mut().subscribe(vec![wanted], None, now());
                asked.map_err(|fault| Error::lasting(MQTT.protocol, Step::Handshake, fault))?;
                if let Some(opened) = self.opened.take() {
                    let _unless_nobody_waits = opened.send(Ok(()));
                }
            }
            Event::Subscribed { reasons, .. } => {
                if let Some(reason) = reasons.into_iter().find(|reason| !reason.is_success()) {
                    let why = format!("the broker refused the subscription: {reason}");
                    return Err(Error::lasting(MQTT.protocol, Step::Handshake, why));
                }
            }
            Event::Received { message, .. } => self.received(&message),
            Event::Acknowledged { token, reason } if !reason.is_success() => {
                self.refused(token, &format!("the broker refused the request: {reason}"));
            }
            // Only the client itself subscribes to an echo, and only the service to a request.
            Event::Acknowledged { token, reason: Reason::NO_MATCHING_SUBSCRIBERS } => {
                let why = "no service subscribes to requests at this broker: set `mqtt-answer` to \
                     \"echo\"";
                self.refused(token, why);
            }
            Event::Forgotten { token } => {
                self.refused(token, "the message exceeds the broker's maximum packet size");
            }
            Event::Acknowledged { .. } | Event::Unsubscribed { .. } => {}
            Event::Ended(fault) => return Err(ended(&fault)),
        }
        Ok(())
    }

    /// Fails the exchange of `token`; another attempt would be refused too.
    fn refused(&self, token: u64, why: &str) {
        self.fail(token as u32, Error::lasting(MQTT.protocol, Step::Send, why));
    }

    fn filter(&self) -> String {
        let client = self.client.borrow();
        match self.settings.answer {
            MqttAnswer::Service => {
                convention::answers_filter(self.settings.version, client.client_id())
            }
            MqttAnswer::Echo => convention::echoes_filter(client.client_id()),
        }
    }

    fn received(&self, message: &Message) {
        let answer = match self.settings.answer {
            MqttAnswer::Service => {
                let answer = convention::read_answer(self.settings.version, message);
                answer.map(|answer| (None, answer))
            }
            MqttAnswer::Echo => {
                convention::read_echo(message).map(|(index, answer)| (Some(index), answer))
            }
        };
        let Some((index, answer)) = answer else { return };
        let mut exchanges = self.exchanges.borrow_mut();
        let Some(exchange) = exchanges.get_mut(&answer.number) else { return };
        if index.is_some_and(|index| index != exchange.parts) {
            drop(exchanges);
            let why = "the broker dropped a part of the response";
            return self.fail(answer.number, Error::transient(MQTT.protocol, Step::Receive, why));
        }
        exchange.parts += 1;
        if answer.part != Part::Broken {
            exchange.body.push(message.payload.clone());
        }
        let end = match answer.part {
            Part::More => None,
            Part::Last => Some(Ok(())),
            Part::Broken => {
                let why = "the peer could not complete the message";
                Some(Err(Error::transient(MQTT.protocol, Step::Receive, why)))
            }
        };
        let is_over = end.is_some();
        if let Some(end) = end {
            exchange.body.end(end);
        }
        if let (Some(head), Some(arrivals)) = (exchange.head.take(), exchange.arrivals.take()) {
            let _unless_nobody_waits = head.send(Ok((answer.status, arrivals)));
        }
        if is_over {
            exchanges.remove(&answer.number);
        }
    }
}

impl Exchange {
    fn fail(mut self, error: Error) {
        self.body.end(Err(error.clone()));
        if let Some(head) = self.head.take() {
            let _unless_nobody_waits = head.send(Err(error));
        }
    }
}

fn ended(fault: &Fault) -> Error {
    match fault.reason {
        Reason::MALFORMED_PACKET | Reason::PROTOCOL_ERROR => {
            Error::malformed(MQTT.protocol, Step::Receive, fault)
        }
        Reason::SERVER_UNAVAILABLE | Reason::KEEP_ALIVE_TIMEOUT | Reason::SESSION_TAKEN_OVER => {
            Error::transient(MQTT.protocol, Step::Receive, fault)
        }
        _ => Error::lasting(MQTT.protocol, Step::Handshake, fault),
    }
}

/// A user of the connection, which is closed when the last user is dropped.
pub(super) struct User(pub Rc<Shared>);

impl User {
    pub fn of(shared: &Rc<Shared>) -> User {
        shared.users.set(shared.users.get() + 1);
        User(Rc::clone(shared))
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.0.users.set(self.0.users.get() - 1);
        self.0.wake();
    }
}

pub(super) struct Driver {
    shared: Rc<Shared>,
    stream: Stream,
    buffer: Box<[u8]>,
    outgoing: Outgoing,
    alarm: Alarm,
    is_held: bool,
    has_said_goodbye: bool,
}

impl Driver {
    pub fn new(shared: Rc<Shared>) -> Driver {
        let stream = shared.stream.clone();
        Driver {
            shared,
            stream,
            buffer: vec![0; READ_LEN].into(),
            outgoing: Outgoing::default(),
            alarm: Alarm::default(),
            is_held: false,
            has_said_goodbye: false,
        }
    }

    /// Runs until the connection is over, and notifies all waiting callers.
    pub async fn run(mut self) {
        let error = std::future::poll_fn(|cx| self.poll(cx)).await;
        let is_orderly = error.is_none();
        self.shared.finish(error.unwrap_or_else(closed));
        if is_orderly {
            // The last bytes are lost if the broker is gone.
            let _gone = self.stream.close().await;
        } else {
            self.stream.abort();
        }
    }

    /// Ready when the connection is over, with the error, if any.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Error>> {
        for _ in 0..TURNS_MAX {
            self.shared.task.set(Some(cx.waker().clone()));
            if self.shared.users.get() == 0 || self.shared.is_closing.get() {
                self.say_goodbye();
            }
            self.poll_timer(cx);
            let mut moved = match self.poll_write(cx) {
                Ok(moved) => moved,
                Err(error) => {
                    return Poll::Ready(Some(io_failed(MQTT.protocol, Step::Send, &error)));
                }
            };
            if self.has_said_goodbye && self.outgoing.is_empty() {
                return Poll::Ready(None);
            }
            match self.poll_read(cx) {
                Ok(has_read) => moved |= has_read,
                Err(error) => return Poll::Ready(Some(error)),
            }
            if !moved {
                return Poll::Pending;
            }
        }
        // Other tasks get a turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn say_goodbye(&mut self) {
        if !std::mem::replace(&mut self.has_said_goodbye, true) {
            self.shared.client.borrow_mut().disconnect();
        }
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) {
        let mut client = self.shared.client.borrow_mut();
        while self.alarm.has_fired(client.next_timeout(), cx) {
            client.handle_timeout(now());
        }
    }

    /// Passes the client's bytes to the stream; true if there were any.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> std::io::Result<bool> {
        let client = &self.shared.client;
        let moved = self.outgoing.poll_write(&mut self.stream, cx, |bytes| {
            std::mem::swap(client.borrow_mut().output(), bytes);
        })?;
        if moved {
            self.shared.waiting.take().into_iter().for_each(Waker::wake);
        }
        Ok(moved)
    }

    /// Passes received bytes to the client; true if there were any.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let is_held = self.shared.budget.is_used_up(cx);
        if is_held != self.is_held {
            self.is_held = is_held;
            self.shared.client.borrow_mut().hold(is_held, now());
        }
        let has_read = if is_held {
            false
        } else {
            match Pin::new(&mut self.stream).poll_read(cx, &mut self.buffer) {
                Poll::Pending => false,
                Poll::Ready(Ok(0)) => {
                    let why = "the broker closed the connection";
                    return Err(Error::transient(MQTT.protocol, Step::Receive, why));
                }
                Poll::Ready(Ok(len)) => {
                    self.shared.client.borrow_mut().receive(&self.buffer[..len], now());
                    true
                }
                Poll::Ready(Err(error)) => {
                    return Err(io_failed(MQTT.protocol, Step::Receive, &error));
                }
            }
        };
        loop {
            let event = self.shared.client.borrow_mut().next_event();
            let Some(event) = event else { break };
            self.shared.happened(event)?;
        }
        if has_read {
            // Acknowledgments make room.
            self.shared.waiting.take().into_iter().for_each(Waker::wake);
        }
        Ok(has_read)
    }
}

/// The error of a connection that was closed on this side.
pub(super) fn closed() -> Error {
    Error::transient(MQTT.protocol, Step::Send, "the connection is closed")
}

const READ_LEN: usize = 64 << 10;
/// How often a connection reads and writes before others get a turn.
const TURNS_MAX: usize = 16;
