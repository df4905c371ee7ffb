//! How many of something are under way.

use std::cell::Cell;
use std::rc::Rc;

/// The number of unfinished handshakes, or exchanges. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Rc<Cell<usize>>);

impl Tally {
    pub(crate) fn count(&self) -> usize {
        self.0.get()
    }

    /// One more, until what this returns is dropped.
    pub(crate) fn begin(&self) -> UnderWay {
        self.0.set(self.0.get() + 1);
        UnderWay(Rc::clone(&self.0))
    }
}

#[derive(Debug)]
pub(crate) struct UnderWay(Rc<Cell<usize>>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
