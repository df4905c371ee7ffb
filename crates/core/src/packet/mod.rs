//! IP packets as sent on a link: real IPv4 and IPv6 bytes.

mod checksum;
mod fragments;
mod icmp;
mod offload;
mod udp;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::{Bytes, BytesMut};

pub use checksum::{ChecksumOfParts, transport_checksum};
pub use fragments::Reassembly;
pub use icmp::{TooBig, Unreachable, icmp_packet};
pub use offload::{Offload, Segmentation};
pub use udp::UdpDatagram;

/// IP protocol numbers (IANA) that occur on the track.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// SCTP.
    pub const SCTP: u8 = 132;
}

/// The Explicit Congestion Notification field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not support ECN.
    #[default]
    NotCapable = 0b00,
    /// ECN-capable transport, codepoint ECT(1).
    Ect1 = 0b01,
    /// ECN-capable transport, codepoint ECT(0).
    Ect0 = 0b10,
    /// A queue on the path was congested.
    CongestionExperienced = 0b11,
}

impl Ecn {
    /// The codepoint in the two low bits of `bits`.
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::CongestionExperienced,
        }
    }
}

/// What is wrong with bytes that should be an IP packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// There are fewer bytes than the header requires or its length field states.
    #[error("the packet is shorter than its headers say")]
    Truncated,
    /// Neither IPv4 nor IPv6, or an impossible header length.
    #[error("the packet has no valid IP header")]
    BadHeader,
    /// A fragment or an IPv6 extension header, which no endpoint on the track produces.
    #[error("fragments and IPv6 extension headers are not supported")]
    Unsupported,
    /// The checksum of the header or of the transport does not match the bytes.
    #[error("a checksum of the packet is wrong")]
    BadChecksum,
}

/// The fields of an IP header that a sender chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// The sender's address.
    pub source: IpAddr,
    /// The receiver's address; of the same family as `source`.
    pub destination: IpAddr,
    /// The transport protocol, see [`protocol`].
    pub protocol: u8,
    /// The ECN field.
    pub ecn: Ecn,
}

/// One IP packet. Cheap to clone: the bytes are shared.
#[derive(Clone, PartialEq, Eq)]
pub struct Packet {
    data: Bytes,
    offload: Offload,
}

