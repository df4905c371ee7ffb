//! An association (RFC 9260 section 1.3): the engine, its streams, and who waits for them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, SendOptions, SocketEvent, SocketState, SocketTime, StreamId,
};
use trackbed_core::Time;
use trackbed_substrate::now;

use super::exchange::{Exchange, Half, Kind, SharedExchange};
use super::settings::{RTO_INITIAL, UNSENT_MAX};
use crate::STREAMS_MAX;
use crate::error::{Error, Result, Step};
use crate::ledger::Account;
use crate::observer::Side;
use crate::stats::TransportStats;

/// A handle on an association. When the last one is dropped, the association ends.
pub(super) struct Association(pub(super) Rc<Shared>);

/// What the handles and the driver share.
pub(super) struct Shared {
    pub(super) protocol: &'static str,
    pub(super) side: Side,
    pub(super) idle_timeout: Duration,
    pub(super) counters: Counters,
    pub(super) state: RefCell<State>,
}

/// What the transport has done so far, also after its end.
#[derive(Clone, Default)]
pub(super) struct Counters(pub(super) Rc<Cell<TransportStats>>);

impl Account for Counters {
    fn account(&self) -> TransportStats {
        self.0.get()
    }
}

pub(super) struct State {
    protocol: &'static str,
    side: Side,
    engine: Box<dyn DcSctpSocket>,
    /// The engine's time zero.
    began: Time,
    counters: Counters,
    /// Packets that the channel has not taken yet.
    pub(super) outgoing: VecDeque<Vec<u8>>,
    streams: BTreeMap<u16, SharedExchange>,
    /// Client: identifiers below `unused` that no exchange has.
    free: BTreeSet<u16>,
    unused: u16,
    /// Server: streams with a request that nobody has taken yet.
    requests: VecDeque<(u16, SharedExchange)>,
    /// Whether the peer has answered at all.
    answered: bool,
    /// Client: the verification tag that the peer has to use (RFC 9260 section 5.1).
    tag: Option<[u8; 4]>,
    /// When something last moved while somebody waited.
    pub(super) moved: Time,
    pub(super) driver: Option<Waker>,
    /// Who waits for an answer, a free stream or a request.
    waiting: Vec<Waker>,
    /// Why there is no association any more.
    pub(super) end: Option<Error>,
}

impl Shared {
    pub(super) fn new(
        protocol: &'static str,
        side: Side,
        idle_timeout: Duration,
        engine: Box<dyn DcSctpSocket>,
        began: Time,
    ) -> Rc<Shared> {
        let counters = Counters::default();
        let mut state = State {
            protocol,
            side,
            engine,
            began,
            counters: counters.clone(),
            outgoing: VecDeque::new(),
            streams: BTreeMap::new(),
            free: BTreeSet::new(),
            unused: 0,
            requests: VecDeque::new(),
            answered: false,
            tag: None,
            moved: now(),
            driver: None,
            waiting: Vec::new(),
            end: None,
        };
        if side == Side::Client {
            state.engine.connect();
        }
        state.pump();
        let init = state.outgoing.front().filter(|_| side == Side::Client);
        state.tag = init.and_then(|init| init.get(INITIATE_TAG)?.try_into().ok());
        let state = RefCell::new(state);
        Rc::new(Shared { protocol, side, idle_timeout, counters, state })
    }
}

impl Association {
    /// Ready when the peer has answered for the first time. What is sent until the engine is told
    /// of the answer goes along with the COOKIE ECHO (RFC 9260 section 5.1).
    pub(super) fn poll_answered(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.0.state.borrow_mut();
        match &state.end {
            Some(error) => Poll::Ready(Err(error.clone())),
            None if state.answered => Poll::Ready(Ok(())),
            None => state.wait(cx),
        }
    }

    /// Opens a stream that no other exchange has.
    pub(super) fn poll_open(&self, cx: &mut Context<'_>) -> Poll<Result<(u16, SharedExchange)>> {
        let mut state = self.0.state.borrow_mut();
        if let Some(error) = &state.end {
            return Poll::Ready(Err(error.clone()));
        }
        let free = state.free.pop_first().or_else(|| {
            let next = state.unused;
            (next < state.streams_max()).then(|| {
                state.unused += 1;
                next
            })
        });
        let Some(id) = free else { return state.wait(cx) };
        let exchange = Exchange::new();
        state.streams.insert(id, Rc::clone(&exchange));
        Poll::Ready(Ok((id, exchange)))
    }

