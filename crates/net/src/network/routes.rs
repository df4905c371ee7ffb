//! Address owners and shortest routes.

use std::collections::VecDeque;
use std::net::IpAddr;

use rustc_hash::FxHashMap;

use super::ids::{ChannelId, NodeId};

/// The static routes of a network, of which only addresses may vanish.
///
/// Hosts do not forward, so only routes between routers need a table; the last step is found from
/// the owner of the address. Building takes time in proportion to the number of hosts and to the
/// number of routers times router links; a look-up takes constant time.
#[derive(Debug, Default)]
pub(super) struct Routes {
    /// The interface that owns an address, named by the channel that begins there. Never iterated.
    owners: FxHashMap<IpAddr, ChannelId>,
    /// For every channel, the node at which it begins.
    begins_at: Vec<NodeId>,
    /// The number of a node among the routers.
    router_number: Vec<Option<u32>>,
    routers: usize,
    /// The channel to take at router `r` towards router `t`, at `r * routers + t`.
    next: Vec<Option<ChannelId>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    Here,
    Through(ChannelId),
    Nowhere,
}

impl Routes {
    /// Computes all routes. `begins_at` names the node at which each channel begins, in the
    /// order of the channels.
    pub(super) fn new(
        owners: FxHashMap<IpAddr, ChannelId>,
        begins_at: Vec<NodeId>,
        is_router: &[bool],
    ) -> Routes {
        let mut routers = 0;
        let number = |router: &bool| {
            router.then(|| {
                routers += 1;
                routers - 1
            })
        };
        let router_number: Vec<Option<u32>> = is_router.iter().map(number).collect();
        let routers = routers as usize;
        let next = vec![None; routers * routers];
        let mut routes = Routes { owners, begins_at, router_number, routers, next };
        let neighbours = routes.router_neighbours();
        for target in 0..routers {
            routes.fill_towards(target, &neighbours);
        }
        routes
    }

    pub(super) fn owner(&self, address: IpAddr) -> Option<ChannelId> {
        self.owners.get(&address).copied()
    }

    pub(super) fn withdraw(&mut self, address: IpAddr) -> bool {
        self.owners.remove(&address).is_some()
    }

    pub(super) fn begin(&self, channel: ChannelId) -> NodeId {
        self.begins_at[channel.index()]
    }

    pub(super) fn end(&self, channel: ChannelId) -> NodeId {
        self.begin(channel.reverse())
    }

    pub(super) fn hop(&self, node: NodeId, destination: IpAddr) -> Hop {
        let Some(owner) = self.owner(destination) else {
            return Hop::Nowhere;
        };
        let (target, neighbour) = (self.begin(owner), self.end(owner));
        if target == node {
            return Hop::Here;
        }
        if neighbour == node {
            return Hop::Through(owner.reverse());
        }
        let Some(from) = self.router_number[node.index()] else {
            return Hop::Nowhere;
        };
        // A router is reached by the shortest way, a host through the link that has the address.
        let to = self.router_number[target.index()].or(self.router_number[neighbour.index()]);
        match to.and_then(|to| self.next[from as usize * self.routers + to as usize]) {
            Some(channel) => Hop::Through(channel),
            None => Hop::Nowhere,
        }
    }

    /// For each router, the channels from it to other routers, in the order of their numbers.
    fn router_neighbours(&self) -> Vec<Vec<(ChannelId, usize)>> {
        let mut neighbours = vec![Vec::new(); self.routers];
        for channel in (0..self.begins_at.len() as u32).map(ChannelId) {
            let number = |node: NodeId| self.router_number[node.index()];
            if let (Some(from), Some(to)) = (number(self.begin(channel)), number(self.end(channel)))
            {
                neighbours[from as usize].push((channel, to as usize));
            }
        }
        neighbours
    }

    /// Breadth first from `target` outwards: every link counts one. Of two ways of equal length,
    /// the one through the links that were named first to the builder.
    fn fill_towards(&mut self, target: usize, neighbours: &[Vec<(ChannelId, usize)>]) {
        let mut frontier = VecDeque::from([target]);
        while let Some(router) = frontier.pop_front() {
            for &(channel, farther) in &neighbours[router] {
                let next = &mut self.next[farther * self.routers + target];
                if farther != target && next.is_none() {
                    *next = Some(channel.reverse());
                    frontier.push_back(farther);
                }
            }
        }
    }
}
