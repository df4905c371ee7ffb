//! A host: the source of sockets.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use futures_core::future::BoxFuture;
use trackbed_core::packet::ip_header_len;

use crate::entropy::Entropy;
use crate::socket::{TcpListener, TcpOptions, TcpStream, UdpSocket};

/// One machine on the track, as seen by a protocol: its addresses, its sockets, its randomness.
pub trait Host: fmt::Debug + Send + Sync {
    /// The name of the host, unique on the track.
    fn name(&self) -> &str;

    /// Its addresses, of both families, the preferred ones first.
    fn addresses(&self) -> Vec<IpAddr>;

    /// Binds a UDP socket. Port 0 takes the next free port of the host's ephemeral range.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if another socket has the port,
    /// [`io::ErrorKind::AddrNotAvailable`] if the address is not this host's.
    fn bind_udp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>>;

    /// Binds a socket for the packets of SCTP (IP protocol 132) to a port. Its datagrams are whole
    /// packets, ports included (RFC 9260 section 3.1): the user implements SCTP.
    ///
    /// # Errors
    /// Like [`Host::bind_udp`], and [`io::ErrorKind::Unsupported`] on the kernel's sockets.
    fn bind_sctp(&self, local: SocketAddr) -> io::Result<Box<dyn UdpSocket>>;

    /// Opens a TCP connection; resolves when it is established. Dropping the future before cancels
    /// the attempt. `local` is the source, by default the host's first address of that IP version.
    ///
    /// # Errors
    /// [`io::ErrorKind::ConnectionRefused`] if no server listens there, [`io::ErrorKind::TimedOut`]
    /// if there was no answer, [`io::ErrorKind::InvalidInput`] if an option cannot be honoured.
    fn connect_tcp(
        &self,
        local: Option<IpAddr>,
        remote: SocketAddr,
        options: &TcpOptions,
    ) -> BoxFuture<'static, io::Result<Box<dyn TcpStream>>>;

    /// Listens for TCP connections. Port 0 takes the next free port of the ephemeral range.
    ///
    /// # Errors
    /// Like [`Host::bind_udp`]; [`io::ErrorKind::InvalidInput`] if an option cannot be honoured.
    fn listen_tcp(
        &self,
        local: SocketAddr,
        options: &TcpOptions,
    ) -> io::Result<Box<dyn TcpListener>>;

    /// Moves from its network to the next one, as a phone does between Wi-Fi and cellular: from now
    /// on it has only that network's addresses. Packets to the old ones, and from sockets bound to
    /// them, are lost; these sockets stay open and get no error.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the host has no other network; otherwise the system's error.
    fn move_on(&self) -> io::Result<()>;

    /// The source of this host's keys, nonces and connection identifiers.
    fn entropy(&self) -> Entropy;

    /// A number to draw from what need be no secret within a run, such as the random part of a timer. It
    /// follows from the seed of the run, also on the kernel's sockets if the machine
    /// [knows it](crate::kernel::Machine::with_seed): then runs on both substrates pair, if the host draws
    /// nothing else first. `None` if there is no seed.
    fn draw(&self) -> Option<u64>;
}

pub(crate) fn no_further_network(host: &str) -> io::Error {
    let message = format!("the host \"{host}\" has no other network; add one");
    io::Error::new(io::ErrorKind::NotFound, message)
}

pub(crate) fn run_ended() -> io::Error {
    let message = "the run of this socket has ended, or it is used on another thread";
    io::Error::new(io::ErrorKind::NotConnected, message)
}

/// The error for input that cannot be honoured; the message names the remedy.
pub(crate) fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message.into())
}

pub(crate) fn check_remote(remote: SocketAddr) -> io::Result<()> {
    if remote.port() == 0 || remote.ip().is_unspecified() || remote.ip().is_multicast() {
        return Err(invalid(format!(
            "cannot connect to {remote}: the address or port is not usable"
        )));
    }
    Ok(())
}

/// Refuses a datagram without a source of the destination's IP version, to port 0, or with more
/// bytes than a packet holds besides this header; returns the source.
pub(crate) fn check_datagram(
    source: Option<IpAddr>,
    destination: SocketAddr,
    size: usize,
    header_len: usize,
) -> io::Result<IpAddr> {
    let fitting = source.filter(|source| source.is_ipv4() == destination.is_ipv4());
    let source = fitting.ok_or_else(|| {
        invalid(format!(
            "no source address has the same IP version as {destination}; bind the socket to one"
        ))
    })?;
    let room = usize::from(u16::MAX) - ip_header_len(source) - header_len;
    if size > room {
        return Err(invalid(format!("a datagram holds at most {room} bytes, not {size}")));
    }
    if destination.port() == 0 {
        return Err(invalid("port 0 cannot be reached"));
    }
    Ok(source)
}

pub(crate) fn no_common_version(host: &str, remote: SocketAddr) -> io::Error {
    invalid(format!("{host} has no address of the same IP version as {remote}"))
}

/// Checks the size of a TCP buffer in bytes, and returns it.
pub(crate) fn buffer_size(size: usize) -> io::Result<u32> {
    u32::try_from(size).ok().filter(|size| BUFFER_SIZES.contains(size)).ok_or_else(|| {
        let (least, most) = (BUFFER_SIZES.start(), BUFFER_SIZES.end());
        invalid(format!("a TCP buffer cannot have {size} bytes; choose {least} to {most}"))
    })
}

/// The sizes of TCP's buffers in bytes: from the minimum that Linux grants (`SOCK_MIN_RCVBUF`) to the largest
/// window that scaling can express (RFC 7323 section 2.3).
pub const BUFFER_SIZES: RangeInclusive<u32> = 2_304..=1 << 30;

pub(crate) fn not_an_address(host: &str, address: IpAddr) -> io::Error {
    io::Error::new(
        io::ErrorKind::AddrNotAvailable,
        format!("{address} is not an address of the host \"{host}\"; use one of its addresses"),
    )
}
