//! The way out of a passage: traffic of the command to the outside continues from sockets of this
//! process, in the network in which it was started, and nothing of that network is changed.
//!
//! The kernel of the namespace in front of the link accepts packets to any address as its own
//! ([`open_to_all`]). A [`Gate`] in the emulator examines what leaves the link: the first packet to
//! a destination waits there until the [`worker`] has reached the destination from the outside and
//! opened a socket with that very address in front of the link. Then the packet goes on to that
//! socket, and the worker relays between the two.
//!
//! The worker only binds addresses in namespaces of this process; towards the machine's network it
//! only connects, except for published ports.

mod addresses;
mod connections;
mod datagrams;
mod echoes;
mod endpoint;
pub(crate) mod gate;
mod names;
mod relay;
mod site;
mod wire;
mod worker;
mod workshop;

use std::io;
use std::sync::{Arc, mpsc};

use rustix::event::{EventfdFlags, eventfd};

use crate::clock::Clock;
use crate::namespace::{Address, EVERYTHING, Interface, NamespaceError, NetNamespace, Route, Step};
pub(crate) use addresses::Addresses;
use addresses::DOORS_MAX;
#[cfg(test)]
pub(crate) use addresses::contains;
pub(crate) use gate::Gate;
pub(crate) use names::inside as resolver_file;
pub(crate) use worker::Worker;
use workshop::Workshop;

/// Makes the kernel of the calling thread's namespace accept packets to any address as its own,
/// except for those to `inside`, which go through the interface `link`.
pub(crate) fn open_to_all(
    link: &Interface,
    inside: [Address; 2],
    route: Route<'_>,
) -> Result<(), NamespaceError> {
    let loopback = Interface::named("lo")?;
    for (network, everything) in inside.into_iter().zip(EVERYTHING) {
        link.add_route(network, Route { is_first: true, ..route })?;
        loopback.add_local_route(everything)?;
    }
    Ok(())
}

/// A worker whose sockets towards the command are made in `outer`, and the gate that sends it its
/// work. Towards the outside it works in the calling thread's namespace.
pub(crate) fn open(
    outer: &NetNamespace,
    addresses: Addresses,
    clock: Clock,
) -> Result<(Worker, Gate), NamespaceError> {
    let failed = |why: io::Error| NamespaceError::new(Step::Thread, why);
    let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
    let bell = Arc::new(bell.map_err(|why| failed(why.into()))?);
    let (knocks, knocked) = mpsc::sync_channel(DOORS_MAX);
    let worker = Worker::new(Workshop::open(outer)?, addresses, clock, Arc::clone(&bell), knocked);
    Ok((worker.map_err(failed)?, Gate::new(addresses, knocks, bell)))
}
