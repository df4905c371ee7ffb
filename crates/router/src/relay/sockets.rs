//! Sockets of the kernel: listeners, and Multipath TCP connections to destinations.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, Protocol, SocketFlags, SocketType, bind, connect, ipproto, listen, socket_with,
    sockopt,
};
use trackbed_linux::socket::set_transparent;

/// A listener on `address`. A transparent one accepts what the firewall redirects to it, whatever the
/// destination.
///
/// # Errors
/// If the address cannot be bound, or permissions are missing; the message names a remedy.
pub fn listener(address: SocketAddr, transparent: bool) -> io::Result<OwnedFd> {
    let explained = |why: io::Error| {
        let remedy = match why.kind() {
            io::ErrorKind::AddrInUse => "; choose another port",
            io::ErrorKind::PermissionDenied if transparent => {
                "; a transparent front needs CAP_NET_ADMIN (run as root, or set \
                 AmbientCapabilities=CAP_NET_ADMIN for the service)"
            }
            _ => "",
        };
        io::Error::new(why.kind(), format!("cannot listen on {address}: {why}{remedy}"))
    };
    let make = || {
        let socket = open(address, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        // Accepted connections inherit it.
        keep_alive(&socket)?;
        if transparent {
            set_transparent(&socket)?;
        }
        bind(&socket, &address)?;
        listen(&socket, BACKLOG)?;
        Ok(socket)
    };
    make().map_err(explained)
}

/// A socket that is connecting to `to`, and whether it uses MPTCP, which it does if the kernel supports it.
/// Whether the destination supports MPTCP too is known later.
///
/// # Errors
/// If the destination cannot be reached.
pub fn dial(to: SocketAddr) -> io::Result<(OwnedFd, bool)> {
    let (socket, multipath) = match open(to, Some(ipproto::MPTCP)) {
        Ok(socket) => (socket, true),
        // The kernel has no MPTCP, or it is disabled (net.mptcp.enabled=0).
        Err(Errno::PROTONOSUPPORT | Errno::NOPROTOOPT | Errno::INVAL) => (open(to, None)?, false),
        Err(why) => return Err(why.into()),
    };
    sockopt::set_tcp_nodelay(&socket, true)?;
    keep_alive(&socket)?;
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok((socket, multipath)),
        Err(why) => Err(why.into()),
    }
}

/// A peer that disappears is detected after two to three minutes.
fn keep_alive(socket: &OwnedFd) -> rustix::io::Result<()> {
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(60))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(20))?;
    sockopt::set_tcp_keepcnt(socket, 5)
}

fn open(address: SocketAddr, protocol: Option<Protocol>) -> rustix::io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, protocol)?;
    if !address.is_ipv4() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    Ok(socket)
}

/// The listen backlog; the kernel limits it to net.core.somaxconn.
const BACKLOG: i32 = 4_096;

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_is_accepted_is_kept_alive() {
        let listener = listener("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let listener = TcpListener::from(listener);
        listener.set_nonblocking(false).unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        assert!(sockopt::socket_keepalive(&accepted).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&accepted).unwrap(), Duration::from_secs(60));
    }
}
