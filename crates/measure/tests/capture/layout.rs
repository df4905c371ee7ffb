//! The bytes of a tiny capture, written by hand from draft-ietf-opsawg-pcapng.

use trackbed_core::Time;
use trackbed_measure::keylog::KeyLog;
use trackbed_measure::pcapng::{PcapngWriter, Section, TapPoint};

use crate::{EPOCH, bytes, packet};

#[test]
fn every_block_has_the_bytes_of_the_specification() {
    let section = Section { command_line: "cmd".into(), epoch: EPOCH, ..Section::default() };
    let mut writer = PcapngWriter::new(Vec::new(), &section).unwrap();
    let point = TapPoint { name: "up".into(), snap_len: 21, ..TapPoint::default() };
    let tap = writer.add_tap(&point).unwrap();
    let keys = KeyLog::default();
    writer.follow_keys(&keys);
    keys.push("A 01 2");
    let packet = packet(22);
    writer.dropped(Time::from_nanos(5), tap, &packet, "x").unwrap();
    let file = writer.finish(Time::from_nanos(6)).unwrap();

    let ip_header = &packet.bytes()[..20];
    let mut rest = file.as_slice();
    expect_section_header(&mut rest);
    // Interface Description Block (section 4.2).
    expect(&mut rest, "01000000 28000000 6500 0000 15000000"); // LINKTYPE_RAW, snap length 21
    expect(&mut rest, "0200 0200 75700000"); // if_name "up"
    expect(&mut rest, "0900 0100 09000000"); // if_tsresol 10^-9
    expect(&mut rest, "0000 0000 28000000");
    // Decryption Secrets Block (section 4.7) with 7 bytes of key log and one of padding.
    expect(&mut rest, "0a000000 1c000000 4b534c54 07000000 41203031 20320a00 1c000000");
    // Enhanced Packet Block (section 4.3): 1,700,000,000,000,000,005 ns = 0x17979cfe_362a0005;
    // 21 of 22 bytes and three of padding. 28 + 24 + 16 + 8 = 76 bytes in all.
    expect(&mut rest, "06000000 4c000000 00000000 fe9c9717 05002a36 15000000 16000000");
    expect_bytes(&mut rest, ip_header);
    expect(&mut rest, "aa000000");
    expect(&mut rest, "0100 0a00 64726f70 7065643a 20780000"); // comment "dropped: x"
    expect(&mut rest, "0000 0000 4c000000");
    // Interface Statistics Block (section 4.6).
    expect(&mut rest, "05000000 4c000000 00000000 fe9c9717 06002a36");
    expect(&mut rest, "0200 0800 fe9c9717 00002a36"); // isb_starttime
    expect(&mut rest, "0300 0800 fe9c9717 06002a36"); // isb_endtime
    expect(&mut rest, "0400 0800 01000000 00000000"); // isb_ifrecv
    expect(&mut rest, "0500 0800 01000000 00000000"); // isb_ifdrop
    expect(&mut rest, "0000 0000 4c000000");
    assert!(rest.is_empty());
}

/// Section Header Block (section 4.1), whose length depends on the version of the tool.
fn expect_section_header(rest: &mut &[u8]) {
    let application = concat!("trackbed ", env!("CARGO_PKG_VERSION"));
    let padded_len = application.len().next_multiple_of(4);
    let total_len = (44 + padded_len as u32).to_le_bytes();
    expect(rest, "0a0d0d0a");
    expect_bytes(rest, &total_len);
    expect(rest, "4d3c2b1a 0100 0000 ffffffff ffffffff");
    expect(rest, "0100 0300 636d6400"); // comment "cmd"
    expect(rest, "0400"); // shb_userappl
    expect_bytes(rest, &(application.len() as u16).to_le_bytes());
    expect_bytes(rest, application.as_bytes());
    expect_bytes(rest, &vec![0; padded_len - application.len()]);
    expect(rest, "0000 0000");
    expect_bytes(rest, &total_len);
}

fn expect(rest: &mut &[u8], hex: &str) {
    expect_bytes(rest, &bytes(&hex.replace(' ', "")));
}

fn expect_bytes(rest: &mut &[u8], bytes: &[u8]) {
    let (found, behind) = rest.split_at(bytes.len());
    assert_eq!(found, bytes, "{} bytes before the end", rest.len());
    *rest = behind;
}
