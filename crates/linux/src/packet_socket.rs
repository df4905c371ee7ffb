//! Whole Ethernet frames of one interface, received through a ring shared with the kernel and sent
//! in batches: packet(7), `Documentation/networking/packet_mmap.rst`.

use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::virtio::VirtioHeader;
use crate::{socket, sys};

/// A packet socket with a receive ring, bound to one interface. It does not see what it sends.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    ring: Ring,
    virtio: bool,
    /// The offset of the slot that the kernel fills next, in bytes from the start of the ring.
    next: usize,
}

/// Which frames a [`PacketSocket`] receives, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// The size of the ring.
    pub ring: RingSize,
    /// The range of lengths in bytes, including the link header; other frames are ignored.
    pub lengths: (u32, u32),
    /// Whether a [`VirtioHeader`] precedes each frame, in both directions.
    pub virtio: bool,
}

/// The size of the ring of a [`PacketSocket`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    /// The longest frame in bytes, including the link header. Longer ones are truncated.
    pub frame: usize,
    /// Maximum number of queued frames, rounded up to fill whole blocks.
    pub frames: usize,
}

/// A frame in the ring. Dropping it returns the slot to the kernel.
#[derive(Debug)]
pub struct Frame<'a> {
    socket: &'a mut PacketSocket,
    /// When the interface received it, since 1970-01-01T00:00:00Z.
    pub arrived: Duration,
    /// Its length on the interface; more than `bytes` if it was truncated.
    pub length: usize,
    at: usize,
    available: usize,
}

impl PacketSocket {
    /// Opens a socket on the interface with this index, in the network namespace of the calling
    /// thread.
    ///
    /// # Errors
    /// If packet sockets are not permitted (`CAP_NET_RAW`) or there is no such interface.
    pub fn open(interface: u32, reception: &Reception) -> io::Result<PacketSocket> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Without a protocol, nothing arrives before the ring exists.
        let fd = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(&fd, libc::PACKET_VERSION, &version)?;
        set(&fd, libc::PACKET_IGNORE_OUTGOING, &1)?;
        set(&fd, libc::PACKET_QDISC_BYPASS, &1)?;
        let virtio = reception.virtio;
        if virtio {
            // The kernel accepts this setting only before the ring exists.
            set(&fd, libc::PACKET_VNET_HDR, &1)?;
        }
        if reception.lengths != (0, u32::MAX) {
            filter_lengths(&fd, reception.lengths)?;
        }
        let ring = Ring::map(&fd, reception.ring)?;
        bind(&fd, interface)?;
        Ok(PacketSocket { fd, ring, virtio, next: 0 })
    }

    /// The next frame, if one has arrived. Needs no system call.
    pub fn receive(&mut self) -> Option<Frame<'_>> {
        let slot = self.ring.slot(self.next);
        let status = slot.status().load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the kernel has handed over the slot with a complete header; it does not write to
        // the slot again before `Frame::drop` returns it.
        let header = unsafe { slot.header.read() };
        let at = usize::from(header.tp_mac);
        let available = (header.tp_snaplen as usize).min(self.ring.frame.saturating_sub(at));
        let arrived = Duration::new(header.tp_sec.into(), header.tp_nsec);
        let length = header.tp_len as usize;
        Some(Frame { socket: self, arrived, length, at, available })
    }

    /// When the frame that [`PacketSocket::receive`] would return arrived, since
    /// 1970-01-01T00:00:00Z.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.is_ready().then(|| {
            // SAFETY: as in `receive`.
            let header = unsafe { self.ring.slot(self.next).header.read() };
            Duration::new(header.tp_sec.into(), header.tp_nsec)
        })
    }

    /// Whether [`PacketSocket::receive`] would return a frame.
    pub fn is_ready(&self) -> bool {
        let status = self.ring.slot(self.next).status().load(Ordering::Acquire);
        status & libc::TP_STATUS_USER != 0
    }

    /// Sends frames, each given as a link header and the packet; the [`VirtioHeader`], if the
    /// socket has them, precedes the link header. Returns how many frames the interface accepted;
    /// it refuses the rest when it is overloaded.
    ///
    /// # Errors
    /// If not even the first frame can be sent.
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
        // SAFETY: there are `count` messages, each pointing to two parts in `parts`, which point to
        // bytes borrowed from `frames` for longer than this call. The kernel only reads these
        // bytes.
        let sent = unsafe { libc::sendmmsg(fd, messages.as_mut_ptr(), count, flags) };
        Ok(usize::try_from(sys::check(sent)?).unwrap_or_default())
    }

    /// The number of frames lost since the last call because the ring was full.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub fn take_dropped(&self) -> io::Result<u32> {
        // `struct tpacket_stats`.
        let mut found = [0; 2];
        socket::get(&self.fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut found)?;
        Ok(found[1])
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Frame<'_> {
    /// The frame, starting at the link header.
    pub fn bytes(&self) -> &[u8] {
        let slot = self.socket.ring.slot(self.socket.next);
        // SAFETY: `at` and `available` were clipped to the slot, which belongs to us until `drop`;
        // the ring stays mapped as long as the socket that `self` borrows.
        unsafe {
            let start = slot.header.as_ptr().cast::<u8>().add(self.at);
            std::slice::from_raw_parts(start, self.available)
        }
    }

    /// The remaining work on the frame; none if the socket has no such headers.
    pub fn virtio(&self) -> VirtioHeader {
        let mut header = [0; VirtioHeader::BYTES];
        if self.socket.virtio && self.at >= VirtioHeader::BYTES {
            let slot = self.socket.ring.slot(self.socket.next);
            // SAFETY: the header is in the slot right before the frame; as in `bytes`.
            unsafe {
                let start = slot.header.as_ptr().cast::<u8>().add(self.at - VirtioHeader::BYTES);
                header = start.cast::<[u8; VirtioHeader::BYTES]>().read();
            }
        }
        VirtioHeader::from_bytes(header)
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        let slot = self.socket.ring.slot(self.socket.next);
        slot.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        // The kernel reads the status without a barrier.
        fence(Ordering::SeqCst);
        self.socket.next = self.socket.ring.after(self.socket.next);
    }
}

