//! Hosts on the kernel's sockets.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use futures_core::future::BoxFuture;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use trackbed_core::{Rng, Seed};

use super::handle::Handle;
use super::listener::KernelTcpListener;
use super::source::{Detail, Source, Way};
use super::tcp::KernelTcpStream;
use super::udp::KernelUdpSocket;
use super::waiting::Waiting;
use super::world::{self, World};
use crate::entropy::{Entropy, stream_of};
use crate::executor::SocketKind;
use crate::host::{Host, check_remote, no_common_version, no_further_network, not_an_address};
use crate::socket::{TcpListener, TcpOptions, TcpStream, UdpSocket};

/// The machine of a run, as far as its thread's namespace reaches (network_namespaces(7)).
#[derive(Clone, Debug)]
pub struct Machine {
    run: u64,
    seed: Option<Seed>,
}

impl Machine {
    pub(super) fn new(run: u64) -> Machine {
        Machine { run, seed: None }
    }

    /// The same, whose hosts [draw](Host::draw) from the stream of a simulated run with this seed. Never
    /// for a machine that others can reach: CoAP's tokens become predictable.
    #[must_use]
    pub fn with_seed(self, seed: Seed) -> Machine {
        Machine { seed: Some(seed), ..self }
    }

    /// The machine as a host called `name` with these of its addresses, the preferred ones first; a
    /// socket that uses another one fails. A machine may be several hosts.
    pub fn host(&self, name: &str, addresses: impl IntoIterator<Item = IpAddr>) -> Arc<dyn Host> {
        self.build(name, vec![addresses.into_iter().collect()], Box::new(|_, _| Ok(())), None)
    }

    /// The machine as a host called `name` that has the addresses of the first of `networks`, until
    /// it [moves on](Host::move_on) to the next. Then `rewire` removes its first argument's
    /// addresses from the machine, and adds those of its second.
    ///
    /// # Panics
    /// If `networks` is empty.
    pub fn roaming(
        &self,
        name: &str,
        networks: Vec<Vec<IpAddr>>,
        rewire: impl Fn(&[IpAddr], &[IpAddr]) -> io::Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Host> {
        self.build(name, networks, Box::new(rewire), None)
    }

    /// The machine as a host that serves only `peer`: other connections are closed as soon as they
    /// are accepted, and other datagrams are discarded.
    pub fn host_for(
        &self,
        name: &str,
        addresses: impl IntoIterator<Item = IpAddr>,
        peer: IpAddr,
    ) -> Arc<dyn Host> {
        let networks = vec![addresses.into_iter().collect()];
        self.build(name, networks, Box::new(|_, _| Ok(())), Some(peer.to_canonical()))
    }

    fn build(
        &self,
        name: &str,
        networks: Vec<Vec<IpAddr>>,
        rewire: Box<Rewire>,
        peer: Option<IpAddr>,
    ) -> Arc<dyn Host> {
        world::with(self.run, |world| world.hosts += 1);
        let mut later = VecDeque::from(networks);
        let addresses = later.pop_front().expect("a host that roams begins somewhere");
        let networks = Mutex::new(Networks { addresses, later });
        let draws = self.seed.as_ref().map(|seed| Mutex::new(seed.stream(&stream_of(name))));
        Arc::new(KernelHost { run: self.run, name: name.to_owned(), networks, draws, rewire, peer })
    }

    /// Takes an existing stream socket, with options or a protocol that [`TcpOptions`] does not
    /// support, that is connected or connecting to `remote`. Resolves when it is connected;
    /// dropping the future before that cancels the attempt.
    ///
    /// # Errors
    /// Why it could not be connected, or if the run has ended.
    pub fn adopt_stream(
        &self,
        socket: OwnedFd,
        remote: SocketAddr,
    ) -> BoxFuture<'static, io::Result<Box<dyn TcpStream>>> {
        let run = self.run;
        Box::pin(async move {
            Ok(Box::new(KernelTcpStream::adopt(run, socket, remote).await?) as Box<dyn TcpStream>)
        })
    }

    /// Takes an existing listening stream socket.
    ///
    /// # Errors
    /// If it has no address, or the run has ended.
    pub fn adopt_listener(&self, socket: OwnedFd) -> io::Result<Box<dyn TcpListener>> {
        Ok(Box::new(KernelTcpListener::adopt(self.run, socket, None)?))
    }

    /// Resolves when the last writer of `pipe` is closed; data written until then is discarded.
    ///
    /// # Errors
    /// If it is not a pipe or socket, or the run has ended.
    pub fn closed(&self, pipe: OwnedFd) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(closed_pipe(self.run, pipe))
    }

    /// The number of datagrams that the kernel has dropped because a UDP socket of the run was
    /// full: the program did not keep up. Zero after the run.
    pub fn datagrams_dropped(&self) -> u64 {
        world::with(self.run, |world| world.datagrams_dropped()).unwrap_or_default()
    }

    /// How long the run's work has waited so far for the thread, and the thread for a processor,
    /// since the thread began. Zero after the run.
    pub fn waiting(&self) -> Waiting {
        world::with(self.run, |world| world.watch.waiting()).unwrap_or_default()
    }
}

