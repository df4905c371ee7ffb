//! Hosts on the kernel's sockets.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;

use super::listener::KernelTcpListener;
use super::pipe;
use super::tcp::KernelTcpStream;
use super::udp::KernelUdpSocket;
use super::world;
use crate::entropy::Entropy;
use crate::host::Host;
use crate::socket::{TcpListener, TcpOptions, TcpStream, UdpSocket};

/// The machine that a run is executed on, as far as the network namespace of its thread reaches
/// (network_namespaces(7)).
#[derive(Clone, Debug)]
pub struct Machine {
    run: u64,
}

impl Machine {
    pub(super) fn new(run: u64) -> Machine {
        Machine { run }
    }

    /// The machine as a host called `name` that has `addresses`, the preferred ones first. They
    /// must be addresses of the machine; a socket that uses another one fails. A machine may be
    /// several hosts.
    pub fn host(&self, name: &str, addresses: impl IntoIterator<Item = IpAddr>) -> Arc<dyn Host> {
        let addresses = addresses.into_iter().collect();
        Arc::new(KernelHost { run: self.run, name: name.to_owned(), addresses })
    }

    /// Resolves when nobody can write to `pipe` any more; what is written until then is thrown
    /// away.
    ///
    /// # Errors
    /// If it is no pipe or socket, or the run has ended.
    pub fn closed(&self, pipe: OwnedFd) -> LocalBoxFuture<'static, io::Result<()>> {
        Box::pin(pipe::closed(self.run, pipe))
    }

    /// How many datagrams the kernel has dropped so far because a UDP socket of the run had no room
    /// for them: the program did not keep up. Zero after the run.
    pub fn datagrams_dropped(&self) -> u64 {
        world::with(self.run, |world| world.datagrams_dropped()).unwrap_or_default()
    }
}

/// A host on the kernel's sockets. Its state is the thread's, so the handle may go where libraries
/// ask for `Send + Sync`.
#[derive(Debug)]
struct KernelHost {
    run: u64,
    name: String,
    addresses: Vec<IpAddr>,
}

impl Host for KernelHost {
    fn name(&self) -> &str {
        &self.name
    }

    fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    fn bind_udp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>> {
        let socket = KernelUdpSocket::bind(self.run, local);
        Ok(Box::new(socket.map_err(|error| self.explain(local, error))?))
    }

    /// A raw socket would hear the packets of all ports, and the kernel's own SCTP answer them.
    fn bind_sctp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>> {
        let message = format!(
            "{local}: SCTP packets without UDP need the virtual substrate; encapsulate them in UDP"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    fn connect_tcp(
        &self,
        local: Option<IpAddr>,
        remote: SocketAddr,
        options: &TcpOptions,
    ) -> LocalBoxFuture<'static, io::Result<Box<dyn TcpStream>>> {
        let source = self.source_for(local, remote);
        let (run, options) = (self.run, options.clone());
        Box::pin(async move {
            let stream = KernelTcpStream::connect(run, source?, remote, options).await?;
            Ok(Box::new(stream) as Box<dyn TcpStream>)
        })
    }

    fn listen_tcp(
        &self,
        local: SocketAddr,
        options: &TcpOptions,
    ) -> io::Result<Box<dyn TcpListener>> {
        let listener = KernelTcpListener::bind(self.run, local, options);
        Ok(Box::new(listener.map_err(|error| self.explain(local, error))?))
    }

    fn entropy(&self) -> Entropy {
        Entropy::System
    }
}

impl KernelHost {
    /// The address to connect to `remote` from.
    fn source_for(&self, local: Option<IpAddr>, remote: SocketAddr) -> io::Result<IpAddr> {
        let invalid = |message| io::Error::new(io::ErrorKind::InvalidInput, message);
        if remote.port() == 0 || remote.ip().is_unspecified() || remote.ip().is_multicast() {
            return Err(invalid(format!("{remote} is no address to connect to")));
        }
        let chosen = local.filter(|local| !local.is_unspecified());
        let fits = |local: &IpAddr| local.is_ipv4() == remote.is_ipv4();
        let source = match chosen {
            Some(local) => Some(local).filter(fits),
            None => self.addresses.iter().copied().find(fits),
        };
        source.ok_or_else(|| {
            invalid(format!("{} has no address of the family of {remote}", self.name))
        })
    }

    /// Says where a socket could not be bound, and what to do about it.
    fn explain(&self, local: SocketAddr, error: io::Error) -> io::Error {
        let message = match error.kind() {
            io::ErrorKind::AddrInUse => format!("{local} is in use; choose another port"),
            io::ErrorKind::AddrNotAvailable => format!(
                "{} is not an address of the host \"{}\"; use one of its own",
                local.ip(),
                self.name
            ),
            io::ErrorKind::PermissionDenied => {
                format!("{local}: {error}; ports below 1024 are reserved for the privileged")
            }
            _ => format!("{local}: {error}"),
        };
        io::Error::new(error.kind(), message)
    }
}
