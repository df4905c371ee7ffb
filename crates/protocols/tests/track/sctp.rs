//! Features of SCTP: its encapsulations, its window, its streams.

use trackbed_core::packet::protocol as numbers;
use trackbed_core::parameter::Arguments;

use crate::support::*;

fn carried_by(encapsulation: Encapsulation) -> TransportParameters {
    TransportParameters { encapsulation, ..TransportParameters::default() }
}

#[test]
fn packets_come_in_udp_or_by_themselves_and_fill_the_path() {
    for (encapsulation, number, packet_len_max) in [
        (Encapsulation::Udp, numbers::UDP, 1_500),
        (Encapsulation::None, numbers::SCTP, 1_500),
        (Encapsulation::Udp, numbers::UDP, 1_280),
        (Encapsulation::None, numbers::SCTP, 1_280),
    ] {
        let seed = Seed::of_run(1, 0);
        let lossy = fast(20).with(Loss::bernoulli(Ratio::from_parts(1, 100)));
        let network = network(&lossy, &lossy, &seed);
        let ((), sent): (_, Sent) = simulate_seen(network, seed, |track| async move {
            let transport = TransportParameters { packet_len_max, ..carried_by(encapsulation) };
            let (_server, connection) = track.connected_over(protocol("sctp"), transport).await;
            echo(&*connection, 300_000, 1).await;
        });
        let sent = sent.all();
        assert!(sent.iter().all(|(_, protocol, _)| *protocol == number), "{encapsulation:?}");
        let longest = sent.iter().map(|(.., len)| *len).max();
        assert_eq!(longest, Some(packet_len_max), "{encapsulation:?}");
    }
}

#[test]
fn a_first_answer_takes_two_round_trips_over_either_carrier() {
    for &encapsulation in Encapsulation::ALL {
        let took = simulate(&clean(), |track| async move {
            let (_server, connection) =
                track.connected_over(protocol("sctp"), carried_by(encapsulation)).await;
            assert_eq!(now() - Time::ZERO, RTT);
            ping(&*connection).await.unwrap()
        });
        assert_eq!(took - Time::ZERO, RTT * 2, "{encapsulation:?}");
    }
}

/// RFC 9260 section 16: RTO.Initial is 1 s. The engine sends the COOKIE ECHO again alone, and what
/// was bundled with it when that is acknowledged.
#[test]
fn a_lost_cookie_echo_costs_a_second_and_a_round_trip() {
    let up = clean().with(Loss::new(Listed::new([2])));
    let took = simulate_over([&up, &clean()], |track| async move {
        let (_server, connection) = track.connected(protocol("sctp")).await;
        ping(&*connection).await.unwrap()
    });
    assert_eq!(took - Time::ZERO, RTT * 3 + Duration::from_secs(1));
}

/// A window of W bytes and a round-trip time of R carry W / R.
#[test]
fn the_window_limits_the_rate() {
    let window = 400_000;
    let rate = simulate(&fast(1_000), |track| async move {
        let transport = TransportParameters { window, ..TransportParameters::default() };
        let (_server, connection) = track.connected_over(protocol("sctp"), transport).await;
        let mut response = connection.exchange(get("/zeros?200000000")).await.unwrap();
        // Slow start is over by then.
        while now() < Time::from_millis(1_000) {
            response.body.next().await.unwrap().unwrap();
        }
        let (start, mut bytes) = (now(), 0);
        while now() < start + Duration::from_secs(2) {
            bytes += response.body.next().await.unwrap().unwrap().len();
        }
        bytes as f64 / (now() - start).as_secs_f64()
    });
    // 20 ms of delay, and 12 us until a packet has been sent.
    let expected = f64::from(window) / 0.020_012;
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate} B/s, not {expected}");
}

/// A reader that pauses closes the window; when it continues, the rest arrives at full speed again.
#[test]
fn a_closed_window_opens_without_delay() {
    let took = simulate(&fast(100), |track| async move {
        let transport = TransportParameters { window: 500_000, ..TransportParameters::default() };
        let (_server, connection) = track.connected_over(protocol("sctp"), transport).await;
        let mut response = connection.exchange(get("/zeros?10000000")).await.unwrap();
        let first = response.body.next().await.unwrap().unwrap().len() as u64;
        sleep(Duration::from_secs(100)).await;
        let start = now();
        assert_eq!(body::drain(response.body).await, Ok(10_000_000 - first));
        now() - start
    });
    // 9.5 MB at 100 Mbit/s take 0.76 s.
    assert!(took < Duration::from_millis(1_000), "{took:?}");
}

