//! The workloads over every real protocol, across a simulated link without losses.

use trackbed_net::Network;
use trackbed_net::models::Loss;
use trackbed_protocols::{ClientConfig, ServerConfig, TlsParameters, TransportParameters};
use trackbed_substrate::simulated::Hosts;

use crate::mortal::MortalDialer;
use crate::support::*;
use crate::telemetry::is_closed;

/// A protocol, a version of TLS and a handshake.
#[derive(Clone, Copy)]
pub struct Endpoint {
    pub protocol: &'static dyn Protocol,
    tls: Option<TlsVersion>,
    pub handshake: Handshake,
}

impl Endpoint {
    fn all() -> Vec<Endpoint> {
        let mut all = Vec::new();
        for protocol in registry() {
            let capabilities = protocol.capabilities();
            let mut add = |tls, handshake| {
                all.push(Endpoint { protocol: *protocol, tls, handshake });
            };
            if capabilities.tls.is_empty() {
                add(None, Handshake::New);
            }
            for &version in capabilities.tls {
                for &handshake in capabilities.handshakes {
                    if handshake != Handshake::Early || version == TlsVersion::Tls13 {
                        add(Some(version), handshake);
                    }
                }
            }
        }
        assert!(all.len() > registry().len(), "there is something to test");
        all
    }

    /// One for each protocol, with a new handshake of the latest version.
    fn newest() -> Vec<Endpoint> {
        assert!(!registry().is_empty(), "there is something to test");
        registry().iter().map(|protocol| Endpoint::of(*protocol, Handshake::New)).collect()
    }

    /// This protocol, with the latest version of TLS.
    pub fn of(protocol: &'static dyn Protocol, handshake: Handshake) -> Endpoint {
        let tls = protocol.capabilities().tls.iter().max().copied();
        Endpoint { protocol, tls, handshake }
    }

    pub fn name(&self) -> String {
        let tls = self.tls.map_or("plain", TlsVersion::name);
        format!("{} {tls} {}", self.protocol.name(), self.handshake.name())
    }

    /// Round trips before a request can leave.
    pub fn set_up_round_trips(&self) -> u32 {
        self.protocol.set_up_round_trips(self.tls, self.handshake, &TransportParameters::default())
    }

    /// Asserts that ten messages over this number of connections took the round trips that they
    /// need, and less than 1 % more: at 1 Gbit/s their serialisation is far below that. A QUIC
    /// engine may pace what follows the first packet of a connection (RFC 9002 section 7.7), which
    /// costs it at most another round trip.
    fn check_completion(&self, records: &[Record], connections: u32) {
        let least = f64::from(self.set_up_round_trips() * connections + 10) * 10.0;
        let pacing = match self.protocol.capabilities().transport {
            Transport::Tcp | Transport::Coap | Transport::Sctp => 0.0,
            Transport::Udp => f64::from(connections) * 10.0,
        };
        let completion = samples("completion_ms", records)[0];
        let range = least..(least + pacing) * 1.01;
        assert!(range.contains(&completion), "{}: {completion} ms, not {range:?}", self.name());
    }
}

/// A server behind a router, and phones with a separate link each: 5 ms one way.
fn network(phones: u32, loss: Ratio, seed: &Seed) -> Network {
    let queue = || DropTail::of_bytes(ByteSize::from_bytes(10_000_000));
    let link = |delay| {
        let spec = LinkSpec::simple(Bitrate::from_mbps(1_000), queue(), delay);
        let spec = spec.then(Loss::bernoulli(loss));
        Duplex::new(&spec, &spec, &seed.child("network"))
    };
    let mut builder = NetworkBuilder::default();
    let (server, router) = (builder.host("server"), builder.router("router"));
    let end = |node, address: [u8; 4]| End::new(node, [address.into()]);
    let trunk = link(Duration::from_millis(1));
    builder.connect(end(server, [10, 0, 0, 1]), end(router, [10, 0, 0, 2]), trunk);
    for phone in 0..phones {
        let node = builder.host(format!("phone{phone}"));
        let [_, _, high, low] = phone.to_be_bytes();
        let access = link(Duration::from_millis(4));
        builder.connect(end(node, [10, 1, high, low]), end(router, [10, 2, high, low]), access);
    }
    builder.build().unwrap()
}

