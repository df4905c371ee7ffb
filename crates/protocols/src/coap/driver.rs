//! Moves datagrams and time between a channel and its user.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use trackbed_core::Time;
use trackbed_substrate::{Timer, now, sleep_until};

use super::messages::Messages;
use crate::datagrams::Channel;

/// One end of a channel: a client, or a server's side of one peer.
pub(super) trait Party {
    fn messages(&mut self) -> &mut Messages;

    /// A datagram has come.
    fn hear(&mut self, datagram: &[u8], now: Time);

    /// The time of [`Party::next_timeout`] has come.
    fn advance(&mut self, now: Time);

    /// When it must be called with the time.
    fn next_timeout(&self) -> Option<Time>;

    /// Nothing can come any more.
    fn lose(&mut self, reason: &std::io::Error);

    /// Whether it has nothing more to send.
    fn is_over(&self) -> bool;
}

/// What a driver keeps between its turns.
pub(super) struct Driver {
    channel: Rc<dyn Channel>,
    timer: Option<(Timer, Time)>,
}

impl Driver {
    pub(super) fn new(channel: Rc<dyn Channel>) -> Driver {
        Driver { channel, timer: None }
    }

    /// One turn; ready when the party has ended and everything is sent. Code that changes the party
    /// between two turns must wake the driver.
    pub(super) fn poll(&mut self, party: &mut dyn Party, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.receive(party, cx);
            party.advance(now());
            while let Some(datagram) = party.messages().outgoing.front() {
                // Datagrams that the host refuses count as lost; retransmission handles them.
                let Poll::Ready(_sent) = self.channel.poll_send(cx, datagram) else { break };
                party.messages().outgoing.pop_front();
            }
            if party.is_over() && party.messages().outgoing.is_empty() {
                return Poll::Ready(());
            }
            if !self.is_due(party, cx) {
                return Poll::Pending;
            }
        }
    }

    fn receive(&mut self, party: &mut dyn Party, cx: &mut Context<'_>) {
        for _ in 0..TURN {
            if party.is_over() {
                return;
            }
            match self.channel.poll_recv(cx) {
                Poll::Ready(Ok(datagram)) => party.hear(&datagram, now()),
                Poll::Ready(Err(error)) => return party.lose(&error),
                Poll::Pending => return,
            }
        }
        // Other tasks get a turn.
        cx.waker().wake_by_ref();
    }

    /// Sets the timer, and returns whether it has fired.
    fn is_due(&mut self, party: &dyn Party, cx: &mut Context<'_>) -> bool {
        let Some(due) = party.next_timeout().filter(|_| !party.is_over()) else {
            self.timer = None;
            return false;
        };
        let (timer, armed) = self.timer.get_or_insert_with(|| (sleep_until(due), due));
        // Deadlines mostly move later; an early wake finds that out.
        if due < *armed {
            timer.reset(due);
            *armed = due;
        }
        if Pin::new(timer).poll(cx).is_ready() {
            self.timer = None;
            return true;
        }
        false
    }
}

/// The channel is closed when no sender is left.
impl Drop for Driver {
    fn drop(&mut self) {
        self.channel.close();
    }
}

/// How many datagrams are read before other tasks get a turn.
const TURN: usize = 64;
