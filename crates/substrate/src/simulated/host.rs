//! Hosts of the simulated world.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use trackbed_net::{Network, NodeId};

use super::listener::SimulatedTcpListener;
use super::sockets::Carrier;
use super::stream::SimulatedTcpStream;
use super::udp::SimulatedUdpSocket;
use super::world::{self, HostState, World};
use crate::entropy::{Entropy, EntropyError, SeededEntropy};
use crate::host::Host;
use crate::socket::{TcpListener, TcpOptions, TcpStream, UdpSocket};

/// The hosts of a run, and the network that joins them.
#[derive(Clone, Debug)]
pub struct Hosts {
    run: u64,
    /// In the order of the network's nodes.
    hosts: Vec<Arc<dyn Host>>,
    by_name: BTreeMap<Arc<str>, Arc<dyn Host>>,
}

impl Hosts {
    pub(super) fn new(world: &World) -> Hosts {
        let run = world.run;
        let named = |(node, state): (NodeId, &HostState)| {
            let name = Arc::clone(&state.name);
            (name.clone(), Arc::new(SimulatedHost { run, node, name }) as Arc<dyn Host>)
        };
        let named: Vec<_> = world.network.nodes().zip(&world.hosts).map(named).collect();
        let hosts = named.iter().map(|(_, host)| Arc::clone(host)).collect();
        Hosts { run, hosts, by_name: named.into_iter().collect() }
    }

    /// The host called `name`.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Host>> {
        self.by_name.get(name).cloned()
    }

    /// The host at `node`.
    ///
    /// # Panics
    /// If the node is of another network.
    pub fn at(&self, node: NodeId) -> Arc<dyn Host> {
        Arc::clone(&self.hosts[node.index()])
    }

    /// The host at `node` as one that roams: of the addresses that it has in the network of the
    /// run, it has only those of the first of `networks` until it [moves on](Host::move_on) to the
    /// next. Call it before the host has sockets.
    ///
    /// # Panics
    /// If the node is of another network, or `networks` is empty.
    pub fn roaming(&self, node: NodeId, networks: Vec<Vec<IpAddr>>) -> Arc<dyn Host> {
        world::with(self.run, |world| world.roam(node, networks));
        self.at(node)
    }

    /// Calls `action` with the network, for its counters or to change a link; `None` outside the run.
    pub fn with_network<R>(&self, action: impl FnOnce(&mut Network) -> R) -> Option<R> {
        world::with(self.run, |world| action(&mut world.network))
    }
}

/// A host of the simulated world. Below the name there are only numbers: its state belongs to the
/// thread, so the handle works where libraries require `Send + Sync`.
#[derive(Debug)]
struct SimulatedHost {
    run: u64,
    node: NodeId,
    name: Arc<str>,
}

impl Host for SimulatedHost {
    fn name(&self) -> &str {
        &self.name
    }

    fn addresses(&self) -> Vec<IpAddr> {
        let addresses = |world: &mut World| world.host(self.node).addresses.clone();
        world::with(self.run, addresses).unwrap_or_default()
    }

    fn bind_udp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>> {
        Ok(Box::new(SimulatedUdpSocket::bind(self.run, self.node, Carrier::Udp, local)?))
    }

    fn bind_sctp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>> {
        Ok(Box::new(SimulatedUdpSocket::bind(self.run, self.node, Carrier::Sctp, local)?))
    }

    fn connect_tcp(
        &self,
        local: Option<IpAddr>,
        remote: SocketAddr,
        options: &TcpOptions,
    ) -> BoxFuture<'static, io::Result<Box<dyn TcpStream>>> {
        let options = options.clone();
        let connect = SimulatedTcpStream::connect(self.run, self.node, local, remote, options);
        Box::pin(async { Ok(Box::new(connect.await?) as Box<dyn TcpStream>) })
    }

    fn listen_tcp(
        &self,
        local: SocketAddr,
        options: &TcpOptions,
    ) -> io::Result<Box<dyn TcpListener>> {
        Ok(Box::new(SimulatedTcpListener::bind(self.run, self.node, local, options)?))
    }

    fn move_on(&self) -> io::Result<()> {
        world::reach(self.run, |world| world.move_on(self.node))?
    }

    fn entropy(&self) -> Entropy {
        Entropy::Seeded(SeededEntropy::new(draw, self.run, self.node))
    }

    fn draw(&self) -> Option<u64> {
        let mut number = [0; 8];
        draw(self.run, self.node, &mut number).ok()?;
        Some(u64::from_le_bytes(number))
    }
}

fn draw(run: u64, node: NodeId, bytes: &mut [u8]) -> Result<(), EntropyError> {
    world::with(run, |world| world.host(node).entropy.fill(bytes)).ok_or(EntropyError)
}
