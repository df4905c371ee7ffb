//! What the transport had to send again.

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
        "TCP segments sent again, or QUIC packets declared lost, of all that were sent, over \
         every sender's account of the run, warm-up included";
};
