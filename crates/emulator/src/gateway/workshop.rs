//! Sockets in front of the link: made in the outer namespace, usable from anywhere.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::net::{
    AddressFamily, Protocol, SocketFlags, SocketType, bind, listen, socket_with, sockopt,
};

use super::addresses::DOORS_MAX;
use crate::namespace::{NamespaceError, NetNamespace, Step};

/// A thread in the outer namespace. Without privileges a thread cannot return to the machine's own
/// network, so this one never leaves.
#[derive(Debug)]
pub(super) struct Workshop {
    wishes: Sender<(IpAddr, SocketType)>,
    made: Receiver<io::Result<OwnedFd>>,
}

impl Workshop {
    /// Starts one in `outer`; it ends when this is dropped.
    pub(super) fn open(outer: &NetNamespace) -> Result<Workshop, NamespaceError> {
        let (wishes, wished) = channel();
        let (results, made) = channel();
        let (arrivals, arrived) = channel();
        let outer = outer.try_clone()?;
        let work = move || {
            let entered = outer.enter();
            let is_there = entered.is_ok();
            // The namespace lasts as long as its sockets; this thread must not keep it longer.
            drop(outer);
            let _ = arrivals.send(entered);
            while let Some((like, kind)) = is_there.then(|| wished.recv().ok()).flatten() {
                if results.send(socket(like, kind, None)).is_err() {
                    return;
                }
            }
        };
        let failed = |why| NamespaceError::new(Step::Thread, why);
        std::thread::Builder::new().name("workshop".to_owned()).spawn(work).map_err(failed)?;
        arrived.recv().map_err(|_| failed(io::ErrorKind::BrokenPipe.into()))??;
        Ok(Workshop { wishes, made })
    }

    /// A socket bound to `address`, even if no interface has it; a stream socket listens.
    pub(super) fn socket(&self, address: SocketAddr, kind: SocketType) -> io::Result<OwnedFd> {
        let socket = self.unbound(address.ip(), kind)?;
        // No interface has the address.
        match address {
            SocketAddr::V4(_) => sockopt::set_ip_freebind(&socket, true)?,
            SocketAddr::V6(_) => sockopt::set_ipv6_freebind(&socket, true)?,
        }
        if kind == SocketType::STREAM {
            return listening(socket, address);
        }
        bind(&socket, &address)?;
        Ok(socket)
    }

    /// A socket without an address.
    pub(super) fn unbound(&self, like: IpAddr, kind: SocketType) -> io::Result<OwnedFd> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.wishes.send((like, kind)).map_err(|_| gone())?;
        self.made.recv().map_err(|_| gone())?
    }
}

/// Makes `socket` accept connections to `address`.
pub(super) fn listening(socket: OwnedFd, address: SocketAddr) -> io::Result<OwnedFd> {
    // Finished connections hold the port for a minute (TIME-WAIT).
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Every connection in it is expected, so it should never be full.
const BACKLOG: i32 = DOORS_MAX as i32;

/// A socket of this kind for the family of `like`, in the network of this thread.
pub(super) fn socket(
    like: IpAddr,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> io::Result<OwnedFd> {
    let family = if like.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(family, kind, flags, protocol)?)
}
