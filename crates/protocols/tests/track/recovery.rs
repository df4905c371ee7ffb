//! QUIC's recovery: lost handshakes, and networks without delay.

use crate::support::*;

/// The server's first flight is lost. It is sent again about 1 s after the first time, Initial
/// packets first: for some time the client has keys for both spaces and has used one. It announces
/// the end in both, once.
#[test]
fn a_handshake_that_is_given_up_at_any_time_ends_with_a_few_packets() {
    for name in ["quic", "mpquic", "http3"] {
        for ms in (50..2_500).step_by(25) {
            let seed = Seed::of_run(ms, 0);
            let down = clean().with(Loss::new(Listed::new([1, 2, 3])));
            let network = network(&clean(), &down, &seed);
            let ((), sent): (_, Sent) = simulate_seen(network, seed, |track| async move {
                let server = track.serve(protocol(name));
                let dialer = track.dialer(protocol(name), &server, ClientConfig::default());
                let patience = sleep(Duration::from_millis(ms));
                drop(select(dialer.connect(server_address()), patience).await);
                sleep(RTT * 5).await;
            });
            let packets = sent.all().len();
            assert!(packets < 60, "{name}, given up after {ms} ms: {packets} packets");
        }
    }
}

/// The server's first flight is lost, the answer to early data with it, or the acknowledgement of early
/// data that fills the congestion window (RFC 9002 section 7.5). The server has then used up what it may send
/// before it knows the client's address (RFC 9000 section 8.1); the client's timer has to go on (RFC 9002
/// section 6.2.2.1).
#[test]
fn early_data_and_its_answer_arrive_although_the_beginning_is_lost() {
    for name in ["quic", "mpquic", "http3"] {
        for silent_ms in (20..400).step_by(20) {
            let silent = Duration::from_millis(silent_ms);
            let answer = early(name, silent, async |connection| fetch(connection, 20_000).await);
            let request = early(name, silent, async |connection| {
                upload(connection, 100_000, silent_ms).await;
            });
            let waited = answer.max(request);
            assert!(waited < Duration::from_secs(15), "{name}, {silent_ms} ms: {waited:?}");
        }
    }
}

/// How long an exchange in early data takes when nothing of the server arrives for some time.
fn early(
    name: &str,
    silent: Duration,
    exchange: impl AsyncFnOnce(&dyn Connection) + Send,
) -> Duration {
    let begin = Time::from_millis(10_000);
    let down = clean().with(Outage { down: Spells::new([(begin, begin + silent)]).unwrap() });
    simulate_over([&clean(), &down], |track| async move {
        let server = track.serve(protocol(name));
        let config = ClientConfig { handshake: Handshake::Early, ..ClientConfig::default() };
        let dialer = track.dialer(protocol(name), &server, config);
        let first = dialer.connect(server_address()).await.unwrap();
        ping(&*first).await.unwrap();
        sleep(RTT).await;
        first.close().await;
        sleep_until(begin).await;
        let connection = dialer.connect(server_address()).await.unwrap();
        exchange(&*connection).await;
        now() - begin
    })
}

/// On a network without any delay BBR measures rates beyond a byte in a nanosecond.
#[test]
fn every_congestion_control_gets_along_with_a_network_that_takes_no_time() {
    for congestion in congestion().iter().filter(|entry| entry.of == CongestionOf::Quic) {
        simulate(&LinkSpec::new(), |track| async move {
            let congestion = congestion.name.to_owned();
            let transport = TransportParameters { congestion, ..TransportParameters::default() };
            let (_server, connection) = track.connected_over(protocol("quic"), transport).await;
            for _ in 0..100 {
                ping(&*connection).await.unwrap();
            }
            fetch(&*connection, 1_000_000).await;
        });
    }
}

/// Loses packets of a link with 12.5 MB in flight, and as much again in its queue.
fn wide(lost: impl IntoIterator<Item = u64, IntoIter: Send + 'static>) -> LinkSpec {
    let queue = DropTail::of_bytes(ByteSize::from_bytes(64 << 20));
    let link = LinkSpec::simple(Bitrate::from_mbps(1_000), queue, Duration::from_millis(50));
    link.with(Loss::new(Listed::new(lost)))
}

