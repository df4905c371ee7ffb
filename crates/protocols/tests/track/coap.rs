//! CoAP against its specification: times, losses and blocks.

use trackbed_net::models::{Duplication, Reordering};
use trackbed_protocols::CoapParameters;

use crate::support::*;

fn with_coap(coap: CoapParameters) -> ClientConfig {
    let mut config = ClientConfig::default();
    config.transport.coap = coap;
    config
}

fn unconfirmed() -> ClientConfig {
    with_coap(CoapParameters { confirmable: false, ..CoapParameters::default() })
}

/// RFC 9147 section 5.1: a server of DTLS 1.3 that asks for a cookie takes a round trip more.
#[test]
fn a_cookie_costs_a_round_trip_over_dtls_1_3() {
    for cipher in CipherSuite::ALL {
        simulate(&clean(), |track| async move {
            let mut config = ServerConfig::default();
            config.transport.coap.cookie = true;
            let server = track.serve_with(protocol("coap+dtls"), &config, Rc::new(service));
            let tls = TlsParameters::only(TlsVersion::Tls13, *cipher);
            let config = ClientConfig { tls, ..ClientConfig::default() };
            let connection = track.connect(protocol("coap+dtls"), &server, config).await;
            assert_eq!(ping(&*connection).await.unwrap() - Time::ZERO, RTT * 3);
            let (version, cipher) = (TlsVersion::Tls13, *cipher);
            let security = Security { version, cipher, resumed: false, early_data: false };
            assert_eq!(connection.security(), Some(security));
        });
    }
}

/// Ends that both have both versions agree on the newer one.
#[test]
fn the_newer_version_is_taken_where_both_are_there() {
    for (versions, expected) in
        [(TlsVersion::ALL, TlsVersion::Tls13), (&[TlsVersion::Tls12], TlsVersion::Tls12)]
    {
        for cookie in [false, true] {
            simulate(&clean(), |track| async move {
                let mut config = ServerConfig::default();
                config.transport.coap.cookie = cookie;
                let server = track.serve_with(protocol("coap+dtls"), &config, Rc::new(service));
                let versions = versions.to_vec();
                let tls = TlsParameters { versions, ..TlsParameters::default() };
                let config = ClientConfig { tls, ..ClientConfig::default() };
                let connection = track.connect(protocol("coap+dtls"), &server, config).await;
                ping(&*connection).await.unwrap();
                assert_eq!(connection.security().unwrap().version, expected);
            });
        }
    }
}

/// The duration of an exchange whose first packets, this many, are lost.
fn with_lost(packets: u64, seed: u64) -> Duration {
    let up: LinkSpec = clean().with(Loss::new(Listed::new(1..=packets)));
    let seed = Seed::of_run(seed, 0);
    simulate_on(network(&up, &clean(), &seed), seed, |track| async move {
        let (_server, connection) = track.connected(protocol("coap")).await;
        ping(&*connection).await.unwrap() - Time::ZERO
    })
}

/// RFC 7252 section 4.2: a timeout from 2 to 3 s, which then doubles.
#[test]
fn a_lost_request_costs_its_timeout_and_another_one_twice_that() {
    let mut timeouts = Vec::new();
    for seed in 0..20 {
        assert_eq!(with_lost(0, seed), RTT);
        let timeout = with_lost(1, seed) - RTT;
        assert!((2_000..=3_000).contains(&timeout.as_millis()), "{timeout:?}");
        assert_eq!(with_lost(2, seed), RTT + timeout * 3);
        assert_eq!(with_lost(3, seed), RTT + timeout * 7);
        timeouts.push(timeout);
    }
    timeouts.sort();
    timeouts.dedup();
    assert_eq!(timeouts.len(), 20, "every run draws its own");
}

/// A lost response is the same to the client, but the service is called once.
#[test]
fn a_lost_response_is_sent_again_and_the_service_is_not_called_again() {
    let down: LinkSpec = clean().with(Loss::new(Listed::new([1, 2])));
    simulate_over([&clean(), &down], |track| async move {
        let calls = Rc::new(Cell::new(0));
        let count = Rc::clone(&calls);
        let counting = move |request: Request| {
            count.set(count.get() + 1);
            service(request)
        };
        let config = ServerConfig::default();
        let server = track.serve_with(protocol("coap"), &config, Rc::new(counting));
        let connection = track.connect(protocol("coap"), &server, ClientConfig::default()).await;
        ping(&*connection).await.unwrap();
        assert_eq!((calls.get(), connection.transport().packets_lost), (1, 2));
    });
}

