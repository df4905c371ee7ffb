//! Sockets as the kernel gives them: socket(2) and what all of them need.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{self, AddressFamily, Protocol, SocketFlags, SocketType, sockopt};

/// A nonblocking socket of the family of `address`, closed on `exec`. IPv6 sockets accept only
/// IPv6: no socket of the track serves both.
pub(super) fn open(
    address: SocketAddr,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, kind, FLAGS, protocol)?;
    if !address.is_ipv4() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    Ok(socket)
}

/// getsockname(2).
pub(super) fn local_addr(socket: impl AsFd) -> io::Result<SocketAddr> {
    Ok(net::getsockname(socket)?.try_into()?)
}

/// What every descriptor is opened with.
pub(super) const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);
