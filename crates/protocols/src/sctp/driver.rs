//! The task of an association: between its channel and its engine.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use trackbed_connection::{Error, Step};
use trackbed_substrate::now;

use super::association::Shared;
use super::state::State;
use crate::alarm::Alarm;
use crate::datagrams::Channel;
use crate::ledger::{Accounted, Ledger};
use crate::observer::Side;

/// Moves packets and time until the association has come to its end.
pub(super) async fn drive(shared: Rc<Shared>, channel: Rc<dyn Channel>, ledger: Option<Ledger>) {
    let _account = Accounted::new(shared.counters.clone(), ledger.as_ref());
    let mut driver = Driver { shared, channel, alarm: Alarm::default(), answer: None };
    poll_fn(|cx| driver.poll(cx)).await;
    driver.channel.close();
}

struct Driver {
    shared: Rc<Shared>,
    channel: Rc<dyn Channel>,
    alarm: Alarm,
    /// The server's first answer, and how many turns it is kept back for.
    answer: Option<(Bytes, u32)>,
}

impl Driver {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let shared = Rc::clone(&self.shared);
        let mut state = shared.state.borrow_mut();
        state.driver = None;
        loop {
            self.receive(&mut state, cx);
            state.advance();
            state.measure();
            self.check_idle(&mut state);
            while let Some(packet) = state.outgoing.front() {
                // A packet that the host refuses is a lost one: retransmission deals with it.
                let Poll::Ready(_sent) = self.channel.poll_send(cx, packet) else { break };
                state.sent();
            }
            if state.is_over() && state.outgoing.is_empty() {
                return Poll::Ready(());
            }
            if !self.arm(&state, cx) {
                break;
            }
        }
        state.driver = Some(cx.waker().clone());
        Poll::Pending
    }

    fn receive(&mut self, state: &mut State, cx: &mut Context<'_>) {
        if let Some((answer, turns)) = self.answer.take() {
            if turns > 0 {
                self.answer = Some((answer, turns - 1));
                cx.waker().wake_by_ref();
                return;
            }
            state.input(&answer);
        }
        while let Poll::Ready(received) = self.channel.poll_recv(cx) {
            match received {
                // Connecting tasks are woken before the engine gets it: the engine replies at once,
                // and data for its COOKIE ECHO must be ready by then.
                Ok(packet) if state.is_first_answer(&packet) => {
                    state.answered();
                    self.answer = Some((packet, ANSWER_TURNS));
                    cx.waker().wake_by_ref();
                    return;
                }
                Ok(packet) => state.input(&packet),
                Err(error) => {
                    let step = if state.answered { Step::Receive } else { Step::Connect };
                    state.fail(Error::transient(self.shared.protocol, step, error));
                    return;
                }
            }
        }
    }

    /// The idle timeout, while silence matters. A server leaves it to the client to end an
    /// association; heartbeats detect a lost client.
    fn idle_limit(&self, state: &State) -> Option<Duration> {
        let is_minded =
            state.end.is_none() && (self.shared.side == Side::Client || !state.answered);
        self.shared.idle_timeout.filter(|_| is_minded)
    }

    fn check_idle(&self, state: &mut State) {
        let Some(idle) = self.idle_limit(state).filter(|idle| now() >= state.moved + *idle) else {
            return;
        };
        if !state.is_awaited() {
            state.moved = now();
            return;
        }
        let step = if state.answered { Step::Receive } else { Step::Connect };
        state.fail(Error::idle(self.shared.protocol, step, idle));
    }

    /// Sets the timer, and returns whether it has fired.
    fn arm(&mut self, state: &State, cx: &mut Context<'_>) -> bool {
        let idle = self.idle_limit(state).map(|idle| state.moved + idle);
        let due = [state.next_timeout(), idle].into_iter().flatten().min();
        self.alarm.has_fired(due, cx)
    }
}

/// The executor turns between a reply and its effect: one for the connecting task, one for the task
/// that it starts for its request, one for a body.
const ANSWER_TURNS: u32 = 3;