fn run(prepared: &dyn Prepared, endpoint: Endpoint) -> Vec<Record> {
    run_over(prepared, endpoint, Ratio::ZERO, Seed::of_run(1, 0))
}

fn run_over(prepared: &dyn Prepared, endpoint: Endpoint, loss: Ratio, seed: Seed) -> Vec<Record> {
    let network = network(prepared.phones(), loss, &seed);
    perform(prepared, endpoint, network, Course::default(), None, seed)
}

/// The workload from hosts `phone0` and so on, on a course, with this mean lifetime of connections.
pub fn perform(
    prepared: &dyn Prepared,
    endpoint: Endpoint,
    network: Network,
    course: Course,
    life: Option<Duration>,
    seed: Seed,
) -> Vec<Record> {
    let main = |hosts: Hosts| async move {
        let log = EventLog::default();
        let tls = endpoint.tls.map_or_else(TlsParameters::default, |version| {
            TlsParameters::only(version, CipherSuite::Aes128Gcm)
        });
        let config = ServerConfig { tls: tls.clone(), ..ServerConfig::default() };
        let listen = SocketAddr::from(([10, 0, 0, 1], 443));
        let service = prepared.service(log.clone());
        let host = hosts.get("server").unwrap();
        let server = endpoint.protocol.serve((host, listen), &config, service).unwrap();
        let config = ClientConfig {
            trust: server.trust().cloned(),
            tls,
            handshake: endpoint.handshake,
            ..ClientConfig::default()
        };
        let dialer = |phone| {
            let host = hosts.get(&format!("phone{phone}")).unwrap();
            let dialer = endpoint.protocol.dialer(host, &config).unwrap();
            match life {
                Some(life) => {
                    MortalDialer::around(dialer, life, seed.stream(&format!("test/life/{phone}")))
                }
                None => dialer,
            }
        };
        let stage = Stage {
            first: 0,
            phones: (0..prepared.phones()).map(dialer).collect(),
            capabilities: endpoint.protocol.capabilities(),
            hosts: Vec::new(),
            server: server.local_addr(),
            handshake: endpoint.handshake,
            patience: Patience::VIRTUAL,
            course,
            seed,
            log: log.clone(),
        };
        prepared.drive(stage).await;
        log.take()
    };
    Simulation::default().run(seed, network, main).unwrap()
}

fn run_with(workload: &str, settings: &Settings, endpoint: Endpoint) -> Vec<Record> {
    let records = run(&*prepare(workload, settings).unwrap(), endpoint);
    assert_eq!(outcome(&records), Ok(()), "{}", endpoint.name());
    records
}

#[test]
fn ten_messages_take_the_round_trips_that_the_specifications_ask_for() {
    for endpoint in Endpoint::all() {
        let records = run_with("messages", &[], endpoint);
        endpoint.check_completion(&records, 1);
        expect("answered_count", &records, &[10.0]);
        if endpoint.tls.is_some() {
            let resumed = f64::from(u8::from(endpoint.handshake != Handshake::New));
            let early = f64::from(u8::from(endpoint.handshake == Handshake::Early));
            expect("resumed_ratio", &records, &[resumed]);
            expect("early_data_ratio", &records, &[early]);
        }
    }
}

/// With early data the tickets come after the answer, and `tcp+tls` reads only during an exchange:
/// its clients run out of tickets.
#[test]
fn a_connection_for_each_message_resumes_every_time() {
    let misses_tickets = |endpoint: &Endpoint| {
        endpoint.protocol.name() == "tcp+tls" && endpoint.handshake == Handshake::Early
    };
    for endpoint in Endpoint::all().into_iter().filter(|endpoint| !misses_tickets(endpoint)) {
        let records = run_with("messages", &[("connection", "each")], endpoint);
        endpoint.check_completion(&records, 10);
        assert_eq!(connections(&records), 10);
        if endpoint.handshake != Handshake::New {
            expect("resumed_ratio", &records, &[1.0]);
        }
        if endpoint.handshake == Handshake::Early {
            expect("early_data_ratio", &records, &[1.0]);
        }
    }
}

