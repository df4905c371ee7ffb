//! Building a network: nodes, links, addresses.

use std::collections::BTreeSet;
use std::net::IpAddr;

use rustc_hash::FxHashMap;
use trackbed_core::Seed;

use super::air::Air;
use super::ids::{ChannelId, Direction, InterfaceId, LinkId, MediumId, NodeId};
use super::routes::Routes;
use super::{Network, Node, NodeKind};
use crate::link::Link;
use crate::link_spec::LinkSpec;
use crate::medium::Medium;

/// Collects the parts of a [`Network`].
#[derive(Debug, Default)]
pub struct NetworkBuilder {
    nodes: Vec<Node>,
    ends: Vec<End>,
    links: Vec<Duplex>,
    airs: Vec<Air>,
}

/// A two-way link: a link model and an MTU for each direction.
#[derive(Debug)]
pub struct Duplex {
    /// From the first end to the second.
    pub forward: Box<dyn Link>,
    /// From the second end to the first.
    pub backward: Box<dyn Link>,
    /// The largest packet in bytes, IP header included, that each direction takes, forward first.
    pub mtu: [u32; 2],
}

impl Duplex {
    /// Builds both directions with an MTU of 1,500 bytes; their random numbers come from the
    /// parts `forward` and `backward` of `seed`.
    pub fn new(forward: &LinkSpec, backward: &LinkSpec, seed: &Seed) -> Duplex {
        Duplex {
            forward: forward.build(&seed.child("forward")),
            backward: backward.build(&seed.child("backward")),
            mtu: [1500; 2],
        }
    }

    /// The same link with another MTU in both directions.
    #[must_use]
    pub fn with_mtu(self, mtu: u32) -> Duplex {
        Duplex { mtu: [mtu; 2], ..self }
    }
}

/// One end of a link: a new interface of a node, with the addresses that the interface has.
#[derive(Clone, Debug)]
pub struct End {
    node: NodeId,
    addresses: Vec<IpAddr>,
}

impl End {
    /// An interface of `node` with `addresses`, IPv4 and IPv6 in any number. A router's interface
    /// needs none.
    pub fn new(node: NodeId, addresses: impl IntoIterator<Item = IpAddr>) -> End {
        End { node, addresses: addresses.into_iter().collect() }
    }

    /// The node that has it.
    pub fn node(&self) -> NodeId {
        self.node
    }
}

/// Why a network cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum BuildError {
    #[error("two nodes are named \"{0}\"; give each a unique name")]
    DuplicateName(String),
    #[error("two interfaces have the address {0}; give each a unique address")]
    DuplicateAddress(IpAddr),
    /// Multicast, loopback or unspecified: no interface can have this address.
    #[error(
        "{0} cannot be the address of an interface; use a unicast address such as 10.0.0.1 or \
         fd00::1"
    )]
    UnusableAddress(IpAddr),
    #[error("an interface of the host \"{0}\" has no address; give it one")]
    NoAddress(String),
    /// The MTU is too small: a link takes at least 576 bytes, and 1,280 where an end has an IPv6
    /// address (RFC 8200 section 5).
    #[error("an MTU of {mtu} bytes is too small; use at least {least} here")]
    MtuTooSmall { mtu: u32, least: u32 },
    #[error("a link connects \"{0}\" to itself; name two different nodes")]
    SelfLink(String),
    #[error("the edge \"{0}\" does not have exactly one link; give it one")]
    EdgeLinks(String),
}

impl NetworkBuilder {
    /// Adds a host: it sends and receives, and forwards nothing.
    pub fn host(&mut self, name: impl Into<String>) -> NodeId {
        self.node(name.into(), NodeKind::Host)
    }

    /// Adds a router.
    pub fn router(&mut self, name: impl Into<String>) -> NodeId {
        self.node(name.into(), NodeKind::Router)
    }

    /// Adds an edge: a place where this network meets a real one. It has one link, needs no
    /// address, sends packets from any address and takes every packet that reaches it.
    pub fn edge(&mut self, name: impl Into<String>) -> NodeId {
        self.node(name.into(), NodeKind::Edge)
    }

