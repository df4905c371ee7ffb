//! Bursts and windows of RFC 9260, by the packets that leave. Over [`clean`] all packets of a
//! flight leave and arrive at one instant, half a round trip apart.

use crate::support::*;

/// What the server sends and receives, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// A DATA chunk leaves, with this sequence number and this many bytes of payload.
    Data { at: Time, tsn: u32, len: u32 },
    /// A SACK arrives: its cumulative TSN, the receive window, and its number of gaps.
    Sack { at: Time, cumulative: u32, room: u32, gaps: u16 },
}

#[derive(Clone, Default)]
struct Script(Arc<Mutex<Vec<Seen>>>);

impl Tap for Script {
    fn see(&mut self, at: Time, _: LinkId, way: Direction, point: Point, packet: &Packet) {
        // The headers of IPv4 and SCTP.
        let mut chunks = &packet.bytes()[20 + 12..];
        while chunks.len() >= 16 {
            let word = |at: usize| u32::from_be_bytes(chunks[at..at + 4].try_into().unwrap());
            let len = (word(0) & 0xffff) as usize;
            match (chunks[0], way, point) {
                // I-DATA (RFC 8260 section 2.1).
                (64, Direction::Backward, Point::Entered) => {
                    let len = len as u32 - 20;
                    self.0.lock().unwrap().push(Seen::Data { at, tsn: word(4), len });
                }
                (3, Direction::Forward, Point::Delivered) => {
                    let (cumulative, room, gaps) = (word(4), word(8), (word(12) >> 16) as u16);
                    self.0.lock().unwrap().push(Seen::Sack { at, cumulative, room, gaps });
                }
                _ => {}
            }
            chunks = &chunks[len.next_multiple_of(4).clamp(4, chunks.len())..];
        }
    }
}

/// What a server does that has `bytes` to send over these links; the client waits before it reads.
fn script(
    [up, down]: [&LinkSpec; 2],
    sctp: SctpParameters,
    window: u32,
    bytes: u64,
    pause: Duration,
) -> Vec<Seen> {
    let seed = Seed::of_run(1, 0);
    let network = network(up, down, &seed);
    let encapsulation = Encapsulation::None;
    let transport =
        TransportParameters { encapsulation, sctp, window, ..TransportParameters::default() };
    let ((), script): (_, Script) = simulate_seen(network, seed, |track: Track| async move {
        let (_server, connection) = track.connected_over(protocol("sctp"), transport).await;
        let mut body = connection.exchange(get(&format!("/zeros?{bytes}"))).await.unwrap().body;
        let first = body.next().await.unwrap().unwrap().len() as u64;
        sleep(pause).await;
        assert_eq!(body::drain(body).await, Ok(bytes - first));
    });
    let seen = script.0.lock().unwrap();
    seen.clone()
}

/// How many packets of data leave at each instant.
fn flights(seen: &[Seen]) -> Vec<(Time, usize)> {
    let mut flights = BTreeMap::new();
    for seen in seen {
        if let Seen::Data { at, .. } = seen {
            *flights.entry(*at).or_default() += 1;
        }
    }
    flights.into_iter().collect()
}

fn sizes(seen: &[Seen], count: usize) -> Vec<usize> {
    flights(seen).into_iter().take(count).map(|(_, packets)| packets).collect()
}

/// The server's INIT ACK, COOKIE ACK, and SACK of the request.
const BEFORE_DATA: u64 = 3;

const WINDOW: u32 = 16 << 20;

fn quiet() -> SctpParameters {
    SctpParameters { initial_window: 4, immediate_sack: false, ..SctpParameters::default() }
}

/// RFC 9260 sections 7.2.1 and 6.2: a SACK comes for every second packet, opens the window by one,
/// and so sets three free. The first packet of all is acknowledged alone and sets two free. What is
/// over from a flight is acknowledged with the first of the next.
#[test]
fn slow_start_sends_three_packets_for_each_acknowledgment_of_two() {
    let seen = script([&clean(), &clean()], quiet(), WINDOW, 3_000_000, Duration::ZERO);
    assert_eq!(sizes(&seen, 5), [4, 2 + 3, 9, 12, 18]);
    let flights = flights(&seen);
    assert!(flights[..5].windows(2).all(|pair| pair[1].0 - pair[0].0 == RTT), "{flights:?}");
}

/// RFC 7053: below ten packets each is acknowledged, opens the window by one and sets two free. Of
/// the third flight's sixteen packets two left with a window below ten.
#[test]
fn immediate_acknowledgments_double_the_window() {
    let sctp = SctpParameters { immediate_sack: true, ..quiet() };
    let seen = script([&clean(), &clean()], sctp, WINDOW, 3_000_000, Duration::ZERO);
    assert_eq!(sizes(&seen, 4), [4, 8, 16, 2 * 2 + 7 * 3]);
}