/// A host on the kernel's sockets. Its state belongs to the thread, so the handle works where
/// libraries require `Send + Sync`.
struct KernelHost {
    run: u64,
    name: String,
    networks: Mutex<Networks>,
    /// What [`Host::draw`] draws from.
    draws: Option<Mutex<Rng>>,
    rewire: Box<Rewire>,
    /// The only accepted peer, if any.
    peer: Option<IpAddr>,
}

#[derive(Debug)]
struct Networks {
    addresses: Vec<IpAddr>,
    /// Those in the networks that it will move on to.
    later: VecDeque<Vec<IpAddr>>,
}

/// Takes addresses from the machine and gives it others.
type Rewire = dyn Fn(&[IpAddr], &[IpAddr]) -> io::Result<()> + Send + Sync;

impl Host for KernelHost {
    fn name(&self) -> &str {
        &self.name
    }

    fn addresses(&self) -> Vec<IpAddr> {
        self.networks().addresses.clone()
    }

    fn bind_udp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>> {
        let socket = KernelUdpSocket::bind(self.run, local, self.peer);
        Ok(Box::new(socket.map_err(|error| self.explain(local, error))?))
    }

    /// A raw socket would get the packets of all ports, and the kernel's SCTP would answer them.
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
    ) -> BoxFuture<'static, io::Result<Box<dyn TcpStream>>> {
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
        let listener = KernelTcpListener::bind(self.run, local, options, self.peer);
        Ok(Box::new(listener.map_err(|error| self.explain(local, error))?))
    }

    fn move_on(&self) -> io::Result<()> {
        let mut networks = self.networks();
        let next = networks.later.pop_front().ok_or_else(|| no_further_network(&self.name))?;
        let left = std::mem::replace(&mut networks.addresses, next.clone());
        // The cached addresses of the machine are outdated.
        world::reach(self.run, World::forget_addresses)?;
        (self.rewire)(&left, &next)
    }

    fn entropy(&self) -> Entropy {
        Entropy::System
    }

    fn draw(&self) -> Option<u64> {
        let mut number = [0; 8];
        self.draws.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut number);
        Some(u64::from_le_bytes(number))
    }
}

impl fmt::Debug for KernelHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelHost").field("name", &self.name).finish_non_exhaustive()
    }
}

impl KernelHost {
    fn networks(&self) -> MutexGuard<'_, Networks> {
        self.networks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn source_for(&self, local: Option<IpAddr>, remote: SocketAddr) -> io::Result<IpAddr> {
        check_remote(remote)?;
        let chosen = local.filter(|local| !local.is_unspecified());
        let fits = |local: &IpAddr| local.is_ipv4() == remote.is_ipv4();
        let source = match chosen {
            Some(local) => Some(local).filter(fits),
            None => self.networks().addresses.iter().copied().find(fits),
        };
        source.ok_or_else(|| no_common_version(&self.name, remote))
    }

    /// Adds to a bind error the address and the remedy.
    fn explain(&self, local: SocketAddr, error: io::Error) -> io::Error {
        let message = match error.kind() {
            io::ErrorKind::AddrInUse => format!("{local} is in use; choose another port"),
            io::ErrorKind::AddrNotAvailable => return not_an_address(&self.name, local.ip()),
            io::ErrorKind::PermissionDenied => {
                format!("{local}: {error}; ports below 1024 require privileges")
            }
            _ => format!("{local}: {error}"),
        };
        io::Error::new(error.kind(), message)
    }
}

/// Resolves when the last writer of `pipe` is closed, or the run ends. Its data is discarded.
async fn closed_pipe(run: u64, pipe: OwnedFd) -> io::Result<()> {
    let pipe = Handle::new(run, SocketKind::Pipe, Source::new(pipe, Detail::Pipe))?;
    let end = |source: &mut Source| drain(source.descriptor()?);
    poll_fn(|cx| pipe.poll("for the end of", Way::Read, cx, end)).await
}

/// Reads until the end, or until no data is left. The pipe may be blocking and in use elsewhere, so
/// its mode is not changed; it is polled first.
fn drain(pipe: BorrowedFd<'_>) -> io::Result<()> {
    loop {
        let mut asked = [PollFd::new(&pipe, PollFlags::IN)];
        if poll(&mut asked, Some(&Timespec::default()))? == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        match rustix::io::read(pipe, &mut [0_u8; 512]) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(why.into()),
        }
    }
}
