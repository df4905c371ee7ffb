//! Event lists written by hand, with metric values calculated by hand.

mod account;
mod load;
mod streaming;
mod verification;

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record, Role};

use super::*;

type Id = (u32, u32);

fn at(millis: u64, event: Event) -> Record {
    Record { at: Time::from_millis(millis), event }
}

fn connect(started: u64, connected: u64, (phone, connection): Id) -> [Record; 2] {
    [
        at(started, Event::ConnectStarted { phone, connection }),
        at(connected, Event::Connected { phone, connection }),
    ]
}

fn sent(millis: u64, intended: u64, (phone, message): Id) -> Record {
    let intended = Time::from_millis(intended);
    at(millis, Event::Sent { phone, message, intended, bytes: 355 })
}

fn answered(millis: u64, (phone, message): Id, status: u16) -> Record {
    at(millis, Event::Answered { phone, message, status })
}

fn received(millis: u64, (phone, message): Id) -> Record {
    at(millis, Event::Received { phone, message })
}

fn failed(millis: u64, (phone, message): Id) -> Record {
    at(millis, Event::Failed { phone, message, reason: "no answer".to_owned() })
}

fn secured(resumed: bool, early: bool) -> Record {
    let suite = "TLS 1.3 aes128gcm".to_owned();
    at(0, Event::Secured { phone: 0, connection: 0, suite, resumed, early })
}

fn compute(name: &str, records: &[Record]) -> Vec<f64> {
    let mut records = records.to_vec();
    records.sort_by_key(|record| record.at);
    (find(name).unwrap().compute)(&records)
}

fn close(found: &[f64], expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
    let equal = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(equal, "found {found:?}, expected {expected:?}");
}

/// Ten messages of 355 bytes in a closed loop: 20 ms of set-up, then 10 ms each, from 1000 ms on.
fn ten_messages() -> Vec<Record> {
    let mut records = vec![at(1000, Event::Started)];
    records.extend(connect(1000, 1020, (0, 0)));
    for message in 0..10 {
        let start = 1020 + 10 * u64::from(message);
        records.push(sent(start, start, (0, message)));
        records.push(received(start + 5, (0, message)));
        records.push(answered(start + 10, (0, message), 200));
    }
    records.push(at(1120, Event::Finished));
    records
}

#[test]
fn names_are_unique_and_end_in_a_unit() {
    const UNITS: &[&str] =
        &["ms", "mbps", "hz", "fps", "percent", "bytes", "ratio", "count", "celsius", "watts"];
    for (index, metric) in registry().iter().enumerate() {
        assert!(UNITS.contains(&metric.name.rsplit('_').next().unwrap()), "{}", metric.name);
        assert!(!metric.help.is_empty() && !metric.help.contains("  "), "{}", metric.name);
        assert!(registry()[..index].iter().all(|other| other.name != metric.name));
        assert!((metric.compute)(&[]).is_empty(), "{} of nothing", metric.name);
    }
    assert!(find("completion").is_none());
}

#[test]
fn a_closed_loop_of_ten_messages() {
    let records = ten_messages();
    close(&compute("completion_ms", &records), &[120.0]);
    close(&compute("handshake_ms", &records), &[20.0]);
    close(&compute("rtt_ms", &records), &[10.0; 10]);
    // 10 x 355 B x 8 / 120 ms = 28400 bit / 0.12 s.
    let rate = 28_400.0 / 0.12 / 1e6;
    close(&compute("throughput_mbps", &records), &[rate]);
    close(&compute("total_throughput_mbps", &records), &[rate]);
    close(&compute("answered_count", &records), &[10.0]);
    close(&compute("refused_count", &records), &[0.0]);
    // Each message is 5 ms old when it arrives and 15 ms old when the next one does.
    close(&compute("age_of_information_ms", &records), &[10.0]);
    assert_eq!(outcome(&records), Ok(()));
}

