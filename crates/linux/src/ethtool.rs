//! Offloads of an interface: ethtool(8), `linux/ethtool.h`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::sys;

/// Work that an interface can be told to leave to the kernel or to take from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Checksums of what it sends.
    TransmitChecksum,
    /// Scattered packets; segmentation needs it.
    ScatterGather,
    /// Segmentation of TCP.
    TcpSegmentation,
    /// Segmentation of anything, put off until the interface gets it.
    GenericSegmentation,
    /// Putting segments together again.
    GenericReceive,
}

/// Switches an offload of the interface on or off, in the network namespace of the calling thread.
///
/// # Errors
/// If there is no such interface, it cannot do this, or the caller may not (`CAP_NET_ADMIN`).
pub fn set_offload(interface: &str, offload: Offload, on: bool) -> io::Result<()> {
    let command = match offload {
        Offload::TransmitChecksum => ETHTOOL_STXCSUM,
        Offload::ScatterGather => ETHTOOL_SSG,
        Offload::TcpSegmentation => ETHTOOL_STSO,
        Offload::GenericSegmentation => ETHTOOL_SGSO,
        Offload::GenericReceive => ETHTOOL_SGRO,
    };
    let mut value = EthtoolValue { command, data: on.into() };
    // SAFETY: all fields of a request are bytes, integers or pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    let room = request.ifr_name.len() - 1;
    if interface.len() > room {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // SAFETY: the call takes no pointers.
    let socket = sys::check(unsafe { libc::socket(libc::AF_INET, kind, 0) })?;
    // SAFETY: the kernel has just given the descriptor to us alone.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: the request names the interface by a string that ends with a zero, and points to a
    // value as the commands above expect it; both outlive the call.
    sys::check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &mut request) })
        .map(drop)
}

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

const ETHTOOL_STXCSUM: u32 = 0x17;
const ETHTOOL_SSG: u32 = 0x19;
const ETHTOOL_STSO: u32 = 0x1f;
const ETHTOOL_SGSO: u32 = 0x24;
const ETHTOOL_SGRO: u32 = 0x2c;
