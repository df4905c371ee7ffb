//! The QUIC engine for h3.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_core::future::LocalBoxFuture;
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use noq::{ConnectionError, ReadError, VarInt, WriteError};
use trackbed_connection::Priority;
use trackbed_substrate::spawn;

use super::frames::{Broken, Frames, Incomplete};
use crate::quic_transport::see_off;

type Accepted<T> = Poll<Result<T, ConnectionErrorIncoming>>;
type Polled<T> = Poll<Result<T, StreamErrorIncoming>>;

/// A connection, and the streams that it is about to accept.
pub(super) struct Connection {
    opener: Opener,
    accepting_bidi: Waiting<(noq::SendStream, noq::RecvStream)>,
    accepting_recv: Waiting<noq::RecvStream>,
}

impl Connection {
    pub(super) fn new(connection: noq::Connection) -> Connection {
        Connection {
            accepting_bidi: Waiting::new(|one| Box::pin(async move { one.accept_bi().await })),
            accepting_recv: Waiting::new(|one| Box::pin(async move { one.accept_uni().await })),
            opener: Opener::new(connection, Incomplete::default(), Hints::default()),
        }
    }

    pub(super) fn hints(&self) -> Hints {
        self.opener.hints.clone()
    }
}

/// What a stream must know before it writes. h3 does not expose its streams, so they find it here.
#[derive(Clone, Default)]
pub(super) struct Hints {
    /// Of streams that nothing has been written to yet: the engine ranks what is written later.
    ranks: Rc<RefCell<BTreeMap<StreamId, i32>>>,
    piece: Rc<Cell<Bytes>>,
}

impl Hints {
    /// Gives the response on stream `id` its priority. No part of the response may have been sent
    /// yet.
    pub(super) fn rank(&self, id: StreamId, priority: Priority) {
        self.ranks.borrow_mut().insert(id, priority.rank(id.index()));
    }

    /// Shares the piece of a body that h3 is given next: from h3 a stream could only copy it.
    pub(super) fn share(&self, piece: &Bytes) {
        self.piece.set(piece.clone());
    }

    fn take_rank(&self, id: StreamId) -> Option<i32> {
        self.ranks.borrow_mut().remove(&id)
    }
}

impl<B: Buf> quic::Connection<B> for Connection {
    type RecvStream = RecvStream;
    type OpenStreams = Opener;

    fn poll_accept_recv(&mut self, cx: &mut Context<'_>) -> Accepted<RecvStream> {
        let accepted = ready!(self.accepting_recv.poll(cx, &self.opener.connection));
        let stream = accepted.map_err(|error| lost(&error))?;
        Poll::Ready(Ok(RecvStream::new(stream, &self.opener)))
    }

    fn poll_accept_bidi(&mut self, cx: &mut Context<'_>) -> Accepted<BidiStream<B>> {
        let accepted = ready!(self.accepting_bidi.poll(cx, &self.opener.connection));
        let streams = accepted.map_err(|error| lost(&error))?;
        Poll::Ready(Ok(BidiStream::new(streams, &self.opener)))
    }

    fn opener(&self) -> Opener {
        self.opener.clone()
    }
}

impl<B: Buf> quic::OpenStreams<B> for Connection {
    type BidiStream = BidiStream<B>;
    type SendStream = SendStream<B>;

    fn poll_open_bidi(&mut self, cx: &mut Context<'_>) -> Polled<BidiStream<B>> {
        self.opener.poll_open_bidi(cx)
    }

    fn poll_open_send(&mut self, cx: &mut Context<'_>) -> Polled<SendStream<B>> {
        self.opener.poll_open_send(cx)
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        quic::OpenStreams::<B>::close(&mut self.opener, code, reason);
    }
}

pub(super) struct Opener {
    connection: noq::Connection,
    incomplete: Incomplete,
    hints: Hints,
    opening_bidi: Waiting<(noq::SendStream, noq::RecvStream)>,
    opening_send: Waiting<noq::SendStream>,
}

impl Opener {
    fn new(connection: noq::Connection, incomplete: Incomplete, hints: Hints) -> Opener {
        let opening_bidi = Waiting::new(|one| Box::pin(async move { one.open_bi().await }));
        let opening_send = Waiting::new(|one| Box::pin(async move { one.open_uni().await }));
        Opener { connection, incomplete, hints, opening_bidi, opening_send }
    }
}

/// A clone waits for its own streams.
impl Clone for Opener {
    fn clone(&self) -> Opener {
        Opener::new(self.connection.clone(), Rc::clone(&self.incomplete), self.hints.clone())
    }
}

