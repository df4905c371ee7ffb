//! One exchange on its stream: what arrives, what leaves, and when the stream is free again.
//!
//! SCTP carries messages. A body is cut into messages, and the kind of each is its payload protocol
//! identifier (RFC 9260 section 3.3.1), so that the end needs no separate message.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;

use bytes::Bytes;
use dcsctp::api::PpId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes, with more behind them.
    More,
    /// Bytes, and the end of what this side sends.
    Last,
    /// The end, without bytes. A message cannot be empty, so one byte stands in.
    End,
    /// The end of a body that is not complete.
    Broken,
    /// The receiver stops reading what the peer sends.
    Stop,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::More, Kind::Last, Kind::End, Kind::Broken, Kind::Stop];

    pub(super) fn ppid(self) -> PpId {
        PpId(PPID_FIRST + self as u32)
    }

    pub(super) fn of(ppid: PpId) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.ppid() == ppid)
    }
}

/// Above what IANA has given away: "TRK" and a number.
const PPID_FIRST: u32 = u32::from_be_bytes(*b"TRK\0");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Open,
    /// The peer stopped reading, and the end has not been sent to it yet.
    Stopped,
    Whole,
    Broken,
}

impl Half {
    pub(super) fn has_ended(self) -> bool {
        matches!(self, Half::Whole | Half::Broken)
    }
}

#[derive(Debug)]
pub(super) struct Exchange {
    /// What has arrived and is not read.
    pub(super) pieces: VecDeque<Bytes>,
    pub(super) arriving: Half,
    /// Whether a reader is left for what arrives.
    pub(super) wanted: bool,
    /// The task that waits for the peer to send something.
    pub(super) reader: Option<Waker>,
    pub(super) leaving: Half,
    pub(super) writer: Option<Waker>,
}

/// An exchange that its stream and its two halves share.
pub(super) type SharedExchange = Rc<RefCell<Exchange>>;

impl Exchange {
    pub(super) fn new() -> SharedExchange {
        Rc::new(RefCell::new(Exchange {
            pieces: VecDeque::new(),
            arriving: Half::Open,
            wanted: true,
            reader: None,
            leaving: Half::Open,
            writer: None,
        }))
    }

    /// Whether the stream may carry another exchange.
    pub(super) fn is_over(&self) -> bool {
        self.arriving.has_ended() && self.leaving.has_ended()
    }

    pub(super) fn wake(&mut self) {
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_leads_back_from_its_identifier() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.ppid()), Some(kind));
        }
        assert_eq!(Kind::of(PpId(PPID_FIRST + 5)), None);
        assert_eq!(Kind::of(PpId(0)), None);
    }
}
