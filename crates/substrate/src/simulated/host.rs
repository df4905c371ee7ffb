//! Hosts of the simulated world.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_net::{Network, NodeId};

use super::listener::SimulatedTcpListener;
use super::stream::SimulatedTcpStream;
use super::udp::{Carrier, SimulatedUdpSocket};
use super::world::{self, World};
use crate::entropy::{Entropy, EntropyError, SeededEntropy};
use crate::host::Host;
use crate::socket::{TcpListener, TcpOptions, TcpStream, UdpSocket};

/// The hosts of a run, and the network that joins them.
#[derive(Clone, Debug)]
pub struct Hosts {
    run: u64,
    /// In the order of the network's nodes.
    hosts: Vec<Arc<SimulatedHost>>,
    by_name: BTreeMap<Arc<str>, usize>,
}

impl Hosts {
    pub(super) fn new(world: &World) -> Hosts {
        let nodes = world.network.nodes().zip(&world.hosts);
        let hosts: Vec<_> = nodes
            .map(|(node, state)| {
                Arc::new(SimulatedHost {
                    run: world.run,
                    node,
                    name: Arc::clone(&state.name),
                    addresses: Arc::clone(&state.addresses),
                })
            })
            .collect();
        let names = hosts.iter().enumerate();
        let by_name = names.map(|(index, host)| (Arc::clone(&host.name), index)).collect();
        Hosts { run: world.run, hosts, by_name }
    }

    /// The host called `name`.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Host>> {
        let index = *self.by_name.get(name)?;
        Some(Arc::clone(&self.hosts[index]) as Arc<dyn Host>)
    }

    /// The host at `node`.
    ///
    /// # Panics
    /// If the node is of another network.
    pub fn at(&self, node: NodeId) -> Arc<dyn Host> {
        Arc::clone(&self.hosts[node.index()]) as Arc<dyn Host>
    }

    /// All of them, routers included, in the order of the network's nodes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Arc<dyn Host>> {
        self.hosts.iter().map(|host| Arc::clone(host) as Arc<dyn Host>)
    }

    /// Calls `action` with the network, to read its counters or to change a link; `None` after
    /// the run or on another thread.
    pub fn with_network<R>(&self, action: impl FnOnce(&mut Network) -> R) -> Option<R> {
        world::with(self.run, |world| action(&mut world.network))
    }
}

/// A host of the simulated world. Below the name there are only numbers: its state is the
/// thread's, so the handle may go where libraries ask for `Send + Sync`.
#[derive(Debug)]
struct SimulatedHost {
    run: u64,
    node: NodeId,
    name: Arc<str>,
    addresses: Arc<[IpAddr]>,
}

impl Host for SimulatedHost {
    fn name(&self) -> &str {
        &self.name
    }

    fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    fn bind_udp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>> {
        let carrier = Carrier::Udp;
        Ok(Box::new(SimulatedUdpSocket::bind(self.run, self.node, carrier, local)?))
    }

    fn bind_sctp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>> {
        let carrier = Carrier::Sctp;
        Ok(Box::new(SimulatedUdpSocket::bind(self.run, self.node, carrier, local)?))
    }

    fn connect_tcp(
        &self,
        local: Option<IpAddr>,
        remote: SocketAddr,
        options: &TcpOptions,
    ) -> LocalBoxFuture<'static, io::Result<Box<dyn TcpStream>>> {
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

    fn entropy(&self) -> Entropy {
        Entropy::Seeded(SeededEntropy::new(draw, self.run, self.node))
    }
}

fn draw(run: u64, node: NodeId, bytes: &mut [u8]) -> Result<(), EntropyError> {
    world::with(run, |world| world.host(node).entropy.fill(bytes)).ok_or(EntropyError)
}
