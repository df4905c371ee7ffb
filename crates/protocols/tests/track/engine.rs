//! QUIC's engine against the RFCs: how its window answers loss, and how many packets an exchange takes.

use std::num::NonZeroU64;

use trackbed_net::models::loss::Periodic;

use crate::support::*;

/// The mean window in packets of a download over a link that loses every `every`-th packet.
fn mean_window(name: &'static str, every: u64, settled: Time, end: Time) -> f64 {
    let down = clean().with(Loss::new(Periodic { every: NonZeroU64::new(every).unwrap() }));
    let bytes = simulate_over([&clean(), &down], |track| async move {
        let (_server, connection) = track.connected(protocol(name)).await;
        let mut body = connection.exchange(get("/zeros?4000000000")).await.unwrap().body;
        let mut bytes = 0;
        while now() < end {
            let piece = body.next().await.unwrap().unwrap();
            bytes += if now() > settled { piece.len() } else { 0 };
        }
        bytes
    });
    let round_trips = (end - settled).as_secs_f64() / RTT.as_secs_f64();
    let each = if name == "tcp" { SEGMENT_BYTES } else { STREAM_BYTES };
    bytes as f64 / each / round_trips
}

/// RFC 9438 section 4.3: where CUBIC's own function is slower it follows Reno, with its own
/// factors. The TCP engine does so too, and is tested against Linux.
#[test]
fn cubic_has_the_window_that_it_has_over_tcp_where_losses_are_frequent() {
    let (settled, end) = (Time::from_millis(20_000), Time::from_millis(180_000));
    for every in [100, 200] {
        let [quic, tcp] = ["quic", "tcp"].map(|name| mean_window(name, every, settled, end));
        println!("1 in {every}: {quic:.2} packets over QUIC, {tcp:.2} over TCP");
        assert!((0.9..1.1).contains(&(quic / tcp)), "1 in {every}: {quic} and {tcp}");
    }
}

/// RFC 9438 section 5.1 (equation 6): 1.054 * (RTT^3 / p^3)^(1/4) with RTT in seconds, C 0.4, beta 0.7.
#[test]
fn cubic_answers_rare_losses_with_its_response_function() {
    let (settled, end) = (Time::from_millis(60_000), Time::from_millis(200_000));
    let window = mean_window("quic", 10_000, settled, end);
    let expected = 1.054 * (RTT.as_secs_f64().powi(3) * 1e12_f64).powf(0.25);
    assert!((0.9..1.1).contains(&(window / expected)), "{window} for {expected}");
}

/// Acknowledgments are added to other packets (RFC 9000 section 13.2), so a request and its
/// response need no separate ones.
#[test]
fn an_exchange_takes_a_packet_each_way() {
    for name in ["quic", "mpquic", "http3"] {
        let seed = Seed::of_run(1, 0);
        let network = network(&clean(), &clean(), &seed);
        let ((begin, end), sent): (_, Sent) = simulate_seen(network, seed, |track| async move {
            let (_server, connection) = track.connected(protocol(name)).await;
            ping(&*connection).await.unwrap();
            // What follows the handshake: identifiers, tickets, probes of the path's MTU.
            sleep(Duration::from_secs(5)).await;
            let begin = now();
            for _ in 0..EXCHANGES {
                ping(&*connection).await.unwrap();
            }
            (begin, now())
        });
        let packets = sent.all().iter().filter(|(at, ..)| (begin..end).contains(at)).count();
        assert_eq!(packets, 2 * EXCHANGES, "{name}");
    }
}

const EXCHANGES: usize = 20;

/// What of a stream is in a full packet: 1,452 bytes of UDP payload without a short header with an
/// identifier of 8 bytes and a packet number of 2, the tag of 16, and a STREAM frame's head of 5.
const STREAM_BYTES: f64 = 1_420.0;
/// What of a stream is in a full segment: 1,500 bytes without the heads of IP and TCP and a timestamp.
const SEGMENT_BYTES: f64 = 1_448.0;
