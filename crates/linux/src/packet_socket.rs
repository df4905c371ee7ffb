//! Whole Ethernet frames of one interface, received through a ring that the kernel shares with us
//! and sent in batches: packet(7), `Documentation/networking/packet_mmap.rst`.

use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

use crate::sys;

/// A packet socket with a receive ring, bound to one interface. It does not see what it sends.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    ring: Ring,
    /// The slot that the kernel fills next.
    next: usize,
}

/// What the ring of a [`PacketSocket`] can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    /// The longest frame in bytes, link header included. Longer ones arrive cut.
    pub frame: usize,
    /// How many frames wait at most, rounded up to what fills whole blocks.
    pub frames: usize,
}

/// A frame in the ring. The slot goes back to the kernel when it is dropped.
#[derive(Debug)]
pub struct Frame<'a> {
    socket: &'a mut PacketSocket,
    /// When the interface got it, since 1970-01-01T00:00:00Z.
    pub arrived: Duration,
    /// Its length on the interface; more than there is in `bytes` if it was cut.
    pub length: usize,
    at: usize,
    available: usize,
}

/// How many frames a socket has got and lost since it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Frames that arrived, the lost ones included.
    pub arrived: u32,
    /// Frames for which the ring had no room.
    pub dropped: u32,
}

impl PacketSocket {
    /// Opens a socket on the interface with this index, in the network namespace of the calling
    /// thread.
    ///
    /// # Errors
    /// If packet sockets are not permitted (`CAP_NET_RAW`) or there is no such interface.
    pub fn open(interface: u32, size: RingSize) -> io::Result<PacketSocket> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // With protocol 0 nothing arrives before the ring is there.
        // SAFETY: the call takes no pointers.
        let fd = sys::check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: the kernel has just given the descriptor to us alone.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(&fd, libc::PACKET_VERSION, &version)?;
        set(&fd, libc::PACKET_IGNORE_OUTGOING, &1)?;
        set(&fd, libc::PACKET_QDISC_BYPASS, &1)?;
        let ring = Ring::map(&fd, size)?;
        bind(&fd, interface)?;
        Ok(PacketSocket { fd, ring, next: 0 })
    }

    /// The next frame, if one has arrived. Costs no system call.
    pub fn receive(&mut self) -> Option<Frame<'_>> {
        let slot = self.ring.slot(self.next);
        let status = slot.status().load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the kernel has given the slot to us, and with it a complete header; it does not
        // write to the slot again before `Frame::drop` gives it back.
        let header = unsafe { slot.header.read() };
        let at = usize::from(header.tp_mac);
        let available = (header.tp_snaplen as usize).min(self.ring.frame.saturating_sub(at));
        let arrived = Duration::new(header.tp_sec.into(), header.tp_nsec);
        let length = header.tp_len as usize;
        Some(Frame { socket: self, arrived, length, at, available })
    }

    /// Whether [`PacketSocket::receive`] would give a frame.
    pub fn is_ready(&self) -> bool {
        let status = self.ring.slot(self.next).status().load(Ordering::Relaxed);
        status & libc::TP_STATUS_USER != 0
    }

    /// Sends frames, each given as a link header and the packet behind it. Returns how many the
    /// interface took; it refuses the others when it is overloaded.
    ///
    /// # Errors
    /// If not even the first can be sent.
    pub fn send<'a>(
        &self,
        frames: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> io::Result<usize> {
        let part = |bytes: &[u8]| libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let mut parts: Vec<[libc::iovec; 2]> =
            frames.map(|(header, packet)| [part(header), part(packet)]).collect();
        let message = |parts: &mut [libc::iovec; 2]| {
            // SAFETY: all fields of a message are integers or pointers, for which zero is valid.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_iov = parts.as_mut_ptr();
            message.msg_hdr.msg_iovlen = parts.len();
            message
        };
        let mut messages: Vec<libc::mmsghdr> = parts.iter_mut().map(message).collect();
        let count = messages.len() as libc::c_uint;
        let (fd, flags) = (self.fd.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: there are `count` messages, each pointing to two parts in `parts`, each of them
        // to bytes that `frames` has lent us for longer than this call. The kernel only reads the
        // bytes that the parts point to.
        let sent = unsafe { libc::sendmmsg(fd, messages.as_mut_ptr(), count, flags) };
        Ok(usize::try_from(sys::check(sent)?).unwrap_or_default())
    }

    /// What has arrived and what was lost for want of room since the last call.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn statistics(&self) -> io::Result<Statistics> {
        let mut found = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let target = (&raw mut found).cast();
        let (fd, name) = (self.fd.as_raw_fd(), libc::PACKET_STATISTICS);
        // SAFETY: `target` points to `length` writable bytes of plain integers.
        let got = unsafe { libc::getsockopt(fd, libc::SOL_PACKET, name, target, &mut length) };
        sys::check(got)?;
        Ok(Statistics { arrived: found.tp_packets, dropped: found.tp_drops })
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Frame<'_> {
    /// The frame, from the link header on.
    pub fn bytes(&self) -> &[u8] {
        let slot = self.socket.ring.slot(self.socket.next);
        // SAFETY: `at` and `available` were clipped to the slot, which belongs to us until `drop`;
        // the ring stays mapped as long as the socket that `self` borrows.
        unsafe {
            let start = slot.header.as_ptr().cast::<u8>().add(self.at);
            std::slice::from_raw_parts(start, self.available)
        }
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        let slot = self.socket.ring.slot(self.socket.next);
        slot.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        // The kernel reads the status without a barrier of its own.
        fence(Ordering::SeqCst);
        self.socket.next = (self.socket.next + 1) % self.socket.ring.frames;
    }
}

