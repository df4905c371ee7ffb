//! Socket options: socket(7), ip(7).

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use crate::sys;

/// Lets `connect` choose the port of a socket that is bound to an address and port 0
/// (`IP_BIND_ADDRESS_NO_PORT`, Linux 4.2). A port is then only used for one destination; a choice
/// at `bind` uses it for all of them, and a host runs out of ports after some 28,000 connections.
///
/// # Errors
/// As setsockopt(2).
pub fn set_bind_address_no_port(socket: impl AsFd) -> io::Result<()> {
    // The option also works on IPv6 sockets: inet6_bind() checks the same bit.
    set(socket, libc::SOL_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1)
}

/// Lets datagrams larger than a link's MTU be fragmented (`IP_MTU_DISCOVER` and `IPV6_MTU_DISCOVER`
/// at "don't", `IPV6_DONTFRAG` off), as with traditional sockets.
///
/// # Errors
/// As setsockopt(2).
pub fn allow_fragments(socket: impl AsFd) -> io::Result<()> {
    let socket = socket.as_fd();
    set(socket, libc::SOL_IP, libc::IP_MTU_DISCOVER, &libc::IP_PMTUDISC_DONT)?;
    // These fail on IPv4 sockets, which do not need them.
    let done = set(socket, libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER, &libc::IPV6_PMTUDISC_DONT)
        .and_then(|()| set(socket, libc::SOL_IPV6, libc::IPV6_DONTFRAG, &0));
    match done {
        Err(why) if why.raw_os_error() != Some(libc::ENOPROTOOPT) => Err(why),
        _ => Ok(()),
    }
}

/// The number of datagrams that the kernel has dropped at `socket`, nearly always because its
/// receive buffer was full (`SK_MEMINFO_DROPS` of `SO_MEMINFO`, Linux 4.12). The counter wraps at
/// 2^32.
///
/// # Errors
/// As getsockopt(2).
pub fn receive_drops(socket: impl AsFd) -> io::Result<u32> {
    let mut fields = [0_u32; MEMINFO_FIELDS];
    let filled = get(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut fields)?;
    if filled < size_of_val(&fields) {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    Ok(fields[MEMINFO_DROPS])
}

/// Splits data sent on a UDP socket into datagrams of this many bytes, the last one with the rest
/// (`UDP_SEGMENT`, Linux 4.18; udp(7)). One system call then sends up to 64 kB.
///
/// # Errors
/// As setsockopt(2).
pub fn set_segment_length(socket: impl AsFd, bytes: u16) -> io::Result<()> {
    set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, &c_int::from(bytes))
}

/// Lets a socket use addresses that are not this machine's (`IP_TRANSPARENT`, `IPV6_TRANSPARENT`):
/// a listener then accepts connections to other hosts that the firewall redirects to it (TPROXY),
/// and accepted sockets have the original destination as their local address. Needs CAP_NET_ADMIN
/// or CAP_NET_RAW.
///
/// # Errors
/// As setsockopt(2).
pub fn set_transparent(socket: impl AsFd) -> io::Result<()> {
    let socket = socket.as_fd();
    match set(socket, libc::SOL_IPV6, libc::IPV6_TRANSPARENT, &1) {
        // It is an IPv4 socket.
        Err(why) if why.raw_os_error() == Some(libc::ENOPROTOOPT) => {
            set(socket, libc::SOL_IP, libc::IP_TRANSPARENT, &1)
        }
        result => result,
    }
}

/// A type into which the kernel may write any bytes.
///
/// # Safety
/// Any bytes must be a value of the type.
pub(crate) unsafe trait Plain {}

// SAFETY: they are plain numbers.
unsafe impl<const N: usize> Plain for [u32; N] {}

/// getsockopt(2) into `value`; returns the number of bytes that the kernel has filled. The others
/// are unchanged.
pub(crate) fn get<T: Plain>(
    socket: impl AsFd,
    level: c_int,
    name: c_int,
    value: &mut T,
) -> io::Result<usize> {
    let mut len = size_of::<T>() as libc::socklen_t;
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open while it is borrowed. The kernel writes at most `len` bytes to
    // `value`, which has that size and allows any content (`Plain`).
    let result = unsafe {
        libc::getsockopt(descriptor, level, name, std::ptr::from_mut(value).cast(), &mut len)
    };
    sys::check(result)?;
    Ok((len as usize).min(size_of::<T>()))
}

/// setsockopt(2) with a value of the type that the option takes, without pointers.
pub(crate) fn set<T>(socket: impl AsFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open while it is borrowed, and the kernel reads the `len` bytes of
    // `value`, in which it follows no pointer.
    let result =
        unsafe { libc::setsockopt(descriptor, level, name, std::ptr::from_ref(value).cast(), len) };
    sys::check(result).map(drop)
}

/// `SK_MEMINFO_VARS` and `SK_MEMINFO_DROPS` of linux/sock_diag.h.
const MEMINFO_FIELDS: usize = 9;
const MEMINFO_DROPS: usize = 8;

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn an_unread_socket_counts_dropped_datagrams() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(receive_drops(&receiver).unwrap(), 0);
        for _ in 0..10_000 {
            sender.send_to(&[0; 1_000], receiver.local_addr().unwrap()).unwrap();
        }
        assert!(receive_drops(&receiver).unwrap() > 0);
    }

    #[test]
    fn errors_are_the_kernels() {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        set_bind_address_no_port(&udp).unwrap();
        let (file, _) = io::pipe().unwrap();
        let error = set_bind_address_no_port(&file).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTSOCK));
        assert_eq!(receive_drops(&file).unwrap_err().raw_os_error(), Some(libc::ENOTSOCK));
    }
}
