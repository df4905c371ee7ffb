//! Bytes from four clients of a broker, in turns, with time passing between them. The broker must not
//! panic, what it holds is bounded, and it still answers another client. The same from a broker to a client.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_mqtt::broker::{Broker, Flow, Limits};
use trackbed_mqtt::client::{Client, Settings};
use trackbed_mqtt::{Message, Qos, Version};

/// One input: a sequence of steps, each with a byte for the client and the time, a length, and that
/// many bytes.
pub fn run(data: &[u8]) {
    let limits = Limits {
        packet_len: 4_096,
        sessions: 4,
        subscriptions: 8,
        retained: 8,
        queue_len: 8,
        in_flight: 4,
        output_bytes: 8_192,
        ..Limits::default()
    };
    let output_bytes = limits.output_bytes;
    let mut broker = Broker::new(limits).with_service("service");
    let mut now = Time::ZERO;
    let mut client = Client::new(Settings { keep_alive_secs: 0, ..Settings::default() });
    client.connect(now).expect("the settings fit into a packet");
    let other = broker.open(now).expect("it is the first");
    broker.receive(other, client.output(), now);
    broker.take_output(other, now, &mut Vec::new());
    let mut connections = [None; 4];
    let mut rest = data;
    while let [head, len, behind @ ..] = rest {
        let (bytes, behind) = behind.split_at(behind.len().min(usize::from(*len)));
        rest = behind;
        let slot = &mut connections[usize::from(head & 3)];
        if let (Some(id), true) = (*slot, head & 4 != 0) {
            broker.close(id, now);
            *slot = None;
        }
        if slot.is_none() {
            *slot = broker.open(now);
        }
        if let Some(id) = *slot {
            broker.receive(id, bytes, now);
        }
        now += Duration::from_millis(u64::from(head >> 3) * 500);
        broker.handle_timeout(now);
        while broker.next_arrived().is_some() {}
        for slot in &mut connections {
            let mut output = Vec::new();
            if let Some(id) = *slot
                && broker.take_output(id, now, &mut output) == Flow::Closing
            {
                broker.close(id, now);
                *slot = None;
            }
            // A burst of answers may exceed it by the output of one call.
            assert!(output.len() < output_bytes + 64 * 1_024, "{} B", output.len());
        }
        assert!(broker.sessions() <= 4 && broker.retained() <= 8);
    }
    let (ping, mut answer) = ([0xc0, 0], Vec::new());
    broker.receive(other, &ping, now);
    let flow = broker.take_output(other, now, &mut answer);
    // Another client may take its session over (section 3.1.4).
    assert!(answer == [0xd0, 0] || flow == Flow::Closing, "{answer:?}");
}

/// One input: a byte of settings, then steps as above: with another connection, or a message of the client's own,
/// before the bytes.
pub fn run_client(data: &[u8]) {
    let Some((settings, mut rest)) = data.split_first() else { return };
    let version = if settings & 1 == 0 { Version::V5 } else { Version::V311 };
    let settings =
        Settings { version, packet_len: 4_096, receive_maximum: 4, ..Settings::default() };
    let mut client = Client::new(settings);
    let mut now = Time::ZERO;
    client.connect(now).expect("the settings fit into a packet");
    while let [head, len, behind @ ..] = rest {
        let (bytes, behind) = behind.split_at(behind.len().min(usize::from(*len)));
        rest = behind;
        if head & 4 != 0 {
            client.connect(now).expect("the settings fit into a packet");
        }
        if head & 3 != 0 && client.has_room() {
            let qos =
                [Qos::AtMostOnce, Qos::AtLeastOnce, Qos::ExactlyOnce][usize::from(head & 3) - 1];
            let message = Message { qos, ..Message::new("topic", &b"hello"[..]) };
            let _refused = client.publish(message, 1, now);
        }
        client.receive(bytes, now);
        now += Duration::from_millis(u64::from(head >> 3) * 500);
        client.handle_timeout(now);
        while client.next_event().is_some() {}
        assert!(client.output().len() < 64 * 1_024);
        client.output().clear();
    }
}