#[test]
fn a_lost_non_confirmable_request_is_reported_and_blocks_no_other() {
    for name in ["coap", "coap+dtls"] {
        let first = if name == "coap" { 1 } else { 3 };
        let up: LinkSpec = clean().with(Loss::new(Listed::new([first])));
        simulate_over([&up, &clean()], |track| async move {
            let (_server, connection) = track.connected_with(protocol(name), unconfirmed()).await;
            let start = now();
            let other = async {
                sleep(Duration::from_millis(1)).await;
                ping(&*connection).await
            };
            let (lost, answered) = futures_util::future::join(ping(&*connection), other).await;
            assert!(lost.unwrap_err().is_retryable());
            // NON_LIFETIME, RFC 7252 section 4.8.2.
            assert_eq!(now() - start, Duration::from_secs(145));
            // The place of the lost one is free after the time in which a response is expected.
            assert_eq!(answered.unwrap() - start, Duration::from_secs(2) + RTT);
        });
    }
}

/// A response that takes longer than its acknowledgment may: another request goes in between.
#[test]
fn a_slow_response_comes_in_a_message_of_its_own() {
    for confirmable in [true, false] {
        simulate(&clean(), |track| async move {
            let slow = async |request: Request| {
                if request.path == "/slow" {
                    sleep(Duration::from_secs(5)).await;
                }
                Response { status: 200, body: request.body }
            };
            let config = ServerConfig::default();
            let server = track.serve_with(protocol("coap"), &config, Rc::new(slow));
            let coap = CoapParameters { confirmable, ..CoapParameters::default() };
            let connection = track.connect(protocol("coap"), &server, with_coap(coap)).await;
            let answered = async |path| {
                let response = connection.exchange(post(path, body::full("x"))).await.unwrap();
                assert_eq!(body::collect(response.body, 1).await.unwrap(), "x");
                now() - Time::ZERO
            };
            let (slow, quick) = futures_util::future::join(answered("/slow"), answered("/")).await;
            assert_eq!(slow, RTT + Duration::from_secs(5));
            let waited = match confirmable {
                // Until the empty acknowledgment.
                true => Duration::from_millis(100) + RTT,
                false => Duration::from_secs(2),
            };
            assert_eq!(quick, waited + RTT);
        });
    }
}

/// RFC 7252 section 4.7: at most NSTART requests are outstanding.
#[test]
fn more_requests_go_at_once_where_they_may() {
    for (places, turns) in [(1, 20), (5, 4), (20, 1), (100, 1)] {
        let took = simulate(&clean(), |track| async move {
            let coap = CoapParameters { outstanding_max: places, ..CoapParameters::default() };
            let (_server, connection) =
                track.connected_with(protocol("coap"), with_coap(coap)).await;
            let all = join_all((0..20).map(|_| ping(&*connection))).await;
            assert!(all.iter().all(Result::is_ok), "{all:?}");
            now() - Time::ZERO
        });
        assert_eq!(took, RTT * turns, "{places}");
    }
}

/// 20 kB each way in blocks of `size`: as many round trips as there are blocks (RFC 7959 section 2),
/// where the last of the request is answered by the first of the response.
#[test]
fn a_body_takes_a_round_trip_for_each_block() {
    for (client, server_size, size) in [(1_024, 1_024, 1_024), (64, 1_024, 64), (1_024, 32, 32)] {
        for (name, confirmable) in [("coap", true), ("coap+dtls", true), ("coap", false)] {
            simulate(&clean(), |track| async move {
                let mut config = ServerConfig::default();
                config.transport.coap.block_size = server_size;
                let server = track.serve_with(protocol(name), &config, Rc::new(service));
                let coap =
                    CoapParameters { block_size: client, confirmable, ..CoapParameters::default() };
                let connection = track.connect(protocol(name), &server, with_coap(coap)).await;
                let start = now();
                echo(&*connection, 20_000, 1).await;
                // A server that wants smaller ones says so when it has got the first.
                let first = u32::from(client > size) * client as u32;
                let up = u32::from(first > 0) + (20_000 - first).div_ceil(size as u32);
                let down = 20_000_u32.div_ceil(size as u32);
                assert_eq!(now() - start, RTT * (up + down - 1), "{name} {client} {server_size}");
                fetch(&*connection, 20_000).await;
            });
        }
    }
}

/// 2,048 B are two blocks, and so two round trips (RFC 7959 section 2.5); in one message they are one.
/// The path takes packets of 1,500 B: the longest goes in six fragments.
#[test]
fn without_blocks_a_request_is_one_message() {
    for (name, block_wise, round_trips) in
        [("coap", true, 2), ("coap", false, 1), ("coap+dtls", true, 2), ("coap+dtls", false, 1)]
    {
        simulate(&clean(), |track| async move {
            let coap = CoapParameters { block_wise, ..CoapParameters::default() };
            let (_server, connection) = track.connected_with(protocol(name), with_coap(coap)).await;
            let send = async |len: usize| {
                let start = now();
                let (upload, sum) = noise(len, 1);
                let response = connection.exchange(post("/digest", upload)).await?;
                assert_eq!(body::collect(response.body, 32).await?, sum[..]);
                Ok::<Duration, Error>(now() - start)
            };
            assert_eq!(send(2_048).await.unwrap(), RTT * round_trips, "{name}");
            if !block_wise {
                assert_eq!(send(8_192).await.unwrap(), RTT, "{name}");
                let error = send(8_193).await.unwrap_err().to_string();
                assert!(error.contains("at most 8192 B"), "{error}");
            }
        });
    }
}

