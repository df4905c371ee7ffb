//! Scenarios of every kind.

use std::fs;
use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::programs::support::{command_line, descendants, is_alive};
use super::support::{Ended, eventually, kill, start, wait_until};
use super::{Scratch, factor, least, metric, one_of_two_failed};

/// TCP, TLS and three rounds of objects, or QUIC and these, of 20 ms each.
#[test]
fn a_page_loads_on_the_kernel() {
    let Some(scratch) = Scratch::new() else { return };
    let cells = scratch.cells("web --runs 1 --set link.loss=0 --set link.delay=10ms");
    assert_eq!(cells.len(), 3);
    for cell in &cells {
        let rounds = if factor(cell, "protocol") == "http3" { 4.0 } else { 5.0 };
        let found = least(cell, "plt_ms");
        assert!(found >= rounds * 20.0, "{cell}");
        assert_eq!(least(cell, "objects_count"), 8.0, "{cell}");
        assert!(least(cell, "first_paint_ms") <= found && least(cell, "ttfb_ms") < found);
    }
}

/// Two downloads and ten messages at once beside 6 Mbit/s of others, each with its own ends; what one group sends is not
/// measured as the other's.
#[test]
fn groups_share_a_link_on_the_kernel() {
    let Some(scratch) = Scratch::new() else { return };
    let settings = "--set group.download.count=2 --set group.download.workload.duration=3s \
                    --set link.queue=fq-codel --set link.background=6mbit --set protocol=quic --set group.warning.start=1s";
    let cells = scratch.cells(&format!("loaded --runs 1 --capture 1:0 --part link {settings}"));
    let [warning, download] = &cells[..] else { panic!("{cells:?}") };
    assert_eq!((factor(warning, "group"), factor(download, "group")), ("warning", "download"));
    assert_eq!((warning["failed"].as_u64(), download["failed"].as_u64()), (Some(0), Some(0)));
    assert!(least(warning, "rtt_ms") >= 20.0 && warning["metrics"].get("goodput_mbps").is_none());
    assert_eq!(download["metrics"]["goodput_mbps"]["samples"], 2);
    assert!((4.0..7.0).contains(&metric(download, "goodput_mbps", "mean")), "{download}");
    // Both rows are of one run, which leaves one capture.
    let share = |cell| metric(cell, "traffic_share_percent", "mean");
    assert!(share(download) > 95.0 && (share(warning) + share(download) - 100.0).abs() < 1e-9);
    assert!(scratch.path("out/captures/cell-1-run-0/phone.pcapng").exists());
}

/// Runs in real time are not repeated; what a pack has of them is compared with its digests.
#[test]
fn a_pack_of_runs_in_real_time_is_checked_by_its_digests() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.document("vru --runs 1 --set protocol=tcp");
    scratch.succeed("pack out -o out.tar.gz");
    let verified = scratch.succeed("verify-results out.tar.gz").stdout;
    let said =
        "0 of 1 runs repeated: they were emulated, in real time\nrun.json matches the runs\n";
    assert!(verified.contains(said) && verified.starts_with("4 files have"), "{verified}");
    scratch.trackbed("verify-results out").says(2, &["only runs in virtual time can be repeated"]);
}

