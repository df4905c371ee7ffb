//! TCP connections of the simulated world, below their handles.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll};

use trackbed_core::packet::TooBig;
use trackbed_core::{Packet, Time};
use trackbed_net::NodeId;
use trackbed_tcp::{
    Config, Connection, Flags, QuotedSegment, Segment, State, TcpError, reset_reply,
};

use super::flow::Flow;
use super::options;
use super::udp::not_an_address;
use super::world::{World, send};
use crate::clock;
use crate::executor::Waiter;
use crate::socket::{TcpInfo, TcpOptions};

/// A connection and who waits for it.
#[derive(Debug)]
pub(super) struct Tcp {
    pub(super) connection: Connection,
    node: NodeId,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    timer: u32,
    owner: Owner,
    reader: Waiter,
    writer: Waiter,
    /// Bytes that the application has read.
    read: u64,
    /// Bytes that the application has written.
    written: u64,
    /// When a connection that nobody owns any more is given up if the peer does not close it too.
    orphaned_until: Option<Time>,
}

/// Who holds a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A stream, or the future that waits for the connection to be established.
    Stream,
    /// A listener: the connection is being established or waits to be accepted.
    Listener(u32),
    /// Nobody: it closes in the background.
    Nobody,
}

/// What the owner of a connection does with it.
impl World {
    /// Starts a connection attempt.
    pub(super) fn tcp_connect(
        &mut self,
        node: NodeId,
        local: Option<IpAddr>,
        remote: SocketAddr,
        options: &TcpOptions,
    ) -> io::Result<u32> {
        let host = &mut self.hosts[node.index()];
        let local = match local {
            Some(local) if !host.owns(local) => return Err(not_an_address(&host.name, local)),
            Some(local) if !local.is_unspecified() => Some(local),
            _ => host.source_for(remote.ip()),
        };
        let local = local.filter(|l| l.is_ipv4() == remote.is_ipv4()).ok_or_else(|| {
            invalid(format!("{} has no address of the family of {remote}", host.name))
        })?;
        if remote.port() == 0 || remote.ip().is_unspecified() || remote.ip().is_multicast() {
            return Err(invalid(format!("{remote} is no address to connect to")));
        }
        let flows = &self.flows;
        let unused = |local| !flows.contains_key(&Flow::new(node, local, remote));
        let local = host.tcp_ports.choose(SocketAddr::new(local, 0), unused)?;
        let config = options::config(options, options::mtu(&self.network, local.ip()))?;
        let isn = host.sequence_numbers.next_u64() as u32;
        let connection = Connection::connect(clock::now(), &config, local, remote, isn);
        let key = self.tcp_insert(node, (local, remote), connection, Owner::Stream);
        self.tcp_pump(key);
        Ok(key)
    }

    /// Resolves once the attempt has succeeded or failed.
    pub(super) fn tcp_poll_connected(
        &mut self,
        key: u32,
        cx: &Context<'_>,
    ) -> Poll<io::Result<()>> {
        let tcp = &mut self.tcp[key as usize];
        if let Some(error) = tcp.connection.error() {
            return Poll::Ready(Err(io_error(error, tcp.remote)));
        }
        if tcp.connection.is_established() {
            return Poll::Ready(Ok(()));
        }
        tcp.writer.wait(cx);
        Poll::Pending
    }

    pub(super) fn tcp_poll_read(
        &mut self,
        key: u32,
        cx: &Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let now = clock::now();
        let tcp = &mut self.tcp[key as usize];
        let mut filled = 0;
        let end = loop {
            if filled == buffer.len() {
                break None;
            }
            match tcp.connection.read(now, buffer.len() - filled) {
                Ok(Some(data)) if !data.is_empty() => {
                    buffer[filled..filled + data.len()].copy_from_slice(&data);
                    filled += data.len();
                }
                end => break Some(end),
            }
        };
        if filled > 0 {
            tcp.read += filled as u64;
            // Reading may have opened the window.
            self.tcp_pump(key);
            return Poll::Ready(Ok(filled));
        }
        match end {
            // Nothing was asked for, or this is the peer's FIN.
            None | Some(Ok(Some(_))) => Poll::Ready(Ok(0)),
            Some(Ok(None)) => {
                tcp.reader.wait(cx);
                Poll::Pending
            }
            Some(Err(error)) => Poll::Ready(Err(io_error(error, tcp.remote))),
        }
    }

    pub(super) fn tcp_poll_write(
        &mut self,
        key: u32,
        cx: &Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let tcp = &mut self.tcp[key as usize];
        match tcp.connection.write(clock::now(), data) {
            Ok(0) if !data.is_empty() => {
                tcp.writer.wait(cx);
                Poll::Pending
            }
            Ok(taken) => {
                tcp.written += taken as u64;
                self.tcp_pump(key);
                Poll::Ready(Ok(taken))
            }
            Err(error) => Poll::Ready(Err(io_error(error, tcp.remote))),
        }
    }

