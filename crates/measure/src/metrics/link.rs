//! Traffic of the links.

use trackbed_core::event::{Event, Record};

use super::Metric;

pub(super) const METRICS: &[Metric] = metrics! {
    "loss_percent", |records| Total::of(records).percent(|total| total.lost_packets) =>
        "share of packets entering the links, or a medium before them, that were lost by chance or by \
         schedule, in all directions, over the whole run";
    "queue_drop_percent",
        |records| Total::of(records).percent(|total| total.queue_dropped_packets) =>
        "share of packets entering the links, or a medium before them, that queues dropped, in all \
         directions, over the whole run";
    "wire_bytes", |records| {
        let total = Total::of(records);
        if total.links == 0 { Vec::new() } else { vec![total.offered_bytes as f64] }
    } =>
        "bytes that entered the links, or a medium before them, IP headers included, in all \
         directions, over the whole run, warm-up included";
};

/// The sum of the links' counters.
#[derive(Default)]
struct Total {
    links: u64,
    offered_packets: u64,
    offered_bytes: u64,
    lost_packets: u64,
    queue_dropped_packets: u64,
}

impl Total {
    fn of(records: &[Record]) -> Total {
        let mut total = Total::default();
        for record in records {
            if let Event::Link {
                offered_packets,
                offered_bytes,
                lost_packets,
                queue_dropped_packets,
                ..
            } = record.event
            {
                total.links += 1;
                total.offered_packets += offered_packets;
                total.offered_bytes += offered_bytes;
                total.lost_packets += lost_packets;
                total.queue_dropped_packets += queue_dropped_packets;
            }
        }
        total
    }

    fn percent(&self, part: fn(&Total) -> u64) -> Vec<f64> {
        if self.offered_packets == 0 {
            return Vec::new();
        }
        vec![part(self) as f64 * 100.0 / self.offered_packets as f64]
    }
}