#[derive(Debug)]
struct Ring {
    start: NonNull<u8>,
    length: usize,
    /// Size of a slot in bytes.
    frame: usize,
    /// Size of a block in bytes; it has whole slots and is a power of two.
    block: usize,
}

// SAFETY: the mapping belongs to this value alone and is not tied to the thread that created it;
// only exclusive access reads slots, and shared access only loads an atomic status.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

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
        let whole = size.frame + SLOT_OVERHEAD;
        // Slots of long frames fill a block almost completely; for short ones, the power of two
        // does.
        let (frame, block) = match whole <= BLOCK_BYTES {
            true => (whole.next_power_of_two(), BLOCK_BYTES),
            false => {
                let block = LONG_BLOCK_BYTES.max(whole.next_power_of_two());
                (whole.next_multiple_of(SLOT_ALIGNMENT), block)
            }
        };
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
        Ok(Ring { start, length, frame, block })
    }

    /// The slot at this offset from the start: zero, or a result of [`Ring::after`].
    fn slot(&self, at: usize) -> Slot {
        debug_assert!(at + self.frame <= self.length, "slots lie inside the mapping");
        // SAFETY: the slot lies inside the mapping, which begins at a page.
        Slot { header: unsafe { self.start.add(at) }.cast() }
    }

    /// The offset of the next slot; blocks have whole slots and possibly a gap.
    fn after(&self, at: usize) -> usize {
        let next = at + self.frame;
        let next = match (next & (self.block - 1)) + self.frame <= self.block {
            true => next,
            false => next.next_multiple_of(self.block),
        };
        if next < self.length { next } else { 0 }
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

/// Installs a classic BPF filter that passes frames with a length in this range.
fn filter_lengths(fd: &OwnedFd, (least, most): (u32, u32)) -> io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let (jump, otherwise) = (libc::BPF_JMP | libc::BPF_K, libc::BPF_RET | libc::BPF_K);
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_LEN, 0, 0, 0),
        step(jump | libc::BPF_JGE, 0, 2, least),
        step(jump | libc::BPF_JGT, 1, 0, most),
        step(otherwise, 0, 0, u32::MAX),
        step(otherwise, 0, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    let (value, length) = ((&raw const program).cast(), size_of::<libc::sock_fprog>() as u32);
    let (level, name) = (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER);
    // SAFETY: the program has the number of steps it states; the kernel copies them.
    sys::check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value, length) }).map(drop)
}

fn set<T>(fd: &OwnedFd, name: libc::c_int, value: &T) -> io::Result<()> {
    socket::set(fd, libc::SOL_PACKET, name, value)
}

/// The kernel's data before a frame: the header, an address and alignment.
const SLOT_OVERHEAD: usize = 96;
/// `TPACKET_ALIGNMENT`
const SLOT_ALIGNMENT: usize = 16;

/// The kernel needs contiguous physical memory for each block.
const BLOCK_BYTES: usize = 1 << 16;

/// Blocks of slots that are longer than a usual block: 15 slots of 64 kB. If the kernel has no such
/// contiguous memory, it maps pages.
const LONG_BLOCK_BYTES: usize = 1 << 20;
