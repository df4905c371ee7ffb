//! Replays the fuzzers' corpora, and a few thousand mutations of each entry.
//!
//! - `TRACKBED_MUTATIONS=100` makes a hundred times as many, different ones for each number:
//!   fuzzing without coverage, for machines without nightly Rust.

use std::fs;
use std::path::{Path, PathBuf};

use trackbed_core::{Rng, Seed};

#[path = "../../../fuzz/bodies/ip_packet.rs"]
mod ip_packet;
#[path = "../../../fuzz/bodies/mqtt_broker.rs"]
mod mqtt_broker;
#[path = "../../../fuzz/bodies/multipath_operations.rs"]
mod multipath_operations;
#[path = "../../../fuzz/bodies/scenario_file.rs"]
mod scenario_file;
#[cfg(target_os = "linux")]
#[path = "../../../fuzz/bodies/server_words.rs"]
mod server_words;
#[path = "../../../fuzz/bodies/signatures.rs"]
mod signatures;
#[path = "../../../fuzz/bodies/tcp_operations.rs"]
mod tcp_operations;
#[path = "../../../fuzz/bodies/v2x_message.rs"]
mod v2x_message;

/// Runs `body` on every entry of the corpus of `target` and on this many mutations of each.
fn replay(target: &str, mutations: u64, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).expect("the corpus is committed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    let times = std::env::var("TRACKBED_MUTATIONS").ok();
    let times: u64 = times.map_or(1, |text| text.parse().expect("a whole number"));
    let mut rng = Seed::of_run(times, 0).stream(target);
    for path in paths {
        let entry = fs::read(&path).unwrap();
        body(&entry);
        for _ in 0..mutations * times {
            body(&mutate(&entry, &mut rng));
        }
    }
}

/// One to eight small changes: a byte replaced, removed, doubled, or a piece cut off.
fn mutate(entry: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = entry.to_vec();
    for _ in 0..=rng.below(8) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(5) {
            0 => bytes[at] = rng.next_u64() as u8,
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, bytes[at]),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

#[test]
fn packets() {
    replay("ip_packet", 3_000, ip_packet::run);
}

#[cfg(target_os = "linux")]
#[test]
fn datagrams_to_coap() {
    replay("coap_datagrams", 60, server_words::run_coap);
}

#[test]
fn messages_of_vehicles() {
    replay("v2x_message", 2_000, v2x_message::run);
}

#[test]
fn bytes_for_a_broker() {
    replay("mqtt_broker", 3_000, mqtt_broker::run);
}

#[cfg(target_os = "linux")]
#[test]
fn words_to_servers() {
    replay("server_words", 30, server_words::run);
}

#[test]
fn keys_and_signatures() {
    replay("signatures", 300, signatures::run);
}

#[test]
fn operations_on_tcp() {
    replay("tcp_operations", 300, tcp_operations::run);
}

#[test]
fn operations_on_multipath_tcp() {
    replay("multipath_operations", 300, multipath_operations::run);
}

#[test]
fn scenario_files() {
    replay("scenario_file", 1_000, scenario_file::run);
}
