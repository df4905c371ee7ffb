//! Request bodies in blocks, and their limit on the server's memory.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use bytes::Bytes;
use futures_util::stream;
use trackbed_connection::{Body, Error};

/// The maximum total size of a server's unread bodies.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget(Rc<Cell<usize>>);

impl Budget {
    fn take(&self, len: usize) -> bool {
        let taken = self.0.get() + len;
        let fits = taken <= ALL_BODIES_MAX;
        if fits {
            self.0.set(taken);
        }
        fits
    }

    fn release(&self, len: usize) {
        self.0.set(self.0.get() - len);
    }
}

/// A body that arrives: this end takes it from the network.
pub(super) struct Arriving(Rc<RefCell<State>>);

struct State {
    pieces: VecDeque<Bytes>,
    len: usize,
    is_wanted: bool,
    end: Option<Result<(), Error>>,
    reader: Option<Waker>,
    budget: Budget,
}

impl Arriving {
    /// A body without bytes so far, and the end that the service reads.
    pub(super) fn new(budget: &Budget) -> (Arriving, Body) {
        let state = State {
            pieces: VecDeque::new(),
            len: 0,
            is_wanted: true,
            end: None,
            reader: None,
            budget: budget.clone(),
        };
        let shared = Rc::new(RefCell::new(state));
        let reading = Reading(Rc::clone(&shared));
        let body = stream::try_unfold(reading, async |reading| {
            let piece = poll_fn(|cx| {
                let mut state = reading.0.borrow_mut();
                if let Some(piece) = state.pieces.pop_front() {
                    state.len -= piece.len();
                    state.budget.release(piece.len());
                    return Poll::Ready(Ok(Some(piece)));
                }
                match &state.end {
                    Some(end) => Poll::Ready(end.clone().map(|()| None)),
                    None => {
                        state.reader = Some(cx.waker().clone());
                        Poll::Pending
                    }
                }
            });
            Ok(piece.await?.map(|piece| (piece, reading)))
        });
        (Arriving(shared), Box::pin(body))
    }

    /// Takes a piece; false if there is no room for it.
    pub(super) fn put(&self, piece: Bytes) -> bool {
        let mut state = self.0.borrow_mut();
        if !state.is_wanted || piece.is_empty() {
            return true;
        }
        if state.len + piece.len() > BODY_MAX || !state.budget.take(piece.len()) {
            return false;
        }
        state.len += piece.len();
        state.pieces.push_back(piece);
        state.wake();
        true
    }

    /// All of it has come.
    pub(super) fn finish(self) {
        self.0.borrow_mut().end = Some(Ok(()));
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn clear(&mut self) {
        self.budget.release(self.len);
        self.len = 0;
        self.pieces.clear();
    }
}

/// A body that is not finished ends with an error.
impl Drop for Arriving {
    fn drop(&mut self) {
        let mut state = self.0.borrow_mut();
        let reason = "the client did not send the whole body".to_owned();
        state.end.get_or_insert(Err(Error::Body { reason }));
        state.wake();
    }
}

/// The end that is read.
struct Reading(Rc<RefCell<State>>);

impl Drop for Reading {
    fn drop(&mut self) {
        let mut state = self.0.borrow_mut();
        state.is_wanted = false;
        state.clear();
    }
}

/// The maximum unread bytes of one body; a client that sends more gets 4.13.
pub(super) const BODY_MAX: usize = 8 << 20;
const ALL_BODIES_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use trackbed_connection::body;

    #[test]
    fn what_is_not_read_takes_of_the_budget_and_gives_it_back() {
        let budget = Budget::default();
        let mut all = Vec::new();
        for _ in 0..ALL_BODIES_MAX / BODY_MAX {
            let (arriving, body) = Arriving::new(&budget);
            assert!(arriving.put(vec![0; BODY_MAX].into()));
            assert!(!arriving.put(vec![0; 1].into()), "one body has a limit");
            all.push((arriving, body));
        }
        let (late, body) = Arriving::new(&budget);
        assert!(!late.put(vec![0; 1].into()), "all together have one");
        let (first, first_body) = all.pop().unwrap();
        first.finish();
        assert_eq!(body::drain(first_body).now_or_never(), Some(Ok(BODY_MAX as u64)));
        assert!(late.put(vec![0; 1].into()));
        drop(body);
        assert!(late.put(vec![0; BODY_MAX + 1].into()), "an unwanted body takes no budget");
        drop((late, all));
        assert_eq!(budget.0.get(), 0);
    }

    #[test]
    fn a_body_that_breaks_off_is_not_taken_for_a_whole_one() {
        let (arriving, body) = Arriving::new(&Budget::default());
        assert!(arriving.put("ab".into()));
        drop(arriving);
        assert!(body::collect(body, 10).now_or_never().unwrap().is_err());
    }
}
