//! Pinned parameters are negotiated, and unsupported ones are refused with a helpful error.

use crate::support::*;

#[test]
fn a_pinned_cipher_is_the_negotiated_one() {
    for protocol in registry() {
        for &version in protocol.capabilities().tls {
            for &cipher in CipherSuite::ALL {
                let tls = TlsParameters::only(version, cipher);
                let security = simulate(&clean(), |track| async move {
                    let config = ClientConfig { tls, ..ClientConfig::default() };
                    let (_server, connection) = track.connected_with(*protocol, config).await;
                    ping(&*connection).await.unwrap();
                    connection.security().unwrap()
                });
                assert_eq!((security.version, security.cipher), (version, cipher));
                assert!(!security.resumed && !security.early_data);
            }
        }
    }
}

/// A server that allows one cipher decides as well as a client does.
#[test]
fn sides_that_have_no_cipher_in_common_do_not_connect() {
    for_each_protocol(|protocol| {
        let Some(&version) = protocol.capabilities().tls.last() else { return };
        let error = simulate(&clean(), |track| async move {
            let tls = TlsParameters::only(version, CipherSuite::Aes256Gcm);
            let config = ServerConfig { tls, ..ServerConfig::default() };
            let server = track.serve_with(protocol, &config, Rc::new(service));
            let tls = TlsParameters::only(version, CipherSuite::ChaCha20Poly1305);
            let config = ClientConfig { tls, ..ClientConfig::default() };
            track.dialer(protocol, &server, config).connect(server_address()).await.err().unwrap()
        });
        assert!(!error.is_retryable(), "{error}");
    });
}

#[test]
fn a_server_that_is_not_trusted_is_refused() {
    for name in ["tcp+tls", "http2", "http3", "mpquic", "mqtt", "quic", "sctp+dtls", "coap+dtls"] {
        let error = simulate(&clean(), |track| async move {
            let _server = track.serve(protocol(name));
            // Another server of the same host has another key.
            let other = protocol(name).serve(
                (Arc::clone(&track.server), "10.0.0.2:444".parse().unwrap()),
                &ServerConfig::default(),
                Rc::new(service),
            );
            let dialer = track.dialer(protocol(name), &other.unwrap(), ClientConfig::default());
            dialer.connect(server_address()).await.err().unwrap()
        });
        assert!(matches!(error, Error::Failed { retryable: false, .. }), "{name}: {error}");
    }
}

#[test]
fn a_client_connects_again_to_a_server_without_sessions() {
    for name in ["tcp+tls", "http2", "http3", "mpquic", "quic"] {
        let security = simulate(&clean(), |track| async move {
            let config = ServerConfig { sessions: false, ..ServerConfig::default() };
            let server = track.serve_with(protocol(name), &config, Rc::new(service));
            let handshake = Handshake::Early;
            let config = ClientConfig { handshake, ..ClientConfig::default() };
            let dialer = track.dialer(protocol(name), &server, config);
            for _ in 0..2 {
                let connection = dialer.connect(server_address()).await.unwrap();
                ping(&*connection).await.unwrap();
                connection.close().await;
            }
            let connection = dialer.connect(server_address()).await.unwrap();
            ping(&*connection).await.unwrap();
            connection.security().unwrap()
        });
        assert!(!security.resumed && !security.early_data, "{name}");
    }
}

/// A server that has forgotten a session rejects its early data. Over TCP it is sent again as
/// ordinary data; over QUIC the exchange fails, and a new connection helps.
#[test]
fn rejected_early_data_is_not_lost_in_silence() {
    for name in ["tcp+tls", "http2", "http3", "mpquic", "quic"] {
        simulate(&fast(1_000), |track| async move {
            let server = track.serve(protocol(name));
            let handshake = Handshake::Early;
            let config = ClientConfig { handshake, ..ClientConfig::default() };
            let connect = async |dialer: &Rc<dyn Dialer>| {
                let connection = dialer.connect(server_address()).await.unwrap();
                let result = ping(&*connection).await;
                sleep(RTT).await;
                let security = connection.security();
                connection.close().await;
                (result.map(drop), security)
            };
            let forgotten = track.dialer(protocol(name), &server, config.clone());
            assert_eq!(connect(&forgotten).await.0, Ok(()));
            // A server remembers 1,024 sessions, and every new client leaves two.
            for _ in 0..515 {
                let other = track.dialer(protocol(name), &server, config.clone());
                assert_eq!(connect(&other).await.0, Ok(()));
            }
            let (result, security) = connect(&forgotten).await;
            match protocol(name).capabilities().transport {
                Transport::Tcp => assert_eq!(result, Ok(()), "{name}"),
                Transport::Udp | Transport::Coap | Transport::Sctp => {
                    assert!(result.unwrap_err().is_retryable(), "{name}")
                }
            }
            let security = security.unwrap();
            assert!(!security.resumed && !security.early_data, "{name}");
            let (result, security) = connect(&forgotten).await;
            assert_eq!(result, Ok(()), "{name}");
            assert!(security.unwrap().early_data, "{name}");
        });
    }
}

