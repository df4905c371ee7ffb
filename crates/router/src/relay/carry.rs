//! Forwards bytes, ends and aborts between two connections.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_io::{AsyncRead as _, AsyncWrite as _};
use trackbed_outward::Counter;
use trackbed_substrate::{Standing, TcpStream, now, sleep};

/// Counts forwarded bytes.
#[derive(Clone, Debug)]
pub struct Meters {
    /// From the near end to the far one.
    pub up: Counter,
    /// From the far end to the near one.
    pub down: Counter,
}

/// Forwards data between `near` and `far` until both have ended. Each end is read only as fast as the other
/// accepts data. `standing` is notified each time that bytes move.
///
/// # Errors
/// If one end aborts, or no data moves in either direction for `idle`. Both connections are then aborted, as
/// they are if the future is dropped earlier: truncated data with a regular end would look complete.
pub async fn carry(
    near: &mut dyn TcpStream,
    far: &mut dyn TcpStream,
    idle: Duration,
    (meters, standing): (&Meters, &Standing),
) -> io::Result<()> {
    let mut ends = Ends { near, far, are_over: false };
    let Ends { near, far, are_over } = &mut ends;
    let (mut up, mut down) = (Way::default(), Way::default());
    let mut timer = pin!(sleep(idle));
    let mut moved = now();
    let ended = poll_fn(|cx| {
        let (sent, received) = (up.carried, down.carried);
        let sending = up.poll(&mut **near, &mut **far, cx)?;
        let receiving = down.poll(&mut **far, &mut **near, cx)?;
        let is_over = sending.is_ready() && receiving.is_ready();
        meters.up.add(up.carried - sent);
        meters.down.add(down.carried - received);
        if (up.carried, down.carried) != (sent, received) {
            moved = now();
            standing.asked();
        }
        if is_over {
            return Poll::Ready(Ok(()));
        }
        while timer.as_mut().poll(cx).is_ready() {
            if now() >= moved + idle {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            timer.reset(moved + idle);
        }
        Poll::Pending
    });
    let ended = ended.await;
    *are_over = ended.is_ok();
    ended
}

/// Two connections, which are aborted unless both have ended.
struct Ends<'a> {
    near: &'a mut dyn TcpStream,
    far: &'a mut dyn TcpStream,
    are_over: bool,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if !self.are_over {
            self.near.abort();
            self.far.abort();
        }
    }
}

/// One direction.
#[derive(Debug, Default)]
struct Way {
    /// Data that was read and not written yet.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The sender has ended.
    ended: bool,
    /// The end was forwarded to the receiver.
    told: bool,
    carried: u64,
}

impl Way {
    fn poll(
        &mut self,
        mut from: &mut dyn TcpStream,
        mut to: &mut dyn TcpStream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.told {
            if self.start < self.end {
                let rest = &self.buffer[self.start..self.end];
                let count = ready!(Pin::new(&mut to).poll_write(cx, rest))?;
                self.start += count;
                self.carried += count as u64;
            } else if self.ended {
                ready!(Pin::new(&mut to).poll_close(cx))?;
                self.told = true;
            } else {
                self.buffer.resize(BUFFER, 0);
                let Poll::Ready(read) = Pin::new(&mut from).poll_read(cx, &mut self.buffer) else {
                    // Idle connections hold no buffer.
                    self.buffer = Vec::new();
                    (self.start, self.end) = (0, 0);
                    return Poll::Pending;
                };
                (self.start, self.end) = (0, read?);
                self.ended = self.end == 0;
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// The size of the buffer of each direction, in bytes.
const BUFFER: usize = 65_536;
