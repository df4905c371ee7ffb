//! Reno (RFC 5681).

use std::time::Duration;

use trackbed_core::Time;

use super::{Acked, CongestionAlgorithm, CongestionControl, Window};

pub(super) static ENTRY: CongestionAlgorithm = CongestionAlgorithm {
    name: "reno",
    summary: "slow start, then one more segment each round trip; the window is halved at a loss \
              (RFC 5681)",
    is_coupled: false,
    build: |_, _| Box::new(Controller),
};

#[derive(Debug)]
struct Controller;

impl CongestionControl for Controller {
    fn on_rtt(&mut self, _window: &mut Window, _rtt: Duration, _acked: &Acked) {}

    fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        let segments = window.slow_start(acked.segments);
        if segments > 0 {
            window.grow(window.cwnd, segments);
        }
    }

    /// RFC 5681 equation 4. The window stands for the flight: it grows only while it is in use.
    fn on_congestion(&mut self, window: &Window, _now: Time) -> u32 {
        (window.cwnd / 2).max(2)
    }
}