/// At 1000 messages a second, the first ones wait for the connection; without multiplexing each
/// waits for the answer to the one before.
#[test]
fn an_open_loop_waits_for_answers_only_where_the_protocol_must() {
    for endpoint in Endpoint::newest() {
        let records = run_with("messages", &[("rate", "1000 /s"), ("count", "50")], endpoint);
        let latencies = samples("rtt_ms", &records);
        let first = f64::from(endpoint.set_up_round_trips() + 1) * 10.0;
        let range = first * 0.9..first * 1.1;
        assert!(range.contains(&latencies[0]), "{}: {latencies:?}", endpoint.name());
        let last = match endpoint.protocol.capabilities().multiplexed {
            true => 10.0,
            false => first + 49.0 * 9.0,
        };
        // TCP counts its window in segments, as Linux does. Ten of them (RFC 6928) take MQTT's
        // first messages, and the twenty of the next round trip are used up by the messages that
        // waited behind them, by new ones, and by the acknowledgements of the answers (QoS 1), each
        // a separate segment: the last messages wait only for the end of that round trip.
        let more = if endpoint.protocol.name() == "mqtt" { 10.0 } else { 0.0 };
        let range = last * 0.98..(last + more) * 1.02;
        assert!(range.contains(&latencies[49]), "{}: {latencies:?}", endpoint.name());
    }
}

/// Signed messages reach the roadside unit and, once it has verified them, the listeners, in order.
#[test]
fn signed_messages_are_verified_and_handed_on_over_every_protocol() {
    let settings = [("signed", "true"), ("phones", "3"), ("count", "4"), ("listeners", "2")];
    for endpoint in Endpoint::newest() {
        let records = run_with("messages", &settings, endpoint);
        expect("answered_count", &records, &[12.0]);
        expect("accepted_count", &records, &[12.0]);
        let told = |who| {
            pick(&records, |event| match *event {
                Event::Warned { listener, phone, message } if listener == who => {
                    Some((phone, message))
                }
                _ => None,
            })
        };
        let (one, mut other) = (told(3), told(4));
        assert_eq!(one, other, "{}", endpoint.name());
        other.sort_unstable();
        let all: Vec<_> = (0..3).flat_map(|phone| (0..4).map(move |m| (phone, m))).collect();
        assert_eq!(other, all, "{}", endpoint.name());
        // One way to the service and one way from it, and the phone's signature; the first message
        // of each phone waits for its connection, and of two simultaneous ones the second waits for
        // another request.
        let warnings = samples("warning_ms", &records);
        for warning in &warnings {
            assert!((10.1..45.0).contains(warning), "{}: {warnings:?}", endpoint.name());
        }
    }
}

/// Between two messages is more than the idle timeout; the listener's connection must stay open.
#[test]
fn listeners_hear_what_comes_after_a_long_silence() {
    let settings = [("rate", "0.01 /s"), ("count", "2"), ("listeners", "1")];
    let settings = [&settings[..], &[("connection", "each")]].concat();
    for endpoint in Endpoint::newest() {
        let records = run_with("messages", &settings, endpoint);
        assert_eq!(samples("warning_ms", &records).len(), 2, "{}", endpoint.name());
    }
}

#[test]
fn fifty_phones_are_served_at_once() {
    for endpoint in Endpoint::newest() {
        let records = run_with("messages", &[("phones", "50"), ("rate", "10 /s")], endpoint);
        expect("answered_count", &records, &[500.0]);
        assert_eq!(samples("completion_ms", &records).len(), 50);
        assert!(failures(&records).is_empty());
    }
}

/// QUIC closes a connection after 30 s without a packet, and the next message opens another.
#[test]
fn a_connection_that_idled_too_long_is_replaced() {
    for endpoint in Endpoint::newest() {
        let records = run_with("messages", &[("rate", "0.02 /s"), ("count", "3")], endpoint);
        expect("answered_count", &records, &[3.0]);
        let expected = match endpoint.protocol.capabilities().transport {
            Transport::Udp => 3,
            Transport::Tcp | Transport::Coap | Transport::Sctp => 1,
        };
        assert_eq!(connections(&records), expected, "{}", endpoint.name());
    }
}

