//! TCP connections: dialled before the command's SYN goes on, so that a refusal is a refusal, and
//! then relayed.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustc_hash::FxHashMap;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, acceptfrom_with, connect, getpeername, socket_with,
    sockopt,
};
use slab::Slab;
use trackbed_core::packet::Unreachable;
use trackbed_core::{Packet, Time};

use super::addresses::tell_full;
use super::gate::{Door, Order};
use super::relay::{Relay, Side, Turn};
use super::site::{Site, Source, reason};
use super::wire;

/// All connections of the command to the world.
#[derive(Debug, Default)]
pub(super) struct Connections {
    all: Slab<Connection>,
    by_flow: FxHashMap<Flow, usize>,
    listeners: Slab<Listener>,
    listening: FxHashMap<SocketAddr, usize>,
    /// Relays whose turn ended before their work.
    unfinished: Vec<usize>,
    scratch: Vec<u8>,
}

/// Where the command's end is, and what it wants to reach.
type Flow = (SocketAddr, SocketAddr);

#[derive(Debug)]
struct Connection {
    flow: Flow,
    stage: Stage,
    /// Ours to the world, until it is relayed. None if the world has reset it already.
    far: Option<OwnedFd>,
}

#[derive(Debug)]
enum Stage {
    /// The SYN waits for an answer from the world.
    Dialling { syn: Packet, name_server: Option<SocketAddr> },
    /// The SYN has gone on; the command's kernel and that of the outer namespace shake hands.
    Waiting { since: Time },
    /// Somebody in the outer namespace listens there himself.
    Local { since: Time },
    /// Both ends are connected.
    Relaying(Relay),
}

/// Takes connections to one destination, as long as one is expected.
#[derive(Debug)]
struct Listener {
    socket: OwnedFd,
    address: SocketAddr,
    expected: usize,
}

impl Connections {
    /// The command wants to reach `to`: its SYN waits at the gate.
    pub(super) fn dial(&mut self, site: &mut Site, from: SocketAddr, to: SocketAddr, syn: Packet) {
        let door = Door::Connection { from, to };
        let flow = (from, to);
        if self.all.len() >= site.room {
            tell_full();
            return site.order(Order::Close(door));
        }
        match self.expect(site, to) {
            Ok(()) => {}
            Err(why) if why.kind() == io::ErrorKind::AddrInUse => {
                self.insert(flow, None, Stage::Local { since: site.now() });
                return site.order(Order::Open(door));
            }
            Err(why) => return turn_away(site, flow, &syn, &why),
        }
        let (target, name_server) = site.target(to);
        let index = self.insert(flow, None, Stage::Dialling { syn, name_server });
        let called = call(target).and_then(|far| {
            site.watch(&far, Source::Connection(index, Side::Far), BOTH_WAYS)?;
            self.all[index].far = Some(far);
            Ok(())
        });
        if let Err(why) = called {
            self.give_up(site, index, &why);
        }
    }

    fn insert(&mut self, flow: Flow, far: Option<OwnedFd>, stage: Stage) -> usize {
        let index = self.all.insert(Connection { flow, stage, far });
        self.by_flow.insert(flow, index);
        index
    }

    /// Listens at `address`, once however many are expected there.
    fn expect(&mut self, site: &Site, address: SocketAddr) -> io::Result<()> {
        if let Some(index) = self.listening.get(&address) {
            self.listeners[*index].expected += 1;
            return Ok(());
        }
        let socket = site.workshop.socket(address, SocketType::STREAM)?;
        let index = self.listeners.insert(Listener { socket, address, expected: 1 });
        self.listening.insert(address, index);
        let listener = &self.listeners[index];
        // At the edge, so that one that cannot be accepted does not keep the thread awake.
        let at_edge = EventFlags::IN | EventFlags::ET;
        site.watch(&listener.socket, Source::Listener(index), at_edge)
            .inspect_err(|_| self.expect_no_more(address))
    }

    fn expect_no_more(&mut self, address: SocketAddr) {
        let Some(index) = self.listening.get(&address).copied() else { return };
        self.listeners[index].expected -= 1;
        if self.listeners[index].expected == 0 {
            self.listeners.remove(index);
            self.listening.remove(&address);
        }
    }

    /// The command's kernel has shaken hands with a listener.
    pub(super) fn accept(&mut self, site: &mut Site, index: usize) {
        loop {
            let Some(listener) = self.listeners.get(index) else { return };
            let to = listener.address;
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let (near, from) = match acceptfrom_with(&listener.socket, flags) {
                Ok((near, Some(from))) => (near, SocketAddr::try_from(from)),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                // Nobody is left, or there are no descriptors left; see `tick`.
                Err(_) => return,
                Ok((_, None)) => continue,
            };
            let expected = from.ok().and_then(|from| self.by_flow.get(&(from, to)).copied());
            match expected {
                Some(expected) => self.join(site, expected, near),
                // Given up as too late; it is reset when it is closed.
                None => reset(&near),
            }
        }
    }

    fn join(&mut self, site: &mut Site, index: usize, near: OwnedFd) {
        let connection = &mut self.all[index];
        let Stage::Waiting { .. } = connection.stage else { return };
        let Some(far) = connection.far.take() else {
            reset(&near);
            return drop(self.end(site, index));
        };
        // Small writes were small for a reason.
        let _ = sockopt::set_tcp_nodelay(&near, true);
        let watched = site.watch(&near, Source::Connection(index, Side::Near), BOTH_WAYS);
        connection.stage = Stage::Relaying(Relay::new(near, far));
        let to = connection.flow.1;
        self.expect_no_more(to);
        match watched {
            Ok(()) => self.turn(site, index),
            Err(_) => drop(self.end(site, index)),
        }
    }

