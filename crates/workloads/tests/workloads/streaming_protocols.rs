//! Streaming over every real protocol, across a simulated link without losses, compared with the
//! arithmetic of round trips, windows and rates.

use super::protocols::{Endpoint, perform};
use crate::support::*;

struct Track {
    rate: Bitrate,
    one_way: Duration,
    queue: ByteSize,
    changes: &'static str,
}

impl Track {
    fn new(mbps: u64, one_way_ms: u64) -> Track {
        Track {
            rate: Bitrate::from_mbps(mbps),
            one_way: Duration::from_millis(one_way_ms),
            queue: ByteSize::from_bytes(1_000_000_000),
            changes: "",
        }
    }

    fn round_trip_ms(&self) -> f64 {
        self.one_way.as_secs_f64() * 2e3
    }

    /// A session over `protocol`, which must succeed.
    fn session(
        &self,
        settings: &Settings,
        protocol: &'static dyn Protocol,
        handshake: Handshake,
    ) -> Vec<Record> {
        let prepared = prepare("streaming", settings).unwrap();
        let begin = if handshake.begins_warm() { Time::from_millis(100_000) } else { Time::ZERO };
        let timeline = format!("at,change,value\n{}", self.changes).parse().unwrap();
        let course = Course::new(begin, Arc::new(timeline));
        let seed = Seed::of_run(1, 0);
        let link = LinkSpec::simple(self.rate, DropTail::of_bytes(self.queue), self.one_way);
        let mut builder = NetworkBuilder::default();
        let (phone, server) = (builder.host("phone0"), builder.host("server"));
        let end = |node, address: [u8; 4]| End::new(node, [address.into()]);
        let duplex = Duplex::new(&link, &link, &seed);
        builder.connect(end(phone, [10, 1, 0, 1]), end(server, [10, 0, 0, 1]), duplex);
        let endpoint = Endpoint::of(protocol, handshake);
        let records = perform(&*prepared, endpoint, builder.build().unwrap(), course, None, seed);
        assert_eq!(outcome(&records), Ok(()), "{}", endpoint.name());
        records
    }
}

fn tcp() -> &'static dyn Protocol {
    trackbed_protocols::find("tcp").unwrap()
}

/// The protocols whose rounds are counted here: over TCP with an initial window of ten segments, or
/// over QUIC with one as large.
fn counted() -> impl Iterator<Item = &'static dyn Protocol> {
    let names = ["http1", "http2", "http3", "quic", "tcp", "tcp+tls"];
    names.into_iter().map(|name| trackbed_protocols::find(name).unwrap())
}

fn is_tcp(protocol: &dyn Protocol) -> bool {
    protocol.capabilities().transport == Transport::Tcp
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.02, "{what}: found {found}, expected {expected}");
}

/// Pieces of one size, 4.5 MB in QHD.
const EVEN: (&str, &str) = ("variation", "0 %");
const HD_BYTES: f64 = 1_406_250.0;
const QHD_BYTES: f64 = 4_500_000.0;

/// On a link without limits a piece takes the round trips of slow start. A window of ten segments
/// of 1,448 bytes (RFC 6928; 1,500 less the headers with timestamps) doubles each round: after 7
/// rounds 1,270 have left, after 6 630, and an HD piece has 972. The first round follows the
/// request by a round trip, and the request the handshake by none.
#[test]
fn the_first_piece_takes_the_rounds_of_slow_start() {
    let track = Track::new(10_000, 50);
    for protocol in counted() {
        let records = track.session(&[EVEN, ("duration", "1 s")], protocol, Handshake::New);
        let delay = samples("loading_delay_ms", &records)[0];
        let set_up = Endpoint::of(protocol, Handshake::New).set_up_round_trips();
        let expected = f64::from(set_up + 7) * track.round_trip_ms();
        if is_tcp(protocol) {
            near(delay, expected, protocol.name());
        } else {
            // An engine that paces may need one more (RFC 9002 section 7.7).
            let most = (expected + track.round_trip_ms()) * 1.02;
            assert!((expected * 0.98..most).contains(&delay), "{}: {delay}", protocol.name());
        }
    }
}

/// Once the window has opened, a piece takes a round trip and its bytes at the rate of the link,
/// including headers: 52 of 1,500 bytes of every TCP segment, more with TLS (22 of 16 KB) and over
/// QUIC (about 70 of 1,480).
#[test]
fn later_pieces_take_a_round_trip_and_their_serialisation() {
    let track = Track::new(100, 20);
    for protocol in counted() {
        let records = track.session(&[EVEN, ("duration", "8 s")], protocol, Handshake::New);
        let delays = pieces_ms(&records);
        let share = if is_tcp(protocol) { 1_448.0 / 1_500.0 } else { 1_410.0 / 1_480.0 };
        let serialisation = QHD_BYTES * 8.0 / 100e6 / share * 1e3;
        let expected = track.round_trip_ms() + serialisation;
        for delay in &delays[3..] {
            near(*delay, expected, protocol.name());
        }
    }
}

