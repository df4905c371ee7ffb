//! What a packet shows to everyone on its way: the names of its messages, as far as they are readable without
//! keys.

use std::collections::BTreeMap;
use std::net::IpAddr;

use trackbed_core::Packet;
use trackbed_core::packet::protocol;

/// Names the packets of one direction, in the order in which they pass. Coalesced messages are joined by `+`:
/// `SYN-ACK`, `ServerHello`, `Initial+Handshake`, `1-RTT`, `COOKIE ECHO+DATA`, `CON POST`.
#[derive(Clone, Debug, Default)]
pub struct ContentReader {
    /// By addresses and ports: the short headers of QUIC and messages of CoAP look alike.
    flows: BTreeMap<(IpAddr, IpAddr, [u8; 4]), Datagrams>,
}

/// What the datagrams of a flow carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Datagrams {
    Quic,
    Dtls,
    Coap,
    /// SCTP over UDP (RFC 6951).
    Sctp,
    Other,
}

impl ContentReader {
    /// The name of the next packet's content.
    pub fn read(&mut self, packet: &Packet) -> String {
        if packet.is_fragment() {
            return "fragment".to_owned();
        }
        let transport = packet.transport();
        let named = match packet.protocol() {
            protocol::TCP => segment(&transport),
            protocol::UDP => transport.get(8..).map(|payload| {
                let ports = [transport[0], transport[1], transport[2], transport[3]];
                self.datagram((packet.source(), packet.destination(), ports), payload)
            }),
            SCTP => Some(joined(chunks(transport.get(12..).unwrap_or_default()))),
            protocol::ICMP | protocol::ICMPV6 => Some("ICMP".to_owned()),
            _ => None,
        };
        named.unwrap_or_else(|| UNKNOWN.to_owned())
    }

    fn datagram(&mut self, flow: (IpAddr, IpAddr, [u8; 4]), payload: &[u8]) -> String {
        if self.flows.len() >= FLOWS_MAX {
            self.flows.clear();
        }
        match *self.flows.entry(flow).or_insert_with(|| Datagrams::of(payload)) {
            Datagrams::Quic => joined(quic_packets(payload)),
            Datagrams::Dtls => joined(dtls_records(payload)),
            Datagrams::Coap => coap_message(payload),
            Datagrams::Sctp => joined(chunks(payload.get(12..).unwrap_or_default())),
            Datagrams::Other => "data".to_owned(),
        }
    }
}

/// IP's number of SCTP (RFC 9260).
const SCTP: u8 = 132;
const UNKNOWN: &str = "unknown";
const FLOWS_MAX: usize = 65_536;

impl Datagrams {
    /// Judged by the first datagram of a flow.
    fn of(first: &[u8]) -> Datagrams {
        match first {
            // A long header, whose second bit may have any value (RFC 9287), and a version that is in use or being
            // negotiated.
            [0x80..=0xff, a, b, c, d, _, ..]
                if [0, QUIC_V1, QUIC_V2].contains(&u32::from_be_bytes([*a, *b, *c, *d])) =>
            {
                Datagrams::Quic
            }
            [20..=26, 0xfe, ..] => Datagrams::Dtls,
            // An association begins with INIT or INIT ACK, which no other chunk is bundled with.
            [_, _, _, _, _, _, _, _, _, _, _, _, 1 | 2, 0, high, low, ..]
                if usize::from(u16::from_be_bytes([*high, *low])).next_multiple_of(4) + 12
                    == first.len() =>
            {
                Datagrams::Sctp
            }
            // Version 1, and a token of at most eight bytes (RFC 7252 section 3).
            [head, code, _, _, ..] if head >> 6 == 1 && head & 15 <= 8 && code >> 5 <= 5 => {
                Datagrams::Coap
            }
            _ => Datagrams::Other,
        }
    }
}

/// Without repetitions.
fn joined(mut names: Vec<&'static str>) -> String {
    names.dedup();
    if names.is_empty() { UNKNOWN.to_owned() } else { names.join("+") }
}