    /// A socket of a connection has something.
    pub(super) fn attend(&mut self, site: &mut Site, index: usize, side: Side, flags: EventFlags) {
        let Some(connection) = self.all.get_mut(index) else { return };
        match &mut connection.stage {
            Stage::Dialling { .. } => self.dialled(site, index),
            Stage::Waiting { .. } | Stage::Local { .. } => {}
            Stage::Relaying(relay) => {
                if flags.contains(EventFlags::ERR) && relay.has_failed(side) {
                    self.end(site, index);
                } else {
                    self.turn(site, index);
                }
            }
        }
    }

    /// The world has answered, or it is known that it will not.
    fn dialled(&mut self, site: &mut Site, index: usize) {
        let connection = &mut self.all[index];
        let Some(far) = &connection.far else { return };
        match sockopt::socket_error(far).and_then(|result| result) {
            // An event about nothing: it is still on its way.
            Ok(()) if getpeername(far).is_err() => return,
            Ok(()) => {}
            Err(Errno::CONNRESET) => connection.far = None,
            Err(why) => return self.give_up(site, index, &why.into()),
        }
        let (from, to) = connection.flow;
        connection.stage = Stage::Waiting { since: site.now() };
        site.order(Order::Open(Door::Connection { from, to }));
    }

    /// The world does not take the connection.
    fn give_up(&mut self, site: &mut Site, index: usize, why: &io::Error) {
        let Connection { flow, stage, .. } = self.end(site, index);
        if let Stage::Dialling { syn, name_server } = stage {
            name_server.into_iter().for_each(|server| site.names.has_failed(server));
            turn_away(site, flow, &syn, why);
        }
    }

    fn turn(&mut self, site: &mut Site, index: usize) {
        self.scratch.resize(SCRATCH_BYTES, 0);
        let Some(Connection { stage: Stage::Relaying(relay), .. }) = self.all.get_mut(index) else {
            return;
        };
        match relay.turn(&mut self.scratch) {
            Turn::Wait => {}
            Turn::Again => self.unfinished.push(index),
            Turn::Over => drop(self.end(site, index)),
        }
    }

    /// Whether there is work that waits for nothing.
    pub(super) fn is_busy(&self) -> bool {
        !self.unfinished.is_empty()
    }

    /// Does some of the work that waits for nothing.
    pub(super) fn go_on(&mut self, site: &mut Site) {
        let mut unfinished = std::mem::take(&mut self.unfinished);
        unfinished.sort_unstable();
        unfinished.dedup();
        unfinished.into_iter().for_each(|index| self.turn(site, index));
    }

    fn accept_all(&mut self, site: &mut Site) {
        let listeners: Vec<usize> = self.listeners.iter().map(|(index, _)| index).collect();
        listeners.into_iter().for_each(|index| self.accept(site, index));
    }

    /// Looks for what was left undone, and gives up what nobody has come for.
    pub(super) fn tick(&mut self, site: &mut Site) {
        self.accept_all(site);
        let now = site.now();
        let late = self.all.iter().filter_map(|(index, connection)| match connection.stage {
            Stage::Waiting { since, .. } | Stage::Local { since } => {
                (now.since(since) > HANDSHAKE_MAX).then_some(index)
            }
            Stage::Dialling { .. } | Stage::Relaying(_) => None,
        });
        let late: Vec<usize> = late.collect();
        late.into_iter().for_each(|index| drop(self.end(site, index)));
    }

    /// The link is gone, and the command with it: what it has sent goes on, and what was for it is
    /// nobody's. Returns whether the world has taken all.
    pub(super) fn leave(&mut self, site: &mut Site) -> bool {
        self.accept_all(site);
        let mut is_done = true;
        for (_, connection) in &mut self.all {
            if let Stage::Relaying(relay) = &mut connection.stage {
                is_done &= relay.leave(&mut self.scratch);
            }
        }
        is_done
    }

    /// Forgets a connection. It closes when what is returned is dropped.
    fn end(&mut self, site: &mut Site, index: usize) -> Connection {
        let connection = self.all.remove(index);
        let (from, to) = connection.flow;
        self.by_flow.remove(&(from, to));
        if matches!(connection.stage, Stage::Dialling { .. } | Stage::Waiting { .. }) {
            self.expect_no_more(to);
        }
        site.order(Order::Close(Door::Connection { from, to }));
        connection
    }
}

/// Lets the other end hear of a RST when the socket closes.
fn reset(socket: &OwnedFd) {
    // A socket that is reset already does not care.
    let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

/// Tells the command why it cannot have the connection, as the network would.
fn turn_away(site: &mut Site, (from, to): Flow, syn: &Packet, why: &io::Error) {
    site.order(Order::Close(Door::Connection { from, to }));
    match reason(why) {
        Some(Unreachable::Port) => {
            let reset = wire::reset(syn, from, to);
            reset.into_iter().for_each(|reset| site.order(Order::Answer(reset)));
        }
        Some(why) => site.refuse(syn, why),
        None => {}
    }
}

/// Begins to connect, from the network that this thread is in.
fn call(target: SocketAddr) -> io::Result<OwnedFd> {
    let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &target) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(why) => Err(why.into()),
    }
}

/// Told once whenever something changes.
const BOTH_WAYS: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// Read at once: what a fast link brings while another thread has the processor.
const SCRATCH_BYTES: usize = 1 << 18;

/// The kernel repeats its part of a handshake for 63 seconds (`tcp_synack_retries` of tcp(7)).
const HANDSHAKE_MAX: Duration = Duration::from_secs(70);
