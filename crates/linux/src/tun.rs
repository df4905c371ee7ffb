//! TUN devices: interfaces whose packets a program reads and writes
//! (`Documentation/networking/tuntap.rst`, `linux/if_tun.h`).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt as _;

use crate::ethtool::interface_request;
use crate::sys;
use crate::virtio::VirtioHeader;

/// Options of a TUN device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunOptions {
    /// Whether a [`VirtioHeader`] precedes each packet, in both directions.
    pub virtio: bool,
    /// Whether the kernel may leave checksums and segmentation to this process; needs `virtio`.
    pub offload: bool,
}

/// Creates a TUN device called `name` in the network namespace of the calling thread. Each read
/// returns one IP packet sent by the kernel, each write passes one to it; neither blocks. The
/// device disappears with the file.
///
/// # Errors
/// If `/dev/net/tun` is missing, permission is missing (`CAP_NET_ADMIN`), or there is already an
/// interface of that name.
pub fn open_tun(name: &str, options: TunOptions) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(flags).open("/dev/net/tun")?;
    let mut request = interface_request(name)?;
    let virtio = if options.virtio { libc::IFF_VNET_HDR } else { 0 };
    request.ifr_ifru.ifru_flags =
        (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL | virtio) as libc::c_short;
    // SAFETY: the request has the interface's name as a zero-terminated string.
    sys::check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request) })?;
    if options.virtio {
        let size = VirtioHeader::BYTES as libc::c_int;
        // SAFETY: the kernel reads one integer.
        sys::check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETVNETHDRSZ as _, &size) })?;
    }
    if options.offload {
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        // Linux before 6.2 refuses segmentation of UDP.
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
