//! UDP datagrams (RFC 768).

use std::net::SocketAddr;

use bytes::Bytes;

use super::{Ecn, IpHeader, Packet, PacketError, protocol, transport_checksum};

const HEADER_LEN: usize = 8;

/// A UDP datagram, from or for a [`Packet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpDatagram {
    /// The sender's address and port.
    pub source: SocketAddr,
    /// The receiver's address and port.
    pub destination: SocketAddr,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The payload.
    pub payload: Bytes,
}

impl UdpDatagram {
    /// Writes the datagram as an IP packet.
    ///
    /// # Panics
    /// If the addresses differ in family, or the packet would exceed 65,535 bytes.
    pub fn emit(source: SocketAddr, destination: SocketAddr, ecn: Ecn, payload: &[u8]) -> Packet {
        let header = IpHeader {
            source: source.ip(),
            destination: destination.ip(),
            protocol: protocol::UDP,
            ecn,
        };
        let length = HEADER_LEN + payload.len();
        Packet::build(&header, length, |out| {
            out[0..2].copy_from_slice(&source.port().to_be_bytes());
            out[2..4].copy_from_slice(&destination.port().to_be_bytes());
            out[4..6].copy_from_slice(&(length as u16).to_be_bytes());
            out[HEADER_LEN..].copy_from_slice(payload);
            // RFC 768: a checksum of zero is sent as all ones.
            let sum = match transport_checksum(&header, out) {
                0 => u16::MAX,
                sum => sum,
            };
            out[6..8].copy_from_slice(&sum.to_be_bytes());
        })
    }

    /// Reads the datagram in `packet`, sharing its memory.
    ///
    /// # Errors
    /// If the packet is not UDP, is too short, or its checksum is wrong.
    pub fn parse(packet: &Packet) -> Result<UdpDatagram, PacketError> {
        if packet.protocol() != protocol::UDP {
            return Err(PacketError::Unsupported);
        }
        let data = packet.transport();
        if data.len() < HEADER_LEN {
            return Err(PacketError::Truncated);
        }
        let word = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        let length = usize::from(word(4));
        if length < HEADER_LEN || length > data.len() {
            return Err(PacketError::Truncated);
        }
        let (source, destination) = (packet.source(), packet.destination());
        let header = IpHeader { source, destination, protocol: protocol::UDP, ecn: packet.ecn() };
        let unchecked = word(6) == 0 && source.is_ipv4();
        if !unchecked && transport_checksum(&header, &data[..length]) != 0 {
            return Err(PacketError::BadChecksum);
        }
        Ok(UdpDatagram {
            source: SocketAddr::new(source, word(0)),
            destination: SocketAddr::new(destination, word(2)),
            ecn: packet.ecn(),
            payload: data.slice(HEADER_LEN..length),
        })
    }
}