    /// The next stream that the client has opened; `None` at the end of the association.
    pub(super) fn poll_request(&self, cx: &mut Context<'_>) -> Poll<Option<(u16, SharedExchange)>> {
        let mut state = self.0.state.borrow_mut();
        match state.requests.pop_front() {
            Some(request) => Poll::Ready(Some(request)),
            None if state.end.is_some() => Poll::Ready(None),
            None => state.wait(cx),
        }
    }

    /// Whether packets wait to be taken by the channel.
    pub(super) fn poll_flushed(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.state.borrow_mut();
        if state.outgoing.is_empty() { Poll::Ready(()) } else { state.wait(cx) }
    }

    /// Ends the association. A client does so in order if nothing is under way, a server, which
    /// does not listen any more, at once (ABORT, RFC 9260 section 9.1).
    pub(super) fn end(&self) {
        self.0.state.borrow_mut().finish();
    }

    pub(super) fn stats(&self) -> TransportStats {
        self.0.state.borrow().measure();
        self.0.counters.account()
    }
}

impl Drop for Association {
    fn drop(&mut self) {
        self.end();
    }
}

impl State {
    /// The engine, told what time it is.
    fn engine(&mut self) -> &mut dyn DcSctpSocket {
        let time = SocketTime::zero() + (now() - self.began);
        self.engine.advance_time(time);
        &mut *self.engine
    }

    fn wait<T>(&mut self, cx: &Context<'_>) -> Poll<T> {
        if !self.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn wake_waiting(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }

    /// How many streams both sides allow.
    fn streams_max(&self) -> u16 {
        let negotiated = self.engine.get_metrics().map(|m| m.negotiated_maximum_outgoing_streams);
        negotiated.unwrap_or(u16::MAX).min(STREAMS_MAX as u16)
    }

    /// Takes a packet from the peer.
    pub(super) fn input(&mut self, packet: &[u8]) {
        let mut stats = self.counters.0.get();
        stats.bytes_received += packet.len() as u64;
        self.counters.0.set(stats);
        if !is_heartbeat(packet) {
            self.moved = now();
        }
        self.engine().handle_input(packet);
        self.pump();
    }

    /// Lets the engine's timers go off that are due.
    pub(super) fn advance(&mut self) {
        self.engine();
        self.pump();
    }

    /// When the engine wants to be called again.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let timeout = self.engine.poll_timeout();
        let is_set = timeout != SocketTime::infinite_future();
        is_set.then(|| self.began + (timeout - SocketTime::zero()))
    }

    /// Tells those who connect that the peer has answered.
    pub(super) fn answered(&mut self) {
        self.answered = true;
        self.wake_waiting();
    }

    pub(super) fn is_answered(&self) -> bool {
        self.answered
    }

    /// Whether this is the INIT ACK that a client waits for, by its verification tag.
    pub(super) fn is_first_answer(&self, packet: &[u8]) -> bool {
        let is_expected = || packet.get(VERIFICATION_TAG) == self.tag.as_ref().map(|tag| &tag[..]);
        self.side == Side::Client
            && !self.answered
            && packet.get(COMMON_HEADER_LEN) == Some(&INIT_ACK)
            && is_expected()
    }

    /// Whether somebody here waits for the peer.
    pub(super) fn is_awaited(&self) -> bool {
        !self.answered || self.streams.values().any(|exchange| exchange.borrow().is_awaited())
    }

    /// The channel has taken a packet.
    pub(super) fn sent(&mut self) {
        let Some(packet) = self.outgoing.pop_front() else { return };
        let mut stats = self.counters.0.get();
        stats.bytes_sent += packet.len() as u64;
        self.counters.0.set(stats);
        if self.outgoing.is_empty() {
            self.wake_waiting();
        }
    }