/// QUIC also closes it while telemetry has nothing to send for 50 s. Nothing is lost by that: the
/// message opens a connection, and takes its set-up and a round trip.
#[test]
fn telemetry_replaces_a_connection_that_idled_too_long() {
    for handshake in [Handshake::New, Handshake::Early] {
        let settings = [("rate", "0.02 /s"), ("duration", "190 s"), ("warm-up", "0 s")];
        let telemetry = prepare("telemetry", &settings).unwrap();
        for protocol in
            registry().iter().filter(|one| one.capabilities().handshakes.contains(&handshake))
        {
            let endpoint = Endpoint::of(*protocol, handshake);
            let records = run(&*telemetry, endpoint);
            expect("lost_count", &records, &[0.0]);
            expect("in_time_count", &records, &[4.0]);
            let is_quic = protocol.capabilities().transport == Transport::Udp;
            let set_up = if is_quic { f64::from(endpoint.set_up_round_trips()) } else { 0.0 };
            for rtt in &samples("rtt_ms", &records)[1..] {
                let least = 10.0 * (set_up + 1.0);
                assert!((least..least * 1.05).contains(rtt), "{}: {rtt} ms", endpoint.name());
            }
        }
    }
}

/// At least three rounds of objects and the handshake, whatever the protocol; the built-in page has
/// eight objects.
#[test]
fn a_page_loads_over_every_protocol() {
    for endpoint in Endpoint::all() {
        let records = run_with("page", &[], endpoint);
        expect("objects_count", &records, &[8.0]);
        let least = f64::from(endpoint.set_up_round_trips() + 3) * 10.0;
        let found = samples("plt_ms", &records)[0];
        assert!(found >= least, "{}: {found} ms, but {least} ms of round trips", endpoint.name());
        let first = f64::from(endpoint.set_up_round_trips() + 1) * 10.0;
        assert!(samples("ttfb_ms", &records)[0] >= first, "{}", endpoint.name());
    }
}

/// Over all four links' directions one packet in twenty is lost.
#[test]
fn a_page_loads_through_loss_the_same_way_each_time() {
    for endpoint in Endpoint::newest() {
        let prepared = prepare("page", &[("phones", "2")]).unwrap();
        let load = || run_over(&*prepared, endpoint, Ratio::from_parts(1, 20), Seed::of_run(3, 0));
        let records = load();
        assert_eq!(outcome(&records), Ok(()), "{}", endpoint.name());
        expect("objects_count", &records, &[8.0, 8.0]);
        assert_eq!(records, load(), "{}", endpoint.name());
    }
}

#[test]
fn bulk_data_arrives_intact_over_every_protocol() {
    for endpoint in Endpoint::newest() {
        for direction in ["download", "upload"] {
            let records = run_with("bulk", &[("size", "3 MB"), ("direction", direction)], endpoint);
            let intact = Event::Transferred { phone: 0, bytes: 3_000_000, intact: true };
            assert_eq!(count(&records, |event| *event == intact), 1, "{}", endpoint.name());
            // CoAP has a block of 1,024 bytes for each round trip of 10 ms (RFC 7959 section 2).
            let least = match endpoint.protocol.capabilities().transport {
                Transport::Coap => 0.99 * 1_024.0 * 8.0 / 0.01 / 1e6,
                Transport::Tcp | Transport::Udp | Transport::Sctp => 100.0,
            };
            let throughput = samples("throughput_mbps", &records)[0];
            assert!(throughput > least, "{}: {throughput}", endpoint.name());
        }
    }
}

