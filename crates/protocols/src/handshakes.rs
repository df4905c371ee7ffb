//! How many handshakes are under way.

use std::cell::Cell;
use std::rc::Rc;

/// The number of unfinished handshakes. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshakes(Rc<Cell<usize>>);

impl Handshakes {
    pub(crate) fn count(&self) -> usize {
        self.0.get()
    }

    /// One more, until what this returns is dropped.
    pub(crate) fn begin(&self) -> HandshakeUnderWay {
        self.0.set(self.0.get() + 1);
        HandshakeUnderWay(Rc::clone(&self.0))
    }
}

#[derive(Debug)]
pub(crate) struct HandshakeUnderWay(Rc<Cell<usize>>);

impl Drop for HandshakeUnderWay {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
