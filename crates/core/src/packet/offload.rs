//! Work on a packet that its sender has left to the network card.

/// What is still to be done to a packet before a cable can carry it: what a kernel tells a network
/// card beside the packet (`struct virtio_net_hdr`, virtio 1.2 section 5.1.6). The default is
/// nothing.
///
/// A packet with a segment size is a *super-packet*: many packets of one flow in one piece, with
/// one header that stands for all of theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// What the segments are to be, and with it how long their headers are.
    pub segmentation: Segmentation,
    /// Whether the transport checksum is to be computed: its field holds the sum of the pseudo
    /// header only.
    pub checksum: bool,
    /// Payload bytes of each segment but the last, which may have fewer. Zero if `segmentation` is
    /// [`Segmentation::None`].
    pub segment: u16,
    /// Where the sum begins: the transport header, in bytes from the start of the packet.
    pub sum_from: u16,
    /// Where its result goes, in bytes from `sum_from`.
    pub sum_at: u16,
}

/// Into what a packet is to be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segmentation {
    /// It is one packet already.
    #[default]
    None,
    /// TCP segments.
    Tcp,
    /// TCP segments, of which only the first keeps "congestion window reduced" (RFC 3168
    /// section 6.1.2).
    TcpWithCwr,
    /// UDP datagrams of equal length.
    Udp,
}

impl Offload {
    /// The number of packets that a packet of `data` becomes.
    pub(super) fn segments(self, data: &[u8]) -> u64 {
        let payload = data.len().saturating_sub(self.header_len(data));
        match usize::from(self.segment) {
            0 => 1,
            segment => payload.div_ceil(segment).max(1) as u64,
        }
    }

    /// The bytes of the headers that each segment has.
    pub(super) fn header_len(self, data: &[u8]) -> usize {
        let from = usize::from(self.sum_from);
        from + match self.segmentation {
            Segmentation::None => 0,
            // RFC 9293 section 3.1: the data offset counts words of four bytes.
            Segmentation::Tcp | Segmentation::TcpWithCwr => {
                data.get(from + 12).map_or(20, |offset| usize::from(offset >> 4) * 4)
            }
            Segmentation::Udp => 8,
        }
    }
}