/// The time on the link is the same in real time; only the machine adds to it.
#[test]
#[ignore = "thorough: real time"]
fn every_protocol_takes_its_round_trips_at_least() {
    let Some(scratch) = Scratch::new() else { return };
    let settings = "--set link.loss=0 --set link.delay=10ms --set workload.count=3";
    let document = scratch.document(&format!("vru --runs 1 {settings}"));
    assert_eq!(document["substrate"], "emulated");
    assert!(document["environment"]["kernel"].as_str().unwrap().contains('.'));
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 11);
    for cell in cells {
        let (protocol, tls) = (factor(cell, "protocol"), factor(cell, "tls"));
        let handshake = match (protocol, tls, factor(cell, "handshake")) {
            ("http2", "1.2", "new") => 3,
            ("http2", "1.2", "resumed") | ("http2", "1.3", "new" | "resumed") => 2,
            (_, _, "early") if protocol != "http2" => 0,
            _ => 1,
        };
        let floor = f64::from(handshake + 3) * 20.0;
        let found = least(cell, "completion_ms");
        assert!(found >= floor, "{protocol} {tls}: {found} ms, but {floor} ms of round trips");
        assert!(least(cell, "client_cpu_ms") > 0.0 && least(cell, "server_cpu_ms") > 0.0);
    }
    let runs = scratch.read("out/runs.jsonl");
    for run in runs.lines() {
        let run: Value = serde_json::from_str(run).unwrap();
        assert!(run["certificate"]["packets"].as_u64().unwrap() > 5, "{run}");
    }
}

