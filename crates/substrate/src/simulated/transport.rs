//! A single-path or multipath connection of the engine, for the simulated world.

use std::net::{IpAddr, SocketAddr};

use trackbed_core::{Packet, Time};
use trackbed_tcp::multipath::{JoinRequest, MultipathConnection};
use trackbed_tcp::{Connection, QuotedSegment, Segment, State, Stats, TcpError};

use super::options;
use crate::socket::{PathWish, TcpPath};

#[derive(Debug)]
pub(super) enum Transport {
    Single(Box<Connection>),
    Multi(Box<MultipathConnection>),
}

/// Methods that both kinds of connections have.
macro_rules! methods {
    ($($name:ident($This:ty $(, $argument:ident: $Type:ty)*) $(-> $Result:ty)?;)+) => {
        impl Transport {
            $(pub fn $name(self: $This $(, $argument: $Type)*) $(-> $Result)? {
                match self {
                    Transport::Single(connection) => connection.$name($($argument),*),
                    Transport::Multi(connection) => connection.$name($($argument),*),
                }
            })+
        }
    };
}

methods! {
    handle_segment(&mut Transport, now: Time, segment: Segment);
    handle_timeout(&mut Transport, now: Time);
    poll_transmit(&mut Transport, now: Time) -> Option<Packet>;
    poll_timeout(&Transport) -> Option<Time>;
    write(&mut Transport, now: Time, data: &[u8]) -> Result<usize, TcpError>;
    read(&mut Transport, now: Time, max: usize) -> Result<Option<bytes::Bytes>, TcpError>;
    close(&mut Transport, now: Time);
    abort(&mut Transport, now: Time);
    set_nagle(&mut Transport, now: Time, nagle: bool);
    state(&Transport) -> State;
    is_readable(&Transport) -> bool;
    is_writable(&Transport) -> bool;
    is_established(&Transport) -> bool;
    is_closed(&Transport) -> bool;
    error(&Transport) -> Option<TcpError>;
    stats(&Transport) -> Stats;
}

impl Transport {
    pub fn handle_too_big(&mut self, now: Time, mtu: u32, quoted: &QuotedSegment) {
        match self {
            Transport::Single(connection) => connection.handle_too_big(now, mtu, quoted.sequence),
            Transport::Multi(connection) => connection.handle_too_big(now, mtu, quoted),
        }
    }

    /// A subflow that a connection on several paths wants to open.
    pub fn poll_join(&mut self) -> Option<JoinRequest> {
        match self {
            Transport::Single(_) => None,
            Transport::Multi(connection) => connection.poll_join(),
        }
    }

    /// The token by which the peer names the connection when it opens a subflow.
    pub fn token(&self) -> Option<u32> {
        match self {
            Transport::Single(_) => None,
            Transport::Multi(connection) => connection.token(),
        }
    }

    /// The paths; none for a single-path connection.
    pub fn paths(&self) -> Vec<TcpPath> {
        let Transport::Multi(connection) = self else { return Vec::new() };
        let tell = |path: trackbed_tcp::multipath::PathInfo| TcpPath {
            local: path.local,
            remote: path.remote,
            usable: path.ready,
            backup: path.backup_here || path.backup_there,
            info: options::info(&path.stats),
        };
        connection.paths().map(tell).collect()
    }

    /// Applies a request to the paths from or to `end`; false if there are none.
    pub fn set_path(&mut self, now: Time, end: IpAddr, wish: PathWish) -> bool {
        let Transport::Multi(connection) = self else { return false };
        let touches = |address: SocketAddr| address.ip() == end;
        let paths = connection.paths().filter(|path| touches(path.local) || touches(path.remote));
        let ids: Vec<_> = paths.map(|path| path.id).collect();
        let set = |id| match wish {
            PathWish::Backup(backup) => connection.set_backup(now, id, backup),
            PathWish::Blocked(blocked) => connection.set_blocked(now, id, blocked),
        };
        ids.into_iter().map(set).fold(false, |any, set| any | set)
    }
}
