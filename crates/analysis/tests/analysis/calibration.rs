//! Costs and frames from runs with known costs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use trackbed_analysis::calibration;
use trackbed_device::processor::durations::FrameTime;
use trackbed_measure::results::{CellResult, Certificate, Document, Outcome, RunResult};

fn document(cells: &[serde_json::Value]) -> Document {
    let cell = |factors: &serde_json::Value| CellResult {
        factors: factors.as_object().unwrap().clone(),
        ..CellResult::default()
    };
    Document { cells: cells.iter().map(cell).collect(), ..Document::default() }
}

fn run(cell: u32, packets: u64, samples: &[(&str, Vec<f64>)]) -> RunResult {
    let samples = samples.iter().map(|(name, values)| ((*name).to_owned(), values.clone()));
    let certificate = Certificate { packets, ..Certificate::default() };
    let outcome = Outcome::Samples(samples.collect::<BTreeMap<_, _>>());
    RunResult { cell, run: 0, outcome, certificate: Some(certificate), answered: None }
}

/// A run whose client took 5 ms to start, 30 us per message, 4 us per packet and `byte_picos`
/// picoseconds per byte.
fn sent(cell: u32, messages: u64, packets: u64, (bytes, byte_picos): (u64, u64)) -> RunResult {
    let nanos = 5_000_000 + 30_000 * messages + 4_000 * packets + bytes * byte_picos / 1_000;
    let samples = [
        ("client_cpu_ms", vec![nanos as f64 / 1e6]),
        ("sent_count", vec![messages as f64]),
        ("wire_bytes", vec![bytes as f64]),
    ];
    run(cell, packets, &samples)
}

#[test]
fn processor_time_is_taken_apart_into_messages_packets_and_bytes() {
    let factors = |protocol: &str, cipher: &str, size: u32| json!({ "protocol": protocol, "cipher": cipher, "size_bytes": size });
    let cells = [
        factors("http2", "aes128gcm", 1),
        factors("http2", "aes128gcm", 64),
        factors("http2", "aes128gcm", 16_000),
        factors("tcp", "none", 9),
        factors("tcp+tls", "aes128gcm", 9),
        factors("tcp+tls", "chacha20poly1305", 9),
    ];
    let mut runs = vec![
        sent(0, 10, 60, (10_000, 300)),
        sent(1, 3_000, 9_000, (1_000_000, 300)),
        sent(2, 1_000, 15_000, (16_000_000, 300)),
    ];
    let bulk = |cell, byte| sent(cell, 0, 200_000, (200_000_000, byte));
    runs.extend([bulk(3, 0), bulk(4, 300), bulk(5, 900)]);
    let costs = calibration::costs(&document(&cells), &runs).unwrap();
    assert_eq!(costs.ciphers["chacha20poly1305"], 900);
    assert_eq!(costs.ciphers["aes128gcm"], 300);
    let http2 = costs.protocols["http2"];
    let close = |found: Duration, expected: f64| {
        let ratio = found.as_nanos() as f64 / expected;
        assert!((ratio - 1.0).abs() < 0.03, "{found:?} for {expected}");
    };
    close(http2.message, 30_000.0);
    close(http2.packet.packet, 4_000.0);
    assert_eq!(costs.protocols["other"], http2);
}

/// With a single load, everything is attributed to the packets.
#[test]
fn one_load_tells_one_cost() {
    let cells = [json!({ "protocol": "mqtt", "cipher": "aes128gcm" })];
    let samples = [("client_cpu_ms", vec![60.0]), ("sent_count", vec![1_000.0])];
    let document = document(&cells);
    let costs = calibration::costs(&document, &[run(0, 3_000, &samples)]).unwrap();
    let mqtt = costs.protocols["mqtt"];
    assert_eq!((mqtt.message, mqtt.packet.packet), (Duration::ZERO, Duration::from_micros(20)));
    // Between two machines no packets are counted.
    let mut live = run(0, 0, &samples);
    live.certificate = None;
    let mqtt = calibration::costs(&document, &[live]).unwrap().protocols["mqtt"];
    assert_eq!((mqtt.message, mqtt.packet.packet), (Duration::from_micros(60), Duration::ZERO));
}

/// A frame of 100 ms that keeps 3.4 of 4 threads' cores busy: 80 ms on four, 20 ms on one.
#[test]
fn frames_are_split_by_what_their_threads_used() {
    let cells = [
        json!({ "protocol": "http2", "inference": "detector" }),
        json!({ "protocol": "none", "inference": "detector" }),
    ];
    let used = ("inference_cpu_percent", vec![330.0, 350.0]);
    let disturbed = run(0, 0, &[("frame_ms", vec![150.0]), used.clone()]);
    let alone = run(1, 0, &[("frame_ms", vec![100.0, 50.0]), used]);
    let document = document(&cells);
    let found = calibration::durations(&document, &[disturbed.clone(), alone], 4).unwrap();
    let frame = |serial_ns, parallel_ns| FrameTime { serial_ns, parallel_ns };
    assert_eq!(found.threads, 4);
    assert_eq!(found.frames, [frame(20_000_000, 80_000_000), frame(10_000_000, 40_000_000)]);
    let why = calibration::durations(&document, &[disturbed], 4).unwrap_err();
    assert!(why.contains("no network") && why.contains("trackbed infer"), "{why}");
}

/// A model's results must not be used for calibration.
#[test]
fn a_model_is_not_calibrated_by_itself() {
    let cells = [json!({ "protocol": "none", "inference": "detector" })];
    let mut document = document(&cells);
    document.model = Some("a model".to_owned());
    let runs = [run(0, 0, &[("frame_ms", vec![100.0]), ("client_cpu_ms", vec![1.0])])];
    assert!(calibration::durations(&document, &runs, 2).is_err());
    assert!(calibration::costs(&document, &runs).is_err());
}
