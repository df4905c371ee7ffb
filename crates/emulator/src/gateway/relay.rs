//! One TCP connection of the command, relayed over a connection of this process: data, ends and
//! aborts.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown, sockopt};

/// Two connected sockets, and the data between them.
#[derive(Debug)]
pub(super) struct Relay {
    near: OwnedFd,
    far: OwnedFd,
    up: Way,
    down: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Towards the command.
    Near,
    /// Towards the world.
    Far,
}

/// What to do after a turn of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing, until a socket is ready.
    Wait,
    /// Another turn, after other connections have had theirs.
    Again,
    /// Nothing at all: both directions have ended, or one end has aborted.
    Over,
}

#[derive(Debug, Default)]
struct Way {
    /// Data for which the receiving socket had no room.
    rest: Vec<u8>,
    /// How much of it has been sent since.
    gone: usize,
    /// The sender has ended.
    ended: bool,
    /// Whether the receiver was notified.
    told: bool,
}

impl Relay {
    pub(super) fn new(near: OwnedFd, far: OwnedFd) -> Relay {
        Relay { near, far, up: Way::default(), down: Way::default() }
    }

    /// Relays available data in both directions, using `scratch` as a buffer.
    pub(super) fn turn(&mut self, scratch: &mut [u8]) -> Turn {
        let (near, far) = (self.near.as_fd(), self.far.as_fd());
        let up = self.up.carry(near, far, scratch);
        let down = self.down.carry(far, near, scratch);
        match (up, down) {
            (Ok(Turn::Over), Ok(Turn::Over)) => Turn::Over,
            (Ok(up), Ok(down)) if up == Turn::Again || down == Turn::Again => Turn::Again,
            (Ok(_), Ok(_)) => Turn::Wait,
            (Err(_), _) | (_, Err(_)) => {
                self.abort();
                Turn::Over
            }
        }
    }

    /// A socket reports an error. While its data is read, reading reports errors; this is for the
    /// time after its end. Returns whether the connection is over.
    pub(super) fn has_failed(&mut self, side: Side) -> bool {
        let is_over = match side {
            Side::Near => self.up.told,
            Side::Far => self.down.told,
        };
        if is_over {
            self.abort();
        }
        is_over
    }

    /// Forwards data of the command, which is gone, and drops data for it. Returns whether the
    /// outside has received everything.
    pub(super) fn leave(&mut self, scratch: &mut [u8]) -> bool {
        // Otherwise the kernel would try to deliver it for minutes, and keep the namespace.
        let _ = sockopt::set_socket_linger(&self.near, Some(Duration::ZERO));
        loop {
            match self.up.carry(self.near.as_fd(), self.far.as_fd(), scratch) {
                Ok(Turn::Again) => {}
                Ok(Turn::Wait | Turn::Over) => return self.up.rest.is_empty(),
                Err(_) => {
                    self.abort();
                    return true;
                }
            }
        }
    }

    /// Both ends get a RST (RFC 9293 section 3.10.4: an abort) when the sockets close.
    fn abort(&self) {
        for socket in [&self.near, &self.far] {
            // A socket that is already reset needs nothing.
            let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
        }
    }
}

impl Way {
    /// Copies from one socket to the other until one of them blocks, or for one turn.
    fn carry(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        scratch: &mut [u8],
    ) -> Result<Turn, Errno> {
        for _ in 0..READS_PER_TURN {
            if !self.flush(to)? {
                return Ok(Turn::Wait);
            }
            if self.ended {
                if !self.told {
                    self.told = true;
                    shutdown(to, Shutdown::Write)?;
                }
                return Ok(Turn::Over);
            }
            match recv(from, &mut *scratch, RecvFlags::empty()) {
                Ok((0, _)) => self.ended = true,
                Ok((count, _)) => {
                    let sent = deliver(to, &scratch[..count])?;
                    self.rest.extend_from_slice(&scratch[sent..count]);
                }
                Err(Errno::AGAIN) => return Ok(Turn::Wait),
                Err(Errno::INTR) => {}
                Err(why) => return Err(why),
            }
        }
        Ok(Turn::Again)
    }

    /// Sends leftover data; returns whether nothing is left.
    fn flush(&mut self, to: BorrowedFd<'_>) -> Result<bool, Errno> {
        if self.rest.is_empty() {
            return Ok(true);
        }
        self.gone += deliver(to, &self.rest[self.gone..])?;
        if self.gone < self.rest.len() {
            return Ok(false);
        }
        // Idle connections keep no memory.
        *self = Way { rest: Vec::new(), gone: 0, ..std::mem::take(self) };
        Ok(true)
    }
}

/// Sends as much as there is room for, and returns the number of bytes.
fn deliver(to: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    let mut sent = 0;
    while sent < bytes.len() {
        match send(to, &bytes[sent..], SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(sent)
}

/// Per connection, before others get their turn: at most a few megabytes.
const READS_PER_TURN: usize = 16;