#[test]
fn latency_counts_from_the_intended_time_though_the_connection_was_late() {
    // Scheduled at 0, 10 and 20 ms; the connection opens at 15 ms; answers take 10 ms.
    let mut records = vec![
        at(0, Event::Started),
        at(0, Event::DeadlineSet { after: Duration::from_millis(15) }),
        sent(15, 0, (0, 0)),
        sent(15, 10, (0, 1)),
        sent(20, 20, (0, 2)),
        answered(25, (0, 0), 200),
        answered(25, (0, 1), 400),
        answered(30, (0, 2), 200),
    ];
    records.extend(connect(0, 15, (0, 0)));
    close(&compute("rtt_ms", &records), &[25.0, 10.0]);
    // 25 ms is late, and a refusal is not an answer in time.
    close(&compute("deadline_miss_ratio", &records), &[2.0 / 3.0]);
    close(&compute("refused_count", &records), &[1.0]);
    close(&compute("answered_count", &records), &[2.0]);
    // The refused message's bytes are of no use: 710 B x 8 in 30 ms.
    close(&compute("throughput_mbps", &records), &[710.0 * 8.0 / 0.03 / 1e6]);
}

#[test]
fn what_is_given_up_misses_its_deadline_and_fails_the_run() {
    let records = [
        at(0, Event::Started),
        at(0, Event::DeadlineSet { after: Duration::from_millis(100) }),
        sent(0, 0, (0, 0)),
        answered(10, (0, 0), 200),
        sent(10, 10, (0, 1)),
        failed(500, (0, 1)),
        failed(600, (0, 2)),
        sent(600, 600, (0, 3)),
        at(600, Event::Finished),
    ];
    close(&compute("deadline_miss_ratio", &records), &[0.75]);
    close(&compute("failed_count", &records), &[2.0]);
    let why = outcome(&records).unwrap_err();
    assert_eq!(why, "at 0.5 s, phone 0 gave up message 1: no answer (and 1 more)");
}

#[test]
fn several_phones_count_from_their_own_start() {
    let mut records = vec![at(0, Event::Started)];
    for (phone, start, end) in [(0, 0, 100), (1, 300, 350), (2, 50, 450)] {
        records.extend(connect(start, start + 20, (phone, 0)));
        records.extend(connect(start + 25, start + 40, (phone, 1)));
        records.push(sent(start + 40, start + 40, (phone, 0)));
        records.push(answered(end, (phone, 0), 200));
    }
    close(&compute("completion_ms", &records), &[100.0, 50.0, 400.0]);
    let rate = |millis: f64, bytes: f64| bytes * 8.0 / (millis / 1e3) / 1e6;
    let each = [rate(100.0, 355.0), rate(50.0, 355.0), rate(400.0, 355.0)];
    close(&compute("throughput_mbps", &records), &each);
    close(&compute("total_throughput_mbps", &records), &[rate(450.0, 1065.0)]);
    close(&compute("handshake_ms", &records), &[20.0, 15.0, 20.0, 15.0, 20.0, 15.0]);
}

#[test]
fn an_overtaken_message_does_not_make_the_server_younger() {
    // Generated at 0, 10, 20; they arrive at 5, 40 (message 2) and 60 (message 1, stale), then 80.
    let records = [
        sent(0, 0, (7, 0)),
        sent(10, 10, (7, 1)),
        sent(20, 20, (7, 2)),
        sent(70, 70, (7, 3)),
        received(5, (7, 0)),
        received(40, (7, 2)),
        received(60, (7, 1)),
        received(80, (7, 3)),
    ];
    // 5..40 from age 5 to 40: mean 22.5 over 35; 40..80 from age 20 to 60: mean 40 over 40.
    close(&compute("age_of_information_ms", &records), &[(22.5 * 35.0 + 40.0 * 40.0) / 75.0]);
    close(&compute("age_of_information_ms", &records[..5]), &[]);
}

