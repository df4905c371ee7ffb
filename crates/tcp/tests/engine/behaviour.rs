//! Everything besides data transfer: opening, closing, failing, probing, path MTU, ECN.

use trackbed_core::packet::TooBig;
use trackbed_tcp::QuotedSegment;

use crate::track::*;

fn open(configs: [Config; 2]) -> Track {
    let mut track = Track::new(configs, [link(), link()]);
    request(&mut track, 1_000);
    run_for(&mut track, Duration::from_millis(100));
    track
}

/// Of the client and the server.
fn states(track: &mut Track) -> (State, State) {
    (track.client().state(), track.server().state())
}

fn open_plain() -> Track {
    open([Config::default(), Config::default()])
}

#[test]
fn a_half_closed_connection_still_carries_the_other_direction() {
    let mut track = open_plain();
    let now = track.now;
    track.client().close(now);
    track.flush(0);
    run_for(&mut track, Duration::from_millis(100));
    assert_eq!(states(&mut track), (State::FinWait2, State::CloseWait));
    assert_eq!(track.client().write(now, b"more"), Err(TcpError::WriteAfterClose));
    track.server().write(now, b"late answer").unwrap();
    track.server().close(now);
    track.flush(1);
    run_for(&mut track, Duration::from_millis(100));
    let now = track.now;
    assert_eq!(track.client().read(now, 100).unwrap().unwrap(), "late answer");
    assert_eq!(track.client().read(now, 100).unwrap().unwrap(), "");
    assert_eq!(states(&mut track), (State::TimeWait, State::Closed));
    run_for(&mut track, Duration::from_secs(59));
    assert_eq!(track.client().state(), State::TimeWait);
    run_for(&mut track, Duration::from_secs(2));
    assert!(track.client().is_closed() && track.client().error().is_none());
}

#[test]
fn both_may_close_at_once() {
    let mut track = open_plain();
    let now = track.now;
    for end in 0..2 {
        track.ends[end].as_mut().unwrap().close(now);
        track.flush(end);
    }
    run_for(&mut track, Duration::from_millis(15));
    assert_eq!(track.client().state(), State::Closing);
    run_for(&mut track, Duration::from_millis(15));
    assert_eq!(states(&mut track), (State::TimeWait, State::TimeWait));
}

