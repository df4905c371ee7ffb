use std::net::SocketAddr;

use super::*;

fn datagram(source: &str, destination: &str) -> Packet {
    let (source, destination): (SocketAddr, SocketAddr) =
        (source.parse().unwrap(), destination.parse().unwrap());
    UdpDatagram::emit(source, destination, Ecn::Ect0, b"odd length!")
}

fn both_families() -> [Packet; 2] {
    [datagram("10.0.0.1:4000", "10.0.0.2:443"), datagram("[fd00::1]:4000", "[fd00::2]:443")]
}

#[test]
fn datagrams_survive_the_wire_in_both_families() {
    for packet in both_families() {
        let parsed = UdpDatagram::parse(&Packet::parse(packet.bytes().clone()).unwrap()).unwrap();
        assert_eq!(&parsed.payload[..], b"odd length!");
        assert_eq!(parsed.ecn, Ecn::Ect0);
        assert_eq!((parsed.source.port(), parsed.destination.port()), (4000, 443));
        assert_eq!(parsed.source.ip(), packet.source());
    }
}

#[test]
fn another_implementation_agrees_about_every_field_and_checksum() {
    for packet in both_families() {
        let sliced = etherparse::SlicedPacket::from_ip(packet.bytes()).unwrap();
        let Some(etherparse::TransportSlice::Udp(udp)) = sliced.transport else { panic!("UDP") };
        let header = udp.to_header();
        let expected = match sliced.net.unwrap() {
            etherparse::NetSlice::Ipv4(ip) => {
                let ip = ip.header().to_header();
                assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                header.calc_checksum_ipv4(&ip, udp.payload()).unwrap()
            }
            etherparse::NetSlice::Ipv6(ip) => {
                header.calc_checksum_ipv6(&ip.header().to_header(), udp.payload()).unwrap()
            }
            _ => unreachable!(),
        };
        assert_eq!(header.checksum, expected);
    }
}

#[test]
fn another_implementation_agrees_about_checksums_of_every_length() {
    let bytes: Vec<u8> = (0..200_u32).map(|i| (i * 197) as u8 | 0x80).collect();
    for len in 0..bytes.len() {
        let header = IpHeader {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            protocol: protocol::UDP,
            ecn: Ecn::NotCapable,
        };
        let sum = etherparse::checksum::Sum16BitWords::new()
            .add_4bytes([10, 0, 0, 1])
            .add_4bytes([10, 0, 0, 2])
            .add_2bytes([0, protocol::UDP])
            .add_4bytes((len as u32).to_be_bytes())
            .add_slice(&bytes[..len]);
        let expected = sum.ones_complement().to_be();
        assert_eq!(transport_checksum(&header, &bytes[..len]), expected, "{len} bytes");
    }
}

