//! Any bytes as an IP packet and what may be inside it. What parses as TCP and is written again
//! must parse to the same segment.

use bytes::Bytes;
use trackbed_core::Packet;
use trackbed_core::packet::{TooBig, UdpDatagram};
use trackbed_tcp::{QuotedSegment, Segment, reset_reply};

pub fn run(data: &[u8]) {
    let Ok(packet) = Packet::parse(Bytes::copy_from_slice(data)) else { return };
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
