//! The ICMP messages that the track needs: "packet too big" (path MTU discovery) and "destination
//! unreachable"; others pass unchanged.

use std::net::IpAddr;

use bytes::Bytes;

use super::{Ecn, IpHeader, Packet, PacketError, checksum, protocol, transport_checksum};

/// A router's message that a packet exceeds the MTU of the next link: ICMP type 3 code 4 with the
/// next-hop MTU (RFC 1191 section 4), or ICMPv6 type 2 (RFC 4443 section 3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The MTU of the link in bytes.
    pub mtu: u32,
    /// The beginning of the packet that was too big: IP header and at least 8 bytes after it.
    pub original: Bytes,
}

const HEADER_LEN: usize = 8;

impl TooBig {
    /// Writes the message that `router` sends back to the source of `packet`.
    ///
    /// # Panics
    /// If `router` is of another family than the packet.
    pub fn emit(router: IpAddr, packet: &Packet, mtu: u32) -> Packet {
        let kind = if router.is_ipv4() { (3, 4) } else { (2, 0) };
        emit(router, packet, kind, mtu)
    }

    /// Reads the message in `packet`.
    ///
    /// # Errors
    /// If it is another kind of packet, too short, or its checksum is wrong.
    pub fn parse(packet: &Packet) -> Result<TooBig, PacketError> {
        let data = packet.transport();
        if data.len() < HEADER_LEN {
            return Err(PacketError::Truncated);
        }
        let right = match (packet.protocol(), data[0], data[1]) {
            (protocol::ICMP, 3, 4) => checksum::header_checksum(&data) == 0,
            (protocol::ICMPV6, 2, _) => {
                let header = IpHeader {
                    source: packet.source(),
                    destination: packet.destination(),
                    protocol: protocol::ICMPV6,
                    ecn: Ecn::NotCapable,
                };
                transport_checksum(&header, &data) == 0
            }
            _ => return Err(PacketError::Unsupported),
        };
        if !right {
            return Err(PacketError::BadChecksum);
        }
        let mtu = u32::from_be_bytes([data[4], data[5], data[6], data[7]]);
        // In ICMP only the low 16 bits hold the MTU; the high ones are reserved.
        let mtu = if packet.protocol() == protocol::ICMP { mtu & 0xffff } else { mtu };
        Ok(TooBig { mtu, original: data.slice(HEADER_LEN..) })
    }
}

/// Why a packet does not reach its destination: ICMP type 3 (RFC 792, RFC 1812 section 5.2.7.1),
/// ICMPv6 type 1 (RFC 4443 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// There is no route to the network.
    Network,
    /// There is a route to the network, but the host is unreachable.
    Host,
    /// No socket listens on the port.
    Port,
    /// Administratively prohibited.
    Prohibited,
}

impl Unreachable {
    /// Writes the message that `router` sends back to the source of `packet`.
    ///
    /// # Panics
    /// If `router` is of another family than the packet.
    pub fn emit(self, router: IpAddr, packet: &Packet) -> Packet {
        let (v4, v6) = match self {
            Unreachable::Network => (0, 0),
            Unreachable::Host => (1, 3),
            Unreachable::Port => (3, 4),
            Unreachable::Prohibited => (13, 1),
        };
        let kind = if router.is_ipv4() { (3, v4) } else { (1, v6) };
        emit(router, packet, kind, 0)
    }
}

fn emit(router: IpAddr, packet: &Packet, kind: (u8, u8), word: u32) -> Packet {
    // In both protocols the reply fits the smallest MTU that every link must support.
    let quoted = &packet.bytes()[..packet.len().min(500)];
    let mut message = vec![0; HEADER_LEN + quoted.len()];
    (message[0], message[1]) = kind;
    message[4..HEADER_LEN].copy_from_slice(&word.to_be_bytes());
    message[HEADER_LEN..].copy_from_slice(quoted);
    icmp_packet(router, packet.source(), &message)
}

/// A packet with an ICMP or ICMPv6 message, depending on the addresses: `message` from its type on,
/// with its checksum (RFC 792, RFC 4443 section 2.3) still to be filled in.
///
/// # Panics
/// If the two addresses differ in family, if the message is shorter than four bytes, or if the
/// packet would exceed 65,535 bytes.
pub fn icmp_packet(source: IpAddr, destination: IpAddr, message: &[u8]) -> Packet {
    let v4 = source.is_ipv4();
    let protocol = if v4 { protocol::ICMP } else { protocol::ICMPV6 };
    let header = IpHeader { source, destination, protocol, ecn: Ecn::NotCapable };
    Packet::build(&header, message.len(), |out| {
        out.copy_from_slice(message);
        out[2..4].fill(0);
        let sum = match v4 {
            true => checksum::header_checksum(out),
            false => transport_checksum(&header, out),
        };
        out[2..4].copy_from_slice(&sum.to_be_bytes());
    })
}
