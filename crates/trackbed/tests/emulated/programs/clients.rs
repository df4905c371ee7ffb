//! Third-party clients with third-party servers and with ours.

use crate::{Scratch, least};

/// Each of the two clients takes TCP's handshake, that of TLS 1.3, MQTT's, and one exchange: eight
/// round trips of 40 ms.
#[test]
#[ignore = "thorough: third-party programs"]
fn a_message_goes_through_mosquitto_over_tls() {
    let scenario = include_str!("../../data/scenarios/mosquitto-clients.toml");
    let programs = ["mosquitto", "mosquitto_pub", "mosquitto_sub"];
    let Some(scratch) = Scratch::with(&programs, scenario) else { return };
    let unpinned = scratch.cells("");
    let pinned = scratch.cells("--set tls=1.2 --set cipher=aes128gcm");
    for cell in unpinned.iter().chain(&pinned) {
        assert!(least(cell, "completion_ms") >= 320.0, "{cell}");
        assert!(least(cell, "client_memory_bytes") > 1e6, "{cell}");
        assert!(least(cell, "server_cpu_ms") > 0.0, "{cell}");
    }
}

/// DTLS 1.2 with its cookie takes three round trips, the request one (RFC 6347 section 4.2.1).
#[test]
#[ignore = "thorough: third-party programs"]
fn a_resource_is_fetched_from_coap_server_over_dtls() {
    let scenario = include_str!("../../data/scenarios/coap-client.toml");
    let programs = ["coap-server", "coap-client-openssl"];
    let Some(scratch) = Scratch::with(&programs, scenario) else { return };
    for cell in scratch.cells("") {
        assert!(least(&cell, "completion_ms") >= 160.0, "{cell}");
    }
}

/// Our client's messages: each takes a round trip of 40 ms, and the handshake of DTLS 1.2 three. Every run checks
/// that the cipher is that of the cell.
#[test]
#[ignore = "thorough: third-party programs"]
fn messages_over_coap_are_answered_by_ours_and_by_libcoap() {
    let scenario = include_str!("../../data/scenarios/coap-messages.toml");
    let Some(scratch) = Scratch::with(&["coap-server"], scenario) else { return };
    let cells = scratch.cells("");
    assert_eq!(cells.len(), 12);
    for cell in cells {
        assert_eq!(least(&cell, "answered_count"), 5.0, "{cell}");
        assert!(least(&cell, "completion_ms") >= 8.0 * 40.0, "{cell}");
    }
}

/// DTLS 1.3 takes a round trip of 40 ms, or two where the server asks for a cookie, and each message one.
#[test]
#[ignore = "thorough: third-party programs"]
fn dtls_1_3_is_that_of_wolfssl_as_server_and_as_client() {
    let as_server = include_str!("../../data/scenarios/wolfssl-server.toml");
    for scenario in [as_server, include_str!("../../data/scenarios/wolfssl-client.toml")] {
        let Some(scratch) = Scratch::with(&["trackbed-wolfssl"], scenario) else { return };
        for cell in scratch.cells("") {
            assert!(least(&cell, "completion_ms") >= 4.0 * 40.0, "{cell}");
        }
    }
}

/// `curl` trusts the certificate of our server by its name, and gets all of it.
#[test]
#[ignore = "thorough: third-party programs"]
fn curl_fetches_from_our_server_and_from_nginx() {
    let scenario = include_str!("../../data/scenarios/curl.toml");
    let Some(scratch) = Scratch::with(&["nginx", "curl"], scenario) else { return };
    let cells = scratch.cells("");
    assert_eq!(cells.len(), 2);
    for cell in cells {
        // TCP, TLS and the request.
        assert!(least(&cell, "completion_ms") >= 120.0, "{cell}");
        assert!(cell["metrics"]["throughput_mbps"].is_null(), "unknown: {cell}");
    }
}

/// The handshake, the request and 80 ms for the bytes. Python alone takes longer to start, which does not count.
#[test]
#[ignore = "thorough: third-party programs"]
fn clients_of_other_quic_stacks_fetch_through_loss() {
    let scenario = include_str!("../../data/scenarios/quic-clients.toml");
    let Some(scratch) = Scratch::with(&["quic-go", "aioquic", "quiche"], scenario) else { return };
    for cell in scratch.cells("") {
        assert!(least(&cell, "completion_ms") >= 160.0, "{cell}");
    }
}

/// The shell looks at the sockets as long as `curl` runs.
#[test]
#[ignore = "thorough: third-party programs"]
fn the_kernel_gives_programs_the_congestion_control_of_the_cell() {
    let scenario = include_str!("../../data/scenarios/reno.toml");
    let Some(scratch) = Scratch::with(&["nginx", "curl", "ss"], scenario) else { return };
    let set = |congestion: &str| {
        scratch.run(&format!("--runs 1 --set link.delay=100ms --set congestion={congestion}"))
    };
    set("reno").says(0, &[]);
    let cubic = set("cubic");
    assert!(cubic.stderr.contains("exit status: 9"), "{}", cubic.stderr);
}
