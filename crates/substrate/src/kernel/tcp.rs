//! TCP connections of the kernel: tcp(7).

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{self, RecvFlags, SendFlags, Shutdown, SocketType, sockopt};
use trackbed_linux::socket::set_bind_address_no_port;
use trackbed_linux::tcp_info::tcp_info;

use super::handle::Handle;
use super::options::{self, Role};
use super::sockets::Tcp;
use super::source::{Detail, Source, Way};
use super::{descriptor, multipath};
use crate::clock::now;
use crate::executor::SocketKind;
use crate::socket::{PathWish, TcpInfo, TcpOptions, TcpPath, TcpStream};

#[derive(Debug)]
pub(super) struct KernelTcpStream {
    handle: Handle,
    local: SocketAddr,
    remote: SocketAddr,
}

impl KernelTcpStream {
    /// Connects from `local`, an address of the family of `remote`.
    pub(super) async fn connect(
        run: u64,
        local: IpAddr,
        remote: SocketAddr,
        options: TcpOptions,
    ) -> io::Result<Self> {
        let socket = begin(local, remote, &options).map_err(|error| at(remote, error))?;
        KernelTcpStream::adopt(run, socket, remote).await
    }

    /// A socket that is connected, or being connected.
    pub(super) async fn adopt(run: u64, socket: OwnedFd, remote: SocketAddr) -> io::Result<Self> {
        ioctl_fionbio(&socket, true)?;
        let tcp = Tcp::new(&socket, remote, true)?;
        let source = Source::new(socket, Detail::Tcp(tcp)).connecting();
        // From here on, dropping the stream cancels the attempt.
        let stream = KernelTcpStream::insert(run, source)?;
        poll_fn(|cx| stream.poll("to connect by", Way::Write, cx, established)).await?;
        Ok(stream)
    }

    pub(super) fn accepted(run: u64, socket: OwnedFd, remote: SocketAddr) -> io::Result<Self> {
        let tcp = Tcp::new(&socket, remote, false)?;
        KernelTcpStream::insert(run, Source::new(socket, Detail::Tcp(tcp)))
    }

    fn insert(run: u64, mut source: Source) -> io::Result<Self> {
        let Tcp { local, remote, .. } = *source.tcp();
        Ok(KernelTcpStream { handle: Handle::new(run, SocketKind::Tcp, source)?, local, remote })
    }

    fn poll<T>(
        &self,
        what: &'static str,
        way: Way,
        cx: &mut Context<'_>,
        act: impl FnMut(&mut Source) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        self.handle.poll(what, way, cx, act).map_err(|error| at(self.remote, error))
    }
}

fn begin(local: IpAddr, remote: SocketAddr, options: &TcpOptions) -> io::Result<OwnedFd> {
    let socket = descriptor::open(remote, SocketType::STREAM, multipath::protocol(options)?)?;
    options::apply(&socket, options, Role::Connect)?;
    set_bind_address_no_port(&socket)?;
    net::bind(&socket, &SocketAddr::new(local, 0))?;
    match net::connect(&socket, &remote) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Whether a connection attempt has succeeded (connect(2), on EINPROGRESS).
fn established(source: &mut Source) -> io::Result<()> {
    let socket = source.descriptor()?;
    sockopt::socket_error(socket)??;
    match net::getpeername(socket) {
        Ok(_) => Ok(()),
        Err(Errno::NOTCONN) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error.into()),
    }
}

impl AsyncRead for KernelTcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if buffer.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.poll("to read from", Way::Read, cx, |source| {
            let (count, _) = net::recv(source.descriptor()?, &mut *buffer, RecvFlags::empty())?;
            source.tcp().end_read |= count == 0;
            remember(source);
            if count < buffer.len() {
                source.block(Way::Read);
            }
            Ok(count)
        })
    }
}

impl AsyncWrite for KernelTcpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll("to write to", Way::Write, cx, |source| {
            remember(source);
            let count = net::send(source.descriptor()?, data, SendFlags::NOSIGNAL)?;
            if count < data.len() {
                source.block(Way::Write);
            }
            Ok(count)
        })
    }

    /// Written data is sent as soon as the protocol allows; nothing is buffered here.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Does not wait for the FIN to be acknowledged.
    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.handle.reach(|source| match source.descriptor() {
            // There is nothing to close if the connection has already ended.
            Ok(socket) => match net::shutdown(socket, Shutdown::Write) {
                Ok(()) | Err(Errno::NOTCONN) => Ok(()),
                Err(error) => Err(at(self.remote, error.into())),
            },
            Err(_) => Ok(()),
        })?)
    }
}

impl TcpStream for KernelTcpStream {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn peer_addr(&self) -> SocketAddr {
        self.remote
    }

    fn info(&self) -> TcpInfo {
        self.handle.with(info).unwrap_or_default()
    }

    fn is_ending(&self) -> bool {
        let is_ending = self.handle.with(|source| {
            let Ok(socket) = source.descriptor() else { return true };
            // The end of the stream is found without reading what comes before it.
            poll(
                &mut [PollFd::from_borrowed_fd(socket, PollFlags::RDHUP)],
                Some(&Timespec::default()),
            )
            .is_ok_and(|count| count > 0)
        });
        is_ending.unwrap_or(true)
    }

    fn set_nodelay(&self, nodelay: bool) {
        self.handle.with(|source| {
            if let Ok(socket) = source.descriptor() {
                // It fails only for a connection that has ended, where it has no effect.
                let _ = sockopt::set_tcp_nodelay(socket, nodelay);
            }
        });
    }

    fn paths(&self) -> Vec<TcpPath> {
        let paths = self.handle.with(|source| {
            let (is_multipath, ends) = (source.tcp().is_multipath, source.tcp().ends());
            let socket = source.descriptor().ok().filter(|_| is_multipath);
            socket.map(|socket| multipath::paths(socket, ends))
        });
        paths.flatten().unwrap_or_default()
    }

    fn set_path(&self, end: IpAddr, wish: PathWish) -> bool {
        let is_multipath = self.handle.with(|source| source.tcp().is_multipath);
        is_multipath == Some(true) && multipath::set_path(end, wish)
    }

    fn abort(&self) {
        self.handle.with(|source| {
            let last = info(source);
            source.tcp().last = last;
            if let Some(socket) = source.take_descriptor() {
                // Closing resets the connection then (socket(7), tcp_close()).
                let _ = sockopt::set_socket_linger(&socket, Some(Duration::ZERO));
            }
        });
    }
}

fn info(source: &mut Source) -> TcpInfo {
    let Tcp { is_multipath, last, .. } = *source.tcp();
    let ends = source.tcp().ends();
    let Ok(socket) = source.descriptor() else { return last };
    let of_all = if is_multipath { multipath::info(socket, ends) } else { None };
    let alone = || tcp_info(socket).ok().map(|raw| options::info(&raw, ends));
    let found = of_all.or_else(alone).unwrap_or(last);
    if found.segments_sent < last.segments_sent { last } else { found }
}

/// Stores the statistics of a multipath connection, unless they were stored a moment ago.
fn remember(source: &mut Source) {
    let tcp = source.tcp();
    if tcp.is_multipath && now() >= tcp.told + REMEMBERED {
        tcp.told = now();
        source.tcp().last = info(source);
    }
}

fn at(remote: SocketAddr, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{remote}: {error}"))
}

/// The maximum age of a connection's stored statistics.
const REMEMBERED: Duration = Duration::from_millis(50);
