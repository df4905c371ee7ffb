//! The way of packets over links, media and nodes.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use trackbed_core::packet::{TooBig, protocol};
use trackbed_core::{Packet, Time};

use super::air::Landing;
use super::channel::{Arrival, Far};
use super::ids::{ChannelId, MediumId, NodeId, Waker};
use super::routes::Hop;
use super::{Delivery, Network, NodeKind, Point, Tap};
use crate::link::{DropReason, Link, Outlet};
use crate::medium::{Medium, MediumOutlet, Way};

impl Network {
    /// Calls a link and puts its next wake into the heap if it has changed.
    pub(super) fn with_link<T>(
        &mut self,
        id: ChannelId,
        call: impl FnOnce(&mut dyn Link, &mut Far<'_>) -> T,
    ) -> T {
        let channel = &mut self.channels[id.index()];
        let mut far = Far {
            channel: id,
            counters: &mut channel.counters,
            load: channel.load.as_deref_mut(),
            tap: self.tap.as_deref_mut().map(|tap| tap as &mut dyn Tap),
            arrivals: &mut self.arrivals,
        };
        let result = call(&mut *channel.link, &mut far);
        let wake = channel.link.next_wake();
        if channel.armed != wake {
            channel.armed = wake;
            self.wakes.extend(wake.map(|at| Reverse((at, Waker::Channel(id)))));
        }
        self.clear_wakes();
        result
    }

    /// Calls a medium, and passes what leaves it to the links behind it.
    pub(super) fn with_medium<T>(
        &mut self,
        id: MediumId,
        call: impl FnOnce(&mut dyn Medium, &mut dyn MediumOutlet) -> T,
    ) -> T {
        let air = &mut self.airs[id.index()];
        let tap = self.tap.as_deref_mut().map(|tap| tap as &mut dyn Tap);
        let (stations, channels) = (&air.stations[..], &mut self.channels[..]);
        let mut landing = Landing { stations, channels, tap, landed: Vec::new() };
        let result = call(&mut *air.medium, &mut landing);
        let landed = landing.landed;
        let wake = air.medium.next_wake();
        if air.armed != wake {
            air.armed = wake;
            self.wakes.extend(wake.map(|at| Reverse((at, Waker::Medium(id)))));
        }
        self.clear_wakes();
        for (at, channel, packet) in landed {
            self.with_link(channel, |link, far| link.push(at, packet, far));
        }
        result
    }

    /// The medium that a channel begins on, and the way on it.
    pub(super) fn on_medium(&self, channel: ChannelId) -> Option<(MediumId, Way)> {
        let (medium, station) = self.channels[channel.index()].medium?;
        Some((medium, Way { station, direction: channel.direction() }))
    }

    /// Removes wakes from the top of the heap that no longer hold.
    fn clear_wakes(&mut self) {
        while let Some(&Reverse((at, waker))) = self.wakes.peek() {
            let armed = match waker {
                Waker::Channel(id) => self.channels[id.index()].armed,
                Waker::Medium(id) => self.airs[id.index()].armed,
            };
            if armed == Some(at) {
                break;
            }
            self.wakes.pop();
        }
    }

    /// Passes the packets that have left a channel to the node at its end, until none is left.
    pub(super) fn settle(&mut self) {
        while let Some(Arrival { at, channel, packet }) = self.arrivals.pop_front() {
            self.forward(at, self.routes.end(channel), packet);
        }
    }

    pub(super) fn forward(&mut self, at: Time, node: NodeId, packet: Packet) {
        let kind = self.nodes[node.index()].kind;
        if kind == NodeKind::Edge {
            self.deliveries.push_back(Delivery { at, node, packet });
            return;
        }
        match self.routes.hop(node, packet.destination()) {
            Hop::Here => self.reach(at, node, packet),
            Hop::Through(channel) if kind == NodeKind::Router => {
                self.transmit(at, channel, packet);
            }
            Hop::Through(_) | Hop::Nowhere => self.discard(at, node, &packet),
        }
    }

    pub(super) fn transmit(&mut self, at: Time, id: ChannelId, packet: Packet) {
        let mtu = self.channels[id.index()].mtu;
        let fits = packet.len() <= mtu as usize || packet.longest_segment() <= mtu as usize;
        let refused = (!fits).then(|| packet.clone());
        let shared = self.on_medium(id).filter(|_| fits);
        let waits = self.with_link(id, |link, far| {
            far.note(at, Point::Entered, &packet);
            match (fits, shared) {
                (true, None) => link.push(at, packet, far),
                (true, Some(shared)) => return Some((shared, packet)),
                (false, _) => far.drop(at, packet, DropReason::TooBig),
            }
            None
        });
        if let Some(((medium, way), packet)) = waits {
            self.with_medium(medium, |medium, out| medium.push(at, way, packet, out));
        }
        if let Some(packet) = refused {
            self.refuse(at, id, &packet, mtu);
        }
    }

    /// Answers a packet that exceeds the MTU of `channel` (RFC 1191 section 4, RFC 4443
    /// section 3.2), but no ICMP message (RFC 1122 section 3.2.2).
    fn refuse(&mut self, at: Time, channel: ChannelId, packet: &Packet, mtu: u32) {
        if matches!(packet.protocol(), protocol::ICMP | protocol::ICMPV6) {
            return;
        }
        let node = self.routes.begin(channel);
        if self.nodes[node.index()].kind == NodeKind::Router {
            let reply = TooBig::emit(self.router_address(node, packet.source()), packet, mtu);
            self.forward(at, node, reply);
        } else {
            let reply = TooBig::emit(packet.source(), packet, mtu);
            self.deliveries.push_back(Delivery { at, node, packet: reply });
        }
    }

    /// The source address of a router for `peer`: one of its addresses of the same IP version if it
    /// has any, else one from the range for benchmarks (RFC 2544, RFC 5180), by the router's
    /// number.
    fn router_address(&self, router: NodeId, peer: IpAddr) -> IpAddr {
        let interfaces = self.nodes[router.index()].interfaces.iter();
        let mut own = interfaces.flat_map(|interface| self.addresses(*interface));
        if let Some(address) = own.find(|address| address.is_ipv4() == peer.is_ipv4()) {
            return *address;
        }
        match peer {
            IpAddr::V4(_) => {
                let first = u32::from(Ipv4Addr::new(198, 18, 0, 0));
                Ipv4Addr::from(first | (router.0 & 0x1_ffff)).into()
            }
            IpAddr::V6(_) => {
                let first = u128::from(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0));
                Ipv6Addr::from(first | u128::from(router.0)).into()
            }
        }
    }

    pub(super) fn discard(&mut self, at: Time, node: NodeId, packet: &Packet) {
        self.unroutable.add(packet);
        if let Some(tap) = &mut self.tap {
            tap.unroutable(at, node, packet);
        }
    }
}