/// A TCP segment: its flags or, if it carries data, its TLS records.
fn segment(segment: &[u8]) -> Option<String> {
    let (header, flags) = (usize::from(segment.get(12)? >> 4) * 4, segment.get(13)?);
    let payload = segment.get(header..)?;
    let is_set = |bit: u8| flags & bit != 0;
    let (fin, syn, rst, ack) = (is_set(1), is_set(2), is_set(4), is_set(16));
    if syn {
        let name = if ack { "SYN-ACK" } else { "SYN" };
        return Some(match multipath(segment.get(20..header)?) {
            Some(option) => format!("{name} {option}"),
            None => name.to_owned(),
        });
    }
    let mut names = match payload {
        [] if rst => vec!["RST"],
        [] if fin => Vec::new(),
        [] => vec!["ACK"],
        payload => tls_records(payload),
    };
    names.extend(fin.then_some("FIN"));
    Some(joined(names))
}

/// The option of Multipath TCP that a SYN carries (RFC 8684 sections 3.1 and 3.2).
fn multipath(mut options: &[u8]) -> Option<&'static str> {
    loop {
        options = match *options {
            [0, ..] | [] => return None,
            [1, ..] => &options[1..],
            [30, _, subtype, ..] => {
                return Some(if subtype >> 4 == 1 { "MP_JOIN" } else { "MP_CAPABLE" });
            }
            [_, length, ..] => options.get(usize::from(length.max(2))..)?,
            [_] => return None,
        }
    }
}

/// The TLS records that begin in this data, up to the first one that is encrypted (RFC 8446 section 5.1).
fn tls_records(mut data: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    while let [kind @ 20..=23, 3, 0..=4, high, low, body @ ..] = data {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        names.push(match kind {
            20 => "ChangeCipherSpec",
            21 => "alert",
            22 if names.contains(&"ChangeCipherSpec") => "Finished",
            22 => handshake(body),
            _ => "TLS data",
        });
        data = body.get(length..).unwrap_or_default();
    }
    if names.is_empty() {
        names.push("data");
    }
    names
}

/// A message of the handshake of TLS or DTLS that is not encrypted.
fn handshake(message: &[u8]) -> &'static str {
    match message.first() {
        Some(1) => "ClientHello",
        // The random value that stands for a HelloRetryRequest (RFC 8446 section 4.1.3), after the headers of
        // TLS or of DTLS.
        Some(2) if [6, 14].iter().any(|at| message.get(*at..at + 4) == Some(&RETRY[..])) => {
            "HelloRetryRequest"
        }
        Some(2) => "ServerHello",
        Some(3) => "HelloVerifyRequest",
        Some(4) => "NewSessionTicket",
        Some(11) => "Certificate",
        Some(12) => "ServerKeyExchange",
        Some(13) => "CertificateRequest",
        Some(14) => "ServerHelloDone",
        Some(15) => "CertificateVerify",
        Some(16) => "ClientKeyExchange",
        _ => "handshake",
    }
}

const RETRY: [u8; 4] = [0xcf, 0x21, 0xad, 0x74];
const QUIC_V1: u32 = 1;
/// RFC 9369, with other numbers for the types of packets.
const QUIC_V2: u32 = 0x6b33_43cf;

/// The coalesced packets of a datagram (RFC 9000 sections 12.2 and 17.2).
fn quic_packets(mut data: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    // Zeros behind a packet are padding; in front they are a short header whose second bit is random too.
    while let Some(&first) = data.first().filter(|first| **first != 0 || names.is_empty()) {
        let Some((name, rest)) = (if first < 0x80 { None } else { long_header(data) }) else {
            names.push("1-RTT");
            break;
        };
        names.push(name);
        data = rest;
    }
    names
}

