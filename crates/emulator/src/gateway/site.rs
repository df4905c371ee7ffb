//! The state shared by all flows of a gateway.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll;
use rustix::io::Errno;
use trackbed_core::packet::Unreachable;
use trackbed_core::{Packet, Time};

use super::addresses::Addresses;
use super::gate::Order;
use super::names::NameServers;
use super::relay::Side;
use super::workshop::Workshop;
use crate::clock::Clock;

#[derive(Debug)]
pub(super) struct Site {
    pub(super) epoll: OwnedFd,
    pub(super) workshop: Workshop,
    pub(super) addresses: Addresses,
    pub(super) names: NameServers,
    pub(super) clock: Clock,
    /// The maximum number of each kind: connections, flows of datagrams, destinations, series of
    /// pings.
    pub(super) room: usize,
    /// Orders for the gate, in this sequence.
    pub(super) orders: Vec<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Bell,
    Published(usize),
    Listener(usize),
    Connection(usize, Side),
    Datagrams(usize, Side),
    Echoes(usize),
}

impl Site {
    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(super) fn watch(
        &self,
        socket: impl AsFd,
        source: Source,
        flags: epoll::EventFlags,
    ) -> io::Result<()> {
        let data = epoll::EventData::new_u64(source.mark());
        Ok(epoll::add(&self.epoll, socket, data, flags)?)
    }

    pub(super) fn order(&mut self, order: Order) {
        self.orders.push(order);
    }

    /// The outside address for what the command calls `to`, and the name server if it is one.
    pub(super) fn target(&self, to: SocketAddr) -> (SocketAddr, Option<SocketAddr>) {
        match self.addresses.is_name_server(to) {
            true => {
                let server = self.names.current();
                (server, Some(server))
            }
            false => (self.addresses.seen_from_outside(to), None),
        }
    }

    /// Whether `to` is behind a published port: what the command sends never passes the gate to there. The gateway's
    /// own addresses are inside, too, and stand for this machine.
    pub(super) fn is_published(&self, to: SocketAddr) -> bool {
        self.addresses.are_inside(to.ip()) && !self.addresses.own.contains(&to.ip())
    }

    /// Reports to the sender of `packet` why it did not arrive.
    pub(super) fn refuse(&mut self, packet: &Packet, why: Unreachable) {
        // For a port the host itself sends the message, for everything else a router.
        let router = match why {
            Unreachable::Port => packet.destination(),
            _ => self.addresses.own_like(packet.source()),
        };
        self.order(Order::Answer(why.emit(router, packet)));
    }
}

impl Source {
    fn mark(self) -> u64 {
        let (kind, index) = match self {
            Source::Bell => (0, 0),
            Source::Listener(index) => (1, index),
            Source::Connection(index, Side::Near) => (2, index),
            Source::Connection(index, Side::Far) => (3, index),
            Source::Datagrams(index, Side::Near) => (4, index),
            Source::Datagrams(index, Side::Far) => (5, index),
            Source::Echoes(index) => (6, index),
            Source::Published(index) => (7, index),
        };
        (index as u64) << 3 | kind
    }

    pub(super) fn from_mark(mark: u64) -> Source {
        let index = (mark >> 3) as usize;
        match mark & 0b111 {
            0 => Source::Bell,
            1 => Source::Listener(index),
            2 => Source::Connection(index, Side::Near),
            3 => Source::Connection(index, Side::Far),
            4 => Source::Datagrams(index, Side::Near),
            5 => Source::Datagrams(index, Side::Far),
            6 => Source::Echoes(index),
            _ => Source::Published(index),
        }
    }
}

/// The ICMP message of a router or host for this error; `None` if there would be none.
pub(super) fn reason(why: &io::Error) -> Option<Unreachable> {
    let errno = why.raw_os_error().map(Errno::from_raw_os_error)?;
    match errno {
        Errno::CONNREFUSED => Some(Unreachable::Port),
        Errno::NETUNREACH | Errno::NETDOWN | Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT => {
            Some(Unreachable::Network)
        }
        Errno::ACCESS | Errno::PERM => Some(Unreachable::Prohibited),
        // This condition also ends, and TCP tries again.
        Errno::TIMEDOUT | Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => None,
        _ => Some(Unreachable::Host),
    }
}
