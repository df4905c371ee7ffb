//! The two halves of a stream of bytes, as frames are read and written.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_io::AsyncRead as _;
use futures_util::AsyncWriteExt as _;
use trackbed_connection::{Error, Result, Step};

use crate::framing::{Input, Output};
use crate::tcp_transport::{Stream, io_failed};

pub(super) struct StreamInput {
    protocol: &'static str,
    stream: Stream,
    buffer: Box<[u8]>,
}

impl StreamInput {
    pub(super) fn new(protocol: &'static str, stream: Stream) -> StreamInput {
        StreamInput { protocol, stream, buffer: vec![0; READ_LEN].into() }
    }
}

impl Input for StreamInput {
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut self.buffer));
        let len = read.map_err(|error| io_failed(self.protocol, Step::Receive, &error))?;
        Poll::Ready(Ok((len > 0).then(|| Bytes::copy_from_slice(&self.buffer[..len]))))
    }
}

pub(super) struct StreamOutput {
    protocol: &'static str,
    stream: Stream,
    waiting: Vec<u8>,
}

impl StreamOutput {
    pub(super) fn new(protocol: &'static str, stream: Stream) -> StreamOutput {
        StreamOutput { protocol, stream, waiting: Vec::new() }
    }

    fn failed(&self, error: &io::Error) -> Error {
        io_failed(self.protocol, Step::Send, error)
    }

    async fn hand_over(&mut self) -> Result<()> {
        let written = self.stream.write_all(&self.waiting).await;
        self.waiting.clear();
        written.map_err(|error| self.failed(&error))
    }
}

impl Output for StreamOutput {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.waiting.extend_from_slice(&bytes);
        if self.waiting.len() >= WAITING_MAX { self.hand_over().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<()> {
        self.hand_over().await?;
        self.stream.flush().await.map_err(|error| self.failed(&error))
    }
}

const READ_LEN: usize = 64 << 10;
/// With this number of buffered bytes or more, they are passed to TCP without a flush.
const WAITING_MAX: usize = 64 << 10;