#[test]
fn a_message_sent_twice_counts_once_and_from_the_first_time() {
    let records = [
        sent(0, 0, (0, 0)),
        received(4, (0, 0)),
        sent(30, 30, (0, 0)),
        received(35, (0, 0)),
        answered(40, (0, 0), 200),
    ];
    close(&compute("rtt_ms", &records), &[40.0]);
    close(&compute("age_of_information_ms", &records), &[(4.0 + 35.0) / 2.0]);
}

#[test]
fn transfers_count_when_they_are_intact() {
    let transfer = |intact| {
        let mut records = vec![at(0, Event::Started), at(2000, Event::Finished)];
        records.extend(connect(0, 20, (0, 0)));
        records.push(at(1600, Event::Transferred { phone: 0, bytes: 10_000_000, intact }));
        records
    };
    close(&compute("completion_ms", &transfer(true)), &[1600.0]);
    close(&compute("throughput_mbps", &transfer(true)), &[50.0]);
    assert_eq!(outcome(&transfer(true)), Ok(()));
    close(&compute("throughput_mbps", &transfer(false)), &[0.0]);
    assert!(outcome(&transfer(false)).unwrap_err().contains("differ from those sent"));
}

#[test]
fn shares_of_connections_that_resumed() {
    let records = [secured(false, false), secured(true, false), secured(true, true)];
    close(&compute("resumed_ratio", &records), &[2.0 / 3.0]);
    close(&compute("early_data_ratio", &records), &[1.0 / 3.0]);
}

#[test]
fn accounts_are_added_up_before_they_are_divided() {
    let transport = |role, packets_sent, packets_lost| {
        at(
            0,
            Event::Transport {
                role,
                packets_sent,
                packets_lost,
                bytes_sent: 200,
                filler_bytes: 30,
                address_validation: Duration::from_millis(packets_lost),
            },
        )
    };
    let records = [transport(Role::Client, 100, 1), transport(Role::Server, 900, 4)];
    close(&compute("retransmission_percent", &records), &[0.5]);
    close(&compute("filler_percent", &records), &[15.0]);
    close(&compute("address_validation_ms", &records), &[5.0]);
    let link = |name: &str, offered_packets, lost_packets, queue_dropped_packets| {
        at(
            0,
            Event::Link {
                name: name.to_owned(),
                offered_packets,
                offered_bytes: offered_packets * 100,
                lost_packets,
                queue_dropped_packets,
            },
        )
    };
    let records = [link("link/up", 100, 0, 0), link("link/down", 300, 2, 8)];
    close(&compute("loss_percent", &records), &[0.5]);
    close(&compute("queue_drop_percent", &records), &[2.0]);
    close(&compute("wire_bytes", &records), &[40_000.0]);
}

#[test]
fn a_run_without_an_end_or_with_a_strange_status_is_no_success() {
    let mut records = ten_messages();
    records.pop();
    assert_eq!(outcome(&records), Err("the measured part did not finish".to_owned()));
    assert_eq!(outcome(&[]), Err("the measured part did not start".to_owned()));
    let mut records = ten_messages();
    records.push(answered(1200, (0, 3), 503));
    assert!(outcome(&records).unwrap_err().contains("status 503"));
}

#[test]
fn a_hundred_thousand_messages_of_ten_thousand_phones() {
    let mut records = vec![at(0, Event::Started)];
    for phone in 0..10_000 {
        records.extend(connect(0, 20, (phone, 0)));
    }
    for message in 0..10 {
        for phone in 0..10_000 {
            records.push(sent(100, 100, (phone, message)));
            records.push(received(105, (phone, message)));
            records.push(answered(110, (phone, message), 200));
        }
    }
    close(&compute("rtt_ms", &records), &[10.0; 100_000]);
    close(&compute("completion_ms", &records), &[110.0; 10_000]);
    for metric in registry() {
        assert!((metric.compute)(&records).len() <= 100_000, "{}", metric.name);
    }
}