    /// Whether a stream has room for another message; if not, the writer is woken when it has.
    pub(super) fn poll_room(
        &mut self,
        cx: &Context<'_>,
        id: u16,
        exchange: &SharedExchange,
    ) -> Poll<Result<()>> {
        let mut exchange = exchange.borrow_mut();
        if let Some(error) = &self.end {
            return Poll::Ready(Err(error.clone()));
        }
        if exchange.leaving != Half::Open {
            let reason = "the peer wants no more of it";
            return Poll::Ready(Err(Error::transient(self.protocol, Step::Send, reason)));
        }
        if self.engine.buffered_amount(StreamId(id)) >= UNSENT_MAX {
            exchange.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends messages on a stream.
    pub(super) fn send(&mut self, id: u16, kind: Kind, payloads: Vec<Vec<u8>>) {
        if self.end.is_some() {
            return;
        }
        let message = |payload| Message::new(StreamId(id), kind.ppid(), payload);
        let messages = payloads.into_iter().map(message).collect();
        // It fails for what is too long or empty, which these are not, and after the end, of which
        // the engine tells by itself.
        let _ended = self.engine().send_many(messages, &SendOptions::default());
        self.pump();
    }

    /// Ends what leaves on a stream.
    pub(super) fn leave(&mut self, id: u16, exchange: &SharedExchange, kind: Kind, last: Vec<u8>) {
        if exchange.borrow().leaving.has_ended() {
            return;
        }
        let whole = kind != Kind::Broken;
        exchange.borrow_mut().leaving = if whole { Half::Whole } else { Half::Broken };
        self.send(id, kind, vec![last]);
        self.recycle(id, exchange);
    }

    /// `bytes` have been read.
    pub(super) fn release(&mut self, bytes: usize) {
        self.engine().release_received(bytes);
        self.pump();
    }

    /// Nobody reads what arrives on a stream any more.
    pub(super) fn unwanted(&mut self, id: u16, exchange: &SharedExchange) {
        let (unread, open) = {
            let mut exchange = exchange.borrow_mut();
            exchange.wanted = false;
            exchange.reader = None;
            let unread = exchange.pieces.drain(..).map(|piece| piece.len()).sum();
            // A server that has ended its side may not say it any more: the client could take it
            // for a word about the next exchange.
            let is_known = self.side == Side::Client || !exchange.leaving.has_ended();
            (unread, is_known && !exchange.arriving.has_ended())
        };
        self.release(unread);
        if open {
            self.send(id, Kind::Stop, vec![vec![0]]);
        }
    }

    /// Frees the stream of an exchange that is over.
    fn recycle(&mut self, id: u16, exchange: &SharedExchange) {
        if exchange.borrow().is_over() && self.streams.remove(&id).is_some() {
            self.free.insert(id);
            self.wake_waiting();
        }
    }

    /// Hands on what the engine has: packets to send, messages, news.
    pub(super) fn pump(&mut self) {
        while let Some(event) = self.engine.poll_event() {
            match event {
                SocketEvent::SendPacket(packet) => self.outgoing.push_back(packet),
                SocketEvent::OnConnected() => self.answered(),
                SocketEvent::OnAborted(kind, reason) => self.aborted(kind, &reason),
                SocketEvent::OnClosed() => self.closed(),
                SocketEvent::OnBufferedAmountLow(StreamId(id)) => {
                    let exchange = self.streams.get(&id);
                    let writer = exchange.and_then(|exchange| exchange.borrow_mut().writer.take());
                    writer.into_iter().for_each(Waker::wake);
                }
                // Errors are what strangers say; the rest is not made use of.
                _ => {}
            }
        }
        let mut done = 0;
        while let Some(message) = self.engine.get_next_message() {
            done += self.deliver(message);
        }
        if done > 0 {
            self.engine().release_received(done);
            // It may have made a packet.
            return self.pump();
        }
        if !self.outgoing.is_empty() || self.end.is_some() {
            self.wake_driver();
        }
    }

    /// Brings the counters up to date, as long as there is an association.
    pub(super) fn measure(&self) {
        let Some(metrics) = self.engine.get_metrics() else { return };
        self.counters.0.set(TransportStats {
            packets_sent: metrics.tx_packets_count as u64,
            packets_lost: metrics.rtx_packets_count as u64,
            smoothed_rtt: (metrics.srtt != RTO_INITIAL).then_some(metrics.srtt),
            congestion_window: metrics.cwnd_bytes as u64,
            ..self.counters.0.get()
        });
    }

    pub(super) fn wake_driver(&mut self) {
        self.driver.take().into_iter().for_each(Waker::wake);
    }

    /// Puts a message to its exchange, and says how many bytes of it will not be read.
    fn deliver(&mut self, message: Message) -> usize {
        let Message { stream_id: StreamId(id), ppid, payload } = message;
        let len = payload.len();
        if self.end.is_some() {
            return len;
        }
        let Some(kind) = Kind::of(ppid) else {
            self.breach("a message is of an unknown kind");
            return len;
        };
        let known = self.streams.get(&id).cloned();
        let opens = matches!(kind, Kind::More | Kind::Last) && self.side == Side::Server;
        let exchange = match known {
            Some(exchange) => exchange,
            // It was said before the end of the exchange that was there.
            None if kind == Kind::Stop => return len,
            None if opens && u32::from(id) < STREAMS_MAX => self.opened(id),
            None => {
                self.breach("a message is on a stream without an exchange");
                return len;
            }
        };
        if kind == Kind::Stop {
            let mut exchange = exchange.borrow_mut();
            if exchange.leaving == Half::Open {
                exchange.leaving = Half::Stopped;
                exchange.writer.take().into_iter().for_each(Waker::wake);
            }
            return len;
        }
        if exchange.borrow().arriving.has_ended() {
            self.breach("a message is behind the end of its exchange");
            return len;
        }
        let unread = arrived(&mut exchange.borrow_mut(), kind, payload.into());
        self.recycle(id, &exchange);
        unread
    }

    fn opened(&mut self, id: u16) -> SharedExchange {
        let exchange = Exchange::new();
        self.streams.insert(id, Rc::clone(&exchange));
        self.requests.push_back((id, Rc::clone(&exchange)));
        self.wake_waiting();
        exchange
    }

    /// The peer does what the protocol does not allow.
    fn breach(&mut self, reason: &str) {
        self.fail(Error::malformed(self.protocol, Step::Receive, reason));
    }

    fn aborted(&mut self, kind: ErrorKind, reason: &str) {
        let error = match kind {
            ErrorKind::ProtocolViolation => {
                Error::malformed(self.protocol, Step::Receive, reason.to_owned())
            }
            ErrorKind::PeerReported => {
                let reason = format!("the peer has aborted the association: {reason}");
                Error::transient(self.protocol, Step::Receive, reason)
            }
            _ => Error::transient(self.protocol, Step::Receive, reason),
        };
        self.gone(error);
    }

    fn closed(&mut self) {
        self.gone(Error::transient(self.protocol, Step::Send, "the association is closed"));
    }

    /// Gives the association up, and tells the peer.
    pub(super) fn fail(&mut self, error: Error) {
        self.measure();
        self.gone(error);
        self.engine().close();
        self.pump();
    }

    fn finish(&mut self) {
        if self.end.is_some() {
            return;
        }
        let in_order = self.side == Side::Client
            && self.streams.is_empty()
            && self.engine.state() == SocketState::Connected;
        self.measure();
        self.closed();
        match in_order {
            true => self.engine().shutdown(),
            false => self.engine().close(),
        }
        self.pump();
    }

    fn gone(&mut self, error: Error) {
        if self.end.is_none() {
            self.end = Some(error);
            std::mem::take(&mut self.streams)
                .into_values()
                .for_each(|exchange| exchange.borrow_mut().wake());
            self.wake_waiting();
        }
    }

    /// Whether the engine has come to its end.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some() && self.engine.state() == SocketState::Closed
    }
}

/// Takes in what arrives, and returns how many bytes of it nobody will read.
fn arrived(exchange: &mut Exchange, kind: Kind, payload: Bytes) -> usize {
    let has_bytes = matches!(kind, Kind::More | Kind::Last);
    exchange.arriving = match kind {
        Kind::Last | Kind::End => Half::Whole,
        Kind::Broken => Half::Broken,
        Kind::More | Kind::Stop => exchange.arriving,
    };
    exchange.reader.take().into_iter().for_each(Waker::wake);
    if has_bytes && exchange.wanted {
        exchange.pieces.push_back(payload);
        return 0;
    }
    payload.len()
}

/// Whether a packet only asks or says that its sender is there (RFC 9260 section 3.3.5).
fn is_heartbeat(packet: &[u8]) -> bool {
    matches!(packet.get(COMMON_HEADER_LEN), Some(4 | 5))
}

/// RFC 9260 section 3.1.
const COMMON_HEADER_LEN: usize = 12;
const VERIFICATION_TAG: Range<usize> = 4..8;
/// In a packet with an INIT chunk (RFC 9260 section 3.3.2).
const INITIATE_TAG: Range<usize> = 16..20;
/// RFC 9260 section 3.2.
const INIT_ACK: u8 = 2;
