//! The engine against peers made by hand: small windows, and segments that no peer should send.

use trackbed_tcp::segment::{Options, SackBlock, SackBlocks, Timestamps};

use crate::track::*;

/// A connection that accepted a peer, and what the peer has to know to go on.
struct Server {
    connection: Connection,
    now: Time,
    /// The peer's next sequence number.
    next: Seq,
    syn_ack: Segment,
}

fn segment(flags: Flags, sequence: Seq, acknowledgment: Seq, window: u16) -> Segment {
    let ends = [([10, 0, 0, 1], 40_000), ([10, 0, 0, 2], 80)].map(SocketAddr::from);
    Segment { sequence, acknowledgment, flags, window, ..Segment::empty(ends[0], ends[1]) }
}

impl Server {
    /// Accepts a peer 20 ms away that offers `options` and a window of `window` bytes.
    fn accept(config: &Config, options: Options, window: u16) -> Server {
        let now = Time::from_millis(5_000);
        let syn =
            Segment { options: options.clone(), ..segment(Flags::SYN, Seq(99), Seq(0), window) };
        let mut connection = Connection::accept(now, config, &syn, 7_000);
        let syn_ack = drain(&mut connection, now).remove(0);
        let now = now + Duration::from_millis(20);
        let mut server = Server { connection, now, next: Seq(100), syn_ack };
        server.hear(Segment { options, ..segment(Flags::ACK, Seq(100), Seq(7_001), window) });
        assert!(server.connection.is_established());
        server
    }

    fn hear(&mut self, segment: Segment) -> Vec<Segment> {
        self.connection.handle_segment(self.now, segment);
        drain(&mut self.connection, self.now)
    }

    /// The peer sends `len` bytes from its sequence number `sequence` on.
    fn send(&mut self, sequence: Seq, len: usize) -> Vec<Segment> {
        let payload = Bytes::from(vec![1; len]);
        self.hear(Segment { payload, ..segment(Flags::ACK, sequence, Seq(7_001), 60_000) })
    }

    /// The application writes `len` bytes.
    fn write(&mut self, len: usize) -> Vec<Segment> {
        self.connection.write(self.now, &vec![3; len]).unwrap();
        drain(&mut self.connection, self.now)
    }

    /// The next timer fires.
    fn time_out(&mut self) -> Vec<Segment> {
        self.now = self.connection.poll_timeout().expect("a timer runs");
        self.connection.handle_timeout(self.now);
        drain(&mut self.connection, self.now)
    }

    fn offered(&self) -> u32 {
        self.connection.stats().receive_window_bytes
    }
}

fn small_buffer() -> Config {
    let receive_buffer = BufferSize { initial: 20_000, max: 20_000 };
    Config { receive_buffer, ..Config::default() }
}

/// RFC 7323 section 2.2: the option in the SYN-ACK says that both scale, also if its shift is zero.
#[test]
fn a_small_buffer_agrees_to_scaling_with_a_shift_of_zero() {
    let scales = Options { mss: Some(1_460), window_scale: Some(7), ..Options::default() };
    let server = Server::accept(&small_buffer(), scales.clone(), 500);
    assert_eq!(server.syn_ack.options.window_scale, Some(0));
    assert_eq!(server.connection.stats().send_window_bytes, 500 << 7);

    let server = Server::accept(&Config { window_scaling: false, ..small_buffer() }, scales, 500);
    assert_eq!(server.syn_ack.options.window_scale, None);
    assert_eq!(server.connection.stats().send_window_bytes, 500);
}

/// RFC 9293 section 3.10.7.4: nothing beyond the window is accepted, because a peer could otherwise
/// fill the memory.
#[test]
fn data_behind_the_window_is_not_taken() {
    let mut server = Server::accept(&small_buffer(), Options::default(), 60_000);
    let mut sent = 0;
    while server.offered() > 0 && sent < 100 {
        // More than the window at once, at its end.
        server.send(server.next, 1_000);
        sent += 1;
        server.next = Seq(100) + server.connection.stats().bytes_received as u32;
    }
    let taken = server.connection.stats().bytes_received;
    assert!(taken <= 20_000, "{taken}");
    for _ in 0..10 {
        let answers = server.send(server.next, 1_000);
        assert_eq!(answers.len(), 1);
        assert_eq!((answers[0].acknowledgment, answers[0].window), (server.next, 0));
    }
    assert_eq!(server.connection.stats().bytes_received, taken);
    // What was taken is the beginning of what was sent, and the rest comes when there is room.
    let mut read = 0;
    while let Some(part) = server.connection.read(server.now, 4_000).unwrap() {
        read += part.len() as u64;
        drain(&mut server.connection, server.now);
    }
    assert_eq!(read, taken);
    server.send(server.next, 1_000);
    assert_eq!(server.connection.stats().bytes_received, taken + 1_000);
}

