//! Our client with Mosquitto's broker, which returns each message.

use crate::{Scratch, factor, least, metric};

/// TCP, TLS 1.3 and CONNECT take a round trip of 20 ms each, and so does each of five messages. A run
/// with another version or cipher than its cell says fails.
#[test]
#[ignore = "thorough: third-party programs"]
fn messages_come_back_from_mosquitto_as_from_our_broker() {
    let scenario = include_str!("../../data/scenarios/mosquitto.toml");
    let Some(scratch) = Scratch::with(&["mosquitto"], scenario) else { return };
    let cells = scratch.cells("");
    assert_eq!(cells.len(), 12);
    for cell in &cells {
        assert_eq!(metric(cell, "answered_count", "mean"), 5.0, "{cell}");
        assert!(least(cell, "rtt_ms") >= 20.0, "{cell}");
        assert!(least(cell, "completion_ms") >= 160.0, "{cell}");
    }
    for cell in scratch.cells("--set handshake=resumed --set mqtt-qos=0,2") {
        assert_eq!(metric(&cell, "resumed_ratio", "mean"), 1.0, "{}", factor(&cell, "server"));
    }
    let refused = scratch.run("--set server=mosquitto --set mqtt-answer=service");
    refused.says(2, &["write mqtt-answer = \"echo\""]);
    assert!(scratch.left_over().is_empty(), "{:?}", scratch.left_over());
}
