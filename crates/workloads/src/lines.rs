//! The connection of a message: one for all, or a new one for each.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use futures_util::future::{FutureExt as _, Shared};
use trackbed_connection::{Error, Handshake};
use trackbed_substrate::{Task, sleep, spawn};

use crate::phone::{Line, Phone};
use crate::tasks;

pub(crate) struct Lines {
    phone: Rc<Phone>,
    policy: Policy,
    handshake: Handshake,
    /// The shared connection, or the attempt to open it, with its number.
    shared: RefCell<Option<(u32, Opening)>>,
    closing: RefCell<Vec<Task<()>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// All of the phone's messages, as long as it works.
    One,
    Each,
}

impl Lines {
    pub(crate) fn new(phone: Rc<Phone>, policy: Policy, handshake: Handshake) -> Lines {
        let (shared, closing) = (RefCell::default(), RefCell::default());
        Lines { phone, policy, handshake, shared, closing }
    }

    /// The connection for a message, opened if necessary. Callers that arrive while it is being
    /// opened wait for the same one.
    pub(crate) async fn take(&self) -> Result<Rc<Line>, Error> {
        if self.policy == Policy::Each {
            return Rc::clone(&self.phone).open().await;
        }
        let (number, opening) = {
            let mut shared = self.shared.borrow_mut();
            // One that has ended since the last message is replaced.
            shared.take_if(
                |(_, opening)| matches!(opening.peek(), Some(Ok(line)) if !line.is_open()),
            );
            let open = || (self.phone.next_connection(), Rc::clone(&self.phone).open().shared());
            shared.get_or_insert_with(open).clone()
        };
        let opened = opening.await;
        if opened.is_err() && self.is_current(number) {
            self.shared.take();
        }
        opened
    }

    /// Gives a connection back after a message was answered on it.
    pub(crate) fn give_back(&self, line: Rc<Line>) {
        if self.policy == Policy::Each || !self.is_current(line.number) {
            self.close_if_last(line);
        }
    }

    /// Retires a connection on which a message failed: the next message opens another. It is closed
    /// when its messages in flight have been answered or have failed.
    pub(crate) fn put_away(&self, line: Rc<Line>) {
        if self.is_current(line.number) {
            self.shared.take();
        }
        self.close_if_last(line);
    }

    pub(crate) async fn close(&self) {
        let shared = self.shared.borrow_mut().take();
        if let Some(Ok(line)) = shared.and_then(|(_, opening)| opening.peek().cloned()) {
            line.close().await;
        }
        tasks::join(self.closing.take()).await;
    }

    fn is_current(&self, number: u32) -> bool {
        self.shared.borrow().as_ref().is_some_and(|(current, _)| *current == number)
    }

    fn close_if_last(&self, line: Rc<Line>) {
        if Rc::strong_count(&line) == 1 {
            let handshake = self.handshake;
            let mut closing = self.closing.borrow_mut();
            closing.retain(|task| !task.is_finished());
            closing.push(spawn(async move { close_gently(&line, handshake).await }));
        }
    }
}

/// Closes a connection. If later connections resume its session, it stays open for the tickets that
/// the server sends once it has seen the end of the handshake (RFC 8446 section 4.6.1): with early
/// data that is after the answer.
pub(crate) async fn close_gently(line: &Line, handshake: Handshake) {
    let linger = match handshake.resumes() {
        false => Duration::ZERO,
        true => line.smoothed_rtt().map_or(LINGER_UNKNOWN, |rtt| rtt * LINGER_ROUND_TRIPS),
    };
    if !linger.is_zero() {
        sleep(linger).await;
    }
    line.close().await;
}

type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Line>, Error>>>;

/// One round trip for the client's last flight and the tickets, and one to spare.
const LINGER_ROUND_TRIPS: u32 = 2;

/// How long to linger if the transport has no estimate of its round-trip time.
const LINGER_UNKNOWN: Duration = Duration::from_secs(1);
