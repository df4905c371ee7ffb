//! TCP listeners of the simulated world.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use trackbed_core::Seed;
use trackbed_net::NodeId;
use trackbed_tcp::Config;

use super::options;
use super::sockets::Listener;
use super::stream::SimulatedTcpStream;
use super::world::{self, World};
use crate::executor::{SocketKind, Waiter, note_pending};
use crate::host::not_an_address;
use crate::socket::{TcpListener, TcpOptions, TcpStream};

#[derive(Debug)]
pub(super) struct SimulatedTcpListener {
    run: u64,
    key: u32,
    local: SocketAddr,
}

impl SimulatedTcpListener {
    pub(super) fn bind(
        run: u64,
        node: NodeId,
        local: SocketAddr,
        options: &TcpOptions,
    ) -> io::Result<Self> {
        let (key, local) = world::reach(run, |world| world.tcp_listen(node, local, options))??;
        Ok(SimulatedTcpListener { run, key, local })
    }
}

impl TcpListener for SimulatedTcpListener {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn TcpStream>>> {
        let polled = world::reach(self.run, |world| {
            let listener = &mut world.listeners[self.key as usize];
            let Some(key) = listener.established.pop_front() else {
                listener.acceptor.wait(cx);
                return Poll::Pending;
            };
            let tcp = &world.tcp[key as usize];
            Poll::Ready(SimulatedTcpStream::new(self.run, key, tcp.local, tcp.remote))
        })?;
        note_pending(polled, "to accept from", SocketKind::Listener, self.key)
            .map(|stream| Ok(Box::new(stream) as Box<dyn TcpStream>))
    }
}

impl Drop for SimulatedTcpListener {
    fn drop(&mut self) {
        world::with(self.run, |world| world.tcp_unlisten(self.key));
    }
}

impl World {
    fn tcp_listen(
        &mut self,
        node: NodeId,
        local: SocketAddr,
        options: &TcpOptions,
    ) -> io::Result<(u32, SocketAddr)> {
        let host = &mut self.hosts[node.index()];
        if !host.owns(local.ip()) {
            return Err(not_an_address(&host.name, local.ip()));
        }
        let mtu = options::mtu(&self.network, local.ip());
        let config = Config { tick: self.tick, ..options::config(options, mtu)? };
        let multipath = options
            .multipath
            .as_ref()
            .map(|wanted| options::multipath(wanted, config.clone(), false, Seed::of_run(0, 0)));
        let multipath = multipath.transpose()?;
        let local = host.tcp_ports.choose(local, |_| true)?;
        let key = self.listeners.insert(Listener {
            node,
            local,
            config,
            multipath,
            backlog: options.backlog,
            established: VecDeque::new(),
            ignored: 0,
            acceptor: Waiter::default(),
        }) as u32;
        host.tcp_ports.bind(local, key);
        Ok((key, local))
    }

    fn tcp_unlisten(&mut self, key: u32) {
        let half_open = self.tcp_half_open(key);
        let listener = self.listeners.remove(key as usize);
        self.host(listener.node).tcp_ports.release(listener.local, key);
        for connection in half_open.into_iter().chain(listener.established) {
            self.tcp_reset(connection);
        }
    }
}
