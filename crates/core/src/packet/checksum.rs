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
        .add_2bytes(sum_of_words(transport).to_ne_bytes())
        .ones_complement()
        .to_be()
}

/// The one's complement sum of the 16-bit words of `data` (RFC 1071), in the byte order of the
/// memory, a missing last byte being zero.
///
/// Every packet is summed up twice, when it is built and when it is read. So this sums 32-bit
/// words in independent lanes (RFC 1071 section 2 C), which compilers turn into vector code.
fn sum_of_words(data: &[u8]) -> u16 {
    let mut lanes = [0_u64; 8];
    let mut blocks = data.chunks_exact(32);
    for block in &mut blocks {
        for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(4)) {
            *lane += u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        }
    }
    let mut sum = lanes.iter().sum::<u64>();
    for word in blocks.remainder().chunks(2) {
        let word = [word[0], word.get(1).copied().unwrap_or(0)];
        sum += u64::from(u16::from_ne_bytes(word));
    }
    while sum > u64::from(u16::MAX) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}
