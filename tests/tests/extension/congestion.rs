//! Scalable TCP (Kelly, 2003).

use std::time::Duration;

use trackbed_core::Time;
use trackbed_tcp::congestion::{Acked, CongestionAlgorithm, CongestionControl, Window};

pub static ENTRY: CongestionAlgorithm = CongestionAlgorithm {
    name: "scalable",
    summary: "grows by 1 % of what is acknowledged, shrinks by an eighth at a loss (Kelly, 2003)",
    is_coupled: false,
    build: |_, _| Box::new(Controller),
};

#[derive(Debug)]
struct Controller;

impl CongestionControl for Controller {
    fn on_rtt(&mut self, _: &mut Window, _: Duration, _: &Acked) {}

    fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        let mut segments = acked.segments;
        if window.in_slow_start() {
            segments = window.slow_start(segments);
        }
        if segments > 0 {
            window.grow(100, segments);
        }
    }

    fn on_congestion(&mut self, window: &Window, _: Time) -> u32 {
        (window.cwnd - window.cwnd / 8).max(2)
    }
}
