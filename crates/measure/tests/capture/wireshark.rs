//! Captures as Wireshark reads them, if it is installed.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use trackbed_core::packet::{Ecn, IpHeader, protocol, transport_checksum};
use trackbed_core::{Packet, Time};
use trackbed_measure::keylog::KeyLog;
use trackbed_measure::pcapng::PcapngWriter;

use crate::programs::wireshark;
use crate::{CLIENT, SERVER, bytes, packet, scratch_file, section, tap_point};

const SESSION: &str = include_str!("../data/tls13-session.txt");

#[test]
fn capinfos_agrees_about_the_whole_file() {
    let path = scratch_file("capinfos.pcapng");
    let mut writer = PcapngWriter::new(fs::File::create(&path).unwrap(), &section()).unwrap();
    let keys = KeyLog::default();
    writer.follow_keys(&keys);
    keys.log("CLIENT_RANDOM", &[1; 32], &[2; 48]);
    let up = writer.add_tap(&tap_point("uplink", 0)).unwrap();
    let down = writer.add_tap(&tap_point("downlink", 64)).unwrap();
    writer.packet(Time::ZERO, up, &packet(1000), "").unwrap();
    writer.dropped(Time::from_nanos(1_500_000_001), down, &packet(500), "queue full").unwrap();
    writer.finish(Time::from_millis(2_000)).unwrap();

    let Some(found) = wireshark("capinfos", &["-M"], &path) else { return };
    let application = concat!("Capture application: trackbed ", env!("CARGO_PKG_VERSION"));
    for line in include_str!("../data/capinfos.txt").lines().chain([application]) {
        assert!(found.contains(line), "no \"{line}\" in:\n{found}");
    }

    let fields = ["-T", "fields", "-e", "frame.interface_name", "-e", "frame.comment"];
    let Some(found) = wireshark("tshark", &fields, &path) else { return };
    assert_eq!(found, "uplink\t\ndownlink\tdropped: queue full\n");
}

/// The secrets come after the first packets and before the first encrypted one, as in a run.
#[test]
fn tshark_decrypts_with_the_secrets_in_the_capture_and_not_without() {
    let fields =
        ["-Y", "http", "-T", "fields", "-e", "http.request.uri", "-e", "http.response.code"];
    for (name, has_keys, expected) in
        [("opaque.pcapng", false, ""), ("decrypts.pcapng", true, "/first\t\n\t200\n")]
    {
        let path = scratch_file(name);
        write_tls_session(&path, has_keys);
        let Some(found) = wireshark("tshark", &fields, &path) else { return };
        assert_eq!(found, expected, "{name}");
    }
}

fn write_tls_session(path: &Path, has_keys: bool) {
    let keys = KeyLog::default();
    let mut writer = PcapngWriter::new(fs::File::create(path).unwrap(), &section()).unwrap();
    writer.follow_keys(&keys);
    let tap = writer.add_tap(&tap_point("uplink", 0)).unwrap();
    let secrets = SESSION.lines().filter_map(|line| line.strip_prefix("key "));
    for (number, segment) in tcp_session().into_iter().enumerate() {
        // The two packets of the TCP handshake and the client hello come before.
        if number == 3 && has_keys {
            secrets.clone().for_each(|line| keys.push(line));
        }
        writer.packet(Time::from_millis(number as u64), tap, &segment, "").unwrap();
    }
    writer.finish(Time::from_millis(100)).unwrap();
}

/// The recorded TLS session in TCP segments, one per flight, without separate acknowledgements.
fn tcp_session() -> Vec<Packet> {
    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;
    let mut next_sequence = [1000_u32, 5000];
    let mut packets = Vec::new();
    let mut send = |from: usize, flags: u8, payload: &[u8]| {
        let [own, other] = [next_sequence[from], next_sequence[1 - from]];
        packets.push(tcp_segment(from, flags, [own, other], payload));
        next_sequence[from] += payload.len() as u32 + u32::from(flags & SYN != 0);
    };
    send(0, SYN, &[]);
    send(1, SYN | ACK, &[]);
    for line in SESSION.lines() {
        match line.split_once(' ') {
            Some(("client", data)) => send(0, ACK, &bytes(data)),
            Some(("server", data)) => send(1, ACK, &bytes(data)),
            _ => {}
        }
    }
    packets
}

/// A TCP segment (RFC 9293 section 3.1) of the client, 0, or of the server, 1.
fn tcp_segment(
    from: usize,
    flags: u8,
    [sequence, acknowledged]: [u32; 2],
    payload: &[u8],
) -> Packet {
    const ENDS: [(IpAddr, u16); 2] = [(CLIENT, 40_000), (SERVER, 443)];
    let [(source, source_port), (destination, destination_port)] = [ENDS[from], ENDS[1 - from]];
    let header = IpHeader { source, destination, protocol: protocol::TCP, ecn: Ecn::NotCapable };
    Packet::build(&header, 20 + payload.len(), |out| {
        out[0..2].copy_from_slice(&source_port.to_be_bytes());
        out[2..4].copy_from_slice(&destination_port.to_be_bytes());
        out[4..8].copy_from_slice(&sequence.to_be_bytes());
        out[8..12].copy_from_slice(&acknowledged.to_be_bytes());
        (out[12], out[13], out[14]) = (5 << 4, flags, 0xff);
        out[20..].copy_from_slice(payload);
        let checksum = transport_checksum(&header, out);
        out[16..18].copy_from_slice(&checksum.to_be_bytes());
    })
}
