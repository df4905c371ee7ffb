//! Converts offloaded work between the kernel's header and a packet.

use trackbed_core::Packet;
use trackbed_core::packet::{Offload, Segmentation};
use trackbed_linux::VirtioHeader;

/// The work that `header` leaves for a packet that begins `link` bytes after the start of the
/// frame; `None` for a kind of segmentation that was not requested.
pub(super) fn read(header: VirtioHeader, link: usize) -> Option<Offload> {
    let segmentation = match (header.kind & !VirtioHeader::CWR, header.kind & VirtioHeader::CWR) {
        (0, 0) => Segmentation::None,
        (VirtioHeader::TCP4 | VirtioHeader::TCP6, 0) => Segmentation::Tcp,
        (VirtioHeader::TCP4 | VirtioHeader::TCP6, _) => Segmentation::TcpWithCwr,
        (VirtioHeader::UDP, 0) => Segmentation::Udp,
        _ => return None,
    };
    let checksum = header.flags & VirtioHeader::NEEDS_CHECKSUM != 0;
    if !checksum {
        // The kernel leaves the checksum undone wherever it leaves the segmentation undone.
        return (segmentation == Segmentation::None).then(Offload::default);
    }
    Some(Offload {
        segmentation,
        checksum,
        segment: if segmentation == Segmentation::None { 0 } else { header.segment },
        sum_from: header.sum_from.checked_sub(link as u16)?,
        sum_at: header.sum_at,
    })
}

/// The header for a packet after a link header of `link` bytes.
pub(super) fn write(packet: &Packet, link: usize) -> VirtioHeader {
    let offload = packet.offload();
    if offload == Offload::default() {
        return VirtioHeader::default();
    }
    let tcp = if packet.source().is_ipv4() { VirtioHeader::TCP4 } else { VirtioHeader::TCP6 };
    VirtioHeader {
        flags: if offload.checksum { VirtioHeader::NEEDS_CHECKSUM } else { 0 },
        kind: match offload.segmentation {
            Segmentation::None => 0,
            Segmentation::Tcp => tcp,
            Segmentation::TcpWithCwr => tcp | VirtioHeader::CWR,
            Segmentation::Udp => VirtioHeader::UDP,
        },
        header: (link + packet.segment_header_len()) as u16,
        segment: offload.segment,
        sum_from: link as u16 + offload.sum_from,
        sum_at: offload.sum_at,
    }
}