/// Every message is answered or given up, and none twice, whatever is lost: one packet in five on
/// each of the four links' directions of an exchange.
#[test]
fn heavy_loss_delays_messages_but_every_one_is_accounted_for() {
    for endpoint in Endpoint::all() {
        for run in 0..3 {
            let settings = [("rate", "5 /s"), ("phones", "2"), ("connection", "each")];
            let prepared = prepare("messages", &settings).unwrap();
            let seed = Seed::of_run(2, run);
            let records = run_over(&*prepared, endpoint, Ratio::from_parts(1, 5), seed);
            let mut ends = pick(&records, |event| match *event {
                Event::Answered { phone, message, .. } | Event::Failed { phone, message, .. } => {
                    Some((phone, message))
                }
                _ => None,
            });
            ends.sort_unstable();
            let all: Vec<_> = (0..2).flat_map(|p| (0..10).map(move |m| (p, m))).collect();
            assert_eq!(ends, all, "{}, run {run}", endpoint.name());
            assert_eq!(count(&records, |event| *event == Event::Finished), 1);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_events() {
    for endpoint in Endpoint::newest() {
        let prepared = prepare("messages", &[("phones", "5"), ("connection", "each")]).unwrap();
        assert_eq!(run(&*prepared, endpoint), run(&*prepared, endpoint), "{}", endpoint.name());
    }
}

/// Whatever is lost and whichever connection breaks, each message of a schedule is answered in
/// time, late or lost, and none twice.
#[test]
fn telemetry_is_accounted_for_whatever_dies() {
    let settings = [
        ("rate", "20 /s"),
        ("phones", "3"),
        ("intervals", "poisson"),
        ("duration", "30 s"),
        ("warm-up", "1 s"),
        ("patience", "4 s"),
        ("in-flight", "40"),
    ];
    let prepared = prepare("telemetry", &settings).unwrap();
    for endpoint in Endpoint::newest() {
        let (mut lost, mut reconnected) = (0, 0);
        for run in 0..4 {
            let play = || {
                let (seed, life) = (Seed::of_run(7, run), Some(Duration::from_secs(3)));
                let network = network(prepared.phones(), Ratio::from_parts(run, 40), &seed);
                perform(&*prepared, endpoint, network, Course::default(), life, seed)
            };
            let records = play();
            let name = endpoint.name();
            assert_eq!(outcome(&records), Ok(()), "{name}, run {run}");
            let account = is_closed(&records, &format!("{name}, run {run}"));
            // 3 phones for 29 s at 20/s are 1740, within five standard deviations.
            assert!(account.sent.abs_diff(1_740) < 210, "{name}, run {run}: {account:?}");
            // Enough get through nevertheless, also if one lost packet holds up a queue.
            let answered = account.in_time + account.late;
            if endpoint.protocol.capabilities().transport == Transport::Coap && run > 0 {
                let capacity = coap_capacity(run as f64 / 40.0) * 3.0 * 29.0;
                assert!(answered as f64 > capacity / 2.0, "{name}, run {run}: {account:?}");
            } else {
                // One phone that waits for a timeout answers late: of forty runs over TCP at 7.5 %, a
                // tenth to a half of the answers are in time.
                assert!(answered * 4 > account.sent, "{name}, run {run}: {account:?}");
            }
            lost += account.lost;
            reconnected += connections(&records) - 3;
            if run == 1 {
                assert_eq!(records, play(), "{name}: equal seeds give equal events");
            }
        }
        assert!(lost > 0 && reconnected > 40, "{}: {lost}, {reconnected}", endpoint.name());
    }
}

/// The maximum number of messages a second that CoAP answers if each of the four links' directions
/// of an exchange loses this share. One at a time is in flight (NSTART = 1, RFC 7252 section 4.7):
/// it takes 10 ms, and after a loss first a wait of 2 s to 3 s, twice as much after the second loss
/// and so on (section 4.2). With 2.5 % that is 3 a second of 20 scheduled: the queue is as long as
/// patience allows, and hardly any of its messages is in time. A connection that breaks takes its
/// queue with it, and the next one begins without: then there are more.
fn coap_capacity(loss: f64) -> f64 {
    let lost = 1.0 - (1.0 - loss).powi(4);
    // 2.5 s (p + 2 p^2 + 4 p^3 + ...)
    let waiting = 2.5 * lost / (1.0 - 2.0 * lost);
    1.0 / (0.01 + waiting)
}
