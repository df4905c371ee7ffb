//! How many round trips pass until the first response is complete, and until each one after it.
//! The counts follow from RFC 9293 (TCP: 1), RFC 8446 and RFC 5246 (TLS 1.3: 1, with early data
//! 0; TLS 1.2: 2, abbreviated 1), RFC 9001 (QUIC: 1, with early data 0) and the exchange itself: 1.

use std::time::Duration;

use trackbed_connection::{CipherSuite, Handshake, Security, TlsVersion};
use trackbed_core::Time;
use trackbed_net::LinkSpec;
use trackbed_net::models::Loss;
use trackbed_net::models::loss::Listed;
use trackbed_protocols::{ClientConfig, Protocol, TlsParameters};
use trackbed_substrate::{now, sleep};

use crate::support::{
    RTT, clean, ping, protocol, registry_names, server_address, simulate, simulate_over,
};

use Handshake::{Early, New, Resumed};
use TlsVersion::{Tls12, Tls13};

/// The link takes no time to send a packet, but QUIC's pacer does: a nanosecond for each byte.
const SERIALISATION: Duration = Duration::from_micros(2);

/// The measurements of a dialer's second connection: the times until the responses to its first
/// request and to each of the next two, and what it negotiated.
struct Measured {
    first: Duration,
    next: [Duration; 2],
    security: Option<Security>,
}

fn measure(protocol: &'static dyn Protocol, config: ClientConfig) -> Measured {
    // Only this part of a configuration can move to the run's thread.
    let ClientConfig { tls, handshake, .. } = config;
    simulate(&clean(), |track| async move {
        let config = ClientConfig { tls, handshake, ..ClientConfig::default() };
        let server = track.serve(protocol);
        let dialer = track.dialer(protocol, &server, config);
        let earlier = dialer.connect(server_address()).await.unwrap();
        ping(&*earlier).await.unwrap();
        // The tickets of TLS 1.3 arrive after the handshake.
        sleep(RTT).await;
        earlier.close().await;

        let start = now();
        let connection = dialer.connect(server_address()).await.unwrap();
        let mut times = [Time::ZERO; 3];
        for time in &mut times {
            *time = ping(&*connection).await.unwrap();
        }
        Measured {
            first: times[0] - start,
            next: [times[1] - times[0], times[2] - times[1]],
            security: connection.security(),
        }
    })
}

fn check(name: &str, tls: Option<(TlsVersion, Handshake)>, round_trips: u32) {
    let (version, handshake) = tls.unwrap_or((Tls13, New));
    let cipher = CipherSuite::Aes128Gcm;
    let config = ClientConfig {
        tls: TlsParameters::only(version, cipher),
        handshake,
        ..ClientConfig::default()
    };
    let measured = measure(protocol(name), config);
    let case = format!("{name} {} {}", version.name(), handshake.name());
    let late = measured.first.checked_sub(RTT * round_trips);
    assert!(late.is_some_and(|late| late <= SERIALISATION), "{case}: {:?}", measured.first);
    assert_eq!(measured.next, [RTT, RTT], "{case}");
    let security = tls.map(|(version, handshake)| Security {
        version,
        cipher,
        resumed: handshake != New,
        early_data: handshake == Early,
    });
    assert_eq!(measured.security, security, "{case}");
}

#[test]
fn tcp_takes_2() {
    check("tcp", None, 2);
}

#[test]
fn tls_over_tcp_takes_3_in_version_1_3_and_one_less_with_early_data() {
    for name in ["tcp+tls", "http1", "http2"] {
        check(name, Some((Tls13, New)), 3);
        check(name, Some((Tls13, Resumed)), 3);
        check(name, Some((Tls13, Early)), 2);
    }
}

#[test]
fn tls_over_tcp_takes_4_in_version_1_2_and_one_less_when_resumed() {
    for name in ["tcp+tls", "http1", "http2"] {
        check(name, Some((Tls12, New)), 4);
        check(name, Some((Tls12, Resumed)), 3);
    }
}

#[test]
fn quic_takes_2_and_one_less_with_early_data() {
    // That there may be several paths is said among the transport parameters of the handshake.
    for name in ["quic", "mpquic", "http3"] {
        check(name, Some((Tls13, New)), 2);
        check(name, Some((Tls13, Resumed)), 2);
        check(name, Some((Tls13, Early)), 1);
    }
}

/// RFC 8684 section 3.1: what a connection is capable of is said in the segments of TCP's handshake.
#[test]
fn mptcp_takes_2() {
    check("mptcp", None, 2);
}

/// RFC 9260 section 5.1: INIT and INIT ACK, then the request along with the COOKIE ECHO.
#[test]
fn sctp_takes_2() {
    check("sctp", None, 2);
}

/// RFC 9147 section 5.1: one round trip more, for a handshake without a cookie.
#[test]
fn sctp_inside_dtls_takes_3() {
    check("sctp+dtls", Some((Tls13, New)), 3);
}

/// MQTT's CONNECT is answered before a request is published: CONNACK comes after 3 round trips with TLS
/// 1.3, the first answer after 4.
#[test]
fn mqtt_takes_one_more_than_tls_over_tcp() {
    check("mqtt", Some((Tls13, New)), 4);
    check("mqtt", Some((Tls13, Resumed)), 4);
    check("mqtt", Some((Tls12, New)), 5);
    check("mqtt", Some((Tls12, Resumed)), 4);
}

/// RFC 7252: a request and its response, and no handshake.
#[test]
fn coap_takes_1() {
    check("coap", None, 1);
}

/// RFC 9147 section 5: one round trip for the handshake of DTLS 1.3. RFC 6347 section 4.2: two for that
/// of DTLS 1.2, and one for its cookie.
#[test]
fn coap_inside_dtls_takes_2_or_4() {
    check("coap+dtls", Some((Tls13, New)), 2);
    check("coap+dtls", Some((Tls12, New)), 4);
}

#[test]
fn every_protocol_is_measured_above() {
    assert_eq!(
        registry_names(),
        [
            "coap",
            "coap+dtls",
            "http1",
            "http2",
            "http3",
            "mpquic",
            "mptcp",
            "mqtt",
            "quic",
            "sctp",
            "sctp+dtls",
            "tcp",
            "tcp+tls"
        ]
    );
}

/// RFC 9002 section 6.2: before there is a sample, the probe timeout is
/// 333 + 4 x 333 / 2 = 999 ms.
#[test]
fn a_lost_first_quic_packet_costs_999_ms() {
    first_packet_lost("quic", RTT * 2 + Duration::from_millis(999));
    first_packet_lost("mpquic", RTT * 2 + Duration::from_millis(999));
    first_packet_lost("http3", RTT * 2 + Duration::from_millis(999));
}

/// RFC 6298 section 2.1: the first retransmission timeout is 1 s.
#[test]
fn a_lost_syn_costs_a_second() {
    first_packet_lost("tcp", RTT * 2 + Duration::from_secs(1));
    first_packet_lost("http2", RTT * 3 + Duration::from_secs(1));
}

/// RFC 9260 section 16: RTO.Initial is 1 s.
#[test]
fn a_lost_init_costs_a_second() {
    first_packet_lost("sctp", RTT * 2 + Duration::from_secs(1));
}

fn first_packet_lost(name: &str, expected: Duration) {
    let up: LinkSpec = clean().with(Loss::new(Listed::new([1])));
    let took = simulate_over([&up, &clean()], |track| async move {
        let (_server, connection) = track.connected(protocol(name)).await;
        ping(&*connection).await.unwrap()
    });
    assert_eq!(took - Time::ZERO, expected, "{name}");
}
