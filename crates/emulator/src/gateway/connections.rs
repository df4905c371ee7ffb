//! TCP connections: dialled before the command's SYN is forwarded, so that a refusal reaches the
//! command, and then relayed. Those to published ports are accepted first, and then dialled inside.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustc_hash::FxHashMap;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{SocketFlags, SocketType, acceptfrom_with, connect, getpeername, sockopt};
use slab::Slab;
use trackbed_core::packet::Unreachable;
use trackbed_core::{Packet, Time};

use super::addresses::tell_full;
use super::gate::{Door, Order};
use super::relay::{Relay, Side, Turn};
use super::site::{Site, Source, reason};
use super::wire;
use super::workshop::{listening, socket};

#[derive(Debug, Default)]
pub(super) struct Connections {
    all: Slab<Connection>,
    by_flow: FxHashMap<Flow, usize>,
    listeners: Slab<Listener>,
    listening: FxHashMap<SocketAddr, usize>,
    published: Vec<Listener>,
    /// Relays whose turn ended before their work did.
    unfinished: Vec<usize>,
    scratch: Vec<u8>,
}

/// The end that has begun, and its destination.
type Flow = (SocketAddr, SocketAddr);

#[derive(Debug)]
struct Connection {
    flow: Flow,
    stage: Stage,
    /// Our connection to the outside, until it is relayed. None if the outside has already reset
    /// it.
    far: Option<OwnedFd>,
}

#[derive(Debug)]
enum Stage {
    /// The SYN waits for the outside to answer.
    Dialling { syn: Packet, name_server: Option<SocketAddr> },
    /// The SYN was forwarded; the command's kernel and that of the outer namespace shake hands.
    Waiting { since: Time },
    /// A program in the outer namespace listens there.
    Local { since: Time },
    /// The connection comes from outside, and the inside has not answered yet.
    Entering { near: OwnedFd },
    /// Both ends are connected.
    Relaying(Relay),
}

/// Accepts connections to one destination, as long as one is expected; or always, to a published port.
#[derive(Debug)]
struct Listener {
    socket: OwnedFd,
    address: SocketAddr,
    expected: usize,
}

impl Connections {
    /// Listens at the outer one of `ends`; the server is at the inner one.
    pub(super) fn publish(&mut self, site: &Site, ends: [SocketAddr; 2]) -> io::Result<()> {
        let [outside, address] = ends;
        let socket = listening(socket(outside.ip(), SocketType::STREAM, None)?, outside)?;
        let at_edge = EventFlags::IN | EventFlags::ET;
        site.watch(&socket, Source::Published(self.published.len()), at_edge)?;
        self.published.push(Listener { socket, address, expected: 1 });
        Ok(())
    }

    /// Programs outside have connected to a published port.
    pub(super) fn enter(&mut self, site: &mut Site, number: usize) {
        while self.all.len() < site.room {
            let Listener { socket, address: inside, .. } = &self.published[number];
            let (inside, Some((far, from))) = (*inside, next(socket)) else { return };
            let near_side = Source::Connection(self.all.vacant_key(), Side::Near);
            let near = site.workshop.unbound(inside.ip(), SocketType::STREAM);
            match near.and_then(|near| call(near, inside)) {
                Ok(near) if site.watch(&near, near_side, BOTH_WAYS).is_ok() => {
                    self.insert((from, inside), Some(far), Stage::Entering { near });
                }
                // No descriptor is left.
                _ => reset(&far),
            }
        }
    }

    /// The server inside has answered, or it has failed, which the relay passes on.
    fn entered(&mut self, site: &mut Site, index: usize, flags: EventFlags) {
        let connection = &mut self.all[index];
        let Stage::Entering { near } = &connection.stage else { return };
        if !flags.contains(EventFlags::ERR) && getpeername(near).is_err() {
            return;
        }
        let stage = std::mem::replace(&mut connection.stage, Stage::Local { since: site.now() });
        if let (Stage::Entering { near }, Some(far)) = (stage, connection.far.take()) {
            self.relay(site, index, [near, far], Side::Far);
        }
    }

