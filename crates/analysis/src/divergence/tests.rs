use std::net::Ipv4Addr;

use trackbed_core::packet::{Ecn, IpHeader};

use super::*;

const PHONE: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];

/// A TCP packet with these numbers.
fn segment(direction: Direction, (sequence, acknowledgment): (u32, u32), payload: usize) -> Packet {
    let ends = [(PHONE, 40_000_u16), (SERVER, 443)];
    let [source, destination] = match direction {
        Direction::Forward => ends,
        Direction::Backward => [ends[1], ends[0]],
    };
    let header = IpHeader {
        source: Ipv4Addr::from(source.0).into(),
        destination: Ipv4Addr::from(destination.0).into(),
        protocol: protocol::TCP,
        ecn: Ecn::NotCapable,
    };
    Packet::build(&header, TCP_HEADER + payload, |out| {
        out[0..2].copy_from_slice(&source.1.to_be_bytes());
        out[2..4].copy_from_slice(&destination.1.to_be_bytes());
        out[4..8].copy_from_slice(&sequence.to_be_bytes());
        out[8..12].copy_from_slice(&acknowledgment.to_be_bytes());
        out[12] = 5 << 4;
        out[13] = 0x10;
    })
}

/// A conversation: a request of 100 bytes, and pieces of 1,000 bytes that are acknowledged one by one.
fn conversation(start: (u64, u32, u32), pieces: u32) -> Vec<Sent> {
    let (begin, up, down) = start;
    let mut reader = Reader::default();
    let mut sent = Vec::new();
    let mut send = |at, direction, numbers, payload| {
        let packet = segment(direction, numbers, payload);
        sent.extend(reader.read((Time::from_millis(begin + at), 0), direction, &packet));
    };
    send(0, Direction::Forward, (up, 0), 100);
    for piece in 0..pieces {
        let at = u64::from(piece);
        let offset = 1_000 * piece;
        send(
            10 + at,
            Direction::Backward,
            (down.wrapping_add(offset), up.wrapping_add(100)),
            1_000,
        );
        send(
            20 + at,
            Direction::Forward,
            (up.wrapping_add(100), down.wrapping_add(offset + 1_000)),
            0,
        );
    }
    sent.sort_by_key(|sent| sent.at);
    sent
}

/// The kernel chooses other sequence numbers, also around the wrap, and starts at another time.
#[test]
fn runs_with_other_random_numbers_do_not_diverge() {
    let one = conversation((0, 1, 1), 5);
    let other = conversation((777, u32::MAX - 50, u32::MAX - 1_500), 5);
    assert_eq!(one, other);
    assert_eq!((divergence(&one, &other), first_late(&one, &other)), (None, None));
}

#[test]
fn runs_diverge_at_the_first_packet_that_one_does_not_send() {
    let whole = conversation((0, 1, 1), 5);
    // One acknowledgment for pieces 1 and 2.
    let mut fewer = whole.clone();
    let is_ack = |sent: &Sent| {
        sent.direction == Direction::Forward
            && sent.content.tcp.is_some_and(|tcp| tcp.acknowledgment == 2_000)
    };
    fewer.retain(|sent| !is_ack(sent));
    let found = divergence(&whole, &fewer).unwrap();
    assert_eq!((found.direction, found.common), (Direction::Forward, 2));
    let acknowledged = found.next.map(|next| next.unwrap().content.tcp.unwrap().acknowledgment);
    assert_eq!((acknowledged, found.ended), ([2_000, 3_000], None));

    let found = divergence(&whole, &whole[..whole.len() - 1]).unwrap();
    assert_eq!((found.common, &found.next[1]), (5, &None));
    assert_eq!((found.in_flight, found.ended), ([Some(0), None], Some(1)));
}

/// What one connection sends more while another goes on is no end of the run.
#[test]
fn more_packets_in_the_middle_are_not_the_end_of_the_other_run() {
    let mut both = conversation((0, 1, 1), 5);
    let mut second = conversation((0, 1, 1), 9);
    second.iter_mut().for_each(|sent| sent.content.flow = 1);
    both.extend(second);
    both.sort_by_key(|sent| sent.at);
    let mut fewer = both.clone();
    let last = fewer.iter().rposition(|sent| sent.content.flow == 0).unwrap();
    fewer.remove(last);
    let found = divergence(&both, &fewer).unwrap();
    assert_eq!((&found.next[1], found.ended), (&None, None));
}

/// Three pieces are sent before the first acknowledgment.
#[test]
fn bytes_in_flight_are_those_that_are_not_acknowledged() {
    let run = conversation((0, 1, 1), 4);
    let fourth = run.iter().filter(|sent| sent.direction == Direction::Backward).nth(3).unwrap();
    assert_eq!(in_flight(&run, fourth), Some(3_000));
}

#[test]
fn a_loss_in_one_run_only_is_a_divergence() {
    let whole = conversation((0, 1, 1), 3);
    let mut lossy = whole.clone();
    let second = lossy.iter_mut().filter(|sent| sent.direction == Direction::Backward).nth(1);
    second.unwrap().lost = Some("loss");
    let found = divergence(&whole, &lossy).unwrap();
    assert_eq!((found.direction, found.common), (Direction::Backward, 1));
}

#[test]
fn sizes_that_depend_on_random_numbers_do_not_matter() {
    let whole = conversation((0, 1, 1), 3);
    let mut other = whole.clone();
    other[0].content.payload += SLACK;
    assert_eq!(divergence(&whole, &other), None);
    other[0].content.payload += 1;
    assert_eq!(divergence(&whole, &other).unwrap().common, 0);
}

#[test]
fn the_same_packets_at_other_times_are_late() {
    let whole = conversation((0, 1, 1), 3);
    let mut slow = whole.clone();
    slow.iter_mut()
        .filter(|sent| sent.at > Time::from_millis(11))
        .for_each(|sent| sent.at += Duration::from_millis(2));
    assert_eq!(divergence(&whole, &slow), None);
    let [one, other] = first_late(&whole, &slow).unwrap();
    assert_eq!((one.at, other.at), (Time::from_millis(12), Time::from_millis(14)));
}

/// 2,500 bytes in pieces of 1,000, as a network card cuts them.
#[test]
fn a_super_packet_is_what_a_cable_carries() {
    let whole = Content {
        flow: 0,
        payload: 2_500,
        tcp: Some(Tcp { flags: 16, sequence: 7, acknowledgment: 0, window: 0 }),
    };
    let found: Vec<(u32, u32)> =
        pieces(whole, 1_000).map(|piece| (piece.tcp.unwrap().sequence, piece.payload)).collect();
    assert_eq!(found, [(7, 1_000), (1_007, 1_000), (2_007, 500)]);
    assert_eq!(pieces(Content { payload: 0, ..whole }, u32::MAX).count(), 1);
    assert_eq!(pieces(whole, u32::MAX).count(), 1);
}
