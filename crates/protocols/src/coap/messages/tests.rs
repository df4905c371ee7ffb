use super::codes::{CONTENT, GET};
use super::*;

fn messages() -> Messages {
    Messages::numbered_from(0xffff, Seed::of_run(1, 0).stream("test"))
}

fn packet(code: u8, token: &[u8]) -> Packet {
    let mut packet = Packet::new();
    packet.header.code = code.into();
    packet.set_token(token.to_vec());
    packet
}

/// RFC 7252 appendix A, figure 16: a confirmable GET of `temperature`, identifier 0x7d34.
const FIGURE_16: [u8; 16] = *b"\x40\x01\x7d\x34\xbbtemperature";

#[test]
fn a_request_of_the_rfc_is_understood() {
    let Heard::Request(packet) = messages().hear(&FIGURE_16, Time::ZERO) else { panic!() };
    assert_eq!(packet.header.message_id, 0x7d34);
    assert_eq!(super::super::options::path(&packet).unwrap().0, "/temperature");
}

/// RFC 7252 section 4.2: retransmissions after T, 3 T, 7 T, 15 T, and the end after 31 T, with T from
/// 2 s to 3 s.
#[test]
fn a_message_without_answer_is_sent_four_times_again() {
    let mut draws = Vec::new();
    let mut messages = messages();
    for _ in 0..100 {
        let id = messages.send(packet(GET, b"t"), true, Time::ZERO);
        let datagram = messages.outgoing.pop_front().unwrap();
        let timeout = messages.next_timeout().unwrap() - Time::ZERO;
        draws.push(timeout);
        for factor in [1, 3, 7, 15] {
            let due = Time::ZERO + timeout * factor;
            assert_eq!(messages.next_timeout(), Some(due));
            assert!(messages.advance(Time::from_nanos(due.as_nanos() - 1)).is_empty());
            assert!(messages.outgoing.is_empty());
            assert!(messages.advance(due).is_empty());
            assert_eq!(messages.outgoing.pop_front().as_ref(), Some(&datagram));
        }
        let end = Time::ZERO + timeout * 31;
        assert_eq!(messages.next_timeout(), Some(end));
        assert_eq!(messages.advance(end), [id]);
        assert_eq!(messages.next_timeout(), None);
    }
    let (least, most) = (draws.iter().min().unwrap(), draws.iter().max().unwrap());
    assert!(*least >= ACK_TIMEOUT && *most <= ACK_TIMEOUT * 3 / 2);
    assert!(*least < ACK_TIMEOUT * 11 / 10 && *most > ACK_TIMEOUT * 14 / 10, "{least:?} {most:?}");
}

#[test]
fn an_acknowledgement_or_a_reset_ends_retransmission() {
    let mut messages = messages();
    let first = messages.send(packet(GET, b"t"), true, Time::ZERO);
    assert_eq!((first, messages.send(packet(GET, b"u"), true, Time::ZERO)), (0xffff, 0));
    let now = Time::from_millis(30);
    let heard = messages.hear(&[0x60, 0, 0xff, 0xff], now);
    assert!(matches!(heard, Heard::Acknowledged(0xffff)), "{heard:?}");
    assert_eq!(messages.stats().smoothed_rtt, Some(Duration::from_millis(30)));
    let heard = messages.hear(&[0x70, 0, 0, 0], now);
    assert!(matches!(heard, Heard::Rejected(0)), "{heard:?}");
    assert_eq!(messages.next_timeout(), None);
    messages.send(packet(GET, b""), false, now);
    assert_eq!(messages.next_timeout(), None);
}

#[test]
fn what_comes_twice_is_done_once_and_answered_twice() {
    let mut messages = messages();
    assert!(matches!(messages.hear(&FIGURE_16, Time::ZERO), Heard::Request(_)));
    // Nothing is answered yet.
    assert!(matches!(messages.hear(&FIGURE_16, Time::ZERO), Heard::Nothing));
    assert!(messages.outgoing.is_empty());
    messages.piggyback(packet(CONTENT, b""), 0x7d34);
    let answer = messages.outgoing.pop_front().unwrap();
    assert_eq!(answer[..], [0x60, 0x45, 0x7d, 0x34]);
    assert!(matches!(messages.hear(&FIGURE_16, Time::ZERO), Heard::Nothing));
    assert_eq!(messages.outgoing.pop_front(), Some(answer));

    // A separate response.
    let response = [0x40, 0x45, 0, 9];
    let Heard::Response(taken) = messages.hear(&response, Time::ZERO) else { panic!() };
    messages.take(&taken, Time::ZERO);
    for _ in 0..2 {
        assert_eq!(messages.outgoing.pop_front().unwrap()[..], [0x60, 0, 0, 9]);
        assert!(matches!(messages.hear(&response, Time::ZERO), Heard::Nothing));
    }
}

/// RFC 7252 sections 3, 4.2 and 4.3.
#[test]
fn malformed_messages_are_rejected_or_passed_over() {
    let reset = [0x70, 0, 1, 2];
    let rejected: [&[u8]; 6] = [
        // A ping, which is answered in the same way.
        &[0x40, 0, 1, 2],
        // An empty message with a token, and with a tail.
        &[0x41, 0, 1, 2, 9],
        &[0x40, 0, 1, 2, 9],
        // A token of nine bytes, a reserved class, a marker without a payload.
        &[0x49, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x40, 0x20, 1, 2],
        &[0x40, 1, 1, 2, 0xff],
    ];
    for datagram in rejected {
        let mut messages = messages();
        assert!(matches!(messages.hear(datagram, Time::ZERO), Heard::Nothing), "{datagram:?}");
        assert_eq!(messages.outgoing.pop_front().unwrap()[..], reset, "{datagram:?}");
        // Only a confirmable message gets a reset.
        let mut other = datagram.to_vec();
        other[0] |= 0x10;
        messages.hear(&other, Time::ZERO);
        assert!(messages.outgoing.is_empty(), "{other:?}");
    }
    let ignored: [&[u8]; 4] = [&[], &[0x40, 1, 1], &[0x80, 1, 1, 2], &[0x00, 1, 1, 2]];
    for datagram in ignored {
        let mut messages = messages();
        assert!(matches!(messages.hear(datagram, Time::ZERO), Heard::Nothing), "{datagram:?}");
        assert!(messages.outgoing.is_empty() && messages.refused == 1, "{datagram:?}");
    }
    // The last byte of an option may look like a marker.
    let odd = [0x40, 1, 1, 2, 0xb1, 0xff];
    assert!(matches!(messages().hear(&odd, Time::ZERO), Heard::Request(_)));
}
