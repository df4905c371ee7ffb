//! TCP connections of the simulated world, below their handles.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll};

use trackbed_core::{Seed, Time};
use trackbed_net::NodeId;
use trackbed_tcp::multipath::{Key, MultipathConnection};
use trackbed_tcp::{Config, Connection, State, TcpError};

use super::flow::Flow;
use super::options;
use super::sockets::{Owner, Tcp};
use super::transport::Transport;
use super::world::World;
use crate::clock;
use crate::executor::Waiter;
use crate::host::{check_remote, no_common_version, not_an_address};
use crate::socket::TcpOptions;

/// Operations of the owner of a connection.
impl World {
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
        let local = local.filter(|l| l.is_ipv4() == remote.is_ipv4());
        let local = local.ok_or_else(|| no_common_version(&host.name, remote))?;
        check_remote(remote)?;
        let flows = &self.flows;
        let unused = |local| !flows.contains_key(&Flow::new(node, local, remote));
        let local = host.tcp_ports.choose(SocketAddr::new(local, 0), unused)?;
        let mtu = options::mtu(&self.network, local.ip());
        let config = Config { tick: self.tick, ..options::config(options, mtu)? };
        let isn = host.sequence_numbers.next_u64() as u32;
        let connection = match &options.multipath {
            None => {
                let connection = Connection::connect(clock::now(), &config, local, remote, isn);
                Transport::Single(Box::new(connection))
            }
            Some(wanted) => {
                let (own_key, seed) = self.draw_key(node);
                let config = options::multipath(wanted, config, true, seed)?;
                let (now, ends) = (clock::now(), (local, remote));
                let connection = MultipathConnection::connect(now, &config, ends, own_key, isn);
                Transport::Multi(Box::new(connection))
            }
        };
        let key = self.tcp_insert(node, (local, remote), connection, Owner::Stream);
        self.tcp_pump(key);
        Ok(key)
    }

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
            // Nothing was requested, or this is the peer's FIN.
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

    pub(super) fn tcp_act(&mut self, key: u32, action: impl FnOnce(&mut Transport, Time)) {
        action(&mut self.tcp[key as usize].connection, clock::now());
        self.tcp_pump(key);
    }

    /// The owner has dropped the connection: it closes in the background, or is reset if it did not
    /// read all that has arrived (RFC 9293 section 3.6.1, RFC 2525 section 2.17).
    pub(super) fn tcp_orphan(&mut self, key: u32) {
        let now = clock::now();
        let tcp = &mut self.tcp[key as usize];
        tcp.owner = Owner::Orphan;
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

impl World {
    /// Sends the connection's pending packets, sets its timer, and wakes the affected tasks.
    pub(super) fn tcp_pump(&mut self, key: u32) {
        let now = clock::now();
        self.tcp_join(now, key);
        let tcp = &mut self.tcp[key as usize];
        while let Some(packet) = tcp.connection.poll_transmit(now) {
            self.network.send(now, tcp.node, packet);
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
            Owner::Orphan | Owner::Listener(_) if closed => self.tcp_remove(key),
            // The stream keeps it to report the error, but the ports are free again.
            Owner::Stream if closed => self.tcp_release(key),
            Owner::Stream | Owner::Orphan | Owner::Listener(_) => {}
        }
    }

    pub(super) fn tcp_insert(
        &mut self,
        node: NodeId,
        (local, remote): (SocketAddr, SocketAddr),
        connection: Transport,
        owner: Owner,
    ) -> u32 {
        let entry = self.tcp.vacant_entry();
        let key = entry.key() as u32;
        let timer = self.tcp_timers.insert(node.index() as u32, key);
        let tcp = Tcp {
            token: connection.token(),
            connection,
            node,
            local,
            remote,
            timer,
            owner,
            joined: Vec::new(),
            reader: Waiter::default(),
            writer: Waiter::default(),
            read: 0,
            written: 0,
            orphaned_until: None,
        };
        self.flows.insert(tcp.flow(), key);
        if let Some(token) = tcp.token {
            self.tokens.insert((node, token), key);
        }
        entry.insert(tcp);
        key
    }

    pub(super) fn tcp_reset(&mut self, key: u32) {
        self.tcp[key as usize].owner = Owner::Orphan;
        self.tcp_act(key, |connection, now| connection.abort(now));
    }

    pub(super) fn tcp_remove(&mut self, key: u32) {
        self.tcp_release(key);
        let tcp = self.tcp.remove(key as usize);
        self.tcp_timers.remove(tcp.timer);
    }

    /// Gives the ports of a connection back, unless another one has them already.
    pub(super) fn tcp_release(&mut self, key: u32) {
        let tcp = &mut self.tcp[key as usize];
        let (node, token) = (tcp.node, tcp.token.take());
        let joined = std::mem::take(&mut tcp.joined);
        let joined = joined.into_iter().map(|(local, remote)| Flow::new(node, local, remote));
        for flow in [tcp.flow()].into_iter().chain(joined) {
            if self.flows.get(&flow) == Some(&key) {
                self.flows.remove(&flow);
            }
        }
        if let Some(token) = token {
            self.tokens.remove(&(node, token));
        }
    }

    /// A key for a connection on several paths, whose token is unlike those of the host's others
    /// (RFC 8684 section 3.1), and a seed for its scheduler.
    pub(super) fn draw_key(&mut self, node: NodeId) -> (Key, Seed) {
        let numbers = &mut self.hosts[node.index()].sequence_numbers;
        loop {
            let key = Key(numbers.next_u64());
            if !self.tokens.contains_key(&(node, key.token())) {
                return (key, Seed::of_run(key.0, 0));
            }
        }
    }

    fn tcp_join(&mut self, now: Time, key: u32) {
        while let Some(request) = self.tcp[key as usize].connection.poll_join() {
            let node = self.tcp[key as usize].node;
            let host = &mut self.hosts[node.index()];
            let flows = &self.flows;
            let unused = |local| !flows.contains_key(&Flow::new(node, local, request.remote));
            // An address that the host does not have, or without a free port, opens no subflow.
            let local = SocketAddr::new(request.local, 0);
            let chosen = host.owns(request.local).then(|| host.tcp_ports.choose(local, unused));
            let Some(Ok(local)) = chosen else { continue };
            let numbers = &mut host.sequence_numbers;
            let (isn, nonce) = (numbers.next_u64() as u32, numbers.next_u64() as u32);
            let tcp = &mut self.tcp[key as usize];
            if let Transport::Multi(connection) = &mut tcp.connection {
                let ends = connection.join(now, &request, local.port(), isn, nonce);
                tcp.joined.push(ends);
                self.flows.insert(Flow::new(node, ends.0, ends.1), key);
            }
        }
    }

    /// The connections that `listener` holds and has not established yet.
    pub(super) fn tcp_half_open(&self, listener: u32) -> Vec<u32> {
        let owner = Owner::Listener(listener);
        self.tcp.iter().filter(|(_, tcp)| tcp.owner == owner).map(|(key, _)| key as u32).collect()
    }
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
