//! The kernel's events about connections and subflows.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::NetlinkPayload;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_GENERIC;

use crate::mptcp_pm::attributes::{Attributes, event};
use crate::mptcp_pm::error::PathManagerError;
use crate::mptcp_pm::request::{Family, Message};
use crate::netlink::{self, messages};

/// Identifies a connection (RFC 8684 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// An event of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum Event {
    /// A connection, which the peer has opened if `server_side`, can have further subflows.
    Established { token: Token, server_side: bool },
    /// A connection has ended.
    Closed { token: Token },
    /// A subflow was established.
    SubflowEstablished(Subflow),
    /// A subflow was closed.
    SubflowClosed(Subflow),
    /// The peer declared by MP_PRIO whether a subflow is a backup.
    SubflowPriority(Subflow),
}

/// A subflow, as an event describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// The connection that it belongs to.
    pub token: Token,
    /// The number of the address at this end.
    pub local_id: u8,
    /// The number of the address at the other end.
    pub remote_id: u8,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Whether it is a backup for at least one end.
    pub backup: bool,
    /// The index of the interface that it is bound to; 0 for none.
    pub interface: u32,
    /// The error that ended it, as in errno(3); 0 if there was none.
    pub error: u8,
}

/// Receives events of connections and subflows. Becomes readable when there is an event.
#[derive(Debug)]
pub struct Events {
    socket: Socket,
}

impl Events {
    pub(crate) fn listen(family: Family) -> Result<Events, PathManagerError> {
        let what = "receive events of MPTCP connections";
        let socket = netlink::open(NETLINK_GENERIC)?;
        let group = family.events.ok_or_else(|| PathManagerError::Refused {
            what: what.to_owned(),
            why: io::ErrorKind::Unsupported.into(),
            explanation: Some("this kernel has no such events; use Linux 5.12 or later".to_owned()),
        })?;
        socket.add_membership(group).map_err(|why| match why.kind() {
            io::ErrorKind::PermissionDenied => {
                PathManagerError::NotPermitted { what: what.to_owned() }
            }
            _ => PathManagerError::Refused { what: what.to_owned(), why, explanation: None },
        })?;
        socket.set_non_blocking(true)?;
        Ok(Events { socket })
    }

    /// The events since the last call, possibly none. Unknown events are left out.
    ///
    /// # Errors
    /// If the socket fails. Losing events because they were not fetched in time (ENOBUFS) is not an
    /// error: the next call continues.
    pub fn fetch(&mut self) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        loop {
            let bytes = match self.socket.recv_from_full() {
                Ok((bytes, _)) => bytes,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(events),
                Err(why) if why.raw_os_error() == Some(ENOBUFS) => return Ok(events),
                Err(why) => return Err(why),
            };
            let heard =
                messages::<Message>(&bytes).filter_map(|message| match message.ok()?.payload {
                    NetlinkPayload::InnerMessage(message) => Event::parse(&message),
                    _ => None,
                });
            events.extend(heard);
        }
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Event {
    fn parse(message: &Message) -> Option<Event> {
        let attributes = message.attributes();
        let token = Token(attributes.u32(event::TOKEN)?);
        let server_side = attributes.u8(event::SERVER_SIDE).unwrap_or(0) != 0;
        match message.command {
            ESTABLISHED => Some(Event::Established { token, server_side }),
            CLOSED => Some(Event::Closed { token }),
            SUB_ESTABLISHED => Subflow::parse(token, attributes).map(Event::SubflowEstablished),
            SUB_CLOSED => Subflow::parse(token, attributes).map(Event::SubflowClosed),
            SUB_PRIORITY => Subflow::parse(token, attributes).map(Event::SubflowPriority),
            _ => None,
        }
    }
}

impl Subflow {
    fn parse(token: Token, attributes: Attributes<'_>) -> Option<Subflow> {
        let local = attributes.address(event::SOURCE_V4, event::SOURCE_V6)?;
        let remote = attributes.address(event::DESTINATION_V4, event::DESTINATION_V6)?;
        Some(Subflow {
            token,
            local_id: attributes.u8(event::LOCAL_ID).unwrap_or(0),
            remote_id: attributes.u8(event::REMOTE_ID).unwrap_or(0),
            local: SocketAddr::new(local, attributes.be16(event::SOURCE_PORT)?),
            remote: SocketAddr::new(remote, attributes.be16(event::DESTINATION_PORT)?),
            backup: attributes.u8(event::BACKUP).unwrap_or(0) != 0,
            interface: attributes.u32(event::INTERFACE).unwrap_or(0),
            error: attributes.u8(event::ERROR).unwrap_or(0),
        })
    }
}

/// `MPTCP_EVENT_*` of linux/mptcp_pm.h.
const ESTABLISHED: u8 = 2;
const CLOSED: u8 = 3;
const SUB_ESTABLISHED: u8 = 10;
const SUB_CLOSED: u8 = 11;
const SUB_PRIORITY: u8 = 13;

/// Events came faster than they were fetched (netlink(7)).
const ENOBUFS: i32 = 105;
