//! Flows of datagrams: a socket in front of the link for each destination, and one in the machine's
//! network for each sender and destination. For published ports it is the other way round: the destination,
//! which is inside, has its socket in the machine's network, and the flows theirs in front of the link.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustc_hash::FxHashMap;
use rustix::event::epoll::EventFlags;
use rustix::net::{SocketType, bind, connect, getsockname};
use slab::Slab;
use trackbed_core::Time;
use trackbed_core::packet::{Ecn, UdpDatagram};

use super::addresses::tell_full;
use super::endpoint::{Endpoint, Inbox, Train};
use super::gate::{Door, Order};
use super::relay::Side;
use super::site::{Site, Source, reason};
use super::workshop::socket;

#[derive(Debug, Default)]
pub(super) struct Datagrams {
    destinations: Slab<Destination>,
    by_address: FxHashMap<SocketAddr, usize>,
    flows: Slab<Flow>,
    by_ends: FxHashMap<(SocketAddr, SocketAddr), usize>,
    inbox: Inbox,
}

/// Represents one address and port: outside, in front of the link; or inside, at a published port.
#[derive(Debug)]
struct Destination {
    endpoint: Endpoint,
    to: SocketAddr,
    flows: usize,
    /// The gate was told to close: no more datagrams will come.
    is_leaving: bool,
}

/// Represents one sender, on the destination's side of the link.
#[derive(Debug)]
struct Flow {
    endpoint: Endpoint,
    from: SocketAddr,
    to: SocketAddr,
    target: SocketAddr,
    /// For answers from inside, and which of the addresses of a published port they come from.
    door: Option<Door>,
    called: Option<IpAddr>,
    used: Time,
    name_server: Option<NameServer>,
}

#[derive(Clone, Copy, Debug)]
struct NameServer {
    address: SocketAddr,
    /// The time of the first unanswered query.
    asked: Option<Time>,
}

impl Datagrams {
    /// The command sends to `to`: its datagrams wait at the gate.
    pub(super) fn open(&mut self, site: &mut Site, to: SocketAddr) {
        let door = Door::Datagrams { to };
        if let Some(index) = self.by_address.get(&to) {
            self.destinations[*index].is_leaving = false;
            return site.order(Order::Open(door));
        }
        if self.destinations.len() >= site.room {
            tell_full(site.room);
            return site.order(Order::Close(door));
        }
        let made = site.workshop.socket(to, SocketType::DGRAM);
        match made.and_then(|socket| self.insert(site, socket, to)) {
            Ok(()) => site.order(Order::Open(door)),
            // A program in the outer namespace already has this address.
            Err(why) if why.kind() == io::ErrorKind::AddrInUse => site.order(Order::Open(door)),
            Err(_) => site.order(Order::Close(door)),
        }
    }

    /// Forwards what comes to the outer one of `ends` to the inner one, from now on.
    pub(super) fn publish(&mut self, site: &Site, ends: [SocketAddr; 2]) -> io::Result<()> {
        let [outside, to] = ends;
        let socket = socket(outside.ip(), SocketType::DGRAM, None)?;
        bind(&socket, &outside)?;
        self.insert(site, socket, to)
    }

    fn insert(&mut self, site: &Site, socket: OwnedFd, to: SocketAddr) -> io::Result<()> {
        let endpoint = Endpoint::new(socket)?;
        let entry = self.destinations.vacant_entry();
        site.watch(&endpoint, Source::Datagrams(entry.key(), Side::Near), EventFlags::IN)?;
        self.by_address.insert(to, entry.key());
        entry.insert(Destination { endpoint, to, flows: 0, is_leaving: false });
        Ok(())
    }

    /// A socket is ready: one batch is forwarded.
    pub(super) fn attend(&mut self, site: &mut Site, index: usize, side: Side) {
        let mut inbox = std::mem::take(&mut self.inbox);
        match side {
            Side::Near => drop(self.carry_out(site, index, &mut inbox)),
            Side::Far => self.carry_in(site, index, &mut inbox),
        }
        self.inbox = inbox;
    }

    /// The link is gone, and the command with it: datagrams that it has sent are forwarded.
    pub(super) fn leave(&mut self, site: &mut Site) {
        let mut inbox = std::mem::take(&mut self.inbox);
        let all: Vec<usize> = self.destinations.iter().map(|(index, _)| index).collect();
        for index in all {
            while self.carry_out(site, index, &mut inbox) {}
        }
        for index in 0..self.flows.capacity() {
            self.carry_in(site, index, &mut inbox);
        }
    }

    /// False if there was nothing.
    fn carry_out(&mut self, site: &mut Site, index: usize, inbox: &mut Inbox) -> bool {
        let Some(destination) = self.destinations.get(index) else { return false };
        let to = destination.to;
        if destination.endpoint.receive(inbox).is_err() {
            return false;
        }
        for train in inbox.trains() {
            match self.flow(site, train.from, to) {
                Ok(Some(index)) => {
                    let flow = &mut self.flows[index];
                    flow.called = flow.door.and(train.to);
                    flow.send(site, &train);
                }
                Ok(None) => {}
                Err(why) => refuse(site, train.from, to, &why),
            }
        }
        true
    }

