//! What the kernel tells of connections and subflows as it happens.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::NetlinkPayload;
use netlink_sys::Socket;

use crate::mptcp_pm::attributes::{Attributes, event};
use crate::mptcp_pm::error::PathManagerError;
use crate::mptcp_pm::request::{self, Family, Message, messages};

/// What names a connection (RFC 8684 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// Something happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A connection can have further subflows.
    Established {
        /// Which.
        token: Token,
        /// The peer opened it.
        server_side: bool,
    },
    /// A connection has ended.
    Closed {
        /// Which.
        token: Token,
    },
    /// A subflow has come.
    SubflowEstablished(Subflow),
    /// A subflow has gone.
    SubflowClosed(Subflow),
    /// The peer has said by MP_PRIO whether a subflow is a backup.
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
    /// It is a backup, in the eyes of at least one end.
    pub backup: bool,
    /// The interface that it is bound to; 0 if to none.
    pub interface: u32,
    /// What broke it, as errno(3) counts; 0 if nothing did.
    pub error: u8,
}

/// Tells of connections and subflows. Becomes readable when there is something.
#[derive(Debug)]
pub struct Events {
    socket: Socket,
}

impl Events {
    pub(crate) fn listen(family: Family) -> Result<Events, PathManagerError> {
        let what = "hear of MPTCP connections";
        let socket = request::open()?;
        let group = family.events.ok_or_else(|| PathManagerError::Refused {
            what: what.to_owned(),
            why: io::ErrorKind::Unsupported.into(),
            explanation: Some("this kernel tells nothing; use Linux 5.12 or later".to_owned()),
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

    /// What has happened since the last call; empty if nothing has. Events that this version does
    /// not know are left out.
    ///
    /// # Errors
    /// If the socket does not work. That events were lost because nobody fetched them in time
    /// (ENOBUFS) is no error: the next call goes on.
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
                    NetlinkPayload::InnerMessage(message) => Event::parse(&message.payload),
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
