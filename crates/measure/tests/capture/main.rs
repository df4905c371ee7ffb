//! Captures are checked against the specification byte by byte, read back by another
//! implementation, and opened and decrypted by Wireshark.

mod key_file;
mod layout;
#[path = "../../../../tests/src/programs.rs"]
mod programs;
mod read_back;
mod wireshark;

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use trackbed_core::Packet;
use trackbed_core::packet::{Ecn, IpHeader, protocol};
use trackbed_measure::pcapng::{Section, TapPoint};

/// 2023-11-14 22:13:20 UTC.
const EPOCH: Duration = Duration::from_secs(1_700_000_000);

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

fn section() -> Section {
    Section {
        hardware: "virtual".to_owned(),
        os: "none".to_owned(),
        command_line: "trackbed replay out 3 7".to_owned(),
        epoch: EPOCH,
    }
}

fn tap_point(name: &str, snap_len: u32) -> TapPoint {
    TapPoint { name: name.to_owned(), description: format!("tap point {name}"), snap_len }
}

/// A packet from the client with `len` bytes in all, at least the 20 of its IP header.
fn packet(len: usize) -> Packet {
    let header = IpHeader {
        source: CLIENT,
        destination: SERVER,
        protocol: protocol::UDP,
        ecn: Ecn::NotCapable,
    };
    Packet::build(&header, len - 20, |out| out.fill(0xaa))
}

/// The bytes that these hexadecimal digits are.
fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// A file of this test, in the build folder.
fn scratch_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}
