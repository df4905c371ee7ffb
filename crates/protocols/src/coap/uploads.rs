//! Request bodies in blocks, and their limit on the server's memory.

use bytes::Bytes;
use trackbed_connection::{Body, Error};

use crate::pieces::{Budget, Pieces, queue};

/// A body that arrives: this end takes it from the network.
pub(super) struct Arriving {
    pieces: Pieces,
    budget: Budget,
}

impl Arriving {
    /// A body without bytes so far, and the end that the service reads.
    pub(super) fn new(budget: &Budget) -> (Arriving, Body) {
        let (pieces, arrivals) = queue(budget);
        (Arriving { pieces, budget: budget.clone() }, arrivals.into_body())
    }

    /// Takes a piece; false if there is no room for it.
    pub(super) fn put(&self, piece: Bytes) -> bool {
        let has_room =
            self.pieces.unread() + piece.len() <= BODY_MAX && self.budget.has_room(piece.len());
        if has_room {
            self.pieces.push(piece);
            return true;
        }
        piece.is_empty() || !self.pieces.are_wanted()
    }

    pub(super) fn finish(self) {
        self.pieces.end(Ok(()));
    }
}

/// A body that is not finished ends with an error.
impl Drop for Arriving {
    fn drop(&mut self) {
        let reason = "the client did not send the whole body".to_owned();
        self.pieces.end(Err(Error::Body { reason }));
    }
}

/// The maximum unread bytes of one body; a client that sends more gets 4.13.
pub(super) const BODY_MAX: usize = 8 << 20;
/// The maximum of all bodies of a server.
pub(super) const ALL_BODIES_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use trackbed_connection::body;

    #[test]
    fn what_is_not_read_takes_of_the_budget_and_gives_it_back() {
        let budget = Budget::new(ALL_BODIES_MAX);
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
        assert!(budget.has_room(ALL_BODIES_MAX));
    }

    #[test]
    fn a_body_that_breaks_off_is_not_taken_for_a_whole_one() {
        let (arriving, body) = Arriving::new(&Budget::new(ALL_BODIES_MAX));
        assert!(arriving.put("ab".into()));
        drop(arriving);
        assert!(body::collect(body, 10).now_or_never().unwrap().is_err());
    }
}
