//! The Internet checksum (RFC 1071).

use std::net::IpAddr;

use etherparse::checksum::Sum16BitWords;

use super::IpHeader;

/// The checksum over an IP header whose checksum field is zero; 0 if the field is filled in and
/// correct.
pub(super) fn header_checksum(header: &[u8]) -> u16 {
    Sum16BitWords::new().add_slice(header).ones_complement().to_be()
}

pub(super) fn write_ipv4_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let sum = header_checksum(header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// The checksum of a TCP, UDP or ICMPv6 message with its pseudo header (RFC 9293 section 3.1, RFC
/// 8200 section 8.1). Zero if the message's own checksum field is filled in and correct.
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

/// The Internet checksum of data that comes in parts, of even or odd length.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChecksumOfParts {
    /// In the byte order of the memory.
    sum: u32,
    /// Whether the number of bytes so far is odd.
    odd: bool,
}

impl ChecksumOfParts {
    /// Appends a part.
    pub fn add(&mut self, part: &[u8]) {
        let sum = sum_of_words(part);
        // RFC 1071 section 2 (B): the sum of a part that begins in the middle of a word has its
        // bytes swapped.
        self.sum += u32::from(if self.odd { sum.swap_bytes() } else { sum });
        self.sum = (self.sum & 0xffff) + (self.sum >> 16);
        self.odd ^= part.len() % 2 == 1;
    }

    /// The checksum of all parts, in the byte order of the processor.
    pub fn finish(self) -> u16 {
        u16::from_be(!(self.sum as u16))
    }
}

/// The one's complement sum of the 16-bit words of `data` (RFC 1071), in the byte order of the
/// memory, a missing last byte being zero.
///
/// Every packet is summed twice, when it is built and when it is read. So this sums 32-bit words in
/// independent lanes (RFC 1071 section 2 C), which compilers turn into vector code.
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
        sum += u64::from(u16::from_ne_bytes([word[0], word.get(1).copied().unwrap_or(0)]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_any_length_sum_up_to_the_whole() {
        // The example of RFC 1071 section 3: the sum of these bytes is ddf2.
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        for cut in 0..=data.len() {
            for second in cut..=data.len() {
                let mut sum = ChecksumOfParts::default();
                [&data[..cut], &data[cut..second], &data[second..]]
                    .into_iter()
                    .for_each(|part| sum.add(part));
                assert_eq!(sum.finish(), !0xddf2);
            }
        }
    }
}