/// Bodies of one path at once are not taken for one another (RFC 9175 section 3.3).
#[test]
fn bodies_in_blocks_of_one_path_do_not_mix() {
    simulate(&fast(100), |track| async move {
        let coap = CoapParameters { outstanding_max: 8, ..CoapParameters::default() };
        let (_server, connection) = track.connected_with(protocol("coap"), with_coap(coap)).await;
        join_all((1..=8).map(|seed| echo(&*connection, 5_000 + seed as usize, seed))).await;
    });
}

/// RFC 7959 section 2.9.3: a body that the server has no room for is refused with 4.13.
#[test]
fn an_unread_body_is_refused_when_it_is_too_large() {
    simulate(&fast(100), |track| async move {
        let (_server, connection) = track.connected(protocol("coap")).await;
        let response = connection.exchange(post("/never", body::zeros(9 << 20))).await.unwrap();
        assert_eq!(response.status, 413);
        ping(&*connection).await.unwrap();
    });
}

#[test]
fn a_status_without_a_coap_code_still_arrives() {
    simulate(&clean(), |track| async move {
        let (_server, connection) = track.connected(protocol("coap")).await;
        for status in [200, 201, 204, 299, 304, 401, 402, 418, 451, 499, 505, 599, 999] {
            let path = format!("/status?{status}");
            for request in [get(&path), post(&path, body::full("x"))] {
                assert_eq!(connection.exchange(request).await.unwrap().status, status);
            }
        }
    });
}

#[test]
fn settings_that_make_no_sense_are_refused_with_advice() {
    let refused = |coap| {
        simulate(&clean(), |track| async move {
            protocol("coap").dialer(track.client, &with_coap(coap)).err().unwrap().to_string()
        })
    };
    let coap = CoapParameters::default();
    assert!(refused(CoapParameters { block_size: 100, ..coap }).contains("1,024 bytes"));
    assert!(
        refused(CoapParameters { outstanding_max: 0, ..coap }).contains("one outstanding request")
    );
}

/// Networks that lose, repeat and reorder at random: each request gets its own response once, or is
/// reported as lost, and a confirmable one is executed at most once.
#[test]
fn every_request_is_answered_once_or_lost_and_done_once_at_most() {
    for run in 0..60 {
        let seed = Seed::of_run(run, 0);
        let mut dice: Rng = seed.stream("case");
        let mut percent = |most: u64| Ratio::from_parts(dice.below(most), 100);
        let (loss, twice, reorder) = (percent(30), percent(30), percent(50));
        let link = || {
            let late = Reordering { probability: reorder, hold: RTT };
            let twice = Duplication { probability: twice };
            clean().with(Loss::bernoulli(loss)).with(twice).with(late)
        };
        let name = if run % 2 == 0 { "coap" } else { "coap+dtls" };
        let coap = CoapParameters {
            confirmable: run % 4 < 2,
            block_size: 16 << (run % 7),
            block_wise: run % 8 != 0,
            outstanding_max: 1 + (run % 5) as u32,
            cookie: run % 3 == 0,
        };
        let calls = simulate_on(network(&link(), &link(), &seed), seed, |track| {
            swarm_case(track, name, coap)
        });
        let most = calls.values().copied().max().unwrap_or(0);
        assert!(most <= 1 || !coap.confirmable, "case {run}: {calls:?}");
    }
}

/// Thirty exchanges at random, and how often the service was called for each.
async fn swarm_case(track: Track, name: &str, coap: CoapParameters) -> BTreeMap<String, u32> {
    let calls: Rc<RefCell<BTreeMap<String, u32>>> = Rc::default();
    let seen = Rc::clone(&calls);
    let counting = move |request: Request| {
        *seen.borrow_mut().entry(request.path.clone()).or_default() += 1;
        async move {
            if request.path.ends_with('7') {
                sleep(Duration::from_millis(700)).await;
            }
            Response { status: 200, body: request.body }
        }
    };
    let mut config = ServerConfig::default();
    config.transport.coap = coap;
    let server = track.serve_with(protocol(name), &config, Rc::new(counting));
    let mut config = with_coap(coap);
    config.transport.idle_timeout = Some(Duration::from_secs(120));
    let dialer = track.dialer(protocol(name), &server, config);
    let Ok(connection) = dialer.connect(server_address()).await else { return BTreeMap::new() };
    let all = (0..30_usize).map(async |number| {
        sleep(Duration::from_millis(40 * number as u64)).await;
        let text = format!("{number}/").repeat(1 + number % 5 * 20);
        let request = post(&format!("/{number}"), body::full(text.clone()));
        let outcome = match connection.exchange(request).await {
            Ok(response) if response.status == 200 => body::collect(response.body, 10_000).await,
            Ok(response) => panic!("{number}: {}", response.status),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(answer) => assert_eq!(answer, text),
            Err(error) => assert!(error.is_retryable(), "{number}: {error}"),
        }
    });
    join_all(all).await;
    calls.take()
}