impl Packet {
    /// Builds a packet with room for `transport_len` bytes after the IP header and lets `fill`
    /// write them (they are zero before). "Don't fragment" is always set; [`Packet::fragments`]
    /// clears it.
    ///
    /// # Panics
    /// If the two addresses differ in family, or the packet would exceed 65,535 bytes.
    pub fn build(header: &IpHeader, transport_len: usize, fill: impl FnOnce(&mut [u8])) -> Packet {
        let header_len = ip_header_len(header.source);
        let total = header_len + transport_len;
        assert!(total <= usize::from(u16::MAX), "an IP packet holds at most 65,535 bytes");
        let mut data = BytesMut::zeroed(total);
        match (header.source, header.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                write_ipv4(&mut data, header, source, destination);
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                write_ipv6(&mut data, header, source, destination);
            }
            _ => panic!("both addresses of a packet are of one family"),
        }
        fill(&mut data[header_len..]);
        Packet { data: data.freeze(), offload: Offload::default() }
    }

    /// Takes bytes from outside and checks the IP header.
    ///
    /// # Errors
    /// If the header is not a complete, unfragmented IPv4 or IPv6 header, if its length fields do
    /// not match `data`, or if the IPv4 header checksum is wrong. The transport is not checked.
    pub fn parse(data: Bytes) -> Result<Packet, PacketError> {
        let (header, length) = lengths(&data)?;
        if data.len() != length {
            return Err(PacketError::Truncated);
        }
        match data[0] >> 4 {
            4 => check_ipv4(&data[..header])?,
            _ if [protocol::TCP, protocol::UDP, protocol::ICMPV6].contains(&data[6]) => {}
            _ => return Err(PacketError::Unsupported),
        }
        Ok(Packet { data, offload: Offload::default() })
    }

    /// Takes bytes from outside that are only to be forwarded: fragments, extension headers and any
    /// transport are accepted, and bytes appended by a network card are cut off.
    ///
    /// # Errors
    /// If there is no complete IPv4 or IPv6 header, or fewer bytes than the length in it.
    pub fn carry(mut data: Bytes) -> Result<Packet, PacketError> {
        let (_, length) = lengths(&data)?;
        if data.len() < length {
            return Err(PacketError::Truncated);
        }
        data.truncate(length);
        Ok(Packet { data, offload: Offload::default() })
    }

    /// The same packet, with offloaded work left to do. Only the emulated substrate has such
    /// packets; in virtual time all are complete.
    #[must_use]
    pub fn with_offload(self, offload: Offload) -> Packet {
        Packet { offload, ..self }
    }

    /// The work left to do before the packet can be sent on a cable.
    pub fn offload(&self) -> Offload {
        self.offload
    }

    /// The number of packets on a cable for this one.
    pub fn segments(&self) -> u64 {
        match self.offload.segment {
            0 => 1,
            _ => self.offload.segments(&self.data),
        }
    }

    /// The length of the headers in front of the payload of each segment; up to the transport
    /// header if it is not to be cut.
    pub fn segment_header_len(&self) -> usize {
        self.offload.header_len(&self.data)
    }

    /// The bytes on a cable for this packet, the IP headers of all segments included.
    pub fn bytes_on_wire(&self) -> u64 {
        let headers = (self.segments() - 1) * self.offload.header_len(&self.data) as u64;
        self.len() as u64 + headers
    }

    /// The length in bytes of the longest packet on a cable for this one.
    pub fn longest_segment(&self) -> usize {
        match usize::from(self.offload.segment) {
            0 => self.len(),
            segment => self.len().min(self.offload.header_len(&self.data) + segment),
        }
    }

    /// All bytes, from the IP header on.
    pub fn bytes(&self) -> &Bytes {
        &self.data
    }

    /// The number of bytes, IP header included: what a link charges for.
    #[allow(clippy::len_without_is_empty, reason = "a packet has a header, so it is never empty")]
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// The source address.
    pub fn source(&self) -> IpAddr {
        if self.is_ipv4() { self.ipv4_at(12).into() } else { self.ipv6_at(8).into() }
    }

    /// The destination address.
    pub fn destination(&self) -> IpAddr {
        if self.is_ipv4() { self.ipv4_at(16).into() } else { self.ipv6_at(24).into() }
    }

    /// The number of the transport protocol, see [`protocol`].
    pub fn protocol(&self) -> u8 {
        if self.is_ipv4() { self.data[9] } else { self.data[6] }
    }

    /// The ECN field.
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits(if self.is_ipv4() { self.data[1] } else { self.data[1] >> 4 })
    }

    /// The bytes after the IP header, sharing the packet's memory.
    pub fn transport(&self) -> Bytes {
        self.data.slice(ip_header_len_of(&self.data)..)
    }

    /// The same packet, marked "congestion experienced" by a queue (RFC 3168 section 5).
    pub fn with_congestion_experienced(self) -> Packet {
        self.edit(|data| {
            if data[0] >> 4 == 4 {
                data[1] |= 0b11;
                let header_len = ip_header_len_of(data);
                checksum::write_ipv4_checksum(&mut data[..header_len]);
            } else {
                data[1] |= 0b11 << 4;
            }
        })
    }

    /// The same packet with one bit flipped, counted from the first bit after the IP header, modulo
    /// the length: corruption that a link's own check missed. The checksums stay unchanged, so the
    /// receiver can detect it. A packet without transport bytes stays unchanged.
    pub fn with_flipped_bit(self, bit: u64) -> Packet {
        let start = ip_header_len_of(&self.data);
        let bits = (self.data.len() - start) as u64 * 8;
        if bits == 0 {
            return self;
        }
        let bit = (bit % bits) as usize;
        self.edit(|data| data[start + bit / 8] ^= 0x80 >> (bit % 8))
    }

    fn edit(self, change: impl FnOnce(&mut [u8])) -> Packet {
        let mut data = self.data.try_into_mut().unwrap_or_else(|it| BytesMut::from(&it[..]));
        change(&mut data);
        Packet { data: data.freeze(), offload: self.offload }
    }

    fn is_ipv4(&self) -> bool {
        self.data[0] >> 4 == 4
    }

    fn ipv4_at(&self, at: usize) -> Ipv4Addr {
        let octets: [u8; 4] = self.data[at..at + 4].try_into().expect("checked at construction");
        octets.into()
    }

    fn ipv6_at(&self, at: usize) -> Ipv6Addr {
        let octets: [u8; 16] = self.data[at..at + 16].try_into().expect("checked at construction");
        octets.into()
    }
}

