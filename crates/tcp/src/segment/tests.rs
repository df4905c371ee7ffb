use super::*;

fn sample() -> Segment {
    let mut sack = SackBlocks::default();
    sack.push(SackBlock { start: Seq(100), end: Seq(200) });
    sack.push(SackBlock { start: Seq(u32::MAX), end: Seq(4) });
    Segment {
        source: "10.0.0.1:1000".parse().unwrap(),
        destination: "10.0.0.2:80".parse().unwrap(),
        sequence: Seq(0xfeed_beef),
        acknowledgment: Seq(7),
        flags: Flags::ACK.with(Flags::PSH),
        window: 512,
        options: Options {
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            sack,
            ..Options::default()
        },
        ecn: Ecn::Ect0,
        payload: Bytes::from_static(b"hello"),
    }
}

#[test]
fn what_is_written_is_read_back() {
    let segment = sample();
    assert_eq!(Segment::parse(&segment.emit()).unwrap(), segment);

    let syn = Segment {
        source: "[fd00::1]:1000".parse().unwrap(),
        destination: "[fd00::2]:80".parse().unwrap(),
        flags: Flags::SYN,
        options: Options {
            mss: Some(1440),
            window_scale: Some(10),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 9, echo: 0 }),
            ..Options::default()
        },
        payload: Bytes::new(),
        ..sample()
    };
    assert_eq!(Segment::parse(&syn.emit()).unwrap(), syn);
    assert_eq!(syn.sequence_len(), 1);

    let bare = Options { sack_permitted: true, timestamps: None, ..syn.options };
    let bare = Segment { options: bare, ..syn };
    assert_eq!(Segment::parse(&bare.emit()).unwrap(), bare);
}

#[test]
fn another_parser_reads_the_same() {
    let tcp = etherparse::TcpHeader::from_slice(&sample().emit().transport()).unwrap().0;
    assert_eq!((tcp.source_port, tcp.destination_port), (1000, 80));
    assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (0xfeed_beef, 7));
    assert!(tcp.ack && tcp.psh && !tcp.syn);
    let options: Vec<_> = tcp.options_iterator().map(Result::unwrap).collect();
    use etherparse::TcpOptionElement::{Noop, SelectiveAcknowledgement, Timestamp};
    assert_eq!(
        options,
        [
            Noop,
            Noop,
            Timestamp(1, 2),
            Noop,
            Noop,
            SelectiveAcknowledgement((100, 200), [Some((u32::MAX, 4)), None, None])
        ]
    );
}

#[test]
fn unknown_and_broken_options_do_no_harm() {
    let read = |bytes: &[u8]| Options::parse(bytes);
    assert_eq!(read(&[30, 4, 1, 2, 2, 4, 5, 180]).mss, Some(1460));
    assert_eq!(read(&[3, 3, 77]).window_scale, Some(14));
    for broken in [&[2u8, 0][..], &[2, 1, 0], &[5, 10, 1], &[8], &[2, 40, 1, 1], &[0, 2, 4, 5, 5]] {
        assert_eq!(read(broken), Options::default(), "{broken:?}");
    }
}

#[test]
fn damage_is_noticed() {
    let packet = sample().emit();
    for bit in 0..packet.transport().len() as u64 * 8 {
        assert!(Segment::parse(&packet.clone().with_flipped_bit(bit)).is_err(), "bit {bit}");
    }
}

#[test]
fn a_reset_answers_what_fits_nowhere() {
    let reset = Segment::parse(&reset_reply(&sample()).unwrap()).unwrap();
    assert_eq!((reset.flags, reset.sequence), (Flags::RST, Seq(7)));
    let syn = Segment { flags: Flags::SYN, payload: Bytes::new(), ..sample() };
    let reset = Segment::parse(&reset_reply(&syn).unwrap()).unwrap();
    assert_eq!(reset.flags, Flags::RST.with(Flags::ACK));
    assert_eq!((reset.sequence, reset.acknowledgment), (Seq(0), syn.sequence + 1));
    assert!(reset_reply(&reset).is_none());
}

#[test]
fn a_quoted_segment_names_its_connection() {
    let icmp = TooBig::emit("10.0.9.9".parse().unwrap(), &sample().emit(), 1280);
    let quoted = QuotedSegment::parse(&TooBig::parse(&icmp).unwrap()).unwrap();
    let Segment { source, destination, sequence, .. } = sample();
    assert_eq!(quoted, QuotedSegment { source, destination, sequence });
}