/// The name of a packet with a long header, and what follows it in the datagram.
fn long_header(data: &[u8]) -> Option<(&'static str, &[u8])> {
    let version = u32::from_be_bytes(data.get(1..5)?.try_into().ok()?);
    let kind = data[0] >> 4 & 3;
    let kind = if version == QUIC_V2 { (kind + 3) % 4 } else { kind };
    let mut rest = data.get(5..)?;
    for _connection_id in 0..2 {
        let (length, after) = rest.split_first()?;
        rest = after.get(usize::from(*length)..)?;
    }
    let name = match kind {
        _ if version == 0 => return Some(("Version Negotiation", &[])),
        0 => "Initial",
        1 => "0-RTT",
        2 => "Handshake",
        _ => return Some(("Retry", &[])),
    };
    if kind == 0 {
        let (token, after) = number(rest)?;
        rest = after.get(token..)?;
    }
    let (length, rest) = number(rest)?;
    Some((name, rest.get(length..).unwrap_or_default()))
}

/// A number of variable length (RFC 9000 section 16), and what follows it.
fn number(data: &[u8]) -> Option<(usize, &[u8])> {
    let first = *data.first()?;
    let length = 1 << (first >> 6);
    let bytes = data.get(1..length)?;
    let start = usize::from(first & 0x3f);
    let value = bytes
        .iter()
        .try_fold(start, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))?;
    Some((value, &data[length..]))
}

/// The records of a datagram of DTLS 1.2 (RFC 6347 section 4.1) or 1.3 (RFC 9147 section 4).
fn dtls_records(mut data: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    while let Some(&first) = data.first() {
        if first & 0xe0 == 0x20 {
            names.push(if first & 3 == 2 { "encrypted handshake" } else { "DTLS data" });
            // Without a length the record is the last one. No connection identifiers are expected.
            let start = if first & 8 == 0 { 2 } else { 3 };
            let length = data.get(start..start + 2).filter(|_| first & 4 != 0);
            let Some(&[high, low]) = length else { break };
            let length = usize::from(u16::from_be_bytes([high, low]));
            data = data.get(start + 2 + length..).unwrap_or_default();
            continue;
        }
        let Some((head, body)) = data.split_at_checked(13) else { break };
        let is_plain = head[3..5] == [0, 0];
        names.push(match first {
            20 => "ChangeCipherSpec",
            21 => "alert",
            22 if is_plain => handshake(body),
            22 => "Finished",
            _ => "DTLS data",
        });
        let length = usize::from(u16::from_be_bytes([head[11], head[12]]));
        data = body.get(length..).unwrap_or_default();
    }
    names
}

/// RFC 7252 sections 3 and 12.1.
fn coap_message(data: &[u8]) -> String {
    let [head, code, ..] = *data else { return "data".to_owned() };
    let kind = ["CON", "NON", "ACK", "RST"][usize::from(head >> 4 & 3)];
    match code {
        0 => kind.to_owned(),
        1 => format!("{kind} GET"),
        2 => format!("{kind} POST"),
        3 => format!("{kind} PUT"),
        4 => format!("{kind} DELETE"),
        code => format!("{kind} {}.{:02}", code >> 5, code & 31),
    }
}