/// Without losses, the time on the kernel is that of the links, plus its own work.
#[test]
#[ignore = "thorough: real time"]
fn agreement_is_what_the_schema_says() {
    let Some(scratch) = Scratch::new() else { return };
    let words = "agree vru --set protocol=quic --set handshake=new --set link.loss=0 --set \
                 link.delay=10ms --set workload.count=3 --runs 6 --out agreed";
    let ended = scratch.trackbed(&format!("{words} --until-decided --budget 20s --json"));
    assert!(matches!(ended.status, 0 | 1), "{}", ended.stderr);
    let document = ended.json();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/agree.json");
    let schema = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<_> = validator.iter_errors(&document).map(|why| why.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?} in {document:#}");
    for cell in document["cells"].as_array().unwrap() {
        assert!(cell["ratio"].as_f64().unwrap() > 1.0, "{cell}");
        let with = &cell["with_computing"];
        assert!(with.is_object() || cell["verdict"] == "equivalent", "{cell}");
        if with.is_object() {
            assert!(with["client_us"].as_f64().unwrap() > 1.0, "{cell}");
            assert!(with["ratio"].as_f64() < cell["ratio"].as_f64(), "{cell}");
        }
    }
    let explained = scratch.succeed(&format!("{words} --explain 0:2"));
    let starts = ["The runs diverge", "Both runs send the same packets"];
    assert!(starts.iter().any(|text| explained.stdout.starts_with(text)), "{}", explained.stdout);
    for side in ["virtual", "emulated"] {
        let capture = scratch.path(&format!("agreed/explain/cell-0-run-2/{side}/phone.pcapng"));
        assert!(fs::metadata(&capture).unwrap().len() > 2_000, "{}", capture.display());
    }
    assert!(scratch.read("agreed/explain/cell-0-run-2/sequence.svg").contains("</svg>"));
}

#[test]
#[ignore = "thorough: real time"]
fn bulk_arrives_intact_through_losses_and_no_faster_than_the_rate() {
    let Some(scratch) = Scratch::new() else { return };
    let cells = scratch.cells("bulk --runs 1 --set workload.size=500kB --set link.loss=1%");
    assert!(cells.iter().any(|cell| factor(cell, "congestion") == "reno"));
    for cell in &cells {
        assert!(metric(cell, "throughput_mbps", "max") < 50.0, "{cell}");
    }
}

/// A move takes the address from the kernel's interface: TCP's connection is replaced from the next
/// one, QUIC's migrates there, and all bytes arrive.
#[test]
#[ignore = "thorough: real time"]
fn a_phone_moves_between_networks() {
    let Some(scratch) = Scratch::new() else { return };
    let ip = if fs::exists("/proc/net/if_inet6").unwrap() { "ip=4,6" } else { "ip=4" };
    let settings = "--set workload.size=1MB --set protocol=http2,quic --set handshake=new";
    let cells = scratch.cells(&format!("migration --runs 1 {settings} --set {ip}"));
    assert!(cells.len() >= 2);
    for cell in &cells {
        let (reconnections, migrations, round_trips) =
            if factor(cell, "protocol") == "quic" { (0.0, 2.0, 1.0) } else { (2.0, 0.0, 3.0) };
        assert_eq!(least(cell, "reconnection_count"), reconnections, "{cell}");
        assert_eq!(least(cell, "migration_count"), migrations, "{cell}");
        // Half a round trip to the server, and half back.
        assert!(least(cell, "interruption_ms") >= round_trips * 50.0, "{cell}");
    }
}

/// Two paths of 4 Mbit/s carry more than one can, over either version of IP, and a train drives.
#[test]
#[ignore = "thorough: real time"]
fn the_kernels_multipath_tcp_uses_both_paths() {
    let Some(scratch) = Scratch::new() else { return };
    if !fs::exists("/proc/sys/net/mptcp").unwrap() {
        return eprintln!("SKIPPED: this kernel has no MPTCP");
    }
    let link = "rate = \"4 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"50 kB\"\n";
    let ip = if fs::exists("/proc/net/if_inet6").unwrap() { "[\"4\", \"6\"]" } else { "\"4\"" };
    let scenario = format!(
        "protocol = [\"tcp\", \"mptcp\"]\nip = {ip}\ncongestion = \"cubic\"\n\
         [link]\n{link}[second-link]\n{link}[workload]\nkind = \"flow\"\nduration = \"6 s\"\n"
    );
    scratch.write("paths.toml", &scenario);
    for cell in &scratch.cells("paths.toml --runs 1") {
        let goodput = least(cell, "goodput_mbps");
        let expected = if factor(cell, "protocol") == "tcp" { 2.0..4.0 } else { 4.2..8.0 };
        assert!(expected.contains(&goodput), "{goodput} Mbit/s, {cell}");
    }
}

/// The receiver steers the kernel's scheduler away from paths with the kernel's own flags. Features that the kernel
/// lacks are refused.
#[test]
#[ignore = "thorough: real time"]
fn a_train_drives_on_the_kernel() {
    let Some(scratch) = Scratch::new() else { return };
    if !fs::exists("/proc/sys/net/mptcp").unwrap() {
        return eprintln!("SKIPPED: this kernel has no MPTCP");
    }
    let words = "train --part linux --runs 1 --set workload.duration=8s --set radio.duration=10s";
    let cells = scratch.cells(words);
    assert_eq!(cells.len(), 2);
    for cell in &cells {
        assert!(least(cell, "goodput_mbps") > 1.0 && cell["failed"] == 0, "{cell}");
    }
    for (setting, why) in [
        ("scheduler=ecf", "has only its own scheduler"),
        ("congestion=lia", "cannot couple paths"),
        ("radio.foresight=pha", "takes no warnings"),
    ] {
        scratch.run(&format!("{words} --set {setting}")).refused(&[why, "help: add --set"]);
    }
}

#[test]
#[ignore = "thorough: real time"]
fn both_versions_of_ip_carry_every_transport() {
    let Some(scratch) = Scratch::new() else { return };
    if !fs::exists("/proc/net/if_inet6").unwrap() {
        return eprintln!("SKIPPED: this machine has no IPv6");
    }
    let settings = "--set protocol=tcp,quic --set congestion=cubic --set ip=4,6";
    let cells = scratch.cells(&format!("bulk --runs 1 --set workload.size=200kB {settings}"));
    assert_eq!(cells.len(), 4);
    for pair in cells.chunks(2) {
        let [four, six] = [0, 1].map(|index| least(&pair[index], "wire_bytes"));
        assert_eq!([factor(&pair[0], "ip"), factor(&pair[1], "ip")], ["4", "6"], "{pair:?}");
        assert!(six > four, "longer headers: {six} and {four} bytes");
    }
}

#[test]
#[ignore = "thorough: real time"]
fn several_phones_behind_links_of_their_own_reach_the_server() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.write("phones.toml", include_str!("../data/scenarios/phones.toml"));
    for cell in &scratch.cells("phones.toml") {
        assert_eq!(metric(cell, "answered_count", "mean"), 10.0);
        assert!(least(cell, "rtt_ms") >= 16.0, "{cell}");
    }
}

