//! What the controllers that couple the subflows of a connection have in common.

use std::fmt::Debug;
use std::time::Duration;

use trackbed_core::Time;

use super::coupling::{Coupling, Seat};
use super::{Acked, CongestionControl, Window};
use crate::sequence::Seq;

/// How the window of a subflow follows from those of all.
pub(super) trait Law: Debug + Default + Send + 'static {
    fn delivered(&mut self, _segments: u32, _seat: &Seat) {}

    /// Grows beyond slow start, for `segments` acknowledged segments.
    fn grow(&mut self, window: &mut Window, segments: u32, seat: &Seat);

    /// The threshold after a loss, from the window before it.
    fn reduce(&mut self, cwnd: u32, seat: &Seat) -> u32;
}

#[derive(Debug)]
struct Controller<L> {
    seat: Seat,
    law: L,
}

/// A controller that follows the law `L`.
pub(super) fn controller<L: Law>(coupling: &Coupling) -> Box<dyn CongestionControl> {
    Box::new(Controller { seat: coupling.sit(), law: L::default() })
}

impl<L: Law> CongestionControl for Controller<L> {
    fn on_rtt(&mut self, window: &mut Window, _rtt: Duration, acked: &Acked) {
        self.seat.tell(window.cwnd, acked.srtt);
    }

    fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        self.law.delivered(acked.segments, &self.seat);
        let segments = window.slow_start(acked.segments);
        self.seat.tell(window.cwnd, acked.srtt);
        if segments > 0 {
            self.law.grow(window, segments, &self.seat);
        }
    }

    fn on_congestion(&mut self, window: &Window, _now: Time) -> u32 {
        let ssthresh = self.law.reduce(window.cwnd, &self.seat);
        self.seat.tell_window(ssthresh);
        ssthresh
    }

    fn on_timeout(&mut self, _now: Time, _next: Seq) {
        self.seat.tell_window(1);
    }
}
