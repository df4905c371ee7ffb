//! The state of an association: the engine, pending packets, and streams.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, SendOptions, SocketEvent, SocketState, SocketTime, StreamId,
};
use trackbed_connection::{Error, Result, Step, TransportStats};
use trackbed_core::Time;
use trackbed_substrate::now;

use super::association::Counters;
use super::exchange::{Half, Kind, SharedExchange};
use super::settings::{Room, SHARE, UNSENT_MAX};
use crate::config::STREAMS_MAX;
use crate::observer::Side;

/// An association, which its handles and its driver share.
pub(super) struct State {
    pub(super) protocol: &'static str,
    pub(super) side: Side,
    pub(super) engine: Box<dyn DcSctpSocket>,
    /// The engine's time zero.
    began: Time,
    /// What the engine reports as the round-trip time until it has measured one.
    unmeasured: Duration,
    counters: Counters,
    /// Packets that the channel has not taken yet.
    pub(super) outgoing: VecDeque<Vec<u8>>,
    pub(super) streams: BTreeMap<u16, SharedExchange>,
    /// Client: identifiers below `unused` that no exchange has.
    pub(super) free: BTreeSet<u16>,
    pub(super) unused: u16,
    /// Server: streams with a request that has not been accepted yet.
    pub(super) requests: VecDeque<(u16, SharedExchange)>,
    /// Whether the peer has answered at all.
    pub(super) answered: bool,
    /// Client: the verification tag that the peer has to use (RFC 9260 section 5.1).
    tag: Option<[u8; 4]>,
    /// The time of the last progress while a task waited.
    pub(super) moved: Time,
    pub(super) driver: Option<Waker>,
    /// Tasks that wait for a reply, a free stream or a request.
    waiting: Vec<Waker>,
    pub(super) end: Option<Error>,
    pub(super) room: Option<Room>,
    /// Its part of what is held in the room.
    in_flight: usize,
}

impl Drop for State {
    fn drop(&mut self) {
        self.hold(0);
    }
}

impl State {
    pub(super) fn new(
        protocol: &'static str,
        side: Side,
        engine: Box<dyn DcSctpSocket>,
        counters: Counters,
    ) -> State {
        let mut state = State {
            protocol,
            side,
            unmeasured: engine.options().rto_initial,
            engine,
            began: now(),
            counters,
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
            room: None,
            in_flight: 0,
        };
        if side == Side::Client {
            state.engine.connect();
        }
        state.pump();
        let init = state.outgoing.front().filter(|_| side == Side::Client);
        state.tag = init.and_then(|init| init.get(INITIATE_TAG)?.try_into().ok());
        state
    }

    /// The engine, with the current time.
    fn engine(&mut self) -> &mut dyn DcSctpSocket {
        let time = SocketTime::zero() + (now() - self.began);
        self.engine.advance_time(time);
        &mut *self.engine
    }

