//! Captures as the `pcap-parser` crate reads them.

use pcap_parser::{Block, OptionCode, PcapNGOption, parse_pcapng};
use trackbed_core::Time;
use trackbed_measure::keylog::KeyLog;
use trackbed_measure::pcapng::{PcapngWriter, Section, is_capture, lengths};

use crate::{EPOCH, packet, section, tap_point};

/// Writes a capture with `write`, then passes the blocks, as another implementation reads them, to
/// `check`.
fn read_back(
    write: impl FnOnce(PcapngWriter<Vec<u8>>) -> Vec<u8>,
    check: impl FnOnce(&[Block<'_>]),
) {
    let file = write(PcapngWriter::new(Vec::new(), &section()).unwrap());
    let (rest, capture) = parse_pcapng(&file).unwrap();
    assert!(rest.is_empty(), "{} bytes are no block", rest.len());
    assert_eq!(capture.sections.len(), 1);
    check(&capture.sections[0].blocks);
}

fn text<'a>(options: &'a [PcapNGOption<'_>], code: u16) -> Option<&'a str> {
    options.iter().find(|option| option.code == OptionCode(code))?.as_str().ok()
}

#[test]
fn the_section_says_who_made_it_and_how() {
    let write = |writer: PcapngWriter<Vec<u8>>| writer.finish(Time::ZERO).unwrap();
    read_back(write, |blocks| {
        let [Block::SectionHeader(header)] = blocks else { panic!("{blocks:?}") };
        assert_eq!((header.major_version, header.minor_version, header.section_len), (1, 0, -1));
        assert_eq!(text(&header.options, 1), Some("trackbed replay out 3 7"));
        assert_eq!(text(&header.options, 2), Some("virtual"));
        assert_eq!(text(&header.options, 3), Some("none"));
        let application = concat!("trackbed ", env!("CARGO_PKG_VERSION"));
        assert_eq!(text(&header.options, 4), Some(application));
    });
}

#[test]
fn packets_keep_tap_time_length_and_comment() {
    let (first, second) = (packet(1500), packet(43));
    let write = |mut writer: PcapngWriter<Vec<u8>>| {
        let up = writer.add_tap(&tap_point("uplink", 0)).unwrap();
        writer.packet(Time::from_nanos(1), up, &first, "").unwrap();
        let down = writer.add_tap(&tap_point("downlink", 40)).unwrap();
        writer.packet(Time::from_millis(2), down, &second, "reordered").unwrap();
        writer.dropped(Time::from_millis(3), down, &first, "queue full").unwrap();
        writer.finish(Time::from_millis(4)).unwrap()
    };
    read_back(write, |blocks| {
        use Block::{EnhancedPacket, InterfaceDescription, InterfaceStatistics, SectionHeader};
        let [
            SectionHeader(_),
            InterfaceDescription(up),
            EnhancedPacket(whole),
            InterfaceDescription(down),
            EnhancedPacket(cut),
            EnhancedPacket(dropped),
            InterfaceStatistics(up_end),
            InterfaceStatistics(down_end),
        ] = blocks
        else {
            panic!("{blocks:?}")
        };
        assert_eq!((up.linktype.0, up.snaplen, up.ts_resolution()), (101, 0, Some(1_000_000_000)));
        assert_eq!((up.if_name(), down.if_name()), (Some(Ok("uplink")), Some(Ok("downlink"))));
        assert_eq!(down.if_description(), Some(Ok("tap point downlink")));
        assert_eq!(down.snaplen, 40);

        let seconds = EPOCH.as_secs() as u32;
        assert_eq!(whole.decode_ts(0, 1_000_000_000), (seconds, 1));
        assert_eq!((whole.if_id, whole.origlen, whole.caplen), (0, 1500, 1500));
        assert_eq!(&whole.data[..1500], &first.bytes()[..]);
        assert_eq!(text(&whole.options, 1), None);

        assert_eq!(cut.decode_ts(0, 1_000_000_000), (seconds, 2_000_000));
        assert_eq!((cut.if_id, cut.origlen, cut.caplen), (1, 43, 40));
        assert_eq!(&cut.data[..40], &second.bytes()[..40]);
        assert_eq!(text(&cut.options, 1), Some("reordered"));
        assert_eq!(text(&dropped.options, 1), Some("dropped: queue full"));

        assert_eq!((up_end.isb_ifrecv(), up_end.isb_ifdrop()), (Some(Ok(1)), Some(Ok(0))));
        assert_eq!((down_end.isb_ifrecv(), down_end.isb_ifdrop()), (Some(Ok(2)), Some(Ok(1))));
    });
}

#[test]
fn lengths_of_packets_are_read_with_their_times() {
    let mut writer = PcapngWriter::new(Vec::new(), &section()).unwrap();
    let up = writer.add_tap(&tap_point("uplink", 40)).unwrap();
    for (at_ms, len) in [(2, 1500), (5, 43)] {
        writer.packet(Time::from_millis(at_ms), up, &packet(len), "").unwrap();
    }
    let file = writer.finish(Time::from_millis(9)).unwrap();
    assert!(is_capture(&file));
    assert_eq!(lengths(&file).unwrap(), "0 ns,1500 B\n3000000 ns,43 B\n");
}

/// Each packet is preceded by all secrets known when it was written, each once.
#[test]
fn secrets_stand_before_the_packets_that_need_them() {
    let keys = KeyLog::default();
    let write = |mut writer: PcapngWriter<Vec<u8>>| {
        let tap = writer.add_tap(&tap_point("uplink", 0)).unwrap();
        keys.push("A 01 02");
        writer.follow_keys(&keys);
        writer.packet(Time::ZERO, tap, &packet(60), "").unwrap();
        writer.packet(Time::ZERO, tap, &packet(60), "").unwrap();
        keys.push("A 01 02\nB 03 04\nC 05 06");
        writer.packet(Time::ZERO, tap, &packet(60), "").unwrap();
        keys.push("D 07 08");
        writer.finish(Time::ZERO).unwrap()
    };
    read_back(write, |blocks| {
        let order: Vec<String> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::EnhancedPacket(_) => Some("packet".to_owned()),
                Block::DecryptionSecrets(secrets) => {
                    let lines = &secrets.data[..secrets.secrets_len as usize];
                    Some(String::from_utf8(lines.to_vec()).unwrap())
                }
                _ => None,
            })
            .collect();
        let expected =
            ["A 01 02\n", "packet", "packet", "B 03 04\nC 05 06\n", "packet", "D 07 08\n"];
        assert_eq!(order, expected);
    });
}

#[test]
fn text_that_is_too_long_is_cut_between_characters() {
    let long = "ä".repeat(40_000);
    let section = Section { command_line: long.clone(), ..section() };
    let file = PcapngWriter::new(Vec::new(), &section).unwrap().finish(Time::ZERO).unwrap();
    let (_, capture) = parse_pcapng(&file).unwrap();
    let Block::SectionHeader(header) = &capture.sections[0].blocks[0] else { panic!() };
    assert_eq!(text(&header.options, 1), Some(&long[..65_534]));
}

#[test]
fn a_tap_of_another_capture_and_a_broken_sink_are_errors() {
    let mut other = PcapngWriter::new(Vec::new(), &section()).unwrap();
    let tap = other.add_tap(&tap_point("uplink", 0)).unwrap();
    let mut writer = PcapngWriter::new(Vec::new(), &section()).unwrap();
    let whole = other.finish(Time::ZERO).unwrap();
    assert!(lengths(&whole).is_ok() && lengths(&whole[..whole.len() - 4]).is_err());
    let error = writer.packet(Time::ZERO, tap, &packet(60), "").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!(writer.dropped(Time::ZERO, tap, &packet(60), "x").unwrap_err().kind(), error.kind());

    let mut room = [0; 30];
    assert!(PcapngWriter::new(&mut room[..], &section()).is_err());
}
