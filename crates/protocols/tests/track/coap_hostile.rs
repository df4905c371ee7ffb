//! CoAP against unknown clients: malformed requests, floods and noise.

use trackbed_substrate::before;

use crate::support::*;

/// A socket that sends to the server without protocol state.
struct RawClient(Box<dyn UdpSocket>);

impl RawClient {
    fn new(track: &Track, port: u16) -> RawClient {
        RawClient(track.client.bind_udp(format!("10.0.0.1:{port}").parse().unwrap()).unwrap())
    }

    async fn say(&self, payload: &[u8]) {
        say(&*self.0, server_address(), payload).await;
    }

    /// What comes within two round trips.
    async fn hear(&self) -> Vec<Vec<u8>> {
        let (mut heard, end) = (Vec::new(), now() + RTT * 2);
        while let Some((_, payload)) = before(end, hear(&*self.0)).await {
            heard.push(payload);
        }
        heard
    }
}

/// Requests by hand, and the codes of their answers.
#[test]
fn a_server_says_what_is_wrong_with_a_request() {
    // GET /none; DELETE; a GET with the critical option 9; one with Proxy-Uri; a Block1 without the
    // ones before; a Block2 of size 2,048; and a ping.
    let cases: [(&[u8], &[u8]); 7] = [
        (&[0x40, 1, 0, 1, 0xb4, b'n', b'o', b'n', b'e'], &[0x60, 0x84, 0, 1]),
        (&[0x41, 4, 0, 2, 7], &[0x61, 0x85, 0, 2, 7]),
        (&[0x40, 1, 0, 3, 0x90], &[0x60, 0x82, 0, 3]),
        (&[0x40, 1, 0, 4, 0xd0, 22], &[0x60, 0xa5, 0, 4]),
        (&[0x40, 2, 0, 5, 0xd1, 14, 0x10, 0xff, 1], &[0x60, 0x88, 0, 5]),
        (&[0x40, 1, 0, 6, 0xd1, 10, 0x07], &[0x60, 0x82, 0, 6]),
        (&[0x40, 0, 0, 7], &[0x70, 0, 0, 7]),
    ];
    simulate(&clean(), |track| async move {
        let _server = track.serve(protocol("coap"));
        let raw = RawClient::new(&track, 9);
        for (request, expected) in cases {
            raw.say(request).await;
            let heard = raw.hear().await;
            assert_eq!(heard.len(), 1, "{request:?}: {heard:?}");
            assert!(heard[0].starts_with(expected), "{request:?}: {heard:?}");
        }
        // What is not confirmable and not understood is passed over (RFC 7252 section 5.4.1).
        raw.say(&[0x50, 1, 0, 8, 0x90]).await;
        assert!(raw.hear().await.is_empty());
    });
}

/// Clients that only send hellos from many ports: the server forgets them and serves others.
#[test]
fn a_flood_of_hellos_leaves_the_server_answering() {
    for version in TlsVersion::ALL {
        simulate(&clean(), |track| async move {
            let (mut config, ledger) = (ServerConfig::default(), Ledger::default());
            config.transport.ledger = Some(ledger.clone());
            let server = track.serve_with(protocol("coap+dtls"), &config, Rc::new(service));
            let tls = TlsParameters::only(*version, CipherSuite::Aes128Gcm);
            let config = ClientConfig { tls, ..ClientConfig::default() };
            let dialer = track.dialer(protocol("coap+dtls"), &server, config);
            // A client's first datagram, captured at a port that does not respond.
            let listener = track.server.bind_udp("10.0.0.2:7".parse().unwrap()).unwrap();
            let lonely = Rc::clone(&dialer);
            let lonely =
                spawn(async move { drop(lonely.connect("10.0.0.2:7".parse().unwrap()).await) });
            let (_, hello) = hear(&*listener).await;
            drop(lonely);
            for port in 10_000..10_500 {
                RawClient::new(&track, port).say(&hello).await;
            }
            sleep(RTT).await;
            let connection = dialer.connect(server_address()).await.unwrap();
            ping(&*connection).await.unwrap();
            // Unfinished handshakes expire.
            sleep(Duration::from_secs(60)).await;
            assert_eq!(ledger.totals().connections, 0, "no connection ended, because none began");
        });
    }
}

/// Noise of all lengths. (The target `coap_datagrams` of fuzzing shows that others are served.)
#[test]
fn nonsense_is_counted() {
    for name in ["coap", "coap+dtls"] {
        simulate(&clean(), |track| async move {
            let (mut config, ledger) = (ServerConfig::default(), Ledger::default());
            config.transport.ledger = Some(ledger.clone());
            let _server = track.serve_with(protocol(name), &config, Rc::new(service));
            let mut rng = Seed::of_run(4, 0).stream("nonsense");
            let raw = RawClient::new(&track, 9);
            for _ in 0..2_000 {
                raw.say(&random(rng.below(80) as usize, &mut rng)).await;
            }
            sleep(Duration::from_secs(300)).await;
            assert!(ledger.totals().refused > 500, "{:?}", ledger.totals());
        });
    }
}
