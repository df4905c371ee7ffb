//! A client's pending requests.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use coap_lite::{MessageType, Packet};
use trackbed_connection::{Error, Result, Step};
use trackbed_core::Time;
use trackbed_substrate::now;

use super::block::Block;
use super::driver::Party;
use super::messages::{ACK_TIMEOUT, Heard, Messages, NON_LIFETIME};
use super::options::{self, BLOCK1, BLOCK2};

/// The client's end of a connection.
pub(super) struct Asking {
    protocol: &'static str,
    messages: Messages,
    /// Requests by their tokens.
    waiting: BTreeMap<u32, Waiting>,
    /// Requests to send when NSTART allows.
    queue: VecDeque<(u32, Packet)>,
    /// How many interactions may be outstanding (NSTART, RFC 7252 section 4.7).
    places: usize,
    is_confirmable: bool,
    idle_timeout: Option<Duration>,
    /// When a datagram last came from the server, or no request was pending.
    moved: Time,
    /// The paths of exchanges that are not over.
    pub(super) paths: BTreeSet<String>,
    pub(super) end: Option<Error>,
    pub(super) driver: Option<Waker>,
    pub(super) closing: Option<Waker>,
    pub(super) is_over: bool,
}

struct Waiting {
    /// The message that carries it, once that has left.
    id: Option<u16>,
    sent: Time,
    /// Whether it counts for NSTART: it has left, and is neither acknowledged nor answered.
    is_outstanding: bool,
    answer: Option<Result<Packet>>,
    waker: Option<Waker>,
}

impl Asking {
    pub(super) fn new(
        protocol: &'static str,
        messages: Messages,
        places: usize,
        is_confirmable: bool,
        idle_timeout: Option<Duration>,
    ) -> Asking {
        Asking {
            protocol,
            messages,
            waiting: BTreeMap::new(),
            queue: VecDeque::new(),
            places,
            is_confirmable,
            idle_timeout,
            moved: now(),
            paths: BTreeSet::new(),
            end: None,
            driver: None,
            closing: None,
            is_over: false,
        }
    }

    /// Begins a request, and returns its token.
    fn begin(&mut self, mut packet: Packet) -> Result<u32> {
        if let Some(error) = &self.end {
            return Err(error.clone());
        }
        let token = loop {
            let token = self.messages.draw();
            if !self.waiting.contains_key(&token) {
                break token;
            }
        };
        packet.set_token(token.to_be_bytes().to_vec());
        if !self.waiting.values().any(|waiting| waiting.id.is_some()) {
            self.moved = now();
        }
        let waiting =
            Waiting { id: None, sent: now(), is_outstanding: false, answer: None, waker: None };
        self.waiting.insert(token, waiting);
        // A body that has begun is completed first: a server keeps few that are not complete.
        let goes_on = |option| {
            let block = options::first(&packet, option).and_then(Block::decode);
            block.is_some_and(|block| block.number > 0)
        };
        if goes_on(BLOCK1) || goes_on(BLOCK2) {
            self.queue.push_front((token, packet));
        } else {
            self.queue.push_back((token, packet));
        }
        self.send_queued();
        self.wake();
        Ok(token)
    }

    fn send_queued(&mut self) {
        let mut outstanding =
            self.waiting.values().filter(|waiting| waiting.is_outstanding).count();
        while outstanding < self.places
            && let Some((token, packet)) = self.queue.pop_front()
        {
            let Some(waiting) = self.waiting.get_mut(&token) else { continue };
            waiting.id = Some(self.messages.send(packet, self.is_confirmable, now()));
            waiting.sent = now();
            waiting.is_outstanding = true;
            outstanding += 1;
        }
    }