    /// The flow between these two; `None` if there are too many.
    fn flow(
        &mut self,
        site: &mut Site,
        from: SocketAddr,
        to: SocketAddr,
    ) -> io::Result<Option<usize>> {
        if let Some(index) = self.by_ends.get(&(from, to)) {
            return Ok(Some(*index));
        }
        if self.flows.len() >= site.room {
            tell_full(site.room);
            return Ok(None);
        }
        let (target, server) = site.target(to);
        let name_server = server.map(|address| NameServer { address, asked: None });
        let socket = match site.is_published(to) {
            true => site.workshop.unbound(to.ip(), SocketType::DGRAM)?,
            false => socket(target.ip(), SocketType::DGRAM, None)?,
        };
        connect(&socket, &target)?;
        let own = SocketAddr::try_from(getsockname(&socket)?)?;
        let door = site.is_published(to).then_some(Door::Datagrams { to: own });
        let endpoint = Endpoint::new(socket)?;
        let entry = self.flows.vacant_entry();
        let index = entry.key();
        site.watch(&endpoint, Source::Datagrams(index, Side::Far), EventFlags::IN)?;
        let (called, used) = (None, site.now());
        entry.insert(Flow { endpoint, from, to, target, door, called, used, name_server });
        door.into_iter().for_each(|door| site.order(Order::Open(door)));
        self.by_ends.insert((from, to), index);
        self.destinations[self.by_address[&to]].flows += 1;
        Ok(Some(index))
    }

    fn carry_in(&mut self, site: &mut Site, index: usize, inbox: &mut Inbox) {
        let Some(flow) = self.flows.get_mut(index) else { return };
        flow.used = site.now();
        if let Err(why) = flow.endpoint.receive(inbox) {
            return flow.has_failed(site, &why);
        }
        if let Some(server) = &mut flow.name_server {
            server.asked = None;
        }
        let near = &self.destinations[self.by_address[&flow.to]].endpoint;
        for train in inbox.trains() {
            // Datagrams that the link's end does not take are lost.
            let _ = near.send((flow.called, flow.from), &train);
        }
    }

    /// Ends silent flows, and destinations without flows.
    pub(super) fn tick(&mut self, site: &mut Site) {
        let now = site.now();
        for (_, flow) in &mut self.flows {
            flow.notice_silence(site, now);
        }
        let (destinations, by_address, by_ends) =
            (&mut self.destinations, &mut self.by_address, &mut self.by_ends);
        self.flows.retain(|_, flow| {
            let is_used = now.since(flow.used) < flow.patience();
            if !is_used {
                by_ends.remove(&(flow.from, flow.to));
                destinations[by_address[&flow.to]].flows -= 1;
                flow.door.into_iter().for_each(|door| site.order(Order::Close(door)));
            }
            is_used
        });
        destinations.retain(|_, destination| {
            if destination.flows > 0 || site.is_published(destination.to) {
                return true;
            }
            // Datagrams that have already passed the gate still find the socket.
            if !std::mem::replace(&mut destination.is_leaving, true) {
                site.order(Order::Close(Door::Datagrams { to: destination.to }));
                return true;
            }
            by_address.remove(&destination.to);
            false
        });
    }
}

impl Flow {
    fn send(&mut self, site: &mut Site, train: &Train<'_>) {
        self.used = site.now();
        if let Some(server) = &mut self.name_server {
            server.asked = server.asked.or(Some(self.used));
        }
        if let Err(why) = self.endpoint.send((None, self.target), train) {
            self.has_failed(site, &why);
        }
    }

    fn has_failed(&mut self, site: &mut Site, why: &io::Error) {
        if why.kind() == io::ErrorKind::WouldBlock {
            return;
        }
        if let Some(server) = &self.name_server {
            site.names.has_failed(server.address);
        }
        refuse(site, self.from, self.to, why);
    }

    /// A resolver repeats a query after five seconds (resolv.conf(5)); by then another server is
    /// used.
    fn notice_silence(&mut self, site: &mut Site, now: Time) {
        let Some(server) = &mut self.name_server else { return };
        if server.asked.is_some_and(|asked| now.since(asked) > ANSWER_MAX) {
            server.asked = None;
            site.names.has_failed(server.address);
        }
    }

    fn patience(&self) -> Duration {
        if self.name_server.is_some() { PATIENCE_NAMES } else { PATIENCE }
    }
}

/// Reports to the sender that its datagram was lost; one outside is told nothing.
fn refuse(site: &mut Site, from: SocketAddr, to: SocketAddr, why: &io::Error) {
    if let Some(why) = reason(why).filter(|_| !site.is_published(to)) {
        // The datagram is no longer known; the addresses and ports suffice for the sender's kernel.
        let sent = UdpDatagram::emit(from, to, Ecn::NotCapable, b"");
        site.refuse(&sent, why);
    }
}

/// Timeout of a silent flow: RFC 4787 section 4.3 for address translators.
const PATIENCE: Duration = Duration::from_secs(120);
/// A query has only one answer.
const PATIENCE_NAMES: Duration = Duration::from_secs(10);
const ANSWER_MAX: Duration = Duration::from_secs(2);
