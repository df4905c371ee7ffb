//! TCP streams of the simulated world: the handles.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use trackbed_net::NodeId;
use trackbed_tcp::State;

use super::world::{self, World};
use crate::executor::{SocketKind, note_pending};
use crate::socket::{PathWish, TcpInfo, TcpOptions, TcpPath, TcpStream};

#[derive(Debug)]
pub(super) struct SimulatedTcpStream {
    run: u64,
    key: u32,
    local: SocketAddr,
    remote: SocketAddr,
}

impl SimulatedTcpStream {
    pub(super) fn new(run: u64, key: u32, local: SocketAddr, remote: SocketAddr) -> Self {
        SimulatedTcpStream { run, key, local, remote }
    }

    pub(super) async fn connect(
        run: u64,
        node: NodeId,
        local: Option<IpAddr>,
        remote: SocketAddr,
        options: TcpOptions,
    ) -> io::Result<Self> {
        let (key, local) = world::reach(run, |world| {
            let key = world.tcp_connect(node, local, remote, &options)?;
            Ok::<_, io::Error>((key, world.tcp[key as usize].local))
        })??;
        // From here on, dropping the stream cancels the attempt.
        let stream = SimulatedTcpStream::new(run, key, local, remote);
        poll_fn(|cx| {
            stream.poll("to connect by", cx, |world, cx| world.tcp_poll_connected(key, cx))
        })
        .await?;
        Ok(stream)
    }

    fn poll<T>(
        &self,
        what: &'static str,
        cx: &mut Context<'_>,
        action: impl FnOnce(&mut World, &Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let polled = world::reach(self.run, |world| action(world, cx))?;
        note_pending(polled, what, SocketKind::Tcp, self.key)
    }
}

impl AsyncRead for SimulatedTcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll("to read from", cx, |world, cx| world.tcp_poll_read(self.key, cx, buffer))
    }
}

impl AsyncWrite for SimulatedTcpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll("to write to", cx, |world, cx| world.tcp_poll_write(self.key, cx, data))
    }

    /// Written data is sent as soon as the protocol allows; nothing is buffered here.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// As `shutdown(SHUT_WR)`: does not wait for the FIN to be acknowledged.
    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(world::reach(self.run, |world| {
            world.tcp_act(self.key, |connection, now| connection.close(now));
        }))
    }
}

impl TcpStream for SimulatedTcpStream {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn peer_addr(&self) -> SocketAddr {
        self.remote
    }

    fn info(&self) -> TcpInfo {
        world::with(self.run, |world| world.tcp[self.key as usize].info()).unwrap_or_default()
    }

    fn is_ending(&self) -> bool {
        let state = |world: &mut World| world.tcp[self.key as usize].connection.state();
        world::with(self.run, state) != Some(State::Established)
    }

    fn set_nodelay(&self, nodelay: bool) {
        world::with(self.run, |world| {
            world.tcp_act(self.key, |connection, now| connection.set_nagle(now, !nodelay));
        });
    }

    fn abort(&self) {
        world::with(self.run, |world| {
            world.tcp_act(self.key, |connection, now| connection.abort(now));
        });
    }

    fn paths(&self) -> Vec<TcpPath> {
        let paths = |world: &mut World| world.tcp[self.key as usize].connection.paths();
        world::with(self.run, paths).unwrap_or_default()
    }

    fn set_path(&self, end: IpAddr, wish: PathWish) -> bool {
        let set = world::with(self.run, |world| {
            let mut any = false;
            world.tcp_act(self.key, |connection, now| any = connection.set_path(now, end, wish));
            any
        });
        set.unwrap_or(false)
    }
}

impl Drop for SimulatedTcpStream {
    fn drop(&mut self) {
        world::with(self.run, |world| world.tcp_orphan(self.key));
    }
}