    /// The command connects to `to`: its SYN waits at the gate.
    pub(super) fn dial(&mut self, site: &mut Site, from: SocketAddr, to: SocketAddr, syn: Packet) {
        let door = Door::Connection { from, to };
        let flow = (from, to);
        if self.all.len() >= site.room {
            tell_full(site.room);
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
        let far = socket(target.ip(), SocketType::STREAM, None);
        let called = far.and_then(|far| call(far, target)).and_then(|far| {
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

    fn expect(&mut self, site: &Site, address: SocketAddr) -> io::Result<()> {
        if let Some(index) = self.listening.get(&address) {
            self.listeners[*index].expected += 1;
            return Ok(());
        }
        let socket = site.workshop.socket(address, SocketType::STREAM)?;
        let index = self.listeners.insert(Listener { socket, address, expected: 1 });
        self.listening.insert(address, index);
        let listener = &self.listeners[index];
        // Edge-triggered, so that a connection that cannot be accepted does not keep the thread
        // awake.
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

    /// The command's kernel has completed a handshake with a listener.
    pub(super) fn accept(&mut self, site: &mut Site, index: usize) {
        loop {
            let Some(listener) = self.listeners.get(index) else { return };
            let to = listener.address;
            let Some((near, from)) = next(&listener.socket) else { return };
            match self.by_flow.get(&(from, to)).copied() {
                Some(expected) => self.join(site, expected, near),
                // It was given up as too late, and is reset when closed.
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
        let to = connection.flow.1;
        self.expect_no_more(to);
        self.relay(site, index, [near, far], Side::Near);
    }

    /// Relays a connection whose sockets are connected; that of `fresh` is not watched yet.
    fn relay(&mut self, site: &mut Site, index: usize, sockets: [OwnedFd; 2], fresh: Side) {
        let [near, far] = sockets;
        let socket = if fresh == Side::Near { &near } else { &far };
        // Small writes should stay small.
        let _ = sockopt::set_tcp_nodelay(socket, true);
        let watched = site.watch(socket, Source::Connection(index, fresh), BOTH_WAYS);
        self.all[index].stage = Stage::Relaying(Relay::new(near, far));
        match watched {
            Ok(()) => self.turn(site, index),
            Err(_) => drop(self.end(site, index)),
        }
    }

    pub(super) fn attend(&mut self, site: &mut Site, index: usize, side: Side, flags: EventFlags) {
        let Some(connection) = self.all.get_mut(index) else { return };
        match &mut connection.stage {
            Stage::Dialling { .. } => self.dialled(site, index),
            Stage::Entering { .. } => self.entered(site, index, flags),
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

    /// The outside has answered, or the attempt has failed.
    fn dialled(&mut self, site: &mut Site, index: usize) {
        let connection = &mut self.all[index];
        let Some(far) = &connection.far else { return };
        match sockopt::socket_error(far).and_then(|result| result) {
            // A spurious event: still in progress.
            Ok(()) if getpeername(far).is_err() => return,
            Ok(()) => {}
            Err(Errno::CONNRESET) => connection.far = None,
            Err(why) => return self.give_up(site, index, &why.into()),
        }
        let (from, to) = connection.flow;
        connection.stage = Stage::Waiting { since: site.now() };
        site.order(Order::Open(Door::Connection { from, to }));
    }

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

    pub(super) fn is_busy(&self) -> bool {
        !self.unfinished.is_empty()
    }

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

    /// Finds unfinished work, and gives up connections that were not completed.
    pub(super) fn tick(&mut self, site: &mut Site) {
        self.accept_all(site);
        (0..self.published.len()).for_each(|number| self.enter(site, number));
        let now = site.now();
        let late = self.all.iter().filter_map(|(index, connection)| match connection.stage {
            Stage::Waiting { since, .. } | Stage::Local { since } => {
                (now.since(since) > HANDSHAKE_MAX).then_some(index)
            }
            Stage::Dialling { .. } | Stage::Entering { .. } | Stage::Relaying(_) => None,
        });
        let late: Vec<usize> = late.collect();
        late.into_iter().for_each(|index| drop(self.end(site, index)));
    }

    /// The link is gone, and the command with it: data that it has sent is forwarded, data for it
    /// is dropped. Returns whether the outside has received everything.
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

    /// Forgets a connection. It closes when the returned value is dropped.
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

/// Sends a RST to the peer when the socket closes.
fn reset(socket: &OwnedFd) {
    // A socket that is already reset needs nothing.
    let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

/// Reports to the command why the connection failed, as the network would.
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

/// The next connection at a listener; `None` if there is none, or no descriptor for it; see `tick`.
fn next(listener: &OwnedFd) -> Option<(OwnedFd, SocketAddr)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    loop {
        match acceptfrom_with(listener, flags) {
            Ok((socket, from)) => match from.map(SocketAddr::try_from) {
                Some(Ok(from)) => return Some((socket, from)),
                _ => continue,
            },
            Err(Errno::INTR | Errno::CONNABORTED) => continue,
            Err(_) => return None,
        }
    }
}

/// Starts to connect.
fn call(socket: OwnedFd, target: SocketAddr) -> io::Result<OwnedFd> {
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &target) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(why) => Err(why.into()),
    }
}

/// Edge-triggered.
const BOTH_WAYS: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// Bytes read at once: what a fast link delivers while another thread has the processor.
const SCRATCH_BYTES: usize = 1 << 18;

/// The kernel repeats its part of a handshake for 63 seconds (`tcp_synack_retries` of tcp(7)).
const HANDSHAKE_MAX: Duration = Duration::from_secs(70);
