//! Moves datagrams and time between a channel and its user.

use std::rc::Rc;
use std::task::{Context, Poll};

use trackbed_core::Time;
use trackbed_substrate::now;

use super::messages::Messages;
use crate::alarm::Alarm;
use crate::datagrams::Channel;

/// One end of a channel: a client, or a server's side of one peer.
pub(super) trait Party {
    fn messages(&mut self) -> &mut Messages;

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

pub(super) struct Driver {
    channel: Rc<dyn Channel>,
    alarm: Alarm,
}

impl Driver {
    pub(super) fn new(channel: Rc<dyn Channel>) -> Driver {
        Driver { channel, alarm: Alarm::default() }
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
            let due = party.next_timeout().filter(|_| !party.is_over());
            if !self.alarm.has_fired(due, cx) {
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
}

/// The channel is closed when no sender is left.
impl Drop for Driver {
    fn drop(&mut self) {
        self.channel.close();
    }
}

/// How many datagrams are read before other tasks get a turn.
const TURN: usize = 64;