    /// Joins two nodes; [`Direction::Forward`] is from `first` to `second`.
    ///
    /// # Panics
    /// If a node is not of this builder.
    pub fn connect(&mut self, first: End, second: End, link: Duplex) -> LinkId {
        let known = |end: &End| end.node.index() < self.nodes.len();
        assert!(known(&first) && known(&second), "the node belongs to a different network");
        self.ends.extend([first, second]);
        self.links.push(link);
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds a medium that these links share: packets pass it before their link. The links, in the order
    /// of the medium's stations, begin at a station and end at the access point, and are on no other
    /// medium.
    pub fn share(&mut self, medium: Box<dyn Medium>, stations: Vec<LinkId>) -> MediumId {
        self.airs.push(Air { medium, stations, armed: None });
        MediumId(self.airs.len() as u32 - 1)
    }

    /// The interface of `link` from which packets leave in `direction`.
    pub fn interface(&self, link: LinkId, direction: Direction) -> InterfaceId {
        ChannelId::new(link, direction).interface()
    }

    /// Checks everything and computes the routes.
    ///
    /// # Errors
    /// If a name or address is used twice, an address or MTU cannot be, a host's interface has no
    /// address, or an edge does not have one link.
    pub fn build(self) -> Result<Network, BuildError> {
        self.check_names()?;
        self.check_edges()?;
        let mut owners = FxHashMap::default();
        for (index, end) in self.ends.iter().enumerate() {
            self.check_end(index, end)?;
            for &address in &end.addresses {
                if owners.insert(address, ChannelId(index as u32)).is_some() {
                    return Err(BuildError::DuplicateAddress(address));
                }
            }
        }
        let begins_at = self.ends.iter().map(|end| end.node).collect();
        let is_router = |node: &Node| node.kind == NodeKind::Router;
        let is_router: Vec<bool> = self.nodes.iter().map(is_router).collect();
        let routes = Routes::new(owners, begins_at, &is_router);
        let addresses = self.ends.into_iter().map(|end| end.addresses).collect();
        Ok(Network::assemble(routes, self.nodes, addresses, self.links, self.airs))
    }

    fn node(&mut self, name: String, kind: NodeKind) -> NodeId {
        self.nodes.push(Node { name, kind, interfaces: Vec::new() });
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn check_names(&self) -> Result<(), BuildError> {
        let mut names = BTreeSet::new();
        match self.nodes.iter().find(|node| !names.insert(&node.name)) {
            Some(node) => Err(BuildError::DuplicateName(node.name.clone())),
            None => Ok(()),
        }
    }

    fn check_edges(&self) -> Result<(), BuildError> {
        let mut links = vec![0; self.nodes.len()];
        self.ends.iter().for_each(|end| links[end.node.index()] += 1);
        let wrong = |(node, links): &(&Node, usize)| node.kind == NodeKind::Edge && *links != 1;
        match self.nodes.iter().zip(links).find(wrong) {
            Some((node, _)) => Err(BuildError::EdgeLinks(node.name.clone())),
            None => Ok(()),
        }
    }

    fn check_end(&self, index: usize, end: &End) -> Result<(), BuildError> {
        let node = &self.nodes[end.node.index()];
        if self.ends[index ^ 1].node == end.node {
            return Err(BuildError::SelfLink(node.name.clone()));
        }
        if end.addresses.is_empty() && node.kind == NodeKind::Host {
            return Err(BuildError::NoAddress(node.name.clone()));
        }
        let unusable = |a: &&IpAddr| a.is_multicast() || a.is_loopback() || a.is_unspecified();
        if let Some(&address) = end.addresses.iter().find(unusable) {
            return Err(BuildError::UnusableAddress(address));
        }
        let least = if end.addresses.iter().any(IpAddr::is_ipv6) { 1280 } else { 576 };
        let mtu = self.links[index / 2].mtu[index % 2];
        if mtu < least {
            return Err(BuildError::MtuTooSmall { mtu, least });
        }
        Ok(())
    }
}
