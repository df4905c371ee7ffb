//! The simulated world of one run: the network, and the sockets at its ends.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use slab::Slab;
use trackbed_core::packet::{Reassembly, TooBig, protocol};
use trackbed_core::{Rng, Seed, Time};
use trackbed_net::{Delivery, Network, NodeId};
use trackbed_tcp::Tick;

use super::flow::Flow;
use super::ports::Ports;
use super::sockets::{Carrier, Listener, Tcp, Udp};
use crate::clock;
use crate::entropy::stream_of;
use crate::executor::TimerQueue;
use crate::host::{no_further_network, run_ended};

pub(super) struct World {
    /// The executor's number, which handles carry, so that a handle that outlives its run or
    /// leaves its thread finds nothing.
    pub(super) run: u64,
    pub(super) network: Network,
    /// By the number of the node.
    pub(super) hosts: Vec<HostState>,
    pub(super) udp: Slab<Udp>,
    /// Distinguishes the fragments of packets.
    pub(super) fragment_serial: u32,
    pub(super) tcp: Slab<Tcp>,
    /// Only looked up, never iterated.
    pub(super) flows: FxHashMap<Flow, u32>,
    /// Multipath connections, by token.
    pub(super) tokens: FxHashMap<(NodeId, u32), u32>,
    /// The connections' timers, with the connections' keys.
    pub(super) tcp_timers: TimerQueue<u32>,
    /// The clock tick of all hosts, if they have one.
    pub(super) tick: Option<Tick>,
    pub(super) listeners: Slab<Listener>,
}

pub(super) struct HostState {
    pub(super) name: Arc<str>,
    /// Those it has now.
    pub(super) addresses: Vec<IpAddr>,
    /// The addresses in the networks that it will move on to.
    later: VecDeque<Vec<IpAddr>>,
    pub(super) udp_ports: Ports,
    pub(super) sctp_ports: Ports,
    pub(super) tcp_ports: Ports,
    /// Fragments that wait for the rest of their packets.
    reassembly: Reassembly,
    /// The stream behind the host's [`SeededEntropy`](crate::SeededEntropy).
    pub(super) entropy: Rng,
    /// Initial sequence numbers. With `entropy`, one more connection would change every key.
    pub(super) sequence_numbers: Rng,
}

impl World {
    pub(super) fn new(run: u64, seed: &Seed, network: Network, tick: Option<Tick>) -> World {
        let hosts = network.nodes().map(|node| HostState::new(&network, node, seed)).collect();
        World {
            run,
            network,
            hosts,
            udp: Slab::new(),
            fragment_serial: 0,
            tcp: Slab::new(),
            flows: FxHashMap::default(),
            tokens: FxHashMap::default(),
            tcp_timers: TimerQueue::new(),
            tick,
            listeners: Slab::new(),
        }
    }

    pub(super) fn host(&mut self, node: NodeId) -> &mut HostState {
        &mut self.hosts[node.index()]
    }

    pub(super) fn next_wake(&mut self) -> Option<Time> {
        [self.network.next_wake(), self.tcp_timers.next()].into_iter().flatten().min()
    }

    /// Processes everything due at `now`, and returns the number of events.
    ///
    /// The order at one instant is fixed: packets arrive (in the network's order), then
    /// connections' timers go off (by host, then in the order in which they were set).
    pub(super) fn advance(&mut self, now: Time) -> u64 {
        self.network.advance(now);
        let mut events = self.deliver();
        while let Some(timer) = self.tcp_timers.pop_due(now) {
            events += 1;
            let key = *self.tcp_timers.payload(timer);
            self.tcp_timeout(now, key);
        }
        events
    }

    /// Delivers the packets that have arrived, and returns their number.
    pub(super) fn deliver(&mut self) -> u64 {
        let mut events = 0;
        while let Some(Delivery { node, packet, .. }) = self.network.poll_delivery() {
            events += 1;
            let reassembly = &mut self.hosts[node.index()].reassembly;
            let Some(packet) = reassembly.take(packet, clock::now()) else { continue };
            match packet.protocol() {
                protocol::TCP => self.deliver_tcp(node, &packet),
                protocol::UDP => self.deliver_datagram(node, Carrier::Udp, &packet),
                protocol::SCTP => self.deliver_datagram(node, Carrier::Sctp, &packet),
                // UDP is not notified: like a QUIC stack on Linux (IP_PMTUDISC_PROBE), users of
                // these sockets discover the path MTU themselves.
                _ => {
                    if let Ok(message) = TooBig::parse(&packet) {
                        self.deliver_too_big(node, &message);
                    }
                }
            }
        }
        events
    }

    /// Gives a host the addresses of these networks, one network after the other.
    pub(super) fn roam(&mut self, node: NodeId, networks: Vec<Vec<IpAddr>>) {
        let host = self.host(node);
        host.later = networks.into();
        host.addresses = host.later.pop_front().expect("a host that roams begins somewhere");
    }

    pub(super) fn move_on(&mut self, node: NodeId) -> io::Result<()> {
        let host = self.host(node);
        let next = host.later.pop_front().ok_or_else(|| no_further_network(&host.name))?;
        let left = std::mem::replace(&mut host.addresses, next.clone());
        for address in left.into_iter().filter(|address| !next.contains(address)) {
            self.network.withdraw(clock::now(), address);
        }
        Ok(())
    }
}

impl HostState {
    fn new(network: &Network, node: NodeId, seed: &Seed) -> HostState {
        let name = network.name(node);
        let interfaces = network.interfaces(node).iter();
        HostState {
            addresses: interfaces.flat_map(|i| network.addresses(*i)).copied().collect(),
            udp_ports: Ports::new(),
            reassembly: Reassembly::default(),
            sctp_ports: Ports::new(),
            tcp_ports: Ports::new(),
            entropy: seed.stream(&stream_of(name)),
            sequence_numbers: seed.stream(&format!("tcp/{name}/sequence-numbers")),
            later: VecDeque::new(),
            name: name.into(),
        }
    }

    pub(super) fn owns(&self, address: IpAddr) -> bool {
        address.is_loopback() || address.is_unspecified() || self.addresses.contains(&address)
    }

    pub(super) fn source_for(&self, remote: IpAddr) -> Option<IpAddr> {
        if remote.is_loopback() {
            return Some(remote);
        }
        self.addresses.iter().copied().find(|own| own.is_ipv4() == remote.is_ipv4())
    }
}

pub(super) fn with<R>(run: u64, action: impl FnOnce(&mut World) -> R) -> Option<R> {
    WORLD.with_borrow_mut(|world| world.as_mut().filter(|world| world.run == run).map(action))
}

/// The same; an error if this thread no longer executes that run.
pub(super) fn reach<R>(run: u64, action: impl FnOnce(&mut World) -> R) -> io::Result<R> {
    with(run, action).ok_or_else(run_ended)
}

pub(super) fn replace(world: Option<World>) -> Option<World> {
    WORLD.replace(world)
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}