    fn poll_answer(&mut self, token: u32, cx: &mut Context<'_>) -> Poll<Result<Packet>> {
        let Some(waiting) = self.waiting.get_mut(&token) else {
            return Poll::Ready(Err(self.failed("the request is unknown")));
        };
        match waiting.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                waiting.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Removes a request, whatever its state.
    fn drop_request(&mut self, token: u32) {
        if let Some(Waiting { id: Some(id), .. }) = self.waiting.remove(&token) {
            self.messages.forget(id);
        }
        self.queue.retain(|(queued, _)| *queued != token);
        self.send_queued();
        self.wake();
    }

    fn settle(&mut self, token: u32, answer: Result<Packet>) {
        let Some(waiting) = self.waiting.get_mut(&token) else { return };
        waiting.is_outstanding = false;
        if let Some(id) = waiting.id {
            // A response proves that the request has arrived, even if its acknowledgment is lost.
            self.messages.forget(id);
        }
        waiting.answer.get_or_insert(answer);
        waiting.waker.take().into_iter().for_each(Waker::wake);
    }

    fn token_of(&self, id: u16) -> Option<u32> {
        let mut found = self.waiting.iter().filter(|(_, waiting)| waiting.id == Some(id));
        found.next().map(|(&token, _)| token)
    }

    fn answered(&mut self, response: Packet, now: Time) {
        let token: Option<[u8; 4]> = response.get_token().try_into().ok();
        let token = token.map(u32::from_be_bytes);
        let waits =
            |token: &u32| self.waiting.get(token).is_some_and(|waiting| waiting.id.is_some());
        let Some(token) = token.filter(waits) else {
            return self.messages.reject(&response);
        };
        if !options::response_is_understood(&response) {
            self.messages.reject(&response);
            let reason = "the response has an unknown critical option";
            return self.settle(token, Err(Error::malformed(self.protocol, Step::Receive, reason)));
        }
        self.messages.take(&response, now);
        if !self.is_confirmable
            && response.header.get_type() == MessageType::NonConfirmable
            && let Some(waiting) = self.waiting.get(&token)
        {
            self.messages.measure(now - waiting.sent);
        }
        self.settle(token, Ok(response));
    }

    fn failed(&self, reason: &str) -> Error {
        Error::transient(self.protocol, Step::Receive, reason)
    }

    /// Ends everything, with this error for all waiting callers.
    pub(super) fn fail(&mut self, error: Error) {
        let tokens: Vec<u32> = self.waiting.keys().copied().collect();
        tokens.into_iter().for_each(|token| self.settle(token, Err(error.clone())));
        self.queue.clear();
        self.end.get_or_insert(error);
        self.wake();
    }

    pub(super) fn wake(&mut self) {
        self.driver.take().into_iter().for_each(Waker::wake);
    }

    /// Whether a confirmable request has left and is not answered.
    fn is_awaited(&self) -> bool {
        let is_open = |waiting: &Waiting| waiting.id.is_some() && waiting.answer.is_none();
        self.is_confirmable && self.waiting.values().any(is_open)
    }

    /// Requests that cannot be retransmitted count as lost after a timeout.
    fn give_up_unconfirmed(&mut self, now: Time) {
        let limit = self.idle_timeout.unwrap_or(NON_LIFETIME);
        let is_late = |waiting: &Waiting| {
            waiting.id.is_some() && waiting.answer.is_none() && now >= waiting.sent + limit
        };
        let late: Vec<u32> =
            self.waiting.iter().filter(|(_, one)| is_late(one)).map(|(&token, _)| token).collect();
        for token in late {
            let error = self.failed(&format!(
                "no response to a non-confirmable request within {limit:?}: one of the two was \
                 lost"
            ));
            self.settle(token, Err(error));
        }
        // Until then, a lost request does not block the others.
        for waiting in self.waiting.values_mut() {
            if now >= waiting.sent + ACK_TIMEOUT {
                waiting.is_outstanding = false;
            }
        }
    }
}

impl Party for Asking {
    fn messages(&mut self) -> &mut Messages {
        &mut self.messages
    }

    fn hear(&mut self, datagram: &[u8], now: Time) {
        self.moved = now;
        match self.messages.hear(datagram, now) {
            Heard::Nothing => {}
            Heard::Acknowledged(id) => {
                let waiting = self.token_of(id).and_then(|token| self.waiting.get_mut(&token));
                if let Some(waiting) = waiting {
                    waiting.is_outstanding = false;
                }
            }
            Heard::Rejected(id) => {
                if let Some(token) = self.token_of(id) {
                    self.settle(token, Err(self.failed("the server rejected the request")));
                }
            }
            // A client serves nothing.
            Heard::Request(request) => self.messages.reject(&request),
            Heard::Response(response) => self.answered(response, now),
        }
        self.send_queued();
    }

    fn advance(&mut self, now: Time) {
        for id in self.messages.advance(now) {
            if let Some(token) = self.token_of(id) {
                self.settle(token, Err(self.failed("the server did not acknowledge the request")));
            }
        }
        if !self.is_confirmable {
            self.give_up_unconfirmed(now);
        }
        if let Some(idle) = self.idle_timeout.filter(|idle| now >= self.moved + *idle)
            && self.end.is_none()
            && self.is_awaited()
        {
            self.fail(Error::idle(self.protocol, Step::Receive, idle));
        }
        self.send_queued();
    }

    fn next_timeout(&self) -> Option<Time> {
        let idle = self.idle_timeout.filter(|_| self.is_awaited()).map(|idle| self.moved + idle);
        let open = self.waiting.values().filter(|one| one.id.is_some() && one.answer.is_none());
        let unconfirmed = open.filter(|_| !self.is_confirmable).map(|waiting| {
            let limit = self.idle_timeout.unwrap_or(NON_LIFETIME);
            waiting.sent + if waiting.is_outstanding { ACK_TIMEOUT.min(limit) } else { limit }
        });
        [self.messages.next_timeout(), idle, unconfirmed.min()].into_iter().flatten().min()
    }

    fn lose(&mut self, reason: &std::io::Error) {
        self.fail(self.failed(&reason.to_string()));
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

/// The client's end, shared by its driver and its exchanges.
pub(super) type Shared = Rc<std::cell::RefCell<Asking>>;

/// Sends a request and waits for its response.
pub(super) async fn ask(shared: &Shared, packet: Packet) -> Result<Packet> {
    let token = shared.borrow_mut().begin(packet)?;
    let request = Outstanding { shared, token };
    poll_fn(|cx| request.shared.borrow_mut().poll_answer(token, cx)).await
}

/// A request whose caller waits for the response.
struct Outstanding<'a> {
    shared: &'a Shared,
    token: u32,
}

impl Drop for Outstanding<'_> {
    fn drop(&mut self) {
        self.shared.borrow_mut().drop_request(self.token);
    }
}
