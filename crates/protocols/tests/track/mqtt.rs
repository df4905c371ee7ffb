//! Features of MQTT: versions, QoS, brokers without a service, and hostile clients.

use trackbed_protocols::{MqttAnswer, MqttParameters, MqttQos, MqttVersion};

use crate::support::*;

fn every_way() -> impl Iterator<Item = MqttParameters> {
    MqttVersion::ALL.iter().flat_map(|&version| {
        MqttQos::ALL.iter().flat_map(move |&qos| {
            let way = move |&answer| MqttParameters { version, qos, answer };
            MqttAnswer::ALL.iter().map(way)
        })
    })
}

async fn connected(track: &Track, mqtt: MqttParameters) -> (ServerHandle, Rc<dyn Connection>) {
    let mut config = ClientConfig::default();
    config.transport.mqtt = mqtt;
    config.transport.idle_timeout = Some(Duration::from_secs(30));
    track.connected_with(protocol("mqtt"), config).await
}

/// CONNACK after 3 round trips, the first answer after 4, each one after it one more: whatever the
/// version and the QoS, since messages are delivered before they are released.
#[test]
fn every_version_and_quality_takes_the_same_round_trips() {
    for mqtt in every_way() {
        let times = simulate(&clean(), |track| async move {
            let (_server, connection) = connected(&track, mqtt).await;
            let mut times = vec![now()];
            for _ in 0..3 {
                times.push(ping(&*connection).await.unwrap());
            }
            let all = join_all((0..20).map(|_| ping(&*connection))).await;
            times.push(*all.last().unwrap().as_ref().unwrap());
            connection.close().await;
            times
        });
        let expected: Vec<Time> = (3..8).map(|trips| Time::ZERO + RTT * trips).collect();
        assert_eq!(times, expected, "{mqtt:?}");
    }
}

/// A message of telemetry, byte for byte: 20 ms, and at 50 Mbit/s 160 ns for each byte of the
/// packets that follow one another. Each has 52 bytes of IP and TCP with timestamps (RFC 7323) and
/// 22 of a TLS 1.3 record (RFC 8446 section 5.2). From the second on a bare acknowledgment is the
/// first to come back: the client has acknowledged the answer before by a PUBACK that nothing
/// answered, and a delayed acknowledgment that was sent by its timer ends an exchange's interactive
/// mode, as in Linux.
#[test]
fn a_message_takes_as_long_as_the_bytes_that_mqtt_needs() {
    const HEADERS: usize = 52 + 22;
    let text = |text: &str| 2 + text.len();
    let client = "tb-0123456789abcdef";
    let answers = format!("answers/{client}");
    // MQTT 5, sections 3.3.1 to 3.3.3: the properties are a response topic and correlation data.
    let properties = 1 + text(&answers) + 1 + 2 + 4;
    let publish = text("service/request/telemetry/0") + 2 + 1 + properties + 512;
    let request = HEADERS + 1 + 2 + publish;
    // Section 3.4: a reason of zero is left out.
    let puback = HEADERS + 2 + 2;
    // Correlation data, and the status as a user property.
    let properties = 1 + 2 + 4 + 1 + text("status") + text("200");
    let answer = HEADERS + 1 + 1 + text(&answers) + 2 + 1 + properties;
    let bytes = (request + puback + answer) as u64;
    simulate(&fast(50), |track| async move {
        let (_server, connection) = connected(&track, MqttParameters::default()).await;
        for number in 0..5 {
            sleep(Duration::from_secs(1)).await;
            let bare = if number > 0 { 52 } else { 0 };
            let sent = now();
            let request = post("/telemetry/0", body::full(vec![0; 512]));
            let response = connection.exchange(request).await.unwrap();
            assert_eq!(body::drain(response.body).await, Ok(0));
            assert_eq!(now() - sent, Duration::from_nanos(20_000_000 + (bytes + bare) * 160));
        }
    });
}

#[test]
fn long_bodies_arrive_in_every_version_and_quality() {
    // A broker drops messages of QoS 0 that come too fast for a subscriber.
    let is_sure = |mqtt: &MqttParameters| {
        mqtt.qos > MqttQos::AtMostOnce || mqtt.answer == MqttAnswer::Service
    };
    for mqtt in every_way().filter(is_sure) {
        eprintln!("{mqtt:?}");
        simulate(&fast(100), |track| async move {
            let (_server, connection) = connected(&track, mqtt).await;
            join_all((0..3).map(|seed| echo(&*connection, 700_000, seed))).await;
            if mqtt.answer == MqttAnswer::Service {
                assert_eq!(connection.exchange(get("/status?404")).await.unwrap().status, 404);
                fetch(&*connection, 1_000_000).await;
            }
            connection.close().await;
        });
    }
}

/// What a broker drops of an echo of QoS 0 is noticed.
#[test]
fn a_body_of_which_a_part_is_missing_is_not_taken_for_a_whole_one() {
    let mqtt = MqttParameters {
        qos: MqttQos::AtMostOnce,
        answer: MqttAnswer::Echo,
        ..MqttParameters::default()
    };
    simulate(&fast(100), |track| async move {
        let (_server, connection) = connected(&track, mqtt).await;
        let upload = async |seed| {
            let (upload, sum) = noise(3_000_000, seed);
            let response = connection.exchange(post("/echo", upload)).await?;
            digest(response.body).await.map(|got| assert_eq!(got, sum))
        };
        let ends = join_all((0..3).map(upload)).await;
        assert!(ends.iter().any(Result::is_err), "something is dropped: {ends:?}");
        ping(&*connection).await.unwrap();
    });
}

/// Half an hour of silence: pings keep the connection.
#[test]
fn an_idle_connection_is_kept() {
    simulate(&clean(), |track| async move {
        let (_server, connection) = connected(&track, MqttParameters::default()).await;
        sleep(Duration::from_secs(1_800)).await;
        ping(&*connection).await.unwrap();
    });
}

#[test]
fn a_path_that_is_no_topic_is_refused() {
    simulate(&clean(), |track| async move {
        let (_server, connection) = connected(&track, MqttParameters::default()).await;
        let error = connection.exchange(get(&"/a".repeat(200))).await.err().unwrap();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        ping(&*connection).await.unwrap();
    });
}

/// Silent connections, without even TLS, are closed after ten seconds; others are served in the
/// meantime.
#[test]
fn silent_connections_are_closed_and_do_no_harm() {
    simulate(&clean(), |track| async move {
        let (_server, connection) = connected(&track, MqttParameters::default()).await;
        let mut silent = Vec::new();
        for _ in 0..200 {
            let open = track.client.connect_tcp(None, server_address(), &TcpOptions::default());
            silent.push(open.await.unwrap());
        }
        let last = now();
        ping(&*connection).await.unwrap();
        for mut stream in silent {
            let mut answer = Vec::new();
            let _end = futures_util::AsyncReadExt::read_to_end(&mut stream, &mut answer).await;
        }
        let waited = now() - last;
        assert!(waited <= Duration::from_secs(10) + RTT, "{waited:?}");
        ping(&*connection).await.unwrap();
    });
}
