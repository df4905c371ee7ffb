//! The two halves of an exchange as byte streams, for the frames.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use trackbed_connection::{Body, Error, Priority, Result, Step};
use trackbed_substrate::now;

use super::association::Association;
use super::exchange::{Half, Kind, SharedExchange};
use crate::framing::{Delimiter, Input, Output, send_message};

/// The receiving half. Dropping it early asks the peer to stop.
pub(super) struct Receiving {
    association: Rc<Association>,
    id: u16,
    exchange: SharedExchange,
}

/// The sending half. Dropping it before the message is complete tells the peer that it is not.
pub(super) struct Sending {
    association: Rc<Association>,
    id: u16,
    exchange: SharedExchange,
    /// Bytes that are not in a message yet.
    rest: Vec<u8>,
    message_len: usize,
}

/// Both halves of the exchange on stream `id`, whose messages have at most `message_len` bytes.
pub(super) fn halves(
    association: &Rc<Association>,
    (id, exchange): (u16, SharedExchange),
    message_len: usize,
) -> (Sending, Receiving) {
    let receiving =
        Receiving { association: Rc::clone(association), id, exchange: Rc::clone(&exchange) };
    let association = Rc::clone(association);
    (Sending { association, id, exchange, rest: Vec::new(), message_len }, receiving)
}

impl Input for Receiving {
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        let shared = &self.association.0;
        let mut exchange = self.exchange.borrow_mut();
        if let Some(piece) = exchange.pieces.pop_front() {
            drop(exchange);
            shared.state.borrow_mut().release(piece.len());
            return Poll::Ready(Ok(Some(piece)));
        }
        let mut state = shared.state.borrow_mut();
        match (exchange.arriving, &state.end) {
            (Half::Whole, _) => Poll::Ready(Ok(None)),
            (Half::Broken, _) => {
                let reason = "the peer could not complete the message";
                Poll::Ready(Err(Error::transient(shared.protocol, Step::Receive, reason)))
            }
            (Half::Open | Half::Stopped, Some(error)) => Poll::Ready(Err(error.clone())),
            (Half::Open | Half::Stopped, None) => {
                // The wait begins once, however often the reader looks again.
                if exchange.reader.replace(cx.waker().clone()).is_none() {
                    state.moved = now();
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.association.0.state.borrow_mut().unwanted(self.id, &self.exchange);
    }
}

impl Sending {
    /// Sends a whole message. A peer that responds without the rest does not need it.
    pub(super) async fn message(mut self, head: Bytes, body: Body) -> Result<()> {
        match send_message(&mut self, Delimiter::EndOfStream, head, body).await {
            Err(_) if self.exchange.borrow().leaving == Half::Stopped => return Ok(()),
            outcome => outcome?,
        }
        let rest = std::mem::take(&mut self.rest);
        match rest.is_empty() {
            true => self.leave(Kind::End, vec![0]),
            false => self.leave(Kind::Last, rest),
        }
        Ok(())
    }

    /// Gives the stream its share of the association, by the urgency of what it carries.
    pub(super) fn weigh(&self, priority: Option<Priority>) {
        let urgency = priority.unwrap_or_default().urgency;
        self.association.0.state.borrow_mut().weigh(self.id, urgency);
    }

    fn leave(&self, kind: Kind, last: Vec<u8>) {
        self.association.0.state.borrow_mut().leave(self.id, &self.exchange, kind, last);
    }

    async fn room(&self) -> Result<()> {
        let state = &self.association.0.state;
        poll_fn(|cx| state.borrow_mut().poll_room(cx, self.id, &self.exchange)).await
    }

    fn send(&self, messages: Vec<Vec<u8>>) {
        self.association.0.state.borrow_mut().send(self.id, Kind::More, messages);
    }
}

impl Output for Sending {
    /// Buffers a partial message, and the last full one: it may be the last of the body.
    async fn write(&mut self, mut bytes: Bytes) -> Result<()> {
        let mut messages = Vec::new();
        while !bytes.is_empty() {
            if self.rest.len() == self.message_len {
                messages.push(std::mem::take(&mut self.rest));
                self.rest.reserve_exact(self.message_len.min(bytes.len()));
            }
            let fits = bytes.split_to(bytes.len().min(self.message_len - self.rest.len()));
            self.rest.extend_from_slice(&fits);
            if messages.len() == BATCH_MAX {
                self.room().await?;
                self.send(std::mem::take(&mut messages));
            }
        }
        if !messages.is_empty() {
            self.room().await?;
            self.send(messages);
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        if !self.rest.is_empty() {
            self.room().await?;
            let rest = std::mem::take(&mut self.rest);
            self.send(vec![rest]);
        }
        Ok(())
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.leave(Kind::Broken, vec![0]);
    }
}

/// How many messages are passed to the engine at once.
const BATCH_MAX: usize = 32;
