//! The way out of a passage: what the command sends to the world goes on from sockets of this
//! process, in the network it was started in, and nothing of that network is changed.
//!
//! The kernel of the namespace in front of the link takes packets to any address as its own
//! ([`open_to_all`]). A [`Gate`] in the emulator looks at what comes out of the link: the first
//! packet to a destination waits there until the [`worker`] has reached the destination from the
//! outside and put a socket of that very address in front of the link. Then the packet goes on to
//! that socket, and the worker relays between the two.
//!
//! What the worker binds to is in namespaces of our own; towards the machine's network it only
//! ever dials.

mod connections;
mod datagrams;
mod echoes;
mod endpoint;
mod gate;
mod names;
mod relay;
mod wire;
mod worker;
mod workshop;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Once, mpsc};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};

use crate::clock::Clock;
use crate::emulator::Remote;
use crate::namespace::{Address, Interface, NamespaceError, NetNamespace, Step};
pub(crate) use gate::{Gate, Order};
pub(crate) use names::inside as resolver_file;
use worker::Worker;
use workshop::Workshop;

/// The addresses that a gateway has to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses {
    /// The gateway itself, in both families.
    pub(crate) own: [IpAddr; 2],
    /// Those behind the link.
    pub(crate) inside: [Address; 2],
}

impl Addresses {
    /// Whether packets from here come from behind the link.
    fn are_inside(&self, address: IpAddr) -> bool {
        self.inside.iter().any(|network| contains(*network, address))
    }

    /// Whether this is an address that a gateway can reach for others.
    fn are_outside(&self, address: IpAddr) -> bool {
        let single = match address {
            IpAddr::V4(to) => !to.is_multicast() && !to.is_broadcast() && !to.is_unspecified(),
            IpAddr::V6(to) => !to.is_multicast() && !to.is_unspecified(),
        };
        self.own.contains(&address) || single && !address.is_loopback() && !self.are_inside(address)
    }

    /// The gateway's address of the family of `like`.
    fn own_like(&self, like: IpAddr) -> IpAddr {
        if like.is_ipv4() == self.own[0].is_ipv4() { self.own[0] } else { self.own[1] }
    }

    /// What an address behind the link is on the machine's network: the gateway's own address is
    /// the machine's loopback address, so that servers of its own can be reached.
    fn seen_from_outside(&self, to: SocketAddr) -> SocketAddr {
        let loopback: IpAddr = match to {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        let ip = if self.own.contains(&to.ip()) { loopback } else { to.ip() };
        SocketAddr::new(ip, to.port())
    }

    /// Whether this is where the command's resolver asks.
    fn is_name_server(&self, to: SocketAddr) -> bool {
        to.port() == names::PORT && self.own.contains(&to.ip())
    }
}

fn contains((network, prefix): Address, address: IpAddr) -> bool {
    let same = match (network, address) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => return false,
    };
    same >= u32::from(prefix)
}

/// Lets the kernel of the calling thread's namespace take packets to any address as its own,
/// except for those to `inside`, which go through the interface `link`.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn open_to_all(link: &Interface, inside: [Address; 2]) -> Result<(), NamespaceError> {
    let loopback = Interface::named("lo")?;
    for (network, everything) in inside.into_iter().zip(EVERYTHING) {
        link.add_first_route(network)?;
        loopback.add_local_route(everything)?;
    }
    Ok(())
}

/// A gate and its worker before they are at work.
#[derive(Debug)]
pub(crate) struct Gateway {
    worker: Worker,
}

impl Gateway {
    /// A worker whose sockets towards the command are made in `outer`, and the gate that sends it
    /// its work. Towards the world it works in the calling thread's namespace.
    ///
    /// # Errors
    /// If the kernel has no more descriptors or threads.
    pub(crate) fn new(
        outer: &NetNamespace,
        addresses: Addresses,
        clock: Clock,
    ) -> Result<(Gateway, Gate), NamespaceError> {
        let failed = |why: io::Error| NamespaceError::new(Step::Thread, why);
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bell = Arc::new(bell.map_err(|why| failed(why.into()))?);
        let (knocks, knocked) = mpsc::sync_channel(DOORS_MAX);
        let workshop = Workshop::open(outer)?;
        let worker = Worker::new(workshop, addresses, clock, Arc::clone(&bell), knocked);
        let gate = Gate::new(addresses, knocks, bell);
        Ok((Gateway { worker: worker.map_err(failed)? }, gate))
    }

    /// Works on a thread of its own until the gate is gone; what the worker decides is told to the
    /// gate by way of `remote`.
    ///
    /// # Errors
    /// If there can be no thread.
    pub(crate) fn start(self, remote: Remote) -> io::Result<JoinHandle<()>> {
        let thread = std::thread::Builder::new().name("gateway".to_owned());
        thread.spawn(move || self.worker.run(&remote))
    }
}

/// Says, once, that there are more flows than we carry.
fn tell_full() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        eprintln!(
            "trackbed: the command has more connections outwards than the gateway carries at once \
             ({DOORS_MAX}, or as many as `ulimit -Hn` allows); some have to wait"
        );
    });
}

const EVERYTHING: [Address; 2] =
    [(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0), (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0)];

/// Destinations and connections at a time.
const DOORS_MAX: usize = 4_096;