#[test]
fn a_segment_that_crosses_the_end_of_the_window_is_cut_there() {
    let mut server = Server::accept(&small_buffer(), Options::default(), 60_000);
    let offered = server.offered();
    let answers = server.send(server.next, offered as usize + 500);
    assert_eq!(server.connection.stats().bytes_received, u64::from(offered));
    assert_eq!(answers.last().unwrap().acknowledgment, server.next + offered);
}

/// RFC 9293 section 3.8.6.2.1: half of the largest window is worth a segment.
#[test]
fn a_peer_whose_window_is_smaller_than_a_segment_gets_its_data_without_probes() {
    let mss = Options { mss: Some(8_960), ..Options::default() };
    let jumbo = Config { mtu: 9_000, nagle: false, ..Config::default() };
    let mut server = Server::accept(&jumbo, mss, 3_000);
    let (mut acknowledged, mut rounds) = (0, 0);
    let mut answers = server.write(10_000);
    while acknowledged < 10_000 && rounds < 20 {
        assert!(!answers.is_empty(), "after {acknowledged} bytes");
        acknowledged += answers.iter().map(|answer| answer.payload.len() as u32).sum::<u32>();
        answers = server.hear(segment(Flags::ACK, Seq(100), Seq(7_001) + acknowledged, 3_000));
        rounds += 1;
    }
    assert_eq!((acknowledged, server.connection.poll_timeout()), (10_000, None));
}

/// RFC 7323 section 5.3, R1: each segment from the past is answered, or a sender that sends the
/// same data again and again would not learn that it has arrived.
#[test]
fn each_old_segment_with_data_is_acknowledged() {
    let stamped = |value| Options {
        mss: Some(1_460),
        timestamps: Some(Timestamps { value, echo: 0 }),
        ..Options::default()
    };
    let mut server = Server::accept(&Config::default(), stamped(10_000), 60_000);
    for _ in 0..5 {
        let payload = Bytes::from_static(b"old");
        let old = segment(Flags::ACK, Seq(100), Seq(7_001), 60_000);
        let answers = server.hear(Segment { options: stamped(9_000), payload, ..old });
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].acknowledgment, Seq(100));
    }
    assert_eq!(server.connection.stats().bytes_received, 0);
}

/// RFC 2018 section 4 lists the newest range first. What one acknowledgment reports together shows
/// no reordering, whatever the order of its ranges, so that RACK need not wait (RFC 8985 section
/// 6.2, step 4).
#[test]
fn ranges_reported_together_are_no_reordering() {
    let (mut server, sent) = with_eight_sent();
    let answers = server.hear(acknowledgment(&sent, 0, &[7, 5, 3]));
    assert_eq!(answers.first().map(|segment| segment.sequence), Some(sent[0].sequence));
}

/// The segment before a hole may be acknowledged only together with what follows the hole, because
/// its acknowledgment was delayed. It did not overtake anything either.
#[test]
fn a_hole_reported_by_the_acknowledgment_up_to_it_is_no_reordering() {
    let (mut server, sent) = with_eight_sent();
    assert_eq!(server.hear(acknowledgment(&sent, 1, &[2])), []);
    let answers = server.hear(acknowledgment(&sent, 1, &[4, 3, 2]));
    assert_eq!(answers.first().map(|segment| segment.sequence), Some(sent[1].sequence));
}

/// RFC 8985 section 6.2, step 4: after the first segment has come late, RACK waits, also if nothing was
/// missing then any more.
#[test]
fn a_late_segment_that_completes_the_flight_is_reordering() {
    let (mut server, sent) = with_eight_sent();
    assert_eq!(server.hear(acknowledgment(&sent, 0, &[1])), []);
    server.hear(segment(Flags::ACK, Seq(100), sent[7].end(), 60_000));
    let sent = send_eight(&mut server, Duration::ZERO);
    let repeats = |answers: &[Segment]| answers.iter().any(|one| one.sequence == sent[0].sequence);
    assert!(!repeats(&server.hear(acknowledgment(&sent, 0, &[7, 5, 3]))));
    assert!(repeats(&server.time_out()));
}

