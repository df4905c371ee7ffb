//! Any bytes as an IP packet that is forwarded, and what may be inside it. What parses as TCP and is written
//! again must parse to the same segment, and what is cut into fragments must be whole again.

use bytes::Bytes;
use trackbed_core::packet::{Reassembly, TooBig, UdpDatagram};
use trackbed_core::{Packet, Time};
use trackbed_net::ContentReader;
use trackbed_tcp::{QuotedSegment, Segment, reset_reply};

pub fn run(data: &[u8]) {
    let Ok(carried) = Packet::carry(Bytes::copy_from_slice(data)) else { return };
    let _ = ContentReader::default().read(&carried);
    let mut reassembly = Reassembly::default();
    let pieces = carried.fragments(68 + usize::from(data[1]), 1);
    let whole = pieces.into_iter().filter_map(|piece| reassembly.take(piece, Time::ZERO)).last();
    let Ok(packet) = Packet::parse(carried.bytes().clone()) else { return };
    assert_eq!(whole.map(|it| it.transport()), Some(packet.transport()), "fragments are all of it");
    let _ = UdpDatagram::parse(&packet);
    if let Ok(message) = TooBig::parse(&packet) {
        let _ = QuotedSegment::parse(&message);
    }
    if let Ok(segment) = Segment::parse(&packet) {
        let again = Segment::parse(&segment.emit()).expect("what we write, we can read");
        assert_eq!(again, segment, "a segment survives being written and read");
        if let Some(reset) = reset_reply(&segment) {
            Segment::parse(&reset).expect("a reset is a segment");
        }
    }
    let _ = packet.clone().with_congestion_experienced();
    let _ = packet.with_flipped_bit(u64::from(data.len() as u32));
}
