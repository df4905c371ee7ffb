//! Servers that disappear, networks that fall silent, and clients that send garbage.

use crate::support::*;

#[test]
fn a_server_that_stops_is_noticed_at_once() {
    for_each_protocol(|protocol| {
        if protocol.name() == "coap" {
            // It has no connection whose end could be reported.
            return;
        }
        simulate(&clean(), |track| async move {
            let (server, connection) = track.connected(protocol).await;
            let waiting = Rc::clone(&connection);
            let waiting = spawn(async move { waiting.exchange(get("/never")).await.map(drop) });
            sleep(RTT).await;
            drop(server);
            let stopped = now();
            assert!(waiting.await.unwrap_err().is_retryable());
            assert_eq!(now() - stopped, RTT / 2);
            assert!(ping(&*connection).await.unwrap_err().is_retryable());
        });
    });
}

/// So that the next message opens a new connection at once, instead of waiting a round trip to learn
/// that there is none.
#[test]
fn a_client_knows_that_the_server_has_closed_while_nothing_was_sent() {
    for_each_protocol_over(&clean(), async |protocol, track| {
        let (server, connection) = track.connected(protocol).await;
        ping(&*connection).await.unwrap();
        sleep(RTT * 10).await;
        assert!(connection.is_open());
        drop(server);
        sleep(RTT / 2).await;
        sleep(Duration::from_millis(1)).await;
        // CoAP without DTLS has no connection that could end.
        assert_eq!(connection.is_open(), protocol.name() == "coap");
    });
}

#[test]
fn a_server_that_was_never_there_is_no_hang() {
    // Only CoAP sends nothing before a request.
    for protocol in registry().iter().filter(|protocol| protocol.name() != "coap") {
        let (error, at) = simulate(&clean(), |track| async move {
            let server = track.serve(*protocol);
            let dialer = track.dialer(*protocol, &server, ClientConfig::default());
            drop(server);
            sleep(RTT).await;
            (dialer.connect(server_address()).await.err().unwrap(), now())
        });
        assert!(error.is_retryable(), "{error}");
        // TCP is told by a reset; QUIC waits for its idle timeout of 30 s, DTLS retransmits for 31 s,
        // SCTP eight times, each after twice the time (RFC 9260 section 16).
        assert!(at <= Time::ZERO + RTT * 2 + Duration::from_secs((1 << 9) - 1), "{at}");
    }
}

/// The network drops everything from the first second on; the connection is given up after the idle
/// timeout without progress.
#[test]
fn silence_ends_in_an_error_after_the_idle_timeout() {
    for_each_protocol(|protocol| {
        let down = Spells::new([(Time::from_millis(1_000), Time::from_millis(3_000_000))]);
        let dark = clean().with(Outage { down: down.unwrap() });
        simulate_over([&dark, &dark], |track| async move {
            let transport = idle_after(Duration::from_secs(30));
            let (_server, connection) = track.connected_over(protocol, transport).await;
            ping(&*connection).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            let start = now();
            let error = ping(&*connection).await.unwrap_err();
            assert!(error.is_retryable(), "{error}");
            let waited = now() - start;
            assert!(waited <= Duration::from_secs(31), "{waited:?}");
            assert!(waited >= Duration::from_secs(29), "{waited:?}");
        });
    });
}

#[test]
fn a_body_that_fails_is_never_taken_for_a_whole_one() {
    for_each_protocol(|protocol| {
        for at_the_server in [true, false] {
            simulate(&clean(), |track| async move {
                let (_server, connection) = track.connected(protocol).await;
                let request = match at_the_server {
                    true => get("/broken"),
                    false => post("/echo", broken(100_000)),
                };
                let outcome = match connection.exchange(request).await {
                    Ok(response) => body::drain(response.body).await,
                    Err(error) => Err(error),
                };
                assert!(outcome.is_err(), "at the server: {at_the_server}: {outcome:?}");
            });
        }
    });
}

#[test]
fn an_exchange_that_is_given_up_harms_no_other() {
    for_each_protocol_over(&clean(), async |protocol, track| {
        let (server, connection) = track.connected(protocol).await;
        let mut response = connection.exchange(get("/zeros?100000000")).await.unwrap();
        response.body.next().await.unwrap().unwrap();
        drop(response);
        // CoAP asks for a body block by block, and may leave it.
        let is_coap = protocol.capabilities().transport == Transport::Coap;
        if protocol.capabilities().multiplexed || is_coap {
            ping(&*connection).await.unwrap();
        } else {
            // There is no other way to stop the sender than to end the connection.
            assert!(ping(&*connection).await.unwrap_err().is_retryable());
        }
        let connection = track.connect(protocol, &server, ClientConfig::default()).await;
        ping(&*connection).await.unwrap();
    });
}

#[test]
fn a_response_outlives_the_handle_of_its_connection() {
    for_each_protocol_over(&clean(), async |protocol, track| {
        let (_server, connection) = track.connected(protocol).await;
        let response = connection.exchange(get("/zeros?1000000")).await.unwrap();
        drop(connection);
        assert_eq!(body::drain(response.body).await, Ok(1_000_000));
    });
}

#[test]
fn closing_ends_everything() {
    for_each_protocol_over(&clean(), async |protocol, track| {
        let (_server, connection) = track.connected(protocol).await;
        let response = connection.exchange(get("/zeros?100000000")).await.unwrap();
        connection.close().await;
        assert!(body::drain(response.body).await.is_err());
        assert!(ping(&*connection).await.unwrap_err().is_retryable());
        connection.close().await;
    });
}

/// A server of every protocol over TCP gets garbage, ends that connection, and keeps serving
/// others.
#[test]
fn nonsense_ends_the_connection_that_it_came_on() {
    let nonsense: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense nonsense nonsense",
        b"\x01\xff\xff/",
        b"\x01\0\x01/\xff\xff\xff\xff",
        &[0; 5_000],
    ];
    for name in ["tcp", "tcp+tls", "http2", "mqtt"] {
        for bytes in nonsense {
            simulate(&clean(), |track| async move {
                let (_server, connection) = track.connected(protocol(name)).await;
                let open = track.client.connect_tcp(None, server_address(), &TcpOptions::default());
                let mut raw = open.await.unwrap();
                raw.write_all(bytes).await.unwrap();
                raw.close().await.unwrap();
                let mut answer = Vec::new();
                // It ends, whether by a reset or in order.
                let _end = raw.read_to_end(&mut answer).await;
                assert!(answer.len() < 100, "{name}: {answer:?}");
                ping(&*connection).await.unwrap();
            });
        }
    }
}

/// Two protocols that share a transport refuse each other in the handshake (RFC 7301), and not by
/// a misunderstanding later.
#[test]
fn a_server_of_another_protocol_is_refused_in_the_handshake() {
    for (client, server) in
        [("http3", "quic"), ("quic", "http3"), ("http2", "tcp+tls"), ("mqtt", "http2")]
    {
        let error: Error = simulate(&clean(), |track| async move {
            let server = track.serve(protocol(server));
            let dialer = track.dialer(protocol(client), &server, ClientConfig::default());
            dialer.connect(server_address()).await.err().unwrap()
        });
        assert!(!error.is_retryable(), "{error}");
    }
}
