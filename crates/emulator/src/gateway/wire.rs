//! Parses packets for the gateway, and builds the answers that it sends itself.

use std::net::{IpAddr, SocketAddr};

use trackbed_core::Packet;
use trackbed_core::packet::{Ecn, IpHeader, protocol, transport_checksum};

/// What a packet starts, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A TCP connection: SYN without ACK.
    Connection {
        from: SocketAddr,
        to: SocketAddr,
    },
    /// A flow of datagrams, possibly a known one.
    Datagram {
        from: SocketAddr,
        to: SocketAddr,
    },
    Echo,
}

/// Examines one packet. Later fragments start nothing: they belong to the first.
pub(super) fn opening(packet: &Packet) -> Option<Opening> {
    let (protocol, transport) = transport(packet.bytes())?;
    let ends = || {
        let port =
            |at: usize| Some(u16::from_be_bytes([*transport.get(at)?, *transport.get(at + 1)?]));
        let from = SocketAddr::new(packet.source(), port(0)?);
        Some((from, SocketAddr::new(packet.destination(), port(2)?)))
    };
    match protocol {
        protocol::TCP if transport.get(TCP_FLAGS)? & (SYN | ACK | RST) == SYN => {
            ends().map(|(from, to)| Opening::Connection { from, to })
        }
        protocol::UDP => ends().map(|(from, to)| Opening::Datagram { from, to }),
        protocol::ICMP if *transport.first()? == ICMP_ECHO => Some(Opening::Echo),
        protocol::ICMPV6 if *transport.first()? == ICMPV6_ECHO => Some(Opening::Echo),
        _ => None,
    }
}

/// The transport protocol and the bytes after the IP header, in a complete packet or a first
/// fragment.
fn transport(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let offset = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    if bytes.first()? >> 4 == 4 {
        let header = usize::from(bytes[0] & 0xf) * 4;
        let is_first = offset(6)? & 0x1fff == 0;
        return is_first.then_some((*bytes.get(9)?, bytes.get(header..)?));
    }
    match *bytes.get(6)? {
        // RFC 8200 section 4.5.
        FRAGMENT => {
            let is_first = offset(42)? & 0xfff8 == 0;
            is_first.then_some((*bytes.get(40)?, bytes.get(48..)?))
        }
        protocol => Some((protocol, bytes.get(40..)?)),
    }
}

/// The ICMP message of a ping (RFC 792, RFC 4443 section 4.1), if the packet contains all of it.
pub(super) fn echo_request(packet: &Packet) -> Option<&[u8]> {
    let bytes = packet.bytes();
    let (protocol, message) = transport(bytes)?;
    let is_fragment = match packet.source() {
        IpAddr::V4(_) => u16::from_be_bytes([bytes[6], bytes[7]]) & 0x3fff != 0,
        IpAddr::V6(_) => bytes[6] != protocol,
    };
    (!is_fragment && message.len() >= ECHO_HEADER).then_some(message)
}

/// A host's answer to a SYN for a port without a listener (RFC 9293 section 3.10.7.1).
pub(super) fn reset(syn: &Packet, from: SocketAddr, to: SocketAddr) -> Option<Packet> {
    let (_, segment) = transport(syn.bytes())?;
    let sequence = u32::from_be_bytes(segment.get(4..8)?.try_into().ok()?);
    let header = usize::from(segment.get(12)? >> 4) * 4;
    let data = u32::try_from(segment.len().checked_sub(header)?).ok()?;
    let acknowledged = sequence.wrapping_add(data).wrapping_add(1);
    let header = IpHeader {
        source: to.ip(),
        destination: from.ip(),
        protocol: protocol::TCP,
        ecn: Ecn::NotCapable,
    };
    Some(Packet::build(&header, TCP_HEADER, |out| {
        out[..2].copy_from_slice(&to.port().to_be_bytes());
        out[2..4].copy_from_slice(&from.port().to_be_bytes());
        out[8..12].copy_from_slice(&acknowledged.to_be_bytes());
        out[12] = (TCP_HEADER as u8 / 4) << 4;
        out[TCP_FLAGS] = RST | ACK;
        let sum = transport_checksum(&header, out);
        out[16..18].copy_from_slice(&sum.to_be_bytes());
    }))
}