/// Everything after the lost packets has to wait for them, and they leave 2,000 gaps.
#[test]
fn a_loss_behind_a_large_window_costs_time_and_nothing_else() {
    for name in ["quic", "mpquic", "http3"] {
        let (seed, down) = (Seed::of_run(7, 0), wide((40_000..44_000).step_by(2)));
        simulate_on(network(&wide([]), &down, &seed), seed, |track| async move {
            let (_server, connection) = track.connected(protocol(name)).await;
            fetch(&*connection, 100_000_000).await;
        });
    }
}

/// A message and its probes are lost for longer than three probe timeouts, so the window is the smallest (RFC 9002
/// section 7.6), also where the sender has left out a packet number among them.
#[test]
fn an_outage_of_several_probe_timeouts_is_persistent_congestion() {
    for pings in 10..90 {
        let (seed, begin) = (Seed::of_run(1, 0), Time::from_millis(20_000));
        let lost = Spells::new([(begin, begin + Duration::from_millis(1_700))]).unwrap();
        let network = network(&clean().with(Outage { down: lost }), &clean(), &seed);
        let (begin, sent): (_, Sent) = simulate_seen(network, seed, |track| async move {
            let (_server, connection) = track.connected(protocol("quic")).await;
            for _ in 0..pings {
                ping(&*connection).await.unwrap();
            }
            sleep_until(begin).await;
            ping(&*connection).await.unwrap();
            let begin = now();
            upload(&*connection, 100_000, 0).await;
            begin
        });
        let flight = begin..begin + RTT;
        let mut sent = sent.all();
        sent.retain(|(at, _, len)| flight.contains(at) && *len > 1_000);
        assert_eq!(sent.len(), 2, "after {pings} messages");
    }
}

/// The beginning of an upload is lost for good. What follows it is not read, so it gives no credit (RFC 9000 section
/// 4.1): the client sends no more than a window.
#[test]
fn data_behind_a_gap_gives_no_credit() {
    for name in ["quic", "mpquic", "http3"] {
        let (seed, begin) = (Seed::of_run(1, 0), Time::from_millis(10_000));
        // The first packets, and all that is sent once their loss is known.
        let (instant, end) = (begin + Duration::from_nanos(1), begin + Duration::from_secs(20));
        let lost = Spells::new([(begin, instant), (begin + RTT, end)]).unwrap();
        let network = network(&clean().with(Outage { down: lost }), &clean(), &seed);
        let window = 1 << 20;
        let ((), sent): (_, Sent) = simulate_seen(network, seed, |track| async move {
            let transport = TransportParameters { window, ..TransportParameters::default() };
            let (_server, connection) = track.connected_over(protocol(name), transport).await;
            // The congestion window grows beyond that of flow control.
            upload(&*connection, 20_000_000, 0).await;
            sleep_until(begin).await;
            let upload = connection.exchange(post("/", body::zeros(20_000_000)));
            drop(select(upload, sleep(end - begin)).await);
        });
        let mut sent = sent.all();
        sent.retain(|(at, _, len)| (begin..end).contains(at) && *len > 1_000);
        let bytes: usize = sent.iter().map(|(_, _, len)| len).sum();
        let windows = bytes as f64 / f64::from(window);
        assert!((0.9..1.2).contains(&windows), "{name}: {windows} windows");
    }
}

/// What follows a lost packet of an upload waits in the server, which closes the connection when it holds
/// half of what all may hold. Another client is served meanwhile.
#[test]
fn a_server_takes_a_limited_amount_out_of_order() {
    let drained = async |request: Request| {
        let whole = body::drain(request.body).await.is_ok();
        Response { status: if whole { 200 } else { 500 }, body: body::full("ping") }
    };
    for (name, mib, is_served) in [("quic", 8, false), ("http3", 8, false), ("http3", 256, true)] {
        let seed = Seed::of_run(7, 0);
        simulate_on(network(&wide([40_000]), &wide([]), &seed), seed, |track| async move {
            let limits = ServerLimits { buffered: Some(mib << 20), ..ServerLimits::default() };
            let config = ServerConfig { limits, ..ServerConfig::default() };
            let server = track.serve_with(protocol(name), &config, Rc::new(drained));
            let connect = || track.connect(protocol(name), &server, ClientConfig::default());
            let (busy, other) = (connect().await, connect().await);
            let answered = busy.exchange(post("/", body::zeros(100_000_000))).await;
            assert_eq!(answered.is_ok(), is_served, "{name}, {mib} MiB");
            ping(&*other).await.unwrap();
        });
    }
}