impl<B: Buf> quic::OpenStreams<B> for Opener {
    type BidiStream = BidiStream<B>;
    type SendStream = SendStream<B>;

    fn poll_open_bidi(&mut self, cx: &mut Context<'_>) -> Polled<BidiStream<B>> {
        let opened = ready!(self.opening_bidi.poll(cx, &self.connection));
        let streams = opened.map_err(|error| stream_lost(&error))?;
        Poll::Ready(Ok(BidiStream::new(streams, self)))
    }

    fn poll_open_send(&mut self, cx: &mut Context<'_>) -> Polled<SendStream<B>> {
        let opened = ready!(self.opening_send.poll(cx, &self.connection));
        let sending = opened.map(|stream| SendStream::new(stream, self));
        Poll::Ready(sending.map_err(|error| stream_lost(&error)))
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        self.connection.close(code_of(code.value()), reason);
    }
}

/// A future that is made when first polled, and again after each result.
struct Waiting<T> {
    make: fn(noq::Connection) -> Making<T>,
    made: Option<Making<T>>,
}

type Making<T> = LocalBoxFuture<'static, Result<T, ConnectionError>>;

impl<T> Waiting<T> {
    fn new(make: fn(noq::Connection) -> Making<T>) -> Waiting<T> {
        Waiting { make, made: None }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        connection: &noq::Connection,
    ) -> Poll<Result<T, ConnectionError>> {
        let made = self.made.get_or_insert_with(|| (self.make)(connection.clone()));
        let result = ready!(made.as_mut().poll(cx));
        self.made = None;
        Poll::Ready(result)
    }
}

pub(super) struct BidiStream<B: Buf> {
    send: SendStream<B>,
    recv: RecvStream,
}

impl<B: Buf> BidiStream<B> {
    fn new((send, recv): (noq::SendStream, noq::RecvStream), opener: &Opener) -> BidiStream<B> {
        BidiStream { send: SendStream::new(send, opener), recv: RecvStream::new(recv, opener) }
    }
}

impl<B: Buf> quic::BidiStream<B> for BidiStream<B> {
    type SendStream = SendStream<B>;
    type RecvStream = RecvStream;

    fn split(self) -> (SendStream<B>, RecvStream) {
        (self.send, self.recv)
    }
}

impl<B: Buf> quic::RecvStream for BidiStream<B> {
    type Buf = Bytes;

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Polled<Option<Bytes>> {
        self.recv.poll_data(cx)
    }

    fn stop_sending(&mut self, code: u64) {
        self.recv.stop_sending(code);
    }

    fn recv_id(&self) -> StreamId {
        self.recv.recv_id()
    }
}

impl<B: Buf> quic::SendStream<B> for BidiStream<B> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Polled<()> {
        self.send.poll_ready(cx)
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        self.send.send_data(data)
    }

    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Polled<()> {
        self.send.poll_finish(cx)
    }

    fn reset(&mut self, code: u64) {
        self.send.reset(code);
    }

    fn send_id(&self) -> StreamId {
        self.send.send_id()
    }
}

pub(super) struct RecvStream {
    stream: noq::RecvStream,
    connection: noq::Connection,
    frames: Frames,
    /// What has been read, but not yet passed on.
    rest: Bytes,
}

impl RecvStream {
    fn new(stream: noq::RecvStream, opener: &Opener) -> RecvStream {
        let has_type = stream.id().dir() == noq::Dir::Uni;
        let frames = Frames::new(has_type, Rc::clone(&opener.incomplete));
        RecvStream { stream, connection: opener.connection.clone(), frames, rest: Bytes::new() }
    }

    /// Ends the connection, because h3 would not with the right code.
    fn refuse(&self, (code, why): Broken) -> StreamErrorIncoming {
        self.connection.close(code_of(code.value()), why.as_bytes());
        misuse(why)
    }
}

impl quic::RecvStream for RecvStream {
    type Buf = Bytes;

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Polled<Option<Bytes>> {
        if self.rest.is_empty() {
            let piece = ready!(pin!(self.stream.read_chunk(usize::MAX)).poll(cx));
            let piece = piece.map_err(|error| match error {
                ReadError::Reset(code) => {
                    StreamErrorIncoming::StreamTerminated { error_code: code.into_inner() }
                }
                ReadError::ConnectionLost(error) => stream_lost(&error),
                error => StreamErrorIncoming::Unknown(error.into()),
            })?;
            let Some(piece) = piece else {
                let ended = self.frames.end().map(|()| None);
                return Poll::Ready(ended.map_err(|broken| self.refuse(broken)));
            };
            self.rest = piece;
        }
        let piece = self.frames.cut(&mut self.rest).map(Some);
        Poll::Ready(piece.map_err(|broken| self.refuse(broken)))
    }

