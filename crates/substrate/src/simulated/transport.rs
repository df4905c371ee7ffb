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

macro_rules! either {
    ($transport:expr, $connection:ident => $act:expr) => {
        match $transport {
            Transport::Single($connection) => $act,
            Transport::Multi($connection) => $act,
        }
    };
}

impl Transport {
    pub fn handle_segment(&mut self, now: Time, segment: Segment) {
        either!(self, connection => connection.handle_segment(now, segment));
    }

    pub fn handle_too_big(&mut self, now: Time, mtu: u32, quoted: &QuotedSegment) {
        match self {
            Transport::Single(connection) => connection.handle_too_big(now, mtu, quoted.sequence),
            Transport::Multi(connection) => connection.handle_too_big(now, mtu, quoted),
        }
    }

    pub fn handle_timeout(&mut self, now: Time) {
        either!(self, connection => connection.handle_timeout(now));
    }

    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        either!(self, connection => connection.poll_transmit(now))
    }

    pub fn poll_timeout(&self) -> Option<Time> {
        either!(self, connection => connection.poll_timeout())
    }

    pub fn write(&mut self, now: Time, data: &[u8]) -> Result<usize, TcpError> {
        either!(self, connection => connection.write(now, data))
    }

    pub fn read(&mut self, now: Time, max: usize) -> Result<Option<bytes::Bytes>, TcpError> {
        either!(self, connection => connection.read(now, max))
    }

    pub fn close(&mut self, now: Time) {
        either!(self, connection => connection.close(now));
    }

    pub fn abort(&mut self, now: Time) {
        either!(self, connection => connection.abort(now));
    }

    pub fn set_nagle(&mut self, now: Time, nagle: bool) {
        either!(self, connection => connection.set_nagle(now, nagle));
    }

    pub fn state(&self) -> State {
        either!(self, connection => connection.state())
    }

    pub fn is_readable(&self) -> bool {
        either!(self, connection => connection.is_readable())
    }

    pub fn is_writable(&self) -> bool {
        either!(self, connection => connection.is_writable())
    }

    pub fn is_established(&self) -> bool {
        either!(self, connection => connection.is_established())
    }

    pub fn is_closed(&self) -> bool {
        either!(self, connection => connection.is_closed())
    }

    pub fn error(&self) -> Option<TcpError> {
        either!(self, connection => connection.error())
    }

    pub fn stats(&self) -> Stats {
        either!(self, connection => connection.stats())
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