    /// Calls `action` on the connection and sends what follows from it.
    pub(super) fn tcp_act(&mut self, key: u32, action: impl FnOnce(&mut Connection, Time)) {
        action(&mut self.tcp[key as usize].connection, clock::now());
        self.tcp_pump(key);
    }

    /// The owner has dropped the connection: it closes in the background, or is reset if the
    /// application did not read all that has arrived (RFC 9293 section 3.6.1, RFC 2525 section
    /// 2.17).
    pub(super) fn tcp_orphan(&mut self, key: u32) {
        let now = clock::now();
        let tcp = &mut self.tcp[key as usize];
        tcp.owner = Owner::Nobody;
        if tcp.connection.state() == State::SynSent {
            return self.tcp_remove(key);
        }
        if tcp.has_unread(now) {
            tcp.connection.abort(now);
        } else {
            tcp.connection.close(now);
            tcp.orphaned_until = Some(now + options::ORPHAN_LIFETIME);
        }
        self.tcp_pump(key);
    }
}

/// What the network does to connections.
impl World {
    pub(super) fn deliver_tcp(&mut self, node: NodeId, packet: &Packet) {
        let Ok(segment) = Segment::parse(packet) else { return };
        let flow = Flow::new(node, segment.destination, segment.source);
        match self.flows.get(&flow) {
            Some(&key) if self.gives_way(key, &segment) => {
                match self.tcp[key as usize].owner {
                    Owner::Nobody => self.tcp_remove(key),
                    Owner::Stream | Owner::Listener(_) => self.tcp_release(key),
                }
                self.deliver_unexpected(node, &segment);
            }
            Some(&key) => {
                let now = clock::now();
                let tcp = &mut self.tcp[key as usize];
                tcp.connection.handle_segment(now, segment);
                if tcp.owner == Owner::Nobody && tcp.has_unread(now) {
                    // Data that nobody will ever read (RFC 9293 section 3.6.1).
                    tcp.connection.abort(now);
                }
                self.tcp_pump(key);
            }
            None => self.deliver_unexpected(node, &segment),
        }
    }

    pub(super) fn deliver_too_big(&mut self, node: NodeId, message: &TooBig) {
        let Some(quoted) = QuotedSegment::parse(message) else { return };
        let flow = Flow::new(node, quoted.source, quoted.destination);
        if let Some(&key) = self.flows.get(&flow) {
            self.tcp_act(key, |connection, now| {
                connection.handle_too_big(now, message.mtu, quoted.sequence);
            });
        }
    }

    pub(super) fn tcp_timeout(&mut self, now: Time, key: u32) {
        let tcp = &mut self.tcp[key as usize];
        if tcp.orphaned_until.is_some_and(|until| until <= now) {
            if tcp.connection.state() == State::FinWait2 {
                return self.tcp_remove(key);
            }
            tcp.orphaned_until = Some(now + options::ORPHAN_LIFETIME);
        }
        if tcp.connection.poll_timeout().is_some_and(|at| at <= now) {
            tcp.connection.handle_timeout(now);
        }
        self.tcp_pump(key);
    }

    /// Whether a connection in TIME-WAIT ends early because the peer uses its port again (RFC 9293
    /// section 3.10.7.4, MAY-2; RFC 6191). An old SYN that comes so late opens nothing: the peer
    /// answers the SYN-ACK with a reset.
    fn gives_way(&self, key: u32, segment: &Segment) -> bool {
        self.tcp[key as usize].connection.state() == State::TimeWait && opens(segment)
    }

    /// A segment for no connection: it opens one, or is answered with a reset.
    fn deliver_unexpected(&mut self, node: NodeId, segment: &Segment) {
        let listener = self.hosts[node.index()].tcp_ports.lookup(segment.destination);
        let opens = segment.has(Flags::SYN) && !segment.has(Flags::ACK) && !segment.has(Flags::RST);
        match listener {
            Some(listener) if opens => self.tcp_accept(node, listener, segment),
            _ => {
                if let Some(reset) = reset_reply(segment) {
                    send(&mut self.network, &mut self.egress, node, reset, None);
                }
            }
        }
    }

    fn tcp_accept(&mut self, node: NodeId, listener: u32, syn: &Segment) {
        let Some(config) = self.listeners[listener as usize].config_for_syn() else { return };
        let mtu = options::mtu(&self.network, syn.destination.ip());
        let config = Config { mtu, ..config };
        let isn = self.host(node).sequence_numbers.next_u64() as u32;
        let connection = Connection::accept(clock::now(), &config, syn, isn);
        let ends = (syn.destination, syn.source);
        let key = self.tcp_insert(node, ends, connection, Owner::Listener(listener));
        self.tcp_pump(key);
    }
}

