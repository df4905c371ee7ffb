//! What stands in front of a frame on a socket or TUN device that has such headers: `struct
//! virtio_net_hdr` of `linux/virtio_net.h` (virtio 1.2 section 5.1.6), in the machine's own byte
//! order.

/// What is left to do to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtioHeader {
    /// [`VirtioHeader::NEEDS_CHECKSUM`] or [`VirtioHeader::VERIFIED`], or zero.
    pub flags: u8,
    /// One of the kinds below, or zero if it is one packet.
    pub kind: u8,
    /// The bytes of all headers.
    pub header: u16,
    /// The payload bytes of each segment.
    pub segment: u16,
    /// Where the checksum begins, in bytes from the start of the frame.
    pub sum_from: u16,
    /// Where it goes, in bytes from `sum_from`.
    pub sum_at: u16,
}

impl VirtioHeader {
    /// Its length.
    pub const BYTES: usize = 10;
    /// The checksum is to be computed.
    pub const NEEDS_CHECKSUM: u8 = 1;
    /// The checksum is right.
    pub const VERIFIED: u8 = 2;
    /// TCP over IPv4.
    pub const TCP4: u8 = 1;
    /// TCP over IPv6.
    pub const TCP6: u8 = 4;
    /// UDP datagrams of equal length, from Linux 6.2 on.
    pub const UDP: u8 = 5;
    /// A mark on TCP: only the first segment keeps "congestion window reduced".
    pub const CWR: u8 = 0x80;

    /// Reads one.
    pub fn from_bytes(bytes: [u8; VirtioHeader::BYTES]) -> VirtioHeader {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        VirtioHeader {
            flags: bytes[0],
            kind: bytes[1],
            header: word(2),
            segment: word(4),
            sum_from: word(6),
            sum_at: word(8),
        }
    }

    /// Writes it.
    pub fn to_bytes(self) -> [u8; VirtioHeader::BYTES] {
        let mut bytes = [0; VirtioHeader::BYTES];
        (bytes[0], bytes[1]) = (self.flags, self.kind);
        let words = [self.header, self.segment, self.sum_from, self.sum_at];
        for (at, word) in bytes[2..].chunks_exact_mut(2).zip(words) {
            at.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}
