//! Listening TCP sockets of the kernel: listen(2), accept(2).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{self, SocketType, sockopt};

use super::handle::Handle;
use super::options::{self, Role};
use super::source::{Detail, Source, Way};
use super::tcp::KernelTcpStream;
use super::{descriptor, multipath};
use crate::executor::SocketKind;
use crate::socket::{TcpListener, TcpOptions, TcpStream};

#[derive(Debug)]
pub(super) struct KernelTcpListener {
    handle: Handle,
    local: SocketAddr,
    /// The only peer whose connections are accepted, if any.
    peer: Option<IpAddr>,
}

impl KernelTcpListener {
    pub(super) fn bind(
        run: u64,
        local: SocketAddr,
        options: &TcpOptions,
        peer: Option<IpAddr>,
    ) -> io::Result<Self> {
        let socket = descriptor::open(local, SocketType::STREAM, multipath::protocol(options)?)?;
        options::apply(&socket, options, Role::Listen)?;
        // The port may have connections in TIME-WAIT, but no other listener.
        sockopt::set_socket_reuseaddr(&socket, true)?;
        net::bind(&socket, &local)?;
        net::listen(&socket, i32::try_from(options.backlog).unwrap_or(i32::MAX))?;
        KernelTcpListener::adopt(run, socket, peer)
    }

    /// A socket that listens already, to `peer` alone if there is one.
    pub(super) fn adopt(run: u64, socket: OwnedFd, peer: Option<IpAddr>) -> io::Result<Self> {
        ioctl_fionbio(&socket, true)?;
        let local = descriptor::local_addr(&socket)?;
        let source = Source::new(socket, Detail::Listener(local));
        let handle = Handle::new(run, SocketKind::Listener, source)?;
        Ok(KernelTcpListener { handle, local, peer })
    }
}

impl TcpListener for KernelTcpListener {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn TcpStream>>> {
        let next = |source: &mut Source| accept(source, self.peer);
        self.handle.poll("to accept from", Way::Read, cx, next).map(|accepted| {
            let (socket, remote) = accepted?;
            let stream = KernelTcpStream::accepted(self.handle.run, socket, remote)?;
            Ok(Box::new(stream) as Box<dyn TcpStream>)
        })
    }
}

/// The next connection, from `peer` if only that is served, and the address that opened it.
fn accept(source: &mut Source, peer: Option<IpAddr>) -> io::Result<(OwnedFd, SocketAddr)> {
    loop {
        match net::acceptfrom_with(source.descriptor()?, descriptor::FLAGS) {
            // The connection has failed before it was accepted; the listener has not (accept(2)).
            Err(
                Errno::CONNABORTED
                | Errno::PROTO
                | Errno::NOPROTOOPT
                | Errno::NETDOWN
                | Errno::NETUNREACH
                | Errno::HOSTDOWN
                | Errno::HOSTUNREACH
                | Errno::NONET
                | Errno::INTR,
            ) => {}
            result => {
                let (socket, remote) = result?;
                let remote = remote.ok_or(io::ErrorKind::InvalidData)?;
                let remote: SocketAddr = remote.try_into()?;
                if peer.is_none_or(|peer| peer == remote.ip().to_canonical()) {
                    return Ok((socket, remote));
                }
            }
        }
    }
}