/// A first request that is longer than a server takes as early data goes on after the handshake.
#[test]
fn a_long_request_does_not_fit_into_early_data_and_still_arrives() {
    for name in ["tcp+tls", "http2", "http3", "mpquic", "quic"] {
        eprintln!("{name}");
        simulate(&fast(100), |track| async move {
            let server = track.serve(protocol(name));
            let handshake = Handshake::Early;
            let config = ClientConfig { handshake, ..ClientConfig::default() };
            let dialer = track.dialer(protocol(name), &server, config);
            for early_data in [false, true] {
                let connection = dialer.connect(server_address()).await.unwrap();
                echo(&*connection, 300_000, 4).await;
                assert_eq!(connection.security().unwrap().early_data, early_data, "{name}");
                sleep(RTT).await;
                connection.close().await;
            }
        });
    }
}

/// A restarted server has another key: its certificate is another one.
#[test]
fn a_restarted_server_has_to_be_trusted_again() {
    for name in ["tcp+tls", "http2", "http3", "mpquic", "mqtt", "quic", "sctp+dtls", "coap+dtls"] {
        simulate(&clean(), |track| async move {
            let server = track.serve(protocol(name));
            let old = track.dialer(protocol(name), &server, ClientConfig::default());
            let connection = old.connect(server_address()).await.unwrap();
            drop(server);
            // The port is free again when the old connections have fully ended.
            sleep(Duration::from_secs(10)).await;
            assert!(ping(&*connection).await.is_err());
            let server = track.serve(protocol(name));
            assert!(!old.connect(server_address()).await.err().unwrap().is_retryable(), "{name}");
            let connection = track.connect(protocol(name), &server, ClientConfig::default()).await;
            ping(&*connection).await.unwrap();
        });
    }
}

#[test]
fn what_cannot_be_had_is_refused_with_advice() {
    let refused = |name: &str, config: ClientConfig| -> String {
        let ClientConfig { tls, handshake, transport, .. } = config;
        simulate(&clean(), |track| async move {
            let trust = track.serve(protocol("http2")).trust().cloned();
            let config =
                ClientConfig { trust, tls, handshake, transport, ..ClientConfig::default() };
            let error = protocol(name).dialer(track.client, &config).err().unwrap();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            error.to_string()
        })
    };
    let old = TlsParameters::only(TlsVersion::Tls12, CipherSuite::Aes128Gcm);
    let old = ClientConfig { tls: old, ..ClientConfig::default() };
    assert!(refused("http3", old.clone()).contains("TLS 1.3"));
    let early = ClientConfig { handshake: Handshake::Early, ..old };
    assert!(refused("http2", early.clone()).contains("TLS 1.3"));
    assert!(refused("tcp", early).contains("tcp+tls"));
    let early = ClientConfig { handshake: Handshake::Early, ..ClientConfig::default() };
    assert!(refused("mqtt", early).contains("resumed"));
    for (name, key_exchanges, advice) in [
        ("coap+dtls", vec![KeyExchange::X25519MlKem768], "no ML-KEM"),
        ("http2", vec![], "allow x25519"),
    ] {
        let tls = TlsParameters { key_exchanges, ..TlsParameters::default() };
        let error = refused(name, ClientConfig { tls, ..ClientConfig::default() });
        assert!(error.contains(advice), "{error}");
    }
    let congestion = "vegas".to_owned();
    let transport = TransportParameters { congestion, ..TransportParameters::default() };
    let unknown = ClientConfig { transport, ..ClientConfig::default() };
    assert!(refused("quic", unknown).contains("cubic, reno, bbr3"));
    let no_trust = simulate(&clean(), |track| async move {
        protocol("quic").dialer(track.client, &ClientConfig::default()).err().unwrap().to_string()
    });
    assert!(no_trust.contains("trust"));
}