/// What both have in common.
impl World {
    /// Sends what the connection has to send, sets its timer, and wakes whom its state concerns.
    fn tcp_pump(&mut self, key: u32) {
        let now = clock::now();
        let tcp = &mut self.tcp[key as usize];
        while let Some(packet) = tcp.connection.poll_transmit(now) {
            send(&mut self.network, &mut self.egress, tcp.node, packet, None);
        }
        self.tcp_timers.set(tcp.timer, tcp.deadline());
        let closed = tcp.connection.is_closed();
        if tcp.reader.is_waiting() && (closed || tcp.connection.is_readable()) {
            tcp.reader.wake();
        }
        if tcp.writer.is_waiting() && (closed || tcp.connection.is_writable()) {
            tcp.writer.wake();
        }
        match tcp.owner {
            Owner::Listener(listener) if tcp.connection.is_established() => {
                tcp.owner = Owner::Stream;
                self.listeners[listener as usize].push_established(key);
            }
            Owner::Nobody | Owner::Listener(_) if closed => self.tcp_remove(key),
            // The stream keeps it to report what happened, but the ports are free again.
            Owner::Stream if closed => self.tcp_release(key),
            Owner::Stream | Owner::Nobody | Owner::Listener(_) => {}
        }
    }

    fn tcp_insert(
        &mut self,
        node: NodeId,
        (local, remote): (SocketAddr, SocketAddr),
        connection: Connection,
        owner: Owner,
    ) -> u32 {
        let entry = self.tcp.vacant_entry();
        let key = entry.key() as u32;
        let timer = self.tcp_timers.insert(node.index() as u32, key);
        let tcp = Tcp {
            connection,
            node,
            local,
            remote,
            timer,
            owner,
            reader: Waiter::default(),
            writer: Waiter::default(),
            read: 0,
            written: 0,
            orphaned_until: None,
        };
        self.flows.insert(tcp.flow(), key);
        entry.insert(tcp);
        key
    }

    /// Resets a connection that nobody will own.
    pub(super) fn tcp_reset(&mut self, key: u32) {
        self.tcp[key as usize].owner = Owner::Nobody;
        self.tcp_act(key, |connection, now| connection.abort(now));
    }

    fn tcp_remove(&mut self, key: u32) {
        self.tcp_release(key);
        let tcp = self.tcp.remove(key as usize);
        self.tcp_timers.remove(tcp.timer);
    }

    /// Gives the ports of a connection back, unless another one has them already.
    fn tcp_release(&mut self, key: u32) {
        let flow = self.tcp[key as usize].flow();
        if self.flows.get(&flow) == Some(&key) {
            self.flows.remove(&flow);
        }
    }

    /// The connections that `listener` holds and has not established yet.
    pub(super) fn tcp_half_open(&self, listener: u32) -> Vec<u32> {
        let owner = Owner::Listener(listener);
        self.tcp.iter().filter(|(_, tcp)| tcp.owner == owner).map(|(key, _)| key as u32).collect()
    }
}

impl Tcp {
    pub(super) fn info(&self) -> TcpInfo {
        options::info(&self.connection.stats())
    }

    fn flow(&self) -> Flow {
        Flow::new(self.node, self.local, self.remote)
    }

    /// Whether data has arrived that was not read. Takes a byte of it away if so.
    fn has_unread(&mut self, now: Time) -> bool {
        matches!(self.connection.read(now, 1), Ok(Some(data)) if !data.is_empty())
    }

    fn deadline(&self) -> Option<Time> {
        [self.connection.poll_timeout(), self.orphaned_until].into_iter().flatten().min()
    }
}

/// For the diagnosis of a stall.
impl fmt::Display for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = self.connection.stats();
        write!(
            f,
            "TCP {} > {}, {:?}, {} B to be sent first, {} B not acknowledged, {} B received and \
             not read",
            self.local,
            self.remote,
            self.connection.state(),
            self.written.saturating_sub(stats.bytes_sent),
            stats.bytes_sent.saturating_sub(stats.bytes_acknowledged),
            stats.bytes_received.saturating_sub(self.read),
        )
    }
}

/// Whether a segment asks for a new connection.
fn opens(segment: &Segment) -> bool {
    segment.has(Flags::SYN) && !segment.has(Flags::ACK) && !segment.has(Flags::RST)
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn io_error(error: TcpError, remote: SocketAddr) -> io::Error {
    let kind = match error {
        TcpError::Refused => io::ErrorKind::ConnectionRefused,
        TcpError::Reset => io::ErrorKind::ConnectionReset,
        TcpError::TimedOut => io::ErrorKind::TimedOut,
        TcpError::Aborted => io::ErrorKind::ConnectionAborted,
        TcpError::WriteAfterClose => io::ErrorKind::BrokenPipe,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("{remote}: {error}"))
}
