//! Bodies that arrive in messages: queues with one total length per connection, so that it stops
//! reading when too much is unread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use trackbed_connection::error::Result;

/// The unread bytes of all bodies of a connection.
#[derive(Clone)]
pub(super) struct Budget(Rc<Account>);

struct Account {
    held: Cell<usize>,
    max: usize,
    /// Who reads the connection, and waits because of it.
    reader: Cell<Option<Waker>>,
}

impl Budget {
    /// An account of at most about `max` bytes.
    pub fn new(max: usize) -> Budget {
        Budget(Rc::new(Account { held: Cell::new(0), max, reader: Cell::new(None) }))
    }

    /// Whether reading must pause; `cx` is woken when that changes.
    pub fn is_used_up(&self, cx: &Context<'_>) -> bool {
        let used_up = self.0.held.get() >= self.0.max;
        if used_up {
            self.0.reader.set(Some(cx.waker().clone()));
        }
        used_up
    }

    fn take(&self, len: usize) {
        self.0.held.set(self.0.held.get() + len);
    }

    fn give(&self, len: usize) {
        self.0.held.set(self.0.held.get().saturating_sub(len));
        if self.0.held.get() < self.0.max
            && let Some(reader) = self.0.reader.take()
        {
            reader.wake();
        }
    }
}

/// The two ends of a body.
pub(super) fn queue(budget: &Budget) -> (Pieces, Arrivals) {
    let queue = Rc::new(RefCell::new(Queue {
        pieces: VecDeque::new(),
        end: None,
        reader: None,
        budget: budget.clone(),
        is_wanted: true,
    }));
    (Pieces(Rc::clone(&queue)), Arrivals(queue))
}

struct Queue {
    pieces: VecDeque<Bytes>,
    end: Option<Result<()>>,
    reader: Option<Waker>,
    budget: Budget,
    is_wanted: bool,
}

/// Where pieces come in.
pub(super) struct Pieces(Rc<RefCell<Queue>>);

impl Pieces {
    /// Takes a piece, unless the reader is gone.
    pub fn push(&self, piece: Bytes) {
        let mut queue = self.0.borrow_mut();
        if queue.is_wanted && queue.end.is_none() && !piece.is_empty() {
            queue.budget.take(piece.len());
            queue.pieces.push_back(piece);
            queue.wake();
        }
    }

    /// Ends the body, if it has not ended before.
    pub fn end(&self, end: Result<()>) {
        let mut queue = self.0.borrow_mut();
        queue.end.get_or_insert(end);
        queue.wake();
    }
}

impl Queue {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

/// The reading end. Dropped unread bytes are subtracted from the total.
pub(super) struct Arrivals(Rc<RefCell<Queue>>);

impl Arrivals {
    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Result<Option<Bytes>>> {
        let mut queue = self.0.borrow_mut();
        if let Some(piece) = queue.pieces.pop_front() {
            queue.budget.give(piece.len());
            return Poll::Ready(Ok(Some(piece)));
        }
        match &queue.end {
            Some(end) => Poll::Ready(end.clone().map(|()| None)),
            None => {
                queue.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        let mut queue = self.0.borrow_mut();
        queue.is_wanted = false;
        let left: usize = queue.pieces.drain(..).map(|piece| piece.len()).sum();
        queue.budget.give(left);
    }
}