#[test]
fn a_congestion_mark_keeps_the_header_valid() {
    for packet in both_families() {
        let marked = Packet::parse(packet.with_congestion_experienced().bytes().clone()).unwrap();
        assert_eq!(marked.ecn(), Ecn::CongestionExperienced);
        assert!(UdpDatagram::parse(&marked).is_ok());
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for packet in both_families() {
        let bits = packet.transport().len() as u64 * 8;
        for bit in 0..bits {
            let damaged = packet.clone().with_flipped_bit(bit);
            assert_ne!(damaged, packet);
            // The checksum field of IPv4 may become zero, which means "none": not here.
            assert!(UdpDatagram::parse(&damaged).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn too_big_names_the_mtu_and_quotes_the_packet() {
    for (packet, router) in both_families().into_iter().zip(["10.0.0.9", "fd00::9"]) {
        let reply = TooBig::emit(router.parse().unwrap(), &packet, 1_280);
        assert_eq!(reply.destination(), packet.source());
        let parsed = TooBig::parse(&Packet::parse(reply.bytes().clone()).unwrap()).unwrap();
        assert_eq!(parsed.mtu, 1_280);
        assert_eq!(&parsed.original[..], &packet.bytes()[..]);
    }
}

#[test]
fn no_prefix_and_no_garbage_makes_the_parser_panic() {
    for packet in both_families() {
        for len in 0..packet.len() {
            assert!(Packet::parse(packet.bytes().slice(..len)).is_err());
        }
        for at in 0..packet.len() {
            let mut bytes = packet.bytes().to_vec();
            bytes[at] ^= 0xff;
            if let Ok(packet) = Packet::parse(bytes.into()) {
                let _ = UdpDatagram::parse(&packet);
                let _ = TooBig::parse(&packet);
            }
        }
    }
}

#[test]
fn what_is_only_carried_may_be_anything_with_an_ip_header() {
    let socket = "10.0.0.1:1".parse().unwrap();
    let packet = UdpDatagram::emit(socket, socket, Ecn::NotCapable, b"0123456789");
    let mut bytes = packet.bytes().to_vec();
    bytes.extend_from_slice(&[0; 8]);
    assert_eq!(Packet::carry(bytes.clone().into()), Ok(packet), "padding is cut off");
    bytes[6] = 0x20;
    assert!(Packet::carry(bytes.clone().into()).is_ok(), "a fragment");
    assert_eq!(Packet::carry(bytes[..30].to_vec().into()), Err(PacketError::Truncated));
    bytes[0] = 0x44;
    assert_eq!(Packet::carry(bytes.clone().into()), Err(PacketError::BadHeader));
    for length in 0..40 {
        let mut v6 = vec![0x60; length];
        assert!(Packet::carry(v6.clone().into()).is_err(), "{length} bytes");
        v6.resize(40 + 0x6060, 0);
        assert!(Packet::carry(v6.into()).is_ok() || length == 0);
    }
}

#[test]
fn unreachable_names_the_packet_and_the_reason() {
    use Unreachable::{Host, Network, Port};
    let [v4, v6] = both_families();
    for (packet, router, kinds) in [
        (v4, "10.0.0.9", [(Network, [3, 0]), (Host, [3, 1]), (Port, [3, 3])]),
        (v6, "fd00::9", [(Network, [1, 0]), (Host, [1, 3]), (Port, [1, 4])]),
    ] {
        let router: IpAddr = router.parse().unwrap();
        for (reason, kind) in kinds {
            let message = reason.emit(router, &packet);
            assert_eq!((message.source(), message.destination()), (router, packet.source()));
            let data = message.transport();
            assert_eq!(data[..2], kind);
            assert_eq!(data[8..], packet.bytes()[..]);
            let header = IpHeader {
                source: router,
                destination: packet.source(),
                protocol: message.protocol(),
                ecn: Ecn::NotCapable,
            };
            let sum = match router {
                IpAddr::V4(_) => checksum::header_checksum(&data),
                IpAddr::V6(_) => transport_checksum(&header, &data),
            };
            assert_eq!(sum, 0);
        }
    }
}

/// Zeros after an IPv4 or IPv6 header of `network` bytes and, for TCP, one of `transport` bytes.
fn super_packet(network: usize, transport: usize, payload: usize, offload: Offload) -> Packet {
    let address = |v4: &str, v6: &str| if network == 20 { v4 } else { v6 }.parse().unwrap();
    let header = IpHeader {
        source: address("10.0.0.1", "fd00::1"),
        destination: address("10.0.0.2", "fd00::2"),
        protocol: protocol::TCP,
        ecn: Ecn::NotCapable,
    };
    let packet = Packet::build(&header, transport + payload, |data| {
        // The data offset of TCP; nothing in UDP, whose payload begins here or later.
        data[12] = (transport as u8 / 4) << 4;
    });
    packet.with_offload(Offload { sum_from: network as u16, checksum: true, ..offload })
}

#[test]
fn a_super_packet_counts_as_what_a_cable_carries() {
    let tcp = Offload { segmentation: Segmentation::Tcp, segment: 1448, ..Offload::default() };
    // 1,448 bytes of payload with 32 bytes of TCP header fill an MTU of 1,500.
    for (payload, segments) in [(1, 1), (1448, 1), (1449, 2), (14_480, 10), (14_481, 11)] {
        let packet = super_packet(20, 32, payload, tcp);
        assert_eq!(packet.segments(), segments, "{payload}");
        assert_eq!(packet.bytes_on_wire(), payload as u64 + segments * 52);
        assert_eq!(packet.longest_segment(), payload.min(1448) + 52);
    }
    let udp = Offload { segmentation: Segmentation::Udp, segment: 1200, ..Offload::default() };
    let packet = super_packet(40, 8, 3_000, udp);
    assert_eq!((packet.segments(), packet.bytes_on_wire()), (3, 3_000 + 3 * 48));
    assert_eq!((packet.longest_segment(), packet.segment_header_len()), (1_248, 48));
}

#[test]
fn a_single_packet_counts_as_itself_and_nonsense_does_no_harm() {
    for packet in both_families() {
        let len = packet.len();
        assert_eq!((packet.segments(), packet.bytes_on_wire()), (1, len as u64));
        assert_eq!(packet.longest_segment(), len);
        let tcp = Offload { segmentation: Segmentation::Tcp, segment: 1, ..Offload::default() };
        let absurd = packet.with_offload(Offload { sum_from: u16::MAX, ..tcp });
        assert_eq!((absurd.segments(), absurd.longest_segment()), (1, len));
    }
}

#[test]
fn work_that_is_left_stays_with_the_packet() {
    let offload = Offload { checksum: true, sum_from: 20, sum_at: 16, ..Offload::default() };
    for packet in both_families() {
        let packet = packet.with_offload(offload);
        assert_eq!(packet.clone().offload(), offload);
        assert_eq!(packet.clone().with_flipped_bit(3).offload(), offload);
        assert_eq!(packet.with_congestion_experienced().offload(), offload);
    }
}
