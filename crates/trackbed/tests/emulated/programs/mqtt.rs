//! Our client with Mosquitto's broker, which returns each message.

use crate::{Scratch, factor, least, metric};

/// TCP, TLS 1.3 and CONNECT take a round trip of 20 ms each, and so does each of five messages. A run
/// with another version or cipher than its cell says fails.
#[test]
#[ignore = "thorough: third-party programs"]
fn messages_come_back_from_mosquitto_as_from_our_broker() {
    let scenario = "protocol = \"mqtt\"\nserver = [\"mosquitto\", \"trackbed\"]\nruns = 1\n\
                    mqtt-version = [\"3.1.1\", \"5\"]\ntls = \"1.3\"\n\
                    cipher = [\"aes128gcm\", \"aes256gcm\", \"chacha20poly1305\"]\n\
                    [link]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\n\
                    [workload]\nkind = \"messages\"\ncount = 5\n";
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