/// A server that has sent eight segments, a millisecond apart.
fn with_eight_sent() -> (Server, Vec<Segment>) {
    let offers = Options { mss: Some(1_460), sack_permitted: true, ..Options::default() };
    let config = Config { nagle: false, batching: false, ..Config::default() };
    let mut server = Server::accept(&config, offers, 60_000);
    let sent = send_eight(&mut server, Duration::from_millis(1));
    (server, sent)
}

/// Sends eight segments, `apart` from each other, and waits for 15 ms.
fn send_eight(server: &mut Server, apart: Duration) -> Vec<Segment> {
    let mut sent = Vec::new();
    for _ in 0..8 {
        server.now += apart;
        sent.extend(server.write(1_460));
    }
    assert_eq!(sent.len(), 8);
    server.now += Duration::from_millis(15);
    sent
}

/// Acknowledges the first `count` of these segments, and selectively the others named.
fn acknowledgment(sent: &[Segment], count: usize, others: &[usize]) -> Segment {
    let mut sack = SackBlocks::default();
    for &at in others {
        sack.push(SackBlock { start: sent[at].sequence, end: sent[at].end() });
    }
    let options = Options { sack, ..Options::default() };
    Segment { options, ..segment(Flags::ACK, Seq(100), sent[count].sequence, 60_000) }
}

/// RFC 5682 section 2.1, step 2b: new data shows whether the timeout was needless, be it a small segment that
/// Nagle's algorithm would keep (Linux: `TCP_NAGLE_OFF` in `tcp_xmit_recovery`).
#[test]
fn after_a_timeout_new_data_goes_first_however_small() {
    let offers = Options { mss: Some(1_460), sack_permitted: true, ..Options::default() };
    let config = Config { batching: false, tail_loss_probe: false, ..Config::default() };
    let mut server = Server::accept(&config, offers, 60_000);
    let sent = [1_460, 1_460, 100, 50].map(|len| server.write(len)).concat();
    assert_eq!(sent.len(), 3);
    assert_eq!(server.time_out()[0].sequence, sent[0].sequence);
    let answers = server.hear(segment(Flags::ACK, Seq(100), sent[1].sequence, 60_000));
    assert_eq!(answers[0].sequence, sent[2].end());
}

/// RFC 9293 section 3.4: a FIN takes a sequence number, so a shut window has no room for it.
#[test]
fn a_fin_waits_for_the_window() {
    let mut server = Server::accept(&Config::default(), Options::default(), 60_000);
    server.hear(segment(Flags::ACK, Seq(100), Seq(7_001), 0));
    server.connection.close(server.now);
    assert_eq!(drain(&mut server.connection, server.now), []);
    let probes = server.time_out();
    assert_eq!(probes.len(), 1);
    assert_eq!((probes[0].sequence, probes[0].has(Flags::FIN)), (Seq(7_000), false));
    let answers = server.hear(segment(Flags::ACK, Seq(100), Seq(7_001), 1));
    assert_eq!(answers.len(), 1);
    assert_eq!((answers[0].sequence, answers[0].has(Flags::FIN)), (Seq(7_001), true));
}

/// RFC 9293 section 3.8.6.1: a connection whose peer keeps its window shut, and answers, stays
/// open; also if the window was shut over data in flight.
#[test]
fn a_window_shut_over_data_in_flight_is_waited_for() {
    let mut server = Server::accept(&Config::default(), Options::default(), 60_000);
    assert_eq!(server.write(400).len(), 1);
    let shut = || segment(Flags::ACK, Seq(100), Seq(7_001), 0);
    server.hear(shut());
    for _ in 0..40 {
        assert!(!server.time_out().is_empty());
        server.hear(shut());
    }
    assert_eq!(server.connection.error(), None);
    server.hear(segment(Flags::ACK, Seq(100), Seq(7_401), 60_000));
    assert_eq!(server.connection.stats().bytes_acknowledged, 400);
    // A peer that does not respond is still given up.
    server.write(400);
    server.hear(segment(Flags::ACK, Seq(100), Seq(7_401), 0));
    while server.connection.poll_timeout().is_some() {
        server.time_out();
    }
    assert_eq!(server.connection.error(), Some(TcpError::TimedOut));
}