/// RFC 9260 section 6.1, rule D: each message may send Max.Burst packets, and so a batch of them a
/// whole window.
#[test]
fn messages_that_come_together_fill_the_window_at_once() {
    for window in [40, 64, 100] {
        let sctp = SctpParameters { initial_window: window, ..quiet() };
        let seen = script([&clean(), &clean()], sctp, WINDOW, 3_000_000, Duration::ZERO);
        assert_eq!(sizes(&seen, 1), [window as usize]);
    }
}

/// The same rule for a SACK: the first seven of eight are lost, the eighth acknowledges fifteen
/// packets at once. All messages have been handed over by then.
#[test]
fn an_acknowledgment_of_many_packets_sets_free_a_burst() {
    for burst in [2, 4, 8] {
        let sctp = SctpParameters { initial_window: 16, max_burst: burst, ..quiet() };
        // INIT and COOKIE ECHO, which carries the request, come before.
        let up = clean().with(Loss::new(Listed::new(3..=9)));
        let seen = script([&up, &clean()], sctp, WINDOW, 80_000, Duration::ZERO);
        assert_eq!(sizes(&seen, 2), [16, burst as usize]);
    }
}

/// RFC 9260 section 7.2.4: three reports that a packet is missing make it leave again, at once; with
/// two it waits for the timer, a second at least.
#[test]
fn the_third_report_of_a_gap_brings_a_packet_again() {
    let sctp = SctpParameters { initial_window: 20, ..quiet() };
    // 20 messages of 1,448 bytes, with what goes before the body.
    let bytes = 20 * 1_448 - 100;
    for (later, is_fast) in [(5, true), (3, true), (2, false), (1, false)] {
        let down = fast(10).with(Loss::new(Listed::new([BEFORE_DATA + 20 - later])));
        let seen = script([&fast(10), &down], sctp, WINDOW, bytes, Duration::ZERO);
        let data: Vec<_> = seen
            .iter()
            .filter_map(|seen| match seen {
                Seen::Data { at, tsn, .. } => Some((*at, *tsn)),
                Seen::Sack { .. } => None,
            })
            .collect();
        assert_eq!(data.len(), 21, "{data:?}");
        let ((again, tsn), first) = (data[20], data[19 - later as usize]);
        assert_eq!(tsn, first.1, "{data:?}");
        let reports: Vec<Time> = seen
            .iter()
            .filter_map(|seen| match seen {
                Seen::Sack { at, gaps: 1.., .. } => Some(*at),
                _ => None,
            })
            .collect();
        match is_fast {
            true => assert_eq!(again, reports[2], "{later} packets later"),
            false => assert!(again - first.0 >= Duration::from_secs(1), "{later} packets later"),
        }
    }
}

/// RFC 9260 section 6.3.3, rules E1 to E3: a flight is lost as a whole; after RTO.Min one packet
/// leaves, and slow start begins again with it.
#[test]
fn a_timeout_goes_back_to_one_packet() {
    let sctp = SctpParameters { initial_window: 16, ..quiet() };
    let down = clean().with(Loss::new(Listed::new(BEFORE_DATA + 1..=BEFORE_DATA + 16)));
    let flights = flights(&script([&clean(), &down], sctp, WINDOW, 3_000_000, Duration::ZERO));
    assert_eq!(flights[0].1, 16);
    assert_eq!(flights[1], (flights[0].0 + Duration::from_secs(1), 1));
    // It is the first to arrive, so that it is acknowledged at once, and sets two free.
    assert_eq!(flights[2], (flights[1].0 + RTT, 2));
    assert_eq!(flights[3], (flights[2].0 + RTT, 3));
}

/// RFC 9260 section 6.1, rule A: no more is in flight than the receiver has room for, except one
/// packet when nothing is in flight, at growing intervals. The application reads nothing for a
/// minute.
#[test]
fn a_closed_window_lets_one_packet_pass_at_a_time() {
    let seen = script([&clean(), &clean()], quiet(), 50_000, 200_000, Duration::from_secs(60));
    let (mut acknowledged, mut room, mut probes) = (None, u32::MAX, Vec::new());
    let mut lens = BTreeMap::new();
    for seen in &seen {
        match *seen {
            Seen::Sack { cumulative, room: left, .. } => {
                (acknowledged, room) = (Some(cumulative), left);
                lens.retain(|tsn, _| *tsn > cumulative);
            }
            Seen::Data { at, tsn, len } => {
                assert!(acknowledged.is_none_or(|acknowledged| tsn > acknowledged));
                lens.insert(tsn, len);
                let under_way: u32 = lens.values().sum();
                if under_way > room {
                    assert!(under_way <= 1_448, "{under_way} bytes where there is room for {room}");
                    probes.push(at);
                }
            }
        }
    }
    probes.dedup();
    let gaps: Vec<Duration> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let [.., a, b, c] = gaps[..] else { panic!("{probes:?}") };
    assert_eq!((b, c), (a * 2, b * 2), "the timer backs off: {probes:?}");
}