/// RFC 9260 section 3.2.
fn chunks(mut data: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    while let [kind, _, high, low, ..] = *data {
        names.push(match kind {
            0 => "DATA",
            1 => "INIT",
            2 => "INIT ACK",
            3 => "SACK",
            4 => "HEARTBEAT",
            5 => "HEARTBEAT ACK",
            6 => "ABORT",
            7 => "SHUTDOWN",
            8 => "SHUTDOWN ACK",
            9 => "ERROR",
            10 => "COOKIE ECHO",
            11 => "COOKIE ACK",
            14 => "SHUTDOWN COMPLETE",
            64 => "I-DATA",
            192 | 194 => "FORWARD TSN",
            _ => "chunk",
        });
        let length = usize::from(u16::from_be_bytes([high, low])).max(4);
        data = data.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    names
}

#[cfg(test)]
mod tests {
    use trackbed_core::packet::{Ecn, IpHeader, UdpDatagram};

    use super::*;

    fn named(protocol: u8, transports: &[&[u8]]) -> Vec<String> {
        let [source, destination] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let header = IpHeader { source, destination, protocol, ecn: Ecn::NotCapable };
        let mut reader = ContentReader::default();
        let build =
            |bytes: &&[u8]| Packet::build(&header, bytes.len(), |out| out.copy_from_slice(bytes));
        transports.iter().map(|bytes| reader.read(&build(bytes))).collect()
    }

    fn tcp(flags: u8, payload: &[u8]) -> Vec<u8> {
        let mut segment = vec![0; 20];
        (segment[12], segment[13]) = (5 << 4, flags);
        segment.extend_from_slice(payload);
        segment
    }

    fn udp(payloads: &[&[u8]]) -> Vec<String> {
        let [from, to] = ["192.0.2.1:5000", "192.0.2.2:443"].map(|end| end.parse().unwrap());
        let mut reader = ContentReader::default();
        let emit = |payload: &&[u8]| UdpDatagram::emit(from, to, Ecn::NotCapable, payload);
        payloads.iter().map(|payload| reader.read(&emit(payload))).collect()
    }

    #[test]
    fn segments_are_named_by_their_flags_and_records() {
        let hello = [22, 3, 1, 0, 2, 1, 0];
        let flight = [22, 3, 3, 0, 2, 2, 0, 20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 9];
        let mut capable = tcp(2, &[30, 4, 1, 0]);
        capable[12] = 6 << 4;
        let segments = [
            tcp(2, &[]),
            capable,
            tcp(18, &[]),
            tcp(16, &[]),
            tcp(24, &hello),
            tcp(24, &flight),
            tcp(24, b"GET / HTTP/1.1"),
            tcp(17, &[]),
            vec![0; 13],
        ];
        let segments: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
        let expected = "SYN, SYN MP_CAPABLE, SYN-ACK, ACK, ClientHello, ServerHello+ChangeCipherSpec+TLS data, data, \
                        FIN, unknown";
        assert_eq!(named(protocol::TCP, &segments).join(", "), expected);
    }

    #[test]
    fn datagrams_are_named_by_what_their_flow_began_with() {
        // An Initial with a token of one byte and five bytes of payload, and a Handshake packet behind it.
        let initial = [0xc0, 0, 0, 0, 1, 1, 7, 0, 1, 9, 5, 1, 2, 3, 4, 5];
        let handshake = [0xe0, 0, 0, 0, 1, 0, 0, 0x40, 2, 8, 8];
        let both = [&initial[..], &handshake, &[0; 40]].concat();
        let expected = ["Initial+Handshake", "1-RTT", "Handshake+1-RTT"];
        assert_eq!(udp(&[&both, &[0, 1, 2, 3], &[&handshake[..], &[0x41]].concat()]), expected);
        // The same byte, without QUIC's handshake: confirmable, four bytes of token, POST; and 2.04.
        assert_eq!(udp(&[&[0x44, 2, 0, 1], &[0x64, 68, 0, 1]]), ["CON POST", "ACK 2.04"]);
        let record = |kind: u8, epoch: u8, body: &[u8]| {
            let mut record =
                vec![kind, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 0, 0, body.len() as u8];
            record.extend_from_slice(body);
            record
        };
        let flight =
            [record(22, 0, &[16, 0]), record(20, 0, &[1]), record(22, 1, &[0, 0])].concat();
        let unified = [&[0x2e, 0, 1, 0, 2, 9, 9][..], &[0x23, 1, 5]].concat();
        let expected = [
            "ClientHello",
            "ClientKeyExchange+ChangeCipherSpec+Finished",
            "encrypted handshake+DTLS data",
        ];
        assert_eq!(udp(&[&record(22, 0, &[1]), &flight, &unified]), expected);
        assert_eq!(udp(&[&[0]]), ["data"]);
    }

    #[test]
    fn chunks_are_named_and_any_bytes_end() {
        let chunks = [vec![0; 12], vec![10, 0, 0, 5, 1, 0, 0, 0], vec![0, 3, 0, 4]].concat();
        assert_eq!(named(SCTP, &[&chunks]), ["COOKIE ECHO+DATA"]);
        for first in 0..=255 {
            for length in 0..40 {
                let bytes = vec![first; length];
                for protocol in [protocol::TCP, protocol::UDP, SCTP] {
                    assert!(!named(protocol, &[&bytes])[0].is_empty());
                }
                assert_eq!(udp(&[&bytes]).len(), 1);
            }
        }
    }
}