/// A forced reconnection costs only the round trips of a handshake: TCP one, TLS 1.3 one more
/// unless early data can go with it; QUIC one, and none with 0-RTT.
#[test]
fn a_reconnection_costs_the_round_trips_of_its_handshake() {
    let track = Track {
        changes: "3 s,reconnect,\n6 s,reconnect,\n9 s,reconnect,",
        ..Track::new(1_000, 40)
    };
    for protocol in counted() {
        let known = protocol.capabilities().handshakes;
        let then_early = known.contains(&Handshake::Early).then_some(Handshake::NewThenEarly);
        for handshake in known.iter().copied().chain(then_early) {
            let settings = [EVEN, ("duration", "12 s"), ("ends", "elapsed")];
            let records = track.session(&settings, protocol, handshake);
            let name = format!("{} {}", protocol.name(), handshake.name());
            expect("reconnection_count", &records, &[3.0]);
            let round_trips = Endpoint::of(protocol, handshake.later()).set_up_round_trips();
            let expected = f64::from(round_trips) * track.round_trip_ms();
            let found = samples("reconnect_ms", &records);
            assert_eq!(found.len(), 3, "{name}");
            for time in found {
                // Certificates take their time on the link, at 1 Gbit/s less than a millisecond.
                assert!((expected..=expected + 1.0).contains(&time), "{name}: {time}");
            }
            if !protocol.capabilities().tls.is_empty() {
                let resumed = match handshake {
                    Handshake::New => 0.0,
                    Handshake::NewThenEarly => 0.75,
                    Handshake::Resumed | Handshake::Early => 1.0,
                };
                expect("resumed_ratio", &records, &[resumed]);
            }
        }
    }
}

/// At 20 Mbit/s QHD takes 1.86 s, so at 2 s the second piece is in progress. Over `tcp` the piece
/// after the jump waits behind it; if exchanges share a connection its sender is told to stop, and
/// only data in flight delays the next: at most a full queue and a round trip, over TCP also its
/// send buffer.
#[test]
fn after_a_jump_the_next_piece_waits_only_where_it_must() {
    let track = Track {
        queue: ByteSize::from_bytes(50_000),
        changes: "2 s,seek,50 %",
        ..Track::new(20, 10)
    };
    let settings = [EVEN, ("duration", "10 s"), ("ends", "elapsed"), ("seeks", "always")];
    let share = 1_448.0 / 1_500.0;
    let transfer = |bytes: f64| bytes * 8.0 / 20e6 / share * 1e3;
    for protocol in counted() {
        let records = track.session(&settings, protocol, Handshake::New);
        let delay = samples("seek_delay_ms", &records)[0];
        let alone = transfer(HD_BYTES) + track.round_trip_ms();
        // The second piece was requested when the first was there.
        let first = samples("loading_delay_ms", &records)[0];
        let behind = first + track.round_trip_ms() + transfer(QHD_BYTES) - 2_000.0;
        assert!(behind > 200.0, "the second piece should be under way at the jump: {behind}");
        let name = protocol.name();
        match (protocol.capabilities().multiplexed, is_tcp(protocol)) {
            (false, _) => {
                let expected = behind + alone;
                assert!((delay / expected - 1.0).abs() < 0.1, "{name}: {delay}, not {expected}");
            }
            (true, false) => {
                let in_the_way = 50_000.0 * 8.0 / 20e6 * 1e3 + track.round_trip_ms();
                let most = (alone + in_the_way) * 1.1;
                assert!((alone * 0.98..most).contains(&delay), "{name}: {delay}");
            }
            // What TCP's send buffer holds still arrives, but nothing else.
            (true, true) => {
                let most = behind + alone - track.round_trip_ms();
                assert!((alone * 0.98..most).contains(&delay), "{name}: {delay}");
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_sessions_over_every_protocol() {
    let track = Track {
        changes: "0 s,delay,50 ms\n1 s,seek,50 %\n2 s,reconnect,\n3 s,seek,20 %",
        queue: ByteSize::from_bytes(100_000),
        ..Track::new(50, 20)
    };
    for &protocol in registry() {
        let session = || track.session(&[("duration", "5 s")], protocol, Handshake::New);
        assert_eq!(session(), session(), "{}", protocol.name());
    }
}

/// A user's folder gives the same results as generated media of the same sizes.
#[test]
fn media_of_a_user_takes_as_long_as_generated_media_of_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, bytes) in [("hd", 140_625), ("fhd", 225_000), ("qhd", 450_000)] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        for second in 0..5 {
            let file = folder.join(name).join(format!("{second:04}.m4s"));
            std::fs::write(file, vec![7; bytes]).unwrap();
        }
    }
    let track = Track::new(20, 10);
    let path: &'static str = folder.display().to_string().leak();
    let session = |settings: &Settings| track.session(settings, tcp(), Handshake::New);
    let own = session(&[("duration", "4 s"), ("media", path)]);
    let generated = session(&[("duration", "4 s"), EVEN, ("piece_size", "450 kB")]);
    let (own, generated) = (pieces_ms(&own), pieces_ms(&generated));
    assert_eq!(own.len(), generated.len());
    // The paths differ by a few bytes.
    own.iter().zip(generated).for_each(|(own, generated)| near(*own, generated, "tcp"));
}