/// Two phones at 10/s for 3 s, of which the first is warm-up: 40 messages, each accounted for.
#[test]
#[ignore = "thorough: real time"]
fn telemetry_is_accounted_for_on_the_kernel() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.write("telemetry.toml", include_str!("../data/scenarios/telemetry-of-phones.toml"));
    let document = scratch.document("telemetry.toml");
    for cell in document["cells"].as_array().unwrap() {
        let count = |name: &str| metric(cell, name, "mean");
        assert_eq!(count("sent_count"), 40.0);
        let ends = ["in_time_count", "late_count", "lost_count"].map(count);
        assert_eq!(ends.iter().sum::<f64>(), 40.0, "{ends:?}");
        assert!(least(cell, "rtt_ms") >= 10.0, "{cell}");
    }
    let checks = document["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 2);
    assert!(checks.iter().all(|check| check["pass"] == true), "{checks:?}");
}

#[test]
#[ignore = "thorough: real time"]
fn a_server_that_dies_fails_its_run_and_no_other() {
    let Some(scratch) = Scratch::new() else { return };
    let settings = "--set protocol=quic --set handshake=new --set link.delay=100ms";
    let child = start(scratch.emulated(&format!("vru --runs 2 {settings}")));
    let server = eventually("the server is there", || ends_of(&child).first().copied());
    kill_process(server, Signal::KILL).unwrap();
    one_of_two_failed(&Ended::from(child.wait_with_output().unwrap()), "completion_ms");
}

/// A process that is stopped keeps its connections open and answers nothing.
#[test]
#[ignore = "thorough: real time"]
fn a_server_that_hangs_fails_its_run_and_no_other() {
    let Some(scratch) = Scratch::new() else { return };
    let slow = "--set workload.size=2MB --set link.delay=100ms";
    let words = format!("bulk --runs 2 --set protocol=tcp --set congestion=cubic {slow}");
    let child = start(scratch.emulated(&words));
    let server = eventually("the server is there", || ends_of(&child).first().copied());
    kill_process(server, Signal::STOP).unwrap();
    one_of_two_failed(&Ended::from(child.wait_with_output().unwrap()), "completion_ms");
    let runs = scratch.read("out/runs.jsonl");
    assert!(runs.contains("it hangs or was stopped"), "{runs}");
}

#[test]
#[ignore = "thorough: real time"]
fn the_ends_do_not_outlive_a_run_that_is_killed() {
    let Some(scratch) = Scratch::new() else { return };
    let child = start(scratch.emulated("vru --runs 3 --set link.delay=200ms"));
    let ends =
        eventually("both ends are there", || Some(ends_of(&child)).filter(|ends| ends.len() == 2));
    kill(child);
    for end in ends {
        wait_until("an end is gone", || !is_alive(end.as_raw_nonzero().get() as u32));
    }
}

#[test]
#[ignore = "thorough: real time"]
fn real_time_is_not_mixed_with_virtual_and_does_not_come_back() {
    let Some(scratch) = Scratch::new() else { return };
    let words = "vru --runs 1 --set protocol=quic --set handshake=new";
    scratch.document(words);
    scratch.refuse(&format!("run {words} --out out"), &[]);
    scratch.refuse("replay out 0 0", &["real time"]);
}

/// The processes of ends that `child` has started, the oldest first.
fn ends_of(child: &Child) -> Vec<Pid> {
    let mut ends: Vec<u32> = descendants(child.id()).into_iter().map(|(pid, _)| pid).collect();
    ends.retain(|pid| command_line(*pid).contains("@endpoint"));
    ends.sort_unstable();
    ends.into_iter().map(|pid| Pid::from_raw(pid as i32).unwrap()).collect()
}
