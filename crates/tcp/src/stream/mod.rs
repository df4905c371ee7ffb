//! The byte streams of a connection, apart from the subflow that carries them.
//! A [`Subflow`](crate::subflow::Subflow) knows the streams only by these traits. Whenever its
//! window has room it reads the next bytes from its [`Source`]; it keeps them until the peer has
//! acknowledged them, and retransmits them by itself. It passes data that arrives in order to its
//! [`Sink`], and the [`Extension`] adds and reads the options of several paths.

mod receive;
mod send;

use bytes::Bytes;
use trackbed_core::Time;

use crate::segment::{MultipathOptions, Segment};
use crate::sequence::Seq;

pub(crate) use receive::ReceiveStream;
pub(crate) use send::{ByteStreams, SendBuffer, take_front};

/// The source of a subflow's outgoing data.
pub(crate) trait Source {
    /// Bytes that wait to be sent, as far as this subflow may have them now.
    fn waiting(&self) -> usize;

    /// True if nothing more is queued after the next `len` bytes, even if it is not waiting yet.
    fn is_tail(&self, len: usize) -> bool {
        self.waiting() <= len
    }

    /// Takes the next `len` bytes, which are waiting.
    fn take(&mut self, len: usize) -> Bytes;

    /// True if nothing will follow the waiting bytes: then a FIN follows them.
    fn is_finished(&self) -> bool;

    /// True if there is nothing left to send for now: what was taken last is pushed.
    fn is_drained(&self) -> bool {
        self.waiting() == 0
    }

    /// The subflow's peer has acknowledged `len` bytes that were taken.
    fn acknowledged(&mut self, len: usize);

    /// The subflow is established, with a window of `cwnd` segments of `mss` bytes.
    fn established(&mut self, cwnd: u32, mss: u32);

    /// The preferred block size of writes is `len` bytes.
    fn set_block(&mut self, len: usize);

    /// The subflow could have sent more than was waiting, with a window of `cwnd` segments of
    /// `mss` bytes: a hint for the size of the buffer.
    fn starved(&mut self, cwnd: u32, mss: u32);
}

/// The destination of a subflow's in-order data.
pub(crate) trait Sink {
    /// The next bytes.
    fn deliver(&mut self, data: Bytes);

    /// The peer closed its side: nothing follows.
    fn finish(&mut self);

    /// Bytes that were delivered and that the application has not read.
    fn unread(&self) -> usize;
}

/// An extension of a subflow, which adds options to its segments and reads them. The defaults are
/// plain TCP.
pub(crate) trait Extension {
    /// Bytes of options that a full segment must have room for, timestamps not counted.
    fn option_room(&self) -> u32 {
        0
    }

    fn syn_options(&mut self) -> Option<Box<MultipathOptions>> {
        None
    }

    /// Checks the segment that completes the handshake: the SYN-ACK, or its ACK.
    fn judge_handshake(&mut self, _now: Time, _segment: &Segment) -> Verdict {
        Verdict::Accept
    }

    /// An acceptable segment arrived, its acknowledgment was taken, its data is still to be
    /// delivered. `window` is the one that it offers, in bytes.
    fn arrived(&mut self, _now: Time, _segment: &Segment, _window: u32) {}

    /// A reset arrived that ends the subflow.
    fn reset_arrived(&mut self, _segment: &Segment) {}

    /// The options of a segment that begins at `sequence`, at most `room` bytes.
    fn options(
        &mut self,
        _now: Time,
        _sequence: Seq,
        _payload: &[u8],
        _room: usize,
    ) -> Option<Box<MultipathOptions>> {
        None
    }

    fn reset_options(&mut self) -> Option<Box<MultipathOptions>> {
        None
    }

    /// True if options wait that need a separate acknowledgment.
    fn has_notice(&self) -> bool {
        false
    }

    /// The window to offer, in units of `unit` bytes, if it is not the subflow's own.
    fn shared_window(&mut self, _unit: u32) -> Option<u16> {
        None
    }
}

/// What to do with a segment that would complete a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The subflow is established.
    Accept,
    /// The segment is dropped; the right one may follow.
    Ignore,
    /// The subflow is refused, with a reset.
    Refuse,
}

pub(crate) trait Streams: Source + Sink + Extension {}
