//! Bodies that arrive in messages: queues with a limit on all that is unread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use trackbed_connection::{Body, Result, body};

/// The unread bytes of all bodies of a connection or of a server.
#[derive(Clone)]
pub(crate) struct Budget(Rc<Account>);

struct Account {
    held: Cell<usize>,
    max: usize,
    /// Reads the connection, and waits because of it.
    reader: Cell<Option<Waker>>,
}

impl Budget {
    /// An account of at most about `max` bytes.
    pub fn new(max: usize) -> Budget {
        Budget(Rc::new(Account { held: Cell::new(0), max, reader: Cell::new(None) }))
    }

    /// Whether `len` more bytes fit.
    pub fn has_room(&self, len: usize) -> bool {
        self.0.held.get() + len <= self.0.max
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
        self.0.held.set(self.0.held.get() - len);
        if self.0.held.get() < self.0.max
            && let Some(reader) = self.0.reader.take()
        {
            reader.wake();
        }
    }
}

/// The two ends of a body.
pub(crate) fn queue(budget: &Budget) -> (Pieces, Arrivals) {
    let queue = Rc::new(RefCell::new(Queue {
        pieces: VecDeque::new(),
        unread: 0,
        end: None,
        reader: None,
        budget: budget.clone(),
        is_wanted: true,
    }));
    (Pieces(Rc::clone(&queue)), Arrivals(queue))
}

struct Queue {
    pieces: VecDeque<Bytes>,
    unread: usize,
    end: Option<Result<()>>,
    reader: Option<Waker>,
    budget: Budget,
    is_wanted: bool,
}

/// The end of the queue that receives pieces.
pub(crate) struct Pieces(Rc<RefCell<Queue>>);

impl Pieces {
    /// Takes a piece, unless the reader is gone.
    pub fn push(&self, piece: Bytes) {
        let mut queue = self.0.borrow_mut();
        if queue.is_wanted && queue.end.is_none() && !piece.is_empty() {
            queue.budget.take(piece.len());
            queue.unread += piece.len();
            queue.pieces.push_back(piece);
            queue.wake();
        }
    }

    /// Whether the body is still read.
    pub fn are_wanted(&self) -> bool {
        self.0.borrow().is_wanted
    }

    /// The length of what is not read yet.
    pub fn unread(&self) -> usize {
        self.0.borrow().unread
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
        self.reader.take().into_iter().for_each(Waker::wake);
    }
}

/// The reading end. Dropped unread bytes are subtracted from the total.
pub(crate) struct Arrivals(Rc<RefCell<Queue>>);

impl Arrivals {
    /// The whole.
    pub fn into_body(self) -> Body {
        body::unfold(self, async |arrivals| poll_fn(|cx| arrivals.poll_next(cx)).await)
    }

    /// The next piece; `None` at the end.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Result<Option<Bytes>>> {
        let mut queue = self.0.borrow_mut();
        if let Some(piece) = queue.pieces.pop_front() {
            queue.budget.give(piece.len());
            queue.unread -= piece.len();
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
        queue.pieces.clear();
        let unread = std::mem::take(&mut queue.unread);
        queue.budget.give(unread);
    }
}
