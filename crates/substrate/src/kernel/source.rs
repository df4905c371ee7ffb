//! A socket below its handle: its readiness and its waiting tasks.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::task::{Context, Waker};

use rustix::event::epoll::EventFlags;

use super::sockets::{Tcp, Udp};
use crate::executor::Waiter;

/// A socket.
///
/// epoll reports only changes (edge-triggered), so the result of the last operation is stored here.
/// A socket counts as ready until an operation reports that it is not.
pub(super) struct Source {
    /// None once the connection was aborted.
    descriptor: Option<OwnedFd>,
    pub(super) detail: Detail,
    readable: bool,
    writable: bool,
    /// The peer has closed its side; epoll reports this only once.
    ended: bool,
    reader: Waiter,
    writers: Vec<Waker>,
}

/// What the kinds of sockets have on top of that.
pub(super) enum Detail {
    Udp(Udp),
    Tcp(Tcp),
    Listener(SocketAddr),
    Pipe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

impl Source {
    pub(super) fn new(descriptor: OwnedFd, detail: Detail) -> Source {
        Source {
            descriptor: Some(descriptor),
            detail,
            readable: true,
            writable: true,
            ended: false,
            reader: Waiter::default(),
            writers: Vec::new(),
        }
    }

    /// The same, for a connection that is being established: the kernel reports when it is.
    pub(super) fn connecting(self) -> Source {
        Source { readable: false, writable: false, ..self }
    }

    pub(super) fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        Ok(self.descriptor.as_ref().ok_or_else(aborted)?.as_fd())
    }

    /// Removes the descriptor, and wakes the waiting tasks.
    pub(super) fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.wake(EventFlags::HUP);
        self.descriptor.take()
    }

    /// The descriptor of a UDP socket, and what else it has.
    pub(super) fn udp(&mut self) -> io::Result<(BorrowedFd<'_>, &mut Udp)> {
        match (&self.descriptor, &mut self.detail) {
            (Some(descriptor), Detail::Udp(udp)) => Ok((descriptor.as_fd(), udp)),
            _ => Err(aborted()),
        }
    }

    pub(super) fn tcp(&mut self) -> &mut Tcp {
        match &mut self.detail {
            Detail::Tcp(tcp) => tcp,
            Detail::Udp(_) | Detail::Listener(_) | Detail::Pipe => {
                unreachable!("a stream's key is a connection's")
            }
        }
    }

    pub(super) fn interest(&self) -> EventFlags {
        let always = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        match self.detail {
            // The kernel reports a UDP socket writable for every packet that leaves, so this is
            // watched only while a task waits for it.
            Detail::Udp(_) if self.writers.is_empty() => always,
            Detail::Udp(_) | Detail::Tcp(_) => always | EventFlags::OUT,
            Detail::Listener(_) | Detail::Pipe => always,
        }
    }

    pub(super) fn is_ready(&self, way: Way) -> bool {
        match way {
            Way::Read => self.readable || self.ended,
            Way::Write => self.writable,
        }
    }

    /// An operation has to wait, or was only partly done, so that the next one would have to wait.
    pub(super) fn block(&mut self, way: Way) {
        match way {
            Way::Read => self.readable = false,
            Way::Write => self.writable = false,
        }
    }

    pub(super) fn wait(&mut self, way: Way, cx: &Context<'_>) {
        match way {
            Way::Read => self.reader.wait(cx),
            Way::Write => {
                if !self.writers.iter().any(|waker| waker.will_wake(cx.waker())) {
                    self.writers.push(cx.waker().clone());
                }
            }
        }
    }

    pub(super) fn wake(&mut self, events: EventFlags) {
        let over = EventFlags::HUP | EventFlags::ERR;
        self.ended |= events.intersects(EventFlags::RDHUP | EventFlags::HUP);
        if events.intersects(EventFlags::IN | EventFlags::RDHUP | over) {
            self.readable = true;
            self.reader.wake();
        }
        if events.intersects(EventFlags::OUT | over) {
            self.writable = true;
            self.writers.drain(..).for_each(Waker::wake);
        }
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.reader.is_waiting() || !self.writers.is_empty()
    }

    /// Datagrams that the kernel has dropped here.
    pub(super) fn dropped(&self) -> u64 {
        match (&self.detail, &self.descriptor) {
            (Detail::Udp(_), Some(descriptor)) => {
                trackbed_linux::socket::receive_drops(descriptor).map_or(0, u64::from)
            }
            _ => 0,
        }
    }
}

/// For the diagnosis of a stall.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Detail::Udp(udp) => {
                let (local, lost) = (udp.local, self.dropped());
                write!(f, "UDP {local}, {lost} datagrams lost because the buffer was full")
            }
            Detail::Tcp(tcp) => tcp.describe(self.descriptor.as_ref(), f),
            Detail::Listener(local) => write!(f, "TCP listener {local}"),
            Detail::Pipe => f.write_str("a pipe"),
        }
    }
}

fn aborted() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the connection was aborted on this side")
}
