//! What the transports sent besides the data.

use std::time::Duration;

use trackbed_core::event::Event;

use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "retransmission_percent", |records| {
        let (mut sent, mut lost) = (0_u64, 0_u64);
        for record in records {
            if let Event::Transport { packets_sent, packets_lost, .. } = record.event {
                sent = packets_sent.saturating_add(sent);
                lost = packets_lost.saturating_add(lost);
            }
        }
        if sent == 0 { Vec::new() } else { vec![lost as f64 * 100.0 / sent as f64] }
    } =>
        "share of retransmitted TCP segments, or of QUIC packets declared lost, among all sent by \
         any sender, over the whole run, warm-up included";
    "filler_percent", |records| {
        let (mut filler, mut sent) = (0.0, 0.0);
        for record in records {
            if let Event::Transport { bytes_sent, filler_bytes, .. } = record.event {
                filler += filler_bytes as f64;
                sent += bytes_sent as f64;
            }
        }
        if filler == 0.0 { Vec::new() } else { vec![filler * 100.0 / sent] }
    } =>
        "share of path-MTU probes and padding in the UDP payload that QUIC's ends sent, over the \
         whole run, warm-up included";
    "address_validation_ms", |records| {
        let waits = records.iter().filter_map(|record| match record.event {
            Event::Transport { address_validation, .. } => Some(address_validation),
            _ => None,
        });
        let all: Duration = waits.sum();
        if all.is_zero() { Vec::new() } else { vec![ms(all)] }
    } =>
        "how long QUIC's server had data for clients that had not proved their addresses (RFC 9000 \
         section 8.1), in all handshakes of the run, warm-up included";
};
