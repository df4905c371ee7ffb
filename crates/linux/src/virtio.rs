//! The header before a frame on a socket or TUN device with such headers: `struct virtio_net_hdr`
//! of `linux/virtio_net.h` (virtio 1.2 section 5.1.6), in native byte order.

/// The remaining work on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtioHeader {
    /// [`VirtioHeader::NEEDS_CHECKSUM`], 2 if it was verified, or zero.
    pub flags: u8,
    /// One of the kinds below, or zero for a single packet.
    pub kind: u8,
    /// The length of all headers in bytes.
    pub header: u16,
    /// The payload length of each segment in bytes.
    pub segment: u16,
    /// The start of the checksummed data, in bytes from the start of the frame.
    pub sum_from: u16,
    /// The position of the checksum, in bytes from `sum_from`.
    pub sum_at: u16,
}

impl VirtioHeader {
    /// Its length.
    pub const BYTES: usize = 10;
    /// The checksum must be computed.
    pub const NEEDS_CHECKSUM: u8 = 1;
    /// TCP over IPv4.
    pub const TCP4: u8 = 1;
    /// TCP over IPv6.
    pub const TCP6: u8 = 4;
    /// UDP datagrams of equal length, since Linux 6.2.
    pub const UDP: u8 = 5;
    /// A flag for TCP: only the first segment keeps "congestion window reduced".
    pub const CWR: u8 = 0x80;

    /// Decodes a header.
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

    /// Encodes the header.
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