/// Addresses, protocol and length; never the payload.
impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Packet({} > {}, protocol {}, {} B)",
            self.source(),
            self.destination(),
            self.protocol(),
            self.len()
        )
    }
}

/// The size of the IP header that [`Packet::build`] writes for an address of this family.
pub const fn ip_header_len(address: IpAddr) -> usize {
    match address {
        IpAddr::V4(_) => 20,
        IpAddr::V6(_) => 40,
    }
}

fn ip_header_len_of(data: &[u8]) -> usize {
    if data[0] >> 4 == 4 { usize::from(data[0] & 0xf) * 4 } else { 40 }
}

const HOP_LIMIT: u8 = 64;

/// RFC 791 section 3.1; the identification is zero, as RFC 6864 section 4.1 allows for atomic
/// datagrams.
fn write_ipv4(data: &mut [u8], header: &IpHeader, source: Ipv4Addr, destination: Ipv4Addr) {
    let total = data.len() as u16;
    data[0] = 0x45;
    data[1] = header.ecn as u8;
    data[2..4].copy_from_slice(&total.to_be_bytes());
    data[6] = 0x40;
    data[8] = HOP_LIMIT;
    data[9] = header.protocol;
    data[12..16].copy_from_slice(&source.octets());
    data[16..20].copy_from_slice(&destination.octets());
    checksum::write_ipv4_checksum(&mut data[..20]);
}

/// RFC 8200 section 3.
fn write_ipv6(data: &mut [u8], header: &IpHeader, source: Ipv6Addr, destination: Ipv6Addr) {
    let payload = (data.len() - 40) as u16;
    data[0] = 0x60;
    data[1] = (header.ecn as u8) << 4;
    data[4..6].copy_from_slice(&payload.to_be_bytes());
    data[6] = header.protocol;
    data[7] = HOP_LIMIT;
    data[8..24].copy_from_slice(&source.octets());
    data[24..40].copy_from_slice(&destination.octets());
}

/// The lengths of the IP header and of the whole packet, as the header states them.
fn lengths(data: &[u8]) -> Result<(usize, usize), PacketError> {
    let length_at = |at: usize| usize::from(u16::from_be_bytes([data[at], data[at + 1]]));
    let (header, length) = match data.first().ok_or(PacketError::Truncated)? >> 4 {
        4 if data.len() >= 20 => (usize::from(data[0] & 0xf) * 4, length_at(2)),
        6 if data.len() >= 40 => (40, 40 + length_at(4)),
        4 | 6 => return Err(PacketError::Truncated),
        _ => return Err(PacketError::BadHeader),
    };
    if header < 20 || length < header { Err(PacketError::BadHeader) } else { Ok((header, length)) }
}

fn check_ipv4(header: &[u8]) -> Result<(), PacketError> {
    let more_fragments_or_offset = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
    if more_fragments_or_offset != 0 {
        return Err(PacketError::Unsupported);
    }
    match checksum::header_checksum(header) {
        0 => Ok(()),
        _ => Err(PacketError::BadChecksum),
    }
}

#[cfg(test)]
mod tests;
