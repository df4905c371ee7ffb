//! TCP segments in IP packets (RFC 9293 section 3.1).

mod multipath;
mod multipath_wire;
mod options;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use bytes::{Buf, Bytes};
use trackbed_core::Packet;
use trackbed_core::packet::{
    Ecn, IpHeader, PacketError, TooBig, ip_header_len, protocol, transport_checksum,
};

use crate::sequence::Seq;

pub use multipath::{
    AddAddress, Capable, CapableKeys, DataNumber, Dss, Join, Mapping, MultipathOptions, ResetReason,
};
pub(crate) use options::MAX_OPTIONS_LEN;
pub use options::{Options, SackBlock, SackBlocks, Timestamps};

pub(crate) const HEADER_LEN: usize = 20;

/// The control bits of a segment (RFC 9293 section 3.1, RFC 3168 section 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment field counts.
    pub const ACK: Flags = Flags(0x10);
    /// ECN echo.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);

    /// True if every bit of `other` is set in `self`.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits of both.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One TCP segment with its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The sender's address and port.
    pub source: SocketAddr,
    /// The receiver's address and port.
    pub destination: SocketAddr,
    /// The sequence number of the first byte, or of SYN.
    pub sequence: Seq,
    /// The next sequence number that the sender expects, if [`Flags::ACK`] is set.
    pub acknowledgment: Seq,
    /// The control bits.
    pub flags: Flags,
    /// The receive window as it stands in the header, before scaling.
    pub window: u16,
    /// The options.
    pub options: Options,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The data.
    pub payload: Bytes,
}

impl Segment {
    /// A segment without data, options and control bits, all of whose numbers are zero.
    pub fn empty(source: SocketAddr, destination: SocketAddr) -> Segment {
        Segment {
            source,
            destination,
            sequence: Seq(0),
            acknowledgment: Seq(0),
            flags: Flags::default(),
            window: 0,
            options: Options::default(),
            ecn: Ecn::NotCapable,
            payload: Bytes::new(),
        }
    }

    /// Reads the segment in `packet`, sharing its memory.
    ///
    /// # Errors
    /// If the packet is not TCP, is shorter than its header says, or its checksum is wrong.
    pub fn parse(packet: &Packet) -> Result<Segment, PacketError> {
        if packet.protocol() != protocol::TCP {
            return Err(PacketError::Unsupported);
        }
        let data = packet.transport();
        if data.len() < HEADER_LEN {
            return Err(PacketError::Truncated);
        }
        let header_len = usize::from(data[12] >> 4) * 4;
        if header_len < HEADER_LEN {
            return Err(PacketError::BadHeader);
        }
        if header_len > data.len() {
            return Err(PacketError::Truncated);
        }
        let (source, destination, ecn) = (packet.source(), packet.destination(), packet.ecn());
        let header = IpHeader { source, destination, protocol: protocol::TCP, ecn };
        // RFC 9293 section 3.1: the receiver MUST check the checksum (MUST-3).
        if transport_checksum(&header, &data) != 0 {
            return Err(PacketError::BadChecksum);
        }
        let half = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        let word = |at: usize| (u32::from(half(at)) << 16) | u32::from(half(at + 2));
        Ok(Segment {
            source: SocketAddr::new(source, half(0)),
            destination: SocketAddr::new(destination, half(2)),
            sequence: Seq(word(4)),
            acknowledgment: Seq(word(8)),
            flags: Flags(data[13]),
            window: half(14),
            options: Options::parse(&data[HEADER_LEN..header_len]),
            ecn,
            payload: data.slice(header_len..),
        })
    }

    /// Writes the segment as an IP packet.
    ///
    /// # Panics
    /// If the addresses differ in family, the packet would exceed 65,535 bytes, or the options 40.
    pub fn emit(&self) -> Packet {
        let header = IpHeader {
            source: self.source.ip(),
            destination: self.destination.ip(),
            protocol: protocol::TCP,
            ecn: self.ecn,
        };
        let header_len = HEADER_LEN + self.options.wire_len();
        Packet::build(&header, header_len + self.payload.len(), |out| {
            out[0..2].copy_from_slice(&self.source.port().to_be_bytes());
            out[2..4].copy_from_slice(&self.destination.port().to_be_bytes());
            out[4..8].copy_from_slice(&self.sequence.0.to_be_bytes());
            out[8..12].copy_from_slice(&self.acknowledgment.0.to_be_bytes());
            out[12] = (header_len as u8 / 4) << 4;
            out[13] = self.flags.0;
            out[14..16].copy_from_slice(&self.window.to_be_bytes());
            self.options.write(&mut out[HEADER_LEN..header_len]);
            out[header_len..].copy_from_slice(&self.payload);
            let sum = transport_checksum(&header, out);
            out[16..18].copy_from_slice(&sum.to_be_bytes());
        })
    }

    /// True if every bit of `flags` is set.
    pub fn has(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }

    /// The room that the segment takes in the sequence space: its data, and one each for SYN and
    /// FIN (RFC 9293 section 3.4).
    pub fn sequence_len(&self) -> u32 {
        let control = u32::from(self.has(Flags::SYN)) + u32::from(self.has(Flags::FIN));
        self.payload.len() as u32 + control
    }

    /// The sequence number after the segment.
    pub fn end(&self) -> Seq {
        self.sequence + self.sequence_len()
    }
}

/// The reset for a segment that matches no connection (RFC 9293 section 3.10.7.1), or `None` if the
/// segment is itself a reset.
pub fn reset_reply(segment: &Segment) -> Option<Packet> {
    if segment.has(Flags::RST) {
        return None;
    }
    let (sequence, acknowledgment, flags) = if segment.has(Flags::ACK) {
        (segment.acknowledgment, Seq(0), Flags::RST)
    } else {
        (Seq(0), segment.end(), Flags::RST.with(Flags::ACK))
    };
    let reset = Segment::empty(segment.destination, segment.source);
    Some(Segment { sequence, acknowledgment, flags, ..reset }.emit())
}

/// The segment quoted in an ICMP "packet too big": enough to find the connection and to call
/// [`Connection::handle_too_big`](crate::Connection::handle_too_big).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotedSegment {
    /// The sender of the segment that was too big.
    pub source: SocketAddr,
    /// Its receiver.
    pub destination: SocketAddr,
    /// Its sequence number.
    pub sequence: Seq,
}

impl QuotedSegment {
    /// Reads the beginning of the segment that `message` quotes; `None` if that is not TCP.
    pub fn parse(message: &TooBig) -> Option<QuotedSegment> {
        let original = &message.original;
        let version = original.first()? >> 4;
        let (mut addresses, transport, header_len) = match version {
            4 => (original.get(12..20)?, original[9], usize::from(original[0] & 0xf) * 4),
            6 => (original.get(8..40)?, original[6], ip_header_len([0; 16].into())),
            _ => return None,
        };
        if transport != protocol::TCP {
            return None;
        }
        let mut address = || -> IpAddr {
            if version == 4 {
                Ipv4Addr::from_bits(addresses.get_u32()).into()
            } else {
                Ipv6Addr::from_bits(addresses.get_u128()).into()
            }
        };
        let (source, destination) = (address(), address());
        let mut tcp = original.get(header_len..header_len + 8)?;
        Some(QuotedSegment {
            source: SocketAddr::new(source, tcp.get_u16()),
            destination: SocketAddr::new(destination, tcp.get_u16()),
            sequence: Seq(tcp.get_u32()),
        })
    }
}