/// A large body does not hold up a small exchange on another stream: the small answer waits for
/// what is on the link before it, and no longer.
#[test]
fn streams_share_the_association() {
    simulate(&fast(10), |track| async move {
        let transport = TransportParameters { window: 100_000, ..TransportParameters::default() };
        let (_server, connection) = track.connected_over(protocol("sctp"), transport).await;
        let response = connection.exchange(get("/zeros?20000000")).await.unwrap();
        let large = spawn(async move { body::drain(response.body).await });
        sleep(Duration::from_secs(2)).await;
        for _ in 0..20 {
            let start = now();
            ping(&*connection).await.unwrap();
            // A window of 100 kB takes 80 ms at 10 Mbit/s.
            let took = now() - start;
            assert!(took < Duration::from_millis(150), "{took:?}");
        }
        assert_eq!(large.await, Ok(20_000_000));
    });
}

/// 1,024 streams: more exchanges wait for one, and each stream is used again.
#[test]
fn more_exchanges_than_streams_take_turns() {
    simulate(&fast(100), |track| async move {
        let (_server, connection) = track.connected(protocol("sctp")).await;
        for _ in 0..2 {
            let all = join_all((0..1_500).map(|_| ping(&*connection))).await;
            assert!(all.iter().all(Result::is_ok));
        }
        // Exchanges that end in every way leave a stream that can be used.
        for _ in 0..300 {
            drop(connection.exchange(get("/zeros?100000")).await.unwrap());
            let (upload, _) = noise(10_000, 1);
            let response = connection.exchange(post("/ignore", upload)).await.unwrap();
            assert_eq!(body::collect(response.body, 32).await.unwrap(), "ignored");
        }
        echo(&*connection, 100_000, 2).await;
    });
}

#[test]
fn one_packet_in_five_may_be_lost() {
    for run in 0..5 {
        let seed = Seed::of_run(2, run);
        let lossy: LinkSpec = fast(20).with(Loss::bernoulli(Ratio::from_parts(1, 5)));
        simulate_on(network(&lossy, &lossy, &seed), seed, |track| async move {
            let (_server, connection) = track.connected(protocol("sctp")).await;
            echo(&*connection, 100_000, run).await;
            connection.close().await;
        });
    }
}

/// A handshake that is given up at any time leaves nothing behind that goes on sending.
#[test]
fn a_handshake_that_is_given_up_ends() {
    let mut sent = 0;
    for ms in (10..400).step_by(30) {
        let seed = Seed::of_run(1, ms);
        let down = clean().with(Loss::new(Listed::new([1])));
        let network = network(&clean(), &down, &seed);
        let ((), packets): (_, Sent) = simulate_seen(network, seed, |track| async move {
            let server = track.serve(protocol("sctp"));
            let dialer = track.dialer(protocol("sctp"), &server, ClientConfig::default());
            drop(select(dialer.connect(server_address()), sleep(Duration::from_millis(ms))).await);
            sleep(Duration::from_secs(100)).await;
        });
        sent += packets.all().len();
    }
    assert!(sent <= 14 * 2, "{sent} packets");
}

/// What the keys set, and what RFC 9260 does not allow.
#[test]
fn timers_that_contradict_each_other_are_refused() {
    let parameters = protocol("sctp").parameters();
    let read = |given: &[(&'static str, &str)]| {
        let value = |(name, text): &(&'static str, &str)| {
            let parameter = parameters.iter().find(|parameter| parameter.name == *name).unwrap();
            (*name, parameter.kind.parse(text).unwrap())
        };
        let given: Vec<_> = given.iter().map(value).collect();
        TransportParameters::read(&Arguments::read(&parameters, &given).unwrap())
    };
    assert_eq!(read(&[]).unwrap().sctp, SctpParameters::default());
    let linux =
        read(&[("rto-initial", "3 s"), ("initial-window", "4"), ("immediate-sack", "false")]);
    let expected = SctpParameters {
        rto_initial: Duration::from_secs(3),
        initial_window: 4,
        immediate_sack: false,
        ..SctpParameters::default()
    };
    assert_eq!(linux.unwrap().sctp, expected);
    for (given, refused) in [
        (&[("rto-initial", "500 ms")][..], "rto-initial"),
        (&[("rto-max", "500 ms")], "rto-initial"),
        (&[("rto-min", "0 s")], "rto-min"),
        (&[("sack-delay", "501 ms")], "sack-delay"),
        (&[("sack-delay", "0 s")], "sack-delay"),
    ] {
        assert_eq!(read(given).unwrap_err().parameter, refused, "{given:?}");
    }
}
