//! Our clients with third-party web servers.

use crate::{Scratch, factor, least, metric};

/// Each exchange takes a round trip of 20 ms, and so do TCP's handshake and that of TLS 1.3.
#[test]
#[ignore = "thorough: third-party programs"]
fn messages_over_http_2_are_answered_through_loss_on_new_and_resumed_connections() {
    let scenario = include_str!("../../data/scenarios/http2-handshakes.toml");
    let Some(scratch) = Scratch::with(&SERVERS, scenario) else { return };
    let cells = scratch.cells("");
    assert_eq!(cells.len(), 6);
    for cell in &cells {
        assert_eq!(metric(cell, "answered_count", "mean"), 5.0, "{cell}");
        assert!(least(cell, "rtt_ms") >= 20.0, "{cell}");
        assert!(least(cell, "completion_ms") >= 140.0, "{cell}");
        let resumed = if factor(cell, "handshake") == "resumed" { 1.0 } else { 0.0 };
        assert_eq!(metric(cell, "resumed_ratio", "mean"), resumed, "{cell}");
        assert!(least(cell, "server_cpu_ms") > 0.0, "{cell}");
        assert!(least(cell, "server_memory_bytes") > 1e6, "{cell}");
    }
    assert!(scratch.left_over().is_empty(), "{:?}", scratch.left_over());
}

/// QUIC takes one round trip for its handshake, and none with early data.
#[test]
#[ignore = "thorough: third-party programs"]
fn messages_over_quic_and_http_3_are_answered_by_other_stacks() {
    let scenario = include_str!("../../data/scenarios/quic-stacks.toml");
    let programs = ["caddy", "quic-go", "aioquic", "s2n-quic", "quiche"];
    let Some(scratch) = Scratch::with(&programs, scenario) else { return };
    let s2n = "--set server=s2n-quic --set protocol=quic --set handshake=new";
    let cells = [scratch.cells(""), scratch.cells(HTTP3), scratch.cells(s2n)].concat();
    assert_eq!(cells.len(), 18 + 3 + 1);
    for cell in &cells {
        let (floor, resumed, early) = match factor(cell, "handshake") {
            "new" => (120.0, 0.0, 0.0),
            "resumed" => (120.0, 1.0, 0.0),
            _ => (100.0, 1.0, 1.0),
        };
        assert_eq!(metric(cell, "answered_count", "mean"), 5.0, "{cell}");
        assert!(least(cell, "completion_ms") >= floor, "{cell}");
        assert_eq!(metric(cell, "resumed_ratio", "mean"), resumed, "{cell}");
        if early == 1.0 {
            assert_eq!(metric(cell, "early_data_ratio", "max"), early, "{cell}");
        }
    }
}

/// Where one end is a program, virtual time has Trackbed's own end in its place.
#[test]
#[ignore = "thorough: third-party programs"]
fn virtual_trackbed_is_compared_with_another_stack() {
    let scenario = include_str!("../../data/scenarios/quic-go.toml");
    let Some(scratch) = Scratch::with(&["quic-go"], scenario) else { return };
    scratch.refuse("agree a.toml --set server=quic-go,aioquic", &["--set server=caddy"]);
    let words = "agree a.toml --set link.loss=0% --metric completion_ms --json --out agreed";
    let ended = scratch.trackbed(words);
    // A busy machine may be late in every run.
    let is_late = ended.stderr.contains("nothing could be compared");
    assert!(is_late || ended.stdout.contains("completion_ms"), "{}", ended.stderr);
    // Runs in virtual time repeat without the program.
    scratch.succeed("replay agreed/virtual 0 0 --out replayed");
}

/// A run with another version or cipher than its cell says fails, so it is enough that none does.
#[test]
#[ignore = "thorough: third-party programs"]
fn versions_and_ciphers_are_those_of_the_cell() {
    let scenario = include_str!("../../data/scenarios/http2-ciphers.toml");
    let Some(scratch) = Scratch::with(&SERVERS, scenario) else { return };
    assert_eq!(scratch.cells("").len(), 12);
    for cell in scratch.cells("--set server=nginx --set tls=1.3 --set handshake=early") {
        assert_eq!(metric(&cell, "early_data_ratio", "mean"), 1.0, "{cell}");
    }
}

/// A megabyte at 100 Mbit/s takes 80 ms: a server that answers before it has the whole body would be faster.
#[test]
#[ignore = "thorough: third-party programs"]
fn an_answer_comes_when_the_whole_message_is_there() {
    let scenario = include_str!("../../data/scenarios/large-messages.toml");
    let Some(scratch) = Scratch::with(&SERVERS, scenario) else { return };
    let cells = [scratch.cells(""), scratch.cells(HTTP1), scratch.cells(HTTP3)].concat();
    for cell in &cells {
        assert!(least(cell, "rtt_ms") >= 80.0, "{cell}");
        assert_eq!(least(cell, "answered_count"), 2.0, "{cell}");
    }
}

/// The digest of what arrives is checked by the workload.
#[test]
#[ignore = "thorough: third-party programs"]
fn a_download_from_each_server_arrives_intact_and_no_faster_than_the_link() {
    let scenario = include_str!("../../data/scenarios/downloads.toml");
    let Some(scratch) = Scratch::with(&SERVERS, scenario) else { return };
    let cells = [scratch.cells(""), scratch.cells(HTTP1), scratch.cells(HTTP3)].concat();
    for cell in &cells {
        assert!(metric(cell, "throughput_mbps", "max") < 20.0, "{cell}");
        assert!(least(cell, "completion_ms") >= 200.0, "{cell}");
    }
    scratch.run("--set workload.direction=upload").says(2, &["only the built-in server verifies"]);
}

/// The document, its objects, and the objects of these: three rounds of 20 ms, and those of
/// the handshake.
#[test]
#[ignore = "thorough: third-party programs"]
fn a_page_loads_from_servers_of_others() {
    let scenario = include_str!("../../data/scenarios/pages.toml");
    let Some(scratch) = Scratch::with(&SERVERS, scenario) else { return };
    let cells = [scratch.cells(""), scratch.cells(HTTP1), scratch.cells(HTTP3)].concat();
    assert_eq!(cells.len(), 4 + 2 + 1);
    for cell in &cells {
        assert_eq!(least(cell, "objects_count"), 8.0, "{cell}");
        assert!(least(cell, "plt_ms") >= 80.0, "{cell}");
        // How many of six are needed is up to when the objects are found.
        let connections = if factor(cell, "protocol") == "http1" { 2.0..=6.0 } else { 1.0..=1.0 };
        assert!(connections.contains(&metric(cell, "connections_count", "max")), "{cell}");
    }
}

const SERVERS: [&str; 3] = ["nginx", "nghttpd", "caddy"];
const HTTP1: &str = "--set protocol=http1 --set server=nginx,caddy";
const HTTP3: &str = "--set protocol=http3 --set server=caddy";