#[test]
fn both_may_open_at_once() {
    let addresses = [([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into()];
    let config = Config::default();
    let now = Time::ZERO;
    let mut ends = [0, 1].map(|end: usize| {
        Connection::connect(now, &config, addresses[end], addresses[1 - end], 100 * end as u32)
    });
    for _ in 0..4 {
        let sent = [0, 1].map(|end| drain(&mut ends[end], now));
        for (end, segments) in sent.into_iter().enumerate() {
            for segment in segments {
                ends[1 - end].handle_segment(now, segment);
            }
        }
    }
    assert!(ends.iter().all(|end| end.state() == State::Established), "{:?}", ends[0].state());
}

#[test]
fn an_abort_resets_the_peer_and_a_refusal_says_so() {
    let mut track = open_plain();
    let now = track.now;
    track.client().abort(now);
    track.flush(0);
    run_for(&mut track, Duration::from_millis(100));
    assert_eq!(track.client().error(), Some(TcpError::Aborted));
    assert_eq!(track.server().error(), Some(TcpError::Reset));
    assert_eq!(track.server().write(now, b"x"), Err(TcpError::Reset));
    assert_eq!(track.server().poll_timeout(), None);

    let [local, remote] = [([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into()];
    let mut client = Connection::connect(now, &Config::default(), local, remote, 7);
    let syn = drain(&mut client, now).remove(0);
    client.handle_segment(now, Segment::parse(&reset_reply(&syn).unwrap()).unwrap());
    assert_eq!((client.state(), client.error()), (State::Closed, Some(TcpError::Refused)));
}

/// Five times at the first interval, five times at doubled ones (Linux since 6.5).
#[test]
fn an_unanswered_syn_is_repeated_ten_times_and_then_fails() {
    let forever = Fate::Outage(vec![(Time::ZERO, Time::MAX)]);
    let mut track = Track::alike(Config::default(), [link().with_fate(forever), link()]);
    track.open();
    run(&mut track, Time::from_millis(130_999));
    assert_eq!(track.client().stats().segments_sent, 11);
    assert_eq!(track.client().error(), None);
    run(&mut track, Time::from_millis(131_000));
    assert_eq!(track.client().error(), Some(TcpError::TimedOut));
}

/// Linux (`tcp_try_undo_spurious_syn`): one segment only if a repeated SYN was answered.
#[test]
fn a_late_answer_to_the_first_syn_leaves_the_initial_window() {
    let [local, remote] = [([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into()];
    for (answered, window) in [(0, 10), (2, 1)] {
        let mut client = Connection::connect(Time::ZERO, &Config::default(), local, remote, 7);
        let syns = [0, 1_000, 2_000].map(Time::from_millis).map(|now| {
            client.handle_timeout(now);
            drain(&mut client, now).remove(0)
        });
        let now = Time::from_millis(2_020);
        let mut server = Connection::accept(now, &Config::default(), &syns[answered], 9);
        client.handle_segment(now, drain(&mut server, now).remove(0));
        client.write(now, &[0; 20_000]).unwrap();
        assert_eq!(drain(&mut client, now).len(), window);
    }
}

#[test]
fn a_reset_that_is_not_exact_and_a_syn_are_challenged() {
    let mut track = open_plain();
    let now = track.now;
    let server = track.server().remote();
    let client = track.client();
    let next = drain_next(client, now);
    let forged = |flags, offset: u32| Segment {
        sequence: next + offset,
        flags,
        ..Segment::empty(([10, 0, 0, 2], 80).into(), server)
    };
    // RFC 5961 section 3.2: in the window, but not exact.
    client.handle_segment(now, forged(Flags::RST, 100));
    let answers = drain(client, now);
    assert_eq!((client.state(), answers.len()), (State::Established, 1));
    assert_eq!(answers[0].flags, Flags::ACK);
    // Section 7: not more than one challenge each half second.
    client.handle_segment(now, forged(Flags::SYN, 0));
    assert!(drain(client, now).is_empty());
    let later = now + Duration::from_secs(1);
    client.handle_segment(later, forged(Flags::SYN, 0));
    assert_eq!(drain(client, later).len(), 1);
    client.handle_segment(later, forged(Flags::RST, 0));
    assert_eq!(client.error(), Some(TcpError::Reset));
}

/// The next sequence number that the connection expects.
fn drain_next(connection: &mut Connection, now: Time) -> Seq {
    connection.write(now, b"?").unwrap();
    drain(connection, now).last().expect("something was written").acknowledgment
}

#[test]
fn a_shut_window_is_probed_and_nothing_is_lost_when_it_opens() {
    let receive_buffer = BufferSize { initial: 20_000, max: 20_000 };
    let slow = Config { receive_buffer, ..Config::default() };
    let mut track = Track::new([slow, Config::default()], [link(), link()]);
    request(&mut track, 1_000);
    let data = vec![7; 60_000];
    let mut written = 0;
    let start = track.now;
    while track.now < start + Duration::from_secs(30) {
        let now = track.now;
        written += track.server().write(now, &data[written..]).unwrap();
        track.flush(1);
        run_for(&mut track, Duration::from_millis(500));
    }
    assert!(track.server().stats().send_window_bytes < 1_448);
    // Probes at 200 ms and less than doubling would be more than these.
    let probes = track.links[1].packets;
    run_for(&mut track, Duration::from_secs(100));
    assert!((1..6).contains(&(track.links[1].packets - probes)));
    assert_eq!(track.server().error(), None);
    let mut got = 0;
    while got < data.len() {
        let now = track.now;
        got += track.read_all(0).iter().sum::<usize>();
        written += track.server().write(now, &data[written..]).unwrap();
        (0..2).for_each(|end| track.flush(end));
        run_for(&mut track, Duration::from_millis(100));
        assert!(track.now < Time::from_millis(400_000), "stalled with {got} bytes");
    }
    assert_eq!(got, data.len());
}

#[test]
fn a_silent_peer_is_noticed_by_keepalive() {
    let keepalive = Some(KeepAlive::default());
    let mut track = open([Config { keepalive, ..Config::default() }, Config::default()]);
    let quiet = track.now;
    run_for(&mut track, Duration::from_secs(3 * 7_200));
    assert!(track.client().error().is_none(), "the peer answered");
    let cut = track.now;
    track.links[0].set_fate(Fate::Outage(vec![(quiet, Time::MAX)]));
    run(&mut track, cut + Duration::from_secs(7_200 + 9 * 75 + 1));
    assert_eq!(track.client().error(), Some(TcpError::TimedOut));
}

#[test]
fn a_narrower_path_is_learnt_from_icmp_and_what_was_too_long_is_sent_again() {
    let mut track = open_plain();
    let now = track.now;
    track.server().write(now, &[1; 10_000]).unwrap();
    let router = [10, 9, 9, 9].into();
    let mut lost = Vec::new();
    while let Some(packet) = track.server().poll_transmit(now) {
        lost.push(packet);
    }
    let too_big = TooBig::parse(&TooBig::emit(router, &lost[0], 1_000)).unwrap();
    let quoted = QuotedSegment::parse(&too_big).unwrap();
    assert_eq!(quoted.source, track.server().local());
    let cwnd = track.server().stats().cwnd_segments;
    track.server().handle_too_big(now, too_big.mtu, quoted.sequence);
    track.flush(1);
    assert_eq!(track.server().stats().mss_bytes, 1_000 - 52);
    assert_eq!(track.server().stats().cwnd_segments, cwnd);
    run_for(&mut track, Duration::from_millis(500));
    let parts = track.read_all(0);
    assert!(parts.iter().all(|len| *len <= 948));
    assert_eq!((parts.iter().sum(), track.server().stats().timeouts), (10_000, 0));
    // A message that quotes nothing in flight is not believed.
    track.server().handle_too_big(now, 600, Seq(12));
    assert_eq!(track.server().stats().mss_bytes, 948);
}

#[test]
fn a_congestion_mark_is_echoed_and_reduces_the_window_once() {
    let asks = Config { ecn: EcnMode::Active, ..Config::default() };
    let mut track = open([Config::default(), asks.clone()]);
    // The client does not ask by default, so nothing is marked as capable.
    assert_eq!(track.write(1, b"x")[0].ecn, Ecn::NotCapable);

    let mut track = open([asks, Config::default()]);
    let mut sent = track.write(1, &[0; 8_000]);
    assert!(sent.iter().all(|segment| segment.ecn == Ecn::Ect0));
    let cwnd = track.server().stats().cwnd_segments;
    let marked: Packet = sent[0].emit().with_congestion_experienced();
    sent[0] = Segment::parse(&marked).unwrap();
    let echoes = track.hear(0, sent);
    assert!(!echoes.is_empty() && echoes.iter().all(|echo| echo.has(Flags::ECE)));
    track.hear(1, echoes);
    assert_eq!(track.server().stats().ssthresh_segments, cwnd * 717 / 1024);
    let next = track.write(1, b"next");
    assert!(next[0].has(Flags::CWR));
    let now = track.now;
    track.client().handle_segment(now, next[0].clone());
    assert!(!track.write(0, b"!")[0].has(Flags::ECE));
}

#[test]
fn without_options_a_loss_is_repaired_by_duplicates_as_newreno_does() {
    let bare = Config {
        sack: false,
        timestamps: false,
        window_scaling: false,
        tail_loss_probe: false,
        ..Config::default()
    };
    let mut track = Track::alike(bare, [link(), link().with_fate(Fate::List(vec![5, 8], 0))]);
    request(&mut track, 60_000);
    let stats = track.server().stats();
    assert_eq!((stats.retransmissions, stats.timeouts), (2, 0));
    assert_eq!(stats.mss_bytes, 1_460);
    assert!(track.now < Time::from_millis(250), "{}", track.now);
}

/// A recovery ends with the last segment that was sent. Without SACK and timestamps, what is acknowledged
/// after that is no sign that it was needless.
#[test]
fn a_recovery_that_is_over_is_not_undone() {
    let bare = Config { sack: false, timestamps: false, ..Config::default() };
    let mut track = Track::alike(bare, [link(), link().with_fate(Fate::List(vec![36], 0))]);
    request(&mut track, 60_000);
    let reduced = track.server().stats();
    assert_eq!(reduced.retransmissions, 1);
    let now = track.now;
    track.server().write(now, b"more").unwrap();
    track.flush(1);
    run_for(&mut track, Duration::from_millis(500));
    let stats = track.server().stats();
    assert_eq!((stats.undos, stats.ssthresh_segments), (0, reduced.ssthresh_segments));
}

/// Linux: `tcp_send_loss_probe` clears `icsk_pending` before `tcp_rearm_rto`, and
/// `tcp_write_xmit` schedules no probe for a probe.
#[test]
fn the_retransmission_timer_starts_anew_with_a_probe_of_new_data() {
    let mut track = open_plain();
    let flight = track.write(1, &[0; 60_000]);
    let probe_at = track.server().poll_timeout().unwrap();
    track.server().handle_timeout(probe_at);
    let probe = drain(track.server(), probe_at);
    assert_eq!(probe.len(), 1);
    assert_eq!(probe[0].sequence, flight.last().unwrap().end());

    let timeout_at = track.server().poll_timeout().unwrap();
    let waited = timeout_at - probe_at;
    let least = Duration::from_millis(200);
    assert!(waited > least && waited < 2 * least, "{waited:?} after the probe");
    track.server().handle_timeout(timeout_at);
    assert_eq!(drain(track.server(), timeout_at)[0].sequence, flight[0].sequence);
    let stats = track.server().stats();
    assert_eq!((stats.tail_loss_probes, stats.timeouts), (1, 1));
}

#[test]
fn the_last_segment_is_repaired_by_a_probe_and_a_late_acknowledgment_is_undone() {
    // The answer is 8 segments; the SYN-ACK and the acknowledgment of the request come before.
    let down = link().with_fate(Fate::List(vec![9], 0));
    let mut track = Track::alike(Config::default(), [link(), down]);
    request(&mut track, 8 * 1_448);
    let stats = track.server().stats();
    assert_eq!((stats.tail_loss_probes, stats.timeouts, stats.retransmissions), (1, 0, 1));

    // All acknowledgments of a flight are held up beyond the timeout: F-RTO or Eifel notices.
    let plain = Config { tail_loss_probe: false, ..Config::default() };
    let mut track = Track::alike(plain, [link(), link()]);
    request(&mut track, 100_000);
    run_for(&mut track, Duration::from_millis(300));
    let flight = track.write(1, &[0; 20_000]);
    let cwnd = track.server().stats().cwnd_segments;
    let late = track.now + Duration::from_millis(500);
    let at = track.server().poll_timeout().unwrap();
    track.server().handle_timeout(at);
    assert_eq!(drain(track.server(), at).len(), 1);
    assert_eq!(track.server().stats().cwnd_segments, 1);
    for segment in flight {
        track.client().handle_segment(late, segment);
        for ack in drain(track.client(), late) {
            track.server().handle_segment(late, ack);
            drain(track.server(), late);
        }
    }
    let stats = track.server().stats();
    assert_eq!((stats.timeouts, stats.undos), (1, 1));
    assert!(stats.cwnd_segments >= cwnd);
}

#[test]
fn a_connection_may_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Connection>();
}