/// Memory that the kernel writes frames to.
#[derive(Debug)]
struct Ring {
    start: NonNull<u8>,
    length: usize,
    /// Bytes of a slot; blocks hold whole slots without a gap.
    frame: usize,
    frames: usize,
}

// SAFETY: the mapping belongs to this value alone and is not tied to the thread that made it; who
// has the value exclusively reads slots, and shared access only loads an atomic status.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// A place for one frame.
struct Slot {
    header: NonNull<libc::tpacket2_hdr>,
}

impl Slot {
    fn status(&self) -> &AtomicU32 {
        // SAFETY: a slot begins with its header, aligned to 16 bytes and mapped as long as the
        // ring; the kernel and we change the status only as a whole word.
        unsafe {
            let offset = offset_of!(libc::tpacket2_hdr, tp_status);
            AtomicU32::from_ptr(self.header.as_ptr().cast::<u8>().add(offset).cast())
        }
    }
}

impl Ring {
    fn map(fd: &OwnedFd, size: RingSize) -> io::Result<Ring> {
        let frame = (size.frame + SLOT_OVERHEAD).next_power_of_two();
        let block = frame.max(BLOCK_BYTES);
        let blocks = size.frames.max(1).div_ceil(block / frame);
        let request = libc::tpacket_req {
            tp_block_size: block as libc::c_uint,
            tp_block_nr: blocks as libc::c_uint,
            tp_frame_size: frame as libc::c_uint,
            tp_frame_nr: (blocks * (block / frame)) as libc::c_uint,
        };
        set(fd, libc::PACKET_RX_RING, &request)?;
        let length = block * blocks;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, access, kind, fd.as_raw_fd(), 0) };
        let start = match start {
            libc::MAP_FAILED => return Err(io::Error::last_os_error()),
            start => NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?,
        };
        Ok(Ring { start, length, frame, frames: length / frame })
    }

    fn slot(&self, index: usize) -> Slot {
        debug_assert!(index < self.frames, "the index wraps at the number of slots");
        // SAFETY: the slot lies inside the mapping, which begins at a page.
        Slot { header: unsafe { self.start.add(index * self.frame) }.cast() }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and nothing borrows it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

fn bind(fd: &OwnedFd, interface: u32) -> io::Result<()> {
    // SAFETY: all fields of an address are integers, for which zero is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = i32::try_from(interface).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address is a whole `sockaddr_ll` of `length` bytes.
    let bound = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    sys::check(bound).map(drop)
}

fn set<T>(fd: &OwnedFd, name: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = ptr::from_ref(value).cast();
    // SAFETY: `value` points to `length` readable bytes, and packet(7) gives each option its type.
    let set = unsafe { libc::setsockopt(fd.as_raw_fd(), libc::SOL_PACKET, name, value, length) };
    sys::check(set).map(drop)
}

/// What the kernel puts in front of a frame: the header, an address and alignment.
const SLOT_OVERHEAD: usize = 96;

/// The kernel wants each block in one piece of physical memory.
const BLOCK_BYTES: usize = 1 << 16;