/// Type, code, checksum, identifier and sequence number.
pub(super) const ECHO_HEADER: usize = 8;

const TCP_HEADER: usize = 20;
const TCP_FLAGS: usize = 13;
const SYN: u8 = 0b0000_0010;
const RST: u8 = 0b0000_0100;
const ACK: u8 = 0b0001_0000;
const ICMP_ECHO: u8 = 8;
const ICMPV6_ECHO: u8 = 128;
const FRAGMENT: u8 = 44;

#[cfg(test)]
mod tests {
    use trackbed_core::packet::UdpDatagram;

    use super::*;

    fn syn(flags: u8) -> Packet {
        let header = IpHeader {
            source: "100.64.0.2".parse().unwrap(),
            destination: "192.0.2.1".parse().unwrap(),
            protocol: protocol::TCP,
            ecn: Ecn::NotCapable,
        };
        Packet::build(&header, 24, |out| {
            out[..4].copy_from_slice(&[0x10, 0, 0, 80]);
            out[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
            out[12] = 6 << 4;
            out[13] = flags;
        })
    }

    #[test]
    fn only_a_syn_opens_a_connection() {
        let (from, to) = ("100.64.0.2:4096".parse().unwrap(), "192.0.2.1:80".parse().unwrap());
        assert_eq!(opening(&syn(SYN)), Some(Opening::Connection { from, to }));
        // Also for one that asks for ECN (RFC 3168 section 6.1.1).
        assert_eq!(opening(&syn(0b1100_0010)), Some(Opening::Connection { from, to }));
        for other in [SYN | ACK, ACK, RST, ACK | 1] {
            assert_eq!(opening(&syn(other)), None);
        }
    }

    #[test]
    fn packets_that_are_cut_harm_nothing() {
        let (from, to) = ("100.64.0.2:5".parse().unwrap(), "192.0.2.1:443".parse().unwrap());
        for packet in [syn(SYN), UdpDatagram::emit(from, to, Ecn::NotCapable, &[7; 64])] {
            for len in 20..packet.len() {
                let mut bytes = packet.bytes()[..len].to_vec();
                bytes[3] = len as u8;
                let cut = Packet::carry(bytes.into()).unwrap();
                let _ = (opening(&cut), echo_request(&cut), reset(&cut, from, to));
            }
        }
    }

    #[test]
    fn later_fragments_open_nothing() {
        let (from, to) = ("[fd74::2]:5".parse().unwrap(), "[2001:db8::1]:443".parse().unwrap());
        let whole = UdpDatagram::emit(from, to, Ecn::NotCapable, &[7; 64]);
        assert_eq!(opening(&whole), Some(Opening::Datagram { from, to }));
        for (offset, expected) in [(0, Some(Opening::Datagram { from, to })), (64, None)] {
            let mut bytes = whole.bytes().to_vec();
            bytes[6] = FRAGMENT;
            bytes.splice(40..40, [protocol::UDP, 0, 0, offset | 1, 0, 0, 0, 1]);
            let length = (bytes.len() - 40) as u16;
            bytes[4..6].copy_from_slice(&length.to_be_bytes());
            assert_eq!(opening(&Packet::carry(bytes.into()).unwrap()), expected);
        }
    }

    #[test]
    fn a_reset_acknowledges_the_syn() {
        let (from, to) = ("100.64.0.2:4096".parse().unwrap(), "192.0.2.1:80".parse().unwrap());
        let reset = reset(&syn(SYN), from, to).unwrap();
        let segment = reset.transport();
        // The sequence number wraps: RFC 9293 section 3.4.
        assert_eq!(segment[8..12], [0; 4]);
        assert_eq!(segment[13], RST | ACK);
        assert_eq!((reset.source(), reset.destination()), (to.ip(), from.ip()));
    }
}
