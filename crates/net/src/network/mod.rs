//! Hosts and routers, joined by links.

mod air;
mod builder;
mod channel;
mod forwarding;
pub(crate) mod ids;
mod processor;
mod routes;
mod tap;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use trackbed_core::{Bitrate, Packet, Time};

use crate::link::{Change, Waiting};
use air::Air;
use channel::{Arrival, Channel};
use ids::{ChannelId, Waker};
use processor::Busy;
use routes::{Hop, Routes};

pub use builder::{BuildError, Duplex, End, NetworkBuilder};
pub use ids::{Direction, InterfaceId, LinkId, MediumId, NodeId};
pub use processor::{Handled, Processor, Way};
pub use tap::{Count, Counters, Load, Point, Tap};

/// Hosts and routers joined by links; carries packets from host to host.
///
/// The contract: after each [`Network::send`], [`Network::advance`] or [`Network::change`], call
/// [`Network::poll_delivery`] until it returns `None`, then query [`Network::next_wake`] and call
/// `advance` at that time, or earlier. Times never decrease.
///
/// What happens at one time happens in the order of the links' numbers (within a link, forward
/// first) and, on one link, in the order in which packets came; then come packets from a host to
/// itself, then the [`Processor`]s. Routers take no time and do not count hops: routes are static and
/// free of loops.
#[derive(Default)]
pub struct Network {
    nodes: Vec<Node>,
    routes: Routes,
    channels: Vec<Channel>,
    airs: Vec<Air>,
    /// When which channel or medium wants to be woken; entries that no longer hold are skipped. The top
    /// entry always holds.
    wakes: BinaryHeap<Reverse<(Time, Waker)>>,
    /// Packets that have left a channel and have not been looked at by the node yet.
    arrivals: VecDeque<Arrival>,
    /// Packets from a host to itself, in order of time.
    loopback: VecDeque<Delivery>,
    deliveries: VecDeque<Delivery>,
    unroutable: Count,
    busy: Vec<Busy>,
    tap: Option<Box<dyn Tap>>,
    clock: Time,
}

/// A packet that has reached the host to which it is addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it arrived.
    pub at: Time,
    /// Where.
    pub node: NodeId,
    /// What.
    pub packet: Packet,
}

/// The delay of a packet from a host to itself. It is not zero, so that time passes when two
/// programs on one host keep replying to each other.
pub const LOOPBACK_DELAY: Duration = Duration::from_micros(10);

impl Network {
    /// Takes a packet from the host or router `from`.
    ///
    /// It leaves a host through the interface that has its source address, a router by its
    /// destination, and an edge through its one interface. A packet to an address of `from` (unless
    /// that is an edge), or to a loopback address, comes back after [`LOOPBACK_DELAY`]. A packet
    /// without a route is discarded and counted ([`Network::unroutable`]); one that exceeds the MTU
    /// is discarded and answered, from a host's own link at once
    /// ([`TooBig`](trackbed_core::packet::TooBig)).
    pub fn send(&mut self, now: Time, from: NodeId, packet: Packet) {
        self.advance(now);
        let destination = packet.destination();
        let node = &self.nodes[from.index()];
        if node.kind == NodeKind::Edge {
            let channel = ChannelId(node.interfaces[0].0);
            self.transmit(self.clock, channel, packet);
        } else if destination.is_loopback() || self.routes.hop(from, destination) == Hop::Here {
            let at = self.clock + LOOPBACK_DELAY;
            self.loopback.push_back(Delivery { at, node: from, packet });
        } else if node.kind == NodeKind::Router {
            self.forward(self.clock, from, packet);
        } else {
            self.leave(from, packet);
        }
        self.settle();
    }

    /// When [`Network::advance`] must be called next; `None` if no packet is in flight.
    pub fn next_wake(&self) -> Option<Time> {
        let link = self.wakes.peek().map(|Reverse((at, _))| *at);
        let loopback = self.loopback.front().map(|delivery| delivery.at);
        [link, loopback, self.processor_wake()].into_iter().flatten().min()
    }

