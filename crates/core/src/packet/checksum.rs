//! The Internet checksum (RFC 1071).

use std::net::IpAddr;

use etherparse::checksum::Sum16BitWords;

use super::IpHeader;

/// The checksum over an IP header whose checksum field is zero; 0 when the field is in place and
/// right.
pub(super) fn header_checksum(header: &[u8]) -> u16 {
    Sum16BitWords::new().add_slice(header).ones_complement().to_be()
}

/// The checksum of a TCP, UDP or ICMPv6 message with its pseudo header (RFC 9293 section 3.1,
/// RFC 8200 section 8.1). Zero when the message's own checksum field is in place and right.
pub fn transport_checksum(header: &IpHeader, transport: &[u8]) -> u16 {
    let length = transport.len() as u32;
    let sum = match (header.source, header.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            Sum16BitWords::new().add_4bytes(source.octets()).add_4bytes(destination.octets())
        }
        (source, destination) => {
            Sum16BitWords::new().add_16bytes(octets(source)).add_16bytes(octets(destination))
        }
    };
    sum.add_2bytes([0, header.protocol])
        .add_4bytes(length.to_be_bytes())
        .add_slice(transport)
        .ones_complement()
        .to_be()
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}
