//! Bytes on their way into a stream.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::AsyncWrite as _;

use crate::tcp_transport::Stream;

/// Bytes that the stream has not taken yet.
#[derive(Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Passes bytes to the stream, and those with which `refill` fills the empty buffer; true if
    /// there were any.
    pub fn poll_write(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
        mut refill: impl FnMut(&mut Vec<u8>),
    ) -> io::Result<bool> {
        let mut has_written = false;
        loop {
            if self.bytes.is_empty() {
                refill(&mut self.bytes);
                if self.bytes.is_empty() {
                    break;
                }
            }
            let end = self.bytes.len().min(self.sent + RECORD_LEN_MAX);
            match Pin::new(&mut *stream).poll_write(cx, &self.bytes[self.sent..end]) {
                Poll::Pending => break,
                Poll::Ready(len) => self.sent += len?,
            }
            has_written = true;
            if self.sent == self.bytes.len() {
                self.bytes.clear();
                self.sent = 0;
            }
        }
        if let Poll::Ready(flushed) = Pin::new(stream).poll_flush(cx) {
            flushed?;
        }
        Ok(has_written)
    }
}

/// The maximum size of one write to TLS, and so of its records. A record can be read only when it
/// is complete: one of 16 KiB, longer than TCP's initial window, would delay the messages at its
/// beginning by a round trip. (Mosquitto uses one record per packet.)
const RECORD_LEN_MAX: usize = 4 << 10;
