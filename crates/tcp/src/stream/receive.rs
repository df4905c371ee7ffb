//! In-order data that waits to be read.

use std::collections::VecDeque;

use bytes::Bytes;

use super::Sink;

#[derive(Debug, Default)]
pub(crate) struct ReceiveStream {
    chunks: VecDeque<Bytes>,
    unread: usize,
    finished: bool,
}

impl ReceiveStream {
    /// The next bytes, at most `max`; empty at the end of the stream; `None` if nothing is
    /// buffered.
    pub(crate) fn read(&mut self, max: usize) -> Option<Bytes> {
        let Some(chunk) = self.chunks.front_mut() else {
            return self.finished.then(Bytes::new);
        };
        let data = if chunk.len() > max {
            chunk.split_to(max)
        } else {
            self.chunks.pop_front().unwrap_or_default()
        };
        self.unread -= data.len();
        Some(data)
    }

    /// True if `read` would return something, the end included.
    pub(crate) fn is_readable(&self) -> bool {
        self.finished || !self.chunks.is_empty()
    }
}

impl Sink for ReceiveStream {
    fn deliver(&mut self, data: Bytes) {
        if !data.is_empty() {
            self.unread += data.len();
            self.chunks.push_back(data);
        }
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn unread(&self) -> usize {
        self.unread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_end_with_the_end() {
        let mut stream = ReceiveStream::default();
        assert_eq!(stream.read(9), None);
        stream.deliver(Bytes::from_static(b"hello"));
        stream.finish();
        assert_eq!(stream.read(3).unwrap(), "hel");
        assert_eq!(stream.unread(), 2);
        assert_eq!(stream.read(3).unwrap(), "lo");
        assert_eq!(stream.read(3).unwrap(), "");
    }
}