    pub(super) fn wait<T>(&mut self, cx: &Context<'_>) -> Poll<T> {
        if !self.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    pub(super) fn wake_waiting(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }

    /// How many streams both sides allow.
    pub(super) fn streams_max(&self) -> u16 {
        let negotiated = self.engine.get_metrics().map(|m| m.negotiated_maximum_outgoing_streams);
        negotiated.unwrap_or(u16::MAX).min(STREAMS_MAX as u16)
    }

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

    /// Runs the engine's due timers.
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

    /// Wakes connecting tasks after the peer's first reply.
    pub(super) fn answered(&mut self) {
        self.answered = true;
        self.wake_waiting();
    }

    /// Whether this is the INIT ACK that a client waits for, by its verification tag.
    pub(super) fn is_first_answer(&self, packet: &[u8]) -> bool {
        let is_expected = || packet.get(VERIFICATION_TAG) == self.tag.as_ref().map(|tag| &tag[..]);
        self.side == Side::Client
            && !self.answered
            && packet.get(COMMON_HEADER_LEN) == Some(&INIT_ACK)
            && is_expected()
    }

    /// Whether a local task waits for the peer.
    pub(super) fn is_awaited(&self) -> bool {
        !self.answered || self.streams.values().any(|exchange| exchange.borrow().reader.is_some())
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
            let reason = "the peer stopped reading the message";
            return Poll::Ready(Err(Error::transient(self.protocol, Step::Send, reason)));
        }
        let is_full = |room: &Room| self.in_flight >= SHARE && room.held.get() >= room.max;
        if self.engine.buffered_amount(StreamId(id)) >= UNSENT_MAX
            || self.room.as_ref().is_some_and(is_full)
        {
            exchange.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// Gives a stream a weight (RFC 8260 section 3.6), which halves with each step of urgency (RFC
    /// 9218 section 4.1, 0 is the most urgent).
    pub(super) fn weigh(&mut self, id: u16, urgency: u8) {
        self.engine.set_stream_priority(StreamId(id), WEIGHT_MAX >> urgency.min(7));
    }

    pub(super) fn send(&mut self, id: u16, kind: Kind, payloads: Vec<Vec<u8>>) {
        if self.end.is_some() {
            return;
        }
        let message = |payload| Message::new(StreamId(id), kind.ppid(), payload);
        let messages = payloads.into_iter().map(message).collect();
        // It fails for what is too long or empty, which these are not, and after the end, which the
        // engine reports by itself.
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

    pub(super) fn release(&mut self, bytes: usize) {
        self.engine().release_received(bytes);
        self.pump();
    }

    /// The reader of a stream is gone.
    pub(super) fn unwanted(&mut self, id: u16, exchange: &SharedExchange) {
        let (unread, open) = {
            let mut exchange = exchange.borrow_mut();
            exchange.wanted = false;
            exchange.reader = None;
            let unread = exchange.pieces.drain(..).map(|piece| piece.len()).sum();
            // A server that has ended its side must not send this any more: the client could apply
            // it to the next exchange.
            let is_known = self.side == Side::Client || !exchange.leaving.has_ended();
            (unread, is_known && !exchange.arriving.has_ended())
        };
        self.release(unread);
        if open {
            self.send(id, Kind::Stop, vec![vec![0]]);
        }
    }

    /// Frees the stream of an exchange that is over.
    pub(super) fn recycle(&mut self, id: u16, exchange: &SharedExchange) {
        if exchange.borrow().is_over() && self.streams.remove(&id).is_some() {
            self.free.insert(id);
            self.wake_waiting();
        }
    }

    /// Has `bytes` in flight. Writers that waited for room try again where there is some.
    fn hold(&mut self, bytes: usize) {
        let Some(room) = &self.room else { return };
        room.held.set(room.held.get() - self.in_flight + bytes);
        self.in_flight = bytes;
        if bytes < SHARE {
            let writers = self.streams.values().filter_map(|one| one.borrow_mut().writer.take());
            writers.for_each(Waker::wake);
        }
    }

    /// Takes the engine's output: packets, messages and events.
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
                // Errors report what untrusted peers sent; the rest is unused.
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
        if self.room.is_some() {
            let packets = self.engine.get_metrics().map_or(0, |metrics| metrics.unack_data_count);
            self.hold(packets * self.engine.options().mtu);
        }
        if !self.outgoing.is_empty() || self.end.is_some() {
            self.driver.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Brings the counters up to date, as long as there is an association.
    pub(super) fn measure(&self) {
        let Some(metrics) = self.engine.get_metrics() else { return };
        self.counters.0.set(TransportStats {
            packets_sent: metrics.tx_packets_count as u64,
            packets_lost: metrics.rtx_packets_count as u64,
            smoothed_rtt: (metrics.srtt != self.unmeasured).then_some(metrics.srtt),
            congestion_window: metrics.cwnd_bytes as u64,
            ..self.counters.0.get()
        });
    }

    fn aborted(&mut self, kind: ErrorKind, reason: &str) {
        let error = match kind {
            ErrorKind::ProtocolViolation => {
                Error::malformed(self.protocol, Step::Receive, reason.to_owned())
            }
            ErrorKind::PeerReported => {
                let reason = format!("the peer aborted the association: {reason}");
                Error::transient(self.protocol, Step::Receive, reason)
            }
            _ => Error::transient(self.protocol, Step::Receive, reason),
        };
        self.gone(error);
    }

    fn closed(&mut self) {
        self.gone(Error::transient(self.protocol, Step::Send, "the association is closed"));
    }

    /// Ends the association with an error, and notifies the peer.
    pub(super) fn fail(&mut self, error: Error) {
        self.measure();
        self.gone(error);
        self.engine().close();
        self.pump();
    }

    pub(super) fn finish(&mut self) {
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

/// Whether a packet is only a heartbeat or its acknowledgment (RFC 9260 section 3.3.5).
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

/// Leaves the engine's default, 256, to the default urgency of 3.
const WEIGHT_MAX: u16 = 2_048;