    /// Processes everything that is due at or before `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(at) = self.next_wake().filter(|at| *at <= now) {
            self.clock = self.clock.max(at);
            match self.wakes.peek() {
                Some(&Reverse((wake, waker))) if wake == at => {
                    match waker {
                        Waker::Channel(id) => self.with_link(id, |link, far| link.advance(at, far)),
                        Waker::Medium(id) => {
                            self.with_medium(id, |medium, out| medium.advance(at, out));
                        }
                    }
                    self.settle();
                }
                _ if self.loopback.front().is_some_and(|delivery| delivery.at == at) => {
                    self.deliveries.extend(self.loopback.pop_front());
                }
                _ => self.wake_processors(at),
            }
        }
        self.clock = self.clock.max(now);
    }

    /// The next packet that has reached its host, in order of time.
    pub fn poll_delivery(&mut self) -> Option<Delivery> {
        self.deliveries.pop_front()
    }

    /// Passes every packet from now on to `tap`; `None` removes the current tap.
    pub fn set_tap(&mut self, tap: Option<Box<dyn Tap>>) {
        self.tap = tap;
    }

    /// Replaces a parameter of one direction of a link from `now` on. False if the link has no
    /// such parameter.
    pub fn change(
        &mut self,
        now: Time,
        link: LinkId,
        direction: Direction,
        change: &Change,
    ) -> bool {
        self.advance(now);
        let (channel, clock) = (ChannelId::new(link, direction), self.clock);
        let changed = self.with_link(channel, |link, far| {
            link.advance(clock, far);
            link.change(clock, change)
        });
        let before = self.on_medium(channel).filter(|_| !changed);
        let changed = before.map_or(changed, |(id, way)| {
            self.with_medium(id, |medium, out| {
                medium.advance(clock, out);
                medium.change(clock, way, change)
            })
        });
        self.settle();
        changed
    }

    /// The counters of one direction of a link.
    pub fn counters(&self, link: LinkId, direction: Direction) -> &Counters {
        &self.channels[ChannelId::new(link, direction).index()].counters
    }

    /// Measures the load of one direction of a link, which has this rate, from now on.
    pub fn measure_load(&mut self, link: LinkId, direction: Direction, rate: Bitrate) {
        let channel = ChannelId::new(link, direction);
        self.channels[channel.index()].load = Some(Box::new(Load::of(rate)));
    }

    /// The load of one direction of a link, if it is measured.
    pub fn load(&self, link: LinkId, direction: Direction) -> Option<&Load> {
        self.channels[ChannelId::new(link, direction).index()].load.as_deref()
    }

    /// Lets the links finish with the packets that they hold, for at most `longest`, so that the counters
    /// know what became of each. Otherwise a lost packet that is still under way when a run ends would
    /// count as not lost. No packet arrives any more, and no node may send afterwards.
    pub fn drain(&mut self, longest: Duration) {
        let end = self.clock + longest;
        for id in (0..self.airs.len() as u32).map(MediumId) {
            let wake = |network: &Network| network.airs[id.index()].medium.next_wake();
            while let Some(at) = wake(self).filter(|at| *at <= end) {
                self.with_medium(id, |medium, out| medium.advance(at, out));
                self.arrivals.clear();
            }
        }
        for (index, channel) in (0..).zip(&mut self.channels) {
            channel.drain(ChannelId(index), end);
        }
        self.wakes.clear();
    }

    /// The number of packets inside one direction of a link.
    pub fn held(&self, link: LinkId, direction: Direction) -> usize {
        let channel = ChannelId::new(link, direction);
        let before = self.on_medium(channel);
        let before = before.map_or(0, |(id, way)| self.airs[id.index()].medium.held(way));
        before + self.channels[channel.index()].link.held()
    }

    /// Packets that a node discarded because it had no route.
    pub fn unroutable(&self) -> Count {
        self.unroutable
    }

    /// All nodes, in the order of the builder's calls.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// All links, in the order of the builder's calls.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<> {
        (0..self.channels.len() as u32 / 2).map(LinkId)
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes().find(|node| self.name(*node) == name)
    }

    /// The interfaces of a node, in the order of the builder's calls.
    pub fn interfaces(&self, node: NodeId) -> &[InterfaceId] {
        &self.nodes[node.index()].interfaces
    }

    /// The addresses of an interface, in the order of the builder's calls.
    pub fn addresses(&self, interface: InterfaceId) -> &[IpAddr] {
        &self.channels[interface.0 as usize].addresses
    }

    /// The interface that has `address`.
    pub fn interface_of(&self, address: IpAddr) -> Option<InterfaceId> {
        self.routes.owner(address).map(ChannelId::interface)
    }

    /// Removes `address` permanently, as when a host leaves the network that assigned it. Packets
    /// to it, including those in flight, and packets from it are discarded as unroutable at the
    /// next node. Queued ones are dropped there: they belong to the old network, and must not take
    /// link time from the new one. False if no host has the address.
    pub fn withdraw(&mut self, now: Time, address: IpAddr) -> bool {
        self.advance(now);
        if !self.routes.withdraw(address) {
            return false;
        }
        let clock = self.clock;
        for index in 0..self.channels.len() as u32 {
            self.with_link(ChannelId(index), |link, far| {
                link.advance(clock, far);
                link.flush(clock, Waiting::Of(address), far);
            });
        }
        self.settle();
        true
    }

    /// The largest packet in bytes that the link takes from `interface`.
    pub fn mtu(&self, interface: InterfaceId) -> u32 {
        self.channels[interface.0 as usize].mtu
    }
}

/// Prints the number of nodes, not every part.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    /// Sends from its own addresses and takes what is addressed to it.
    Host,
    /// Passes on.
    Router,
    /// The boundary to a real network: sends and accepts everything.
    Edge,
}

#[derive(Debug)]
struct Node {
    name: String,
    kind: NodeKind,
    interfaces: Vec<InterfaceId>,
}

impl Network {
    fn assemble(
        routes: Routes,
        mut nodes: Vec<Node>,
        addresses: Vec<Vec<IpAddr>>,
        links: Vec<Duplex>,
        airs: Vec<Air>,
    ) -> Network {
        let both = |l: Duplex| [(l.forward, l.mtu[0]), (l.backward, l.mtu[1])];
        let mut channels = Vec::with_capacity(addresses.len());
        for ((link, mtu), addresses) in links.into_iter().flat_map(both).zip(addresses) {
            let channel = ChannelId(channels.len() as u32);
            nodes[routes.begin(channel).index()].interfaces.push(channel.interface());
            channels.push(Channel::new(link, mtu, addresses));
        }
        for (medium, air) in (0..).map(MediumId).zip(&airs) {
            for (station, link) in (0..).zip(&air.stations) {
                for way in 0..2 {
                    channels[link.index() * 2 + way].medium = Some((medium, station));
                }
            }
        }
        Network { nodes, routes, channels, airs, ..Network::default() }
    }
}
