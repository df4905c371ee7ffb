//! TUN devices: interfaces whose packets a program reads and writes
//! (`Documentation/networking/tuntap.rst`, `linux/if_tun.h`).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt as _;

use crate::ethtool::interface_request;
use crate::sys;
use crate::virtio::VirtioHeader;

/// How a TUN device is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunOptions {
    /// Whether a [`VirtioHeader`] stands in front of each packet, both ways.
    pub virtio: bool,
    /// Whether the kernel may leave checksums and segmentation to us; needs `virtio`.
    pub offload: bool,
}

/// Makes a TUN device called `name` in the network namespace of the calling thread. Each read
/// takes one IP packet that the kernel has sent, each write hands it one; neither waits. The
/// device goes with the file.
///
/// # Errors
/// If `/dev/net/tun` is not there or the caller may not (`CAP_NET_ADMIN`), or there is an
/// interface of that name.
pub fn open_tun(name: &str, options: TunOptions) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(flags).open("/dev/net/tun")?;
    let mut request = interface_request(name)?;
    let virtio = if options.virtio { libc::IFF_VNET_HDR } else { 0 };
    request.ifr_ifru.ifru_flags =
        (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL | virtio) as libc::c_short;
    // SAFETY: the request names the interface by a string that ends with a zero.
    sys::check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request) })?;
    if options.virtio {
        let size = VirtioHeader::BYTES as libc::c_int;
        // SAFETY: the kernel reads one integer.
        sys::check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETVNETHDRSZ as _, &size) })?;
    }
    if options.offload {
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        // Linux older than 6.2 does not know segmentation of UDP and refuses it.
        if set_offload(&file, tcp | TUN_F_USO4 | TUN_F_USO6).is_err() {
            set_offload(&file, tcp)?;
        }
    }
    Ok(file)
}

fn set_offload(file: &File, offload: libc::c_uint) -> io::Result<()> {
    let offload = libc::c_ulong::from(offload);
    // SAFETY: this call takes a number, not a pointer.
    sys::check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as _, offload) })
        .map(drop)
}

const TUN_F_USO4: libc::c_uint = 0x20;
const TUN_F_USO6: libc::c_uint = 0x40;
