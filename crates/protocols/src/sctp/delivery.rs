//! Messages that arrive, and the exchanges that they belong to.

use std::rc::Rc;
use std::task::Waker;

use bytes::Bytes;
use dcsctp::api::{Message, StreamId};
use trackbed_connection::{Error, Step};

use super::exchange::{Exchange, Half, Kind, SharedExchange};
use super::state::State;
use crate::config::STREAMS_MAX;
use crate::observer::Side;

impl State {
    /// Passes a message to its exchange, and returns how many bytes of it will not be read.
    pub(super) fn deliver(&mut self, message: Message) -> usize {
        let Message { stream_id: StreamId(id), ppid, payload } = message;
        let len = payload.len();
        if self.end.is_some() {
            return len;
        }
        let Some(kind) = Kind::of(ppid) else {
            self.breach("a message has an unknown kind");
            return len;
        };
        let known = self.streams.get(&id).cloned();
        let opens = matches!(kind, Kind::More | Kind::Last) && self.side == Side::Server;
        let exchange = match known {
            Some(exchange) => exchange,
            // It was sent before the end of the previous exchange.
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
            self.breach("a message follows the end of its exchange");
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

    fn breach(&mut self, reason: &str) {
        self.fail(Error::malformed(self.protocol, Step::Receive, reason));
    }
}

/// Takes in what arrives, and returns how many bytes of it will never be read.
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
