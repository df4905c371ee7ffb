//! Retransmissions.

use trackbed_core::event::Event;

use super::Metric;

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
};
