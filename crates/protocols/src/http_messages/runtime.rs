//! hyper's streams, tasks and timers on a substrate.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_io::{AsyncRead as _, AsyncWrite as _};
use hyper::rt::{ReadBufCursor, Sleep};
use trackbed_substrate::{Timer, from_std_instant, now, sleep, sleep_until, spawn, to_std_instant};

use crate::nursery::Nursery;
use crate::tcp_transport::Stream;

/// A connection, and how much is read of it before other tasks get a turn.
pub(crate) struct Io {
    stream: Stream,
    turn: usize,
    left: usize,
}

impl Io {
    pub(crate) fn new(stream: Stream, turn: usize) -> Io {
        Io { stream, turn, left: turn }
    }
}

impl hyper::rt::Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            self.left = self.turn;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut bytes = [0; READ_LEN];
        let room = buffer.remaining().min(READ_LEN).min(self.left);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut bytes[..room]);
        let Poll::Ready(len) = read? else {
            self.left = self.turn;
            return Poll::Pending;
        };
        self.left -= len;
        buffer.put_slice(&bytes[..len]);
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

/// The tasks of a connection, with which they end; a server's also end with its nursery.
#[derive(Clone)]
pub(crate) struct Tasks(pub(crate) Option<Nursery>);

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, future: F) {
        match &self.0 {
            Some(nursery) => nursery.spawn(future),
            None => spawn(future).detach(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Clock;

impl hyper::rt::Timer for Clock {
    fn sleep(&self, span: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Sleeping(sleep(span)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Sleeping(sleep_until(from_std_instant(deadline))))
    }

    fn now(&self) -> Instant {
        to_std_instant(now())
    }
}

struct Sleeping(Timer);

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl Sleep for Sleeping {}

/// The maximum size of one read: a TLS record.
const READ_LEN: usize = 16 << 10;
