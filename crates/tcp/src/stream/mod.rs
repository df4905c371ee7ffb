//! The byte streams of a connection, apart from the subflow that carries them.
//!
//! # The seam for several paths
//! A [`Subflow`](crate::subflow::Subflow) owns a sequence space, the recovery of losses and a
//! congestion window; it knows nothing of the streams but these two traits. Whenever its window
//! has room it asks its [`Source`] for the next bytes; what it took once, it keeps until the peer
//! has acknowledged it, and sends it again by itself. What arrives in the order of its sequence
//! space it hands to its [`Sink`]. On a single path the source is the [`SendStream`] and the sink
//! is the [`ReceiveStream`]. With several paths, a scheduler stands behind each subflow's source
//! and decides which subflow gets which bytes, and a reordering stage stands behind its sink.

mod receive;
mod send;

use bytes::Bytes;

pub(crate) use receive::ReceiveStream;
pub(crate) use send::SendStream;

/// Where a subflow gets what it sends.
pub(crate) trait Source {
    /// Bytes that wait to be sent, as far as this subflow may have them now.
    fn waiting(&self) -> usize;

    /// Takes the next `len` bytes, which are waiting.
    fn take(&mut self, len: usize) -> Bytes;

    /// True if nothing will follow the waiting bytes: then a FIN goes behind them.
    fn is_finished(&self) -> bool;

    /// The subflow's peer has acknowledged `len` bytes that were taken.
    fn acknowledged(&mut self, len: usize);

    /// The subflow is established, with a window of `cwnd` segments of `mss` bytes.
    fn established(&mut self, cwnd: u32, mss: u32);

    /// Data is best written in blocks of `len` bytes.
    fn set_block(&mut self, len: usize);

    /// The subflow could have sent more than was waiting, with a window of `cwnd` segments of
    /// `mss` bytes: a hint for the size of the buffer.
    fn starved(&mut self, cwnd: u32, mss: u32);
}

/// Where a subflow puts what arrived in order.
pub(crate) trait Sink {
    /// The next bytes.
    fn deliver(&mut self, data: Bytes);

    /// The peer closed its side: nothing follows.
    fn finish(&mut self);

    /// Bytes that were delivered and that the application has not read.
    fn unread(&self) -> usize;
}
