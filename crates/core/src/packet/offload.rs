//! Work on a packet that its sender has left to the network card.

/// The work left to do before a packet can be sent on a cable: what a kernel passes to a network
/// card with the packet (`struct virtio_net_hdr`, virtio 1.2 section 5.1.6). The default is none.
///
/// A packet with a segment size is a *super-packet*: many packets of one flow in one piece, with
/// one header for all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// The kind of segments, which also determines the length of their headers.
    pub segmentation: Segmentation,
    /// Whether the transport checksum is to be computed: its field holds the sum of the pseudo
    /// header only.
    pub checksum: bool,
    /// Payload bytes of each segment except the last, which may have fewer. Zero if `segmentation`
    /// is [`Segmentation::None`].
    pub segment: u16,
    /// Where the sum begins: the transport header, in bytes from the start of the packet.
    pub sum_from: u16,
    /// Where its result is stored, in bytes from `sum_from`.
    pub sum_at: u16,
}

/// The segments of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segmentation {
    /// It is a single packet.
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
    pub(super) fn segments(self, data: &[u8]) -> u64 {
        let payload = data.len().saturating_sub(self.header_len(data));
        match usize::from(self.segment) {
            0 => 1,
            segment => payload.div_ceil(segment).max(1) as u64,
        }
    }

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
