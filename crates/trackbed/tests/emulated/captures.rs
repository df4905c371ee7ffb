//! Captures of runs on the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::support::{number, packets, wireshark};
use super::{Scratch, least, metric};

const FILES: [&str; 4] = ["phone.pcapng", "server.pcapng", "dropped.pcapng", "tls-keys.log"];

/// The keys are in the files, before the packets: Wireshark needs nothing else.
#[test]
fn a_run_leaves_its_packets_and_the_keys_to_them() {
    let Some(scratch) = Scratch::new() else { return };
    let words = "vru --runs 1 --set protocol=http2,http3 --set tls=1.3 --set handshake=new --set link.loss=0";
    scratch.run(&format!("{words} --capture all")).says(0, &["captures: out/captures"]);
    // HTTP/3 has its messages, which begin with {"header":, and HTTP/2 its paths.
    let searched =
        [("http2.headers.path", "/messages/0/"), ("quic.stream_data", "7b22686561646572")];
    for (cell, (field, text)) in searched.into_iter().enumerate() {
        let folder = scratch.path(&format!("out/captures/cell-{cell}-run-0"));
        for file in FILES {
            assert!(folder.join(file).metadata().unwrap().len() > 100, "{file}");
        }
        let Some(found) = fields(&folder.join("phone.pcapng"), field) else { continue };
        // A slow machine may send one twice.
        assert!(found.matches(text).count() >= 10, "{field}:\n{found}");
    }
}

/// Neither end is ours: the keys are curl's. The run fails after the transfer.
#[test]
#[ignore = "thorough: third-party programs"]
fn a_failed_run_between_programs_leaves_the_keys_of_its_client() {
    let scenario = include_str!("../data/scenarios/failing-client.toml");
    let Some(scratch) = Scratch::with(&["nginx", "curl"], scenario) else { return };
    scratch.run("--capture failed").says(1, &["exit status: 9"]);
    let folder = scratch.path("out/captures/cell-0-run-0");
    let keys = fs::read_to_string(folder.join("tls-keys.log")).unwrap();
    assert!(keys.contains("CLIENT_TRAFFIC_SECRET_0 "), "{keys}");
    let Some(found) = fields(&folder.join("phone.pcapng"), "http2.headers.path") else { return };
    assert!(found.contains("/warm-up"), "{found}");
}

/// A field of every packet in a capture; `None` without tshark.
fn fields(capture: &Path, field: &str) -> Option<String> {
    wireshark("tshark", &["-T", "fields", "-e", field], capture)
}

/// Preparing them takes longer than they start apart: without care they all start at once.
#[test]
fn many_phones_start_one_after_the_other() {
    let Some(scratch) = Scratch::new() else { return };
    let words = "vru --runs 1 --set protocol=quic --set tls=1.3 --set handshake=new --set link.loss=0 \
                 --set link.rate=50Mbit/s --set workload.phones=250 --set workload.stagger=100ms";
    let cells = scratch.cells(&format!("{words} --capture all"));
    let capture = fs::read(scratch.path("out/captures/cell-0-run-0/phone.pcapng")).unwrap();
    // With two processors the phones are two processes, which have one account.
    assert_eq!(least(&cells[0], "answered_count"), 250.0 * 10.0);
    assert_eq!(metric(&cells[0], "client_cpu_ms", "n"), 1.0);
    let starts = first_packets(&capture);
    assert_eq!(starts.len(), 250);
    let begin = starts.values().min().unwrap();
    // 125 are expected, since starts are spread evenly. A busy machine delays the first ones.
    let early = starts.values().filter(|start| **start - begin < 50_000_000).count();
    assert!(early < 200, "{early} of 250 phones started in the first half of the time");
}

/// When each address in 10.1.0.0/16 sent its first packet, in nanoseconds.
fn first_packets(file: &[u8]) -> BTreeMap<[u8; 4], u64> {
    let mut found = BTreeMap::new();
    for packet in packets(file) {
        let source: [u8; 4] = packet[40..44].try_into().unwrap();
        if source.starts_with(&[10, 1]) {
            let time = u64::from(number(packet, 12)) << 32 | u64::from(number(packet, 16));
            found.entry(source).or_insert(time);
        }
    }
    found
}

#[test]
fn only_runs_that_fail_leave_captures_if_wanted() {
    let Some(scratch) = Scratch::new() else { return };
    let words = "bulk --runs 1 --set protocol=tcp --set workload.size=10kB --capture failed";
    scratch.run(words).says(0, &["no captures"]);
    assert!(!scratch.path("out/captures").exists());
    scratch.run(&format!("{words} --set link.loss=100% --set workload.timeout=1s")).says(1, &[]);
    let lost = fs::read(scratch.path("out/captures/cell-0-run-0/dropped.pcapng")).unwrap();
    assert_eq!(first_packets(&lost).len(), 1);
    // The command is recorded as it was given.
    assert!(String::from_utf8_lossy(&lost).contains(" --capture failed --set link.loss=100"));
}

#[test]
fn captures_of_nothing_are_refused_before_results_are_replaced() {
    let Some(scratch) = Scratch::new() else { return };
    let words = "bulk --runs 1 --set protocol=tcp --set workload.size=10kB";
    scratch.run(words).says(0, &[]);
    let again = |capture: &str| {
        let words = format!("run {words} --substrate emulated --out out --capture {capture}");
        scratch.trackbed(&words)
    };
    again("0:0").says(2, &["already in out", "--out"]);
    again("3:0").says(2, &["no cell 3", "from 0 to 1"]);
    again("0:9").says(2, &["no run 9", "from 0 to 0"]);
    again("some").says(2, &["failed, all or CELL:RUN"]);
    let virtually = scratch.trackbed(&format!("run {words} --capture all --out other"));
    virtually.says(2, &["--substrate emulated", "trackbed replay"]);
    assert!(!scratch.path("other").exists());
}

/// A run directory may come from elsewhere.
#[test]
fn captures_are_not_written_through_links() {
    let Some(scratch) = Scratch::new() else { return };
    let words =
        "run bulk --set protocol=tcp --set workload.size=10kB --substrate emulated --out out";
    scratch.succeed(&format!("{words} --runs 1 --keep-invalid"));
    fs::create_dir_all(scratch.path("elsewhere/cell-0-run-1")).unwrap();
    std::os::unix::fs::symlink(scratch.path("elsewhere"), scratch.path("out/captures")).unwrap();
    let ended = scratch.trackbed(&format!("{words} --runs 2 --capture all"));
    ended.says(2, &["captures cannot be written", "--out"]);
    assert!(scratch.path("elsewhere/cell-0-run-1").exists());
    assert_eq!(fs::read_dir(scratch.path("elsewhere")).unwrap().count(), 1);
    assert_eq!(scratch.read("out/runs.jsonl").lines().count(), 2);
}
