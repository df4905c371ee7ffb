//! Handles on an association (RFC 9260 section 1.3).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use dcsctp::api::DcSctpSocket;
use trackbed_connection::{Result, TransportStats};

use super::exchange::{Exchange, SharedExchange};
use super::state::State;
use crate::ledger::Account;
use crate::observer::Side;

/// A handle on an association. When the last one is dropped, the association ends.
pub(super) struct Association(pub(super) Rc<Shared>);

/// What the handles and the driver share.
pub(super) struct Shared {
    pub(super) protocol: &'static str,
    pub(super) side: Side,
    pub(super) idle_timeout: Option<Duration>,
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

impl Shared {
    pub(super) fn new(
        protocol: &'static str,
        side: Side,
        idle_timeout: Option<Duration>,
        engine: Box<dyn DcSctpSocket>,
    ) -> Rc<Shared> {
        let counters = Counters::default();
        let state = State::new(protocol, side, engine, counters.clone());
        let state = RefCell::new(state);
        Rc::new(Shared { protocol, side, idle_timeout, counters, state })
    }
}

impl Association {
    pub(super) fn is_open(&self) -> bool {
        self.0.state.borrow().end.is_none()
    }

    /// Ready when the peer has answered for the first time. Data sent before the engine processes
    /// the answer is bundled with the COOKIE ECHO (RFC 9260 section 5.1).
    pub(super) fn poll_answered(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.0.state.borrow_mut();
        match &state.end {
            Some(error) => Poll::Ready(Err(error.clone())),
            None if state.answered => Poll::Ready(Ok(())),
            None => state.wait(cx),
        }
    }

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

    /// Waits until the channel has taken all outgoing packets.
    pub(super) fn poll_flushed(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.state.borrow_mut();
        if state.outgoing.is_empty() { Poll::Ready(()) } else { state.wait(cx) }
    }

    /// Ends the association. A client shuts down in order if no exchange is active; a server, which
    /// no longer listens, aborts at once (ABORT, RFC 9260 section 9.1).
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
