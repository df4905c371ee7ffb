//! Data that programs leave to the kernel when they exit: bytes and ends of TCP connections that
//! the peer has not acknowledged yet.

use std::fs;
use std::time::Duration;

use crate::namespace::NetNamespace;

/// Waits until the kernel has nothing left to send in `namespace`, but at most for `patience`. Call
/// it when no processes are left inside.
pub(super) fn wait(namespace: &NetNamespace, patience: Duration) {
    // Without a thread there, or without /proc, nothing is known and there is no wait.
    let _ = namespace.run(|| {
        for _ in 0..patience.as_millis() / LOOK_EVERY.as_millis() {
            let is_sending = |file: &&str| {
                let table = fs::read_to_string(format!("/proc/thread-self/net/{file}"));
                table.is_ok_and(|table| table.lines().any(is_unfinished))
            };
            if !["tcp", "tcp6"].iter().any(is_sending) {
                return;
            }
            #[expect(clippy::disallowed_methods, reason = "the kernel works in real time")]
            std::thread::sleep(LOOK_EVERY);
        }
    });
}

/// Whether a line of proc(5)'s `net/tcp` is a connection with unsent data: its fourth column is the
/// state, its fifth the queues.
fn is_unfinished(line: &str) -> bool {
    let mut columns = line.split_whitespace().skip(3);
    let (Some(state), Some(queues)) = (columns.next(), columns.next()) else { return false };
    // The FIN counts as a byte.
    let ends = [FIN_WAIT1, CLOSING, LAST_ACK].contains(&state);
    let unsent = queues.split_once(':').is_some_and(|(sent, _)| sent.bytes().any(|c| c != b'0'));
    ends || (state == ESTABLISHED || state == CLOSE_WAIT) && unsent
}

/// As in the kernel's `net/tcp_states.h`, in hexadecimal.
const ESTABLISHED: &str = "01";
const FIN_WAIT1: &str = "04";
const CLOSE_WAIT: &str = "08";
const LAST_ACK: &str = "09";
const CLOSING: &str = "0B";

const LOOK_EVERY: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_net_tcp_are_understood() {
        let header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt";
        let line = |state: &str, queues: &str| {
            format!("   0: 0240E864:9C40 0140E864:0050 {state} {queues} 00:00000000 00000000")
        };
        assert!(!is_unfinished(header));
        for (state, queues, unfinished) in [
            ("01", "00000000:00000010", false),
            ("01", "00000010:00000000", true),
            ("04", "00000001:00000000", true),
            ("09", "00000000:00000000", true),
            ("06", "00000000:00000000", false),
            ("05", "00000000:00000000", false),
            ("02", "00000001:00000000", false),
        ] {
            assert_eq!(is_unfinished(&line(state, queues)), unfinished, "{state} {queues}");
        }
    }
}