    fn stop_sending(&mut self, code: u64) {
        // It fails only for a stream that has ended, which needs no stopping.
        let _ended = self.stream.stop(code_of(code));
    }

    fn recv_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}

/// The sending half of a stream. Dropping it unfinished resets it, so that the peer does not take
/// a part for the whole.
pub(super) struct SendStream<B: Buf> {
    id: noq::StreamId,
    /// `None` when it is finished.
    stream: Option<noq::SendStream>,
    writing: Option<WriteBuf<B>>,
    ended: bool,
    hints: Hints,
    /// What is being written, but for the head of its frame.
    piece: Bytes,
}

impl<B: Buf> SendStream<B> {
    fn new(stream: noq::SendStream, opener: &Opener) -> SendStream<B> {
        SendStream {
            id: stream.id(),
            stream: Some(stream),
            writing: None,
            ended: false,
            hints: opener.hints.clone(),
            piece: Bytes::new(),
        }
    }
}

impl<B: Buf> quic::SendStream<B> for SendStream<B> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Polled<()> {
        while let Some(data) = &mut self.writing {
            if !data.has_remaining() {
                self.writing = None;
                break;
            }
            let Some(stream) = &mut self.stream else {
                return Poll::Ready(Err(misuse("data was sent on a stream that is finished")));
            };
            let written = match part(&self.piece, data.chunk()) {
                Some(part) => pin!(stream.write_many_chunks(&mut &mut [part][..])).poll(cx),
                None => Pin::new(stream).poll_write(cx, data.chunk()),
            };
            let len = ready!(written).map_err(|error| match error {
                WriteError::Stopped(code) => {
                    StreamErrorIncoming::StreamTerminated { error_code: code.into_inner() }
                }
                WriteError::ConnectionLost(error) => stream_lost(&error),
                error => StreamErrorIncoming::Unknown(error.into()),
            })?;
            data.advance(len);
        }
        Poll::Ready(Ok(()))
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        if self.writing.is_some() {
            return Err(misuse("data was sent before the stream was ready"));
        }
        self.piece = self.hints.piece.take();
        if let Some(rank) = self.hints.take_rank(stream_id(self.id)) {
            // It fails only for a stream that has ended, to which nothing is written any more.
            let _ended = self.stream.as_ref().map(|stream| stream.set_priority(rank));
        }
        self.writing = Some(data.into());
        Ok(())
    }

    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Polled<()> {
        ready!(self.poll_ready(cx))?;
        self.ended = true;
        let Some(mut stream) = self.stream.take() else { return Poll::Ready(Ok(())) };
        let finished = stream.finish();
        spawn(async move { see_off(&mut stream).await }).detach();
        Poll::Ready(finished.map_err(|error| StreamErrorIncoming::Unknown(error.into())))
    }

    fn reset(&mut self, code: u64) {
        self.ended = true;
        // It fails only for a stream that has ended, which cannot be reset.
        let _ended = self.stream.as_mut().map(|stream| stream.reset(code_of(code)));
    }

    fn send_id(&self) -> StreamId {
        stream_id(self.id)
    }
}

impl<B: Buf> Drop for SendStream<B> {
    fn drop(&mut self) {
        self.hints.take_rank(stream_id(self.id));
        if !self.ended {
            quic::SendStream::reset(self, Code::H3_REQUEST_CANCELLED.value());
        }
    }
}

/// `chunk` as a part of `piece`, if it is one.
fn part(piece: &Bytes, chunk: &[u8]) -> Option<Bytes> {
    let (whole, part) = (piece.as_ptr_range(), chunk.as_ptr_range());
    (whole.start <= part.start && part.end <= whole.end).then(|| piece.slice_ref(chunk))
}

fn code_of(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}

fn stream_id(id: noq::StreamId) -> StreamId {
    StreamId::try_from(u64::from(id)).expect("QUIC has no larger stream identifiers than HTTP/3")
}

fn misuse(error: impl Into<String>) -> StreamErrorIncoming {
    let connection_error = ConnectionErrorIncoming::InternalError(error.into());
    StreamErrorIncoming::ConnectionErrorIncoming { connection_error }
}

fn stream_lost(error: &ConnectionError) -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming { connection_error: lost(error) }
}

fn lost(error: &ConnectionError) -> ConnectionErrorIncoming {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            ConnectionErrorIncoming::ApplicationClose { error_code: close.error_code.into_inner() }
        }
        ConnectionError::TimedOut => ConnectionErrorIncoming::Timeout,
        error => ConnectionErrorIncoming::Undefined(Arc::new(error.clone())),
    }
}
