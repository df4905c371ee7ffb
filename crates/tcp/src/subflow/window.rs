//! The congestion window and its growth (RFC 5681, RFC 7661).

use std::time::Duration;

use trackbed_core::Time;

use super::{Phase, Subflow};
use crate::congestion::{Acked, Window};
use crate::recovery::prr::{Progress, Prr};

impl Subflow {
    pub(super) fn acked(&self, now: Time, segments: u32) -> Acked {
        Acked { now, segments, una: self.send.una, next: self.send.next, srtt: self.srtt() }
    }

    /// Lets the window follow an acknowledgment that delivered `progress.delivered` segments.
    pub(super) fn adjust_window(&mut self, now: Time, progress: Progress, grows: bool) {
        match self.loss.phase {
            Phase::Reduced | Phase::Recovery => self.reduce_window(progress),
            Phase::Open | Phase::Disorder | Phase::Loss => {
                if !grows {
                    return;
                }
                // Progress keeps a window that is not used, too (Linux's `tcp_cong_avoid`).
                self.usage.validated_at = now;
                if self.is_window_limited() {
                    let acked = self.acked(now, progress.delivered);
                    self.congestion.on_ack(&mut self.window, &acked);
                }
            }
        }
    }

    pub(super) fn reduce_window(&mut self, progress: Progress) {
        let in_flight = self.board.in_flight();
        let cwnd = self.loss.prr.window(self.window.ssthresh, in_flight, progress);
        self.window.cwnd = cwnd.unwrap_or(self.window.cwnd);
    }

    /// A reduction begins: the threshold is set, and the window follows by PRR.
    pub(super) fn begin_reduction(&mut self, now: Time) {
        self.loss.high = self.send.next;
        self.loss.probe = None;
        self.window.clear_credit();
        self.loss.prr = Prr::new(self.window.cwnd);
        self.window.ssthresh = self.congestion.on_congestion(&self.window, now);
        self.send.cwr = true;
    }

    /// A reduction ends: the window is what it aimed at, unless it was undone.
    pub(super) fn end_reduction(&mut self, now: Time) {
        let reduced = self.loss.phase == Phase::Reduced || self.loss.undo.is_open();
        if reduced && self.window.ssthresh < Window::INFINITE {
            self.window.cwnd = self.window.ssthresh;
            self.usage.validated_at = now;
        }
    }

    /// The threshold as it stands, or what the window now proves (RFC 7661 section 4.3).
    pub(super) fn current_ssthresh(&self) -> u32 {
        match self.loss.phase {
            Phase::Reduced | Phase::Recovery => self.window.ssthresh,
            Phase::Open | Phase::Disorder | Phase::Loss => {
                self.window.ssthresh.max(self.window.cwnd / 2 + self.window.cwnd / 4)
            }
        }
    }

    /// True if the window is what holds the sender back. In slow start half a window in use is
    /// enough, for the window is about to double.
    fn is_window_limited(&self) -> bool {
        self.usage.limited
            || (self.window.in_slow_start() && self.window.cwnd < 2 * self.usage.flight_max)
    }

    /// A burst was sent, or could not be; `limited` if the window ended it.
    pub(super) fn note_usage(&mut self, now: Time, limited: bool) {
        let flight = self.board.len();
        let round_over = self.usage.round_end.is_none_or(|end| !self.send.una.before(end));
        if round_over || limited || (!self.usage.limited && flight > self.usage.flight_max) {
            self.usage.limited = limited;
            self.usage.flight_max = flight;
            self.usage.round_end = Some(self.send.next);
        }
        if self.is_window_limited() {
            self.usage.used = 0;
            self.usage.validated_at = now;
            return;
        }
        self.usage.used = self.usage.used.max(flight);
        let unused_for = now - self.usage.validated_at;
        if self.config.slow_start_after_idle && unused_for >= self.rtt.rto {
            self.shrink_unused(now);
        }
    }

    /// Half of what was not used for a timeout is given up (RFC 7661 section 4.4.3).
    fn shrink_unused(&mut self, now: Time) {
        if self.loss.phase == Phase::Open {
            let used = self.usage.used.max(self.config.initial_window_segments);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = (self.window.cwnd + used) / 2;
            }
            self.usage.used = 0;
        }
        self.usage.validated_at = now;
    }

    /// Data is about to be sent and nothing is in flight: after an idle timeout the window shrinks
    /// towards the initial one (RFC 5681 section 4.1), by half for each timeout.
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        let idle_since = self.send.last_sent_at;
        let idle = now - idle_since;
        let rto = self.rtt.rto;
        if self.config.slow_start_after_idle && idle > rto {
            self.window.ssthresh = self.current_ssthresh();
            let least = self.config.initial_window_segments.min(self.window.cwnd);
            let mut rest = idle - rto;
            while !rest.is_zero() && self.window.cwnd > least {
                self.window.cwnd /= 2;
                rest = rest.saturating_sub(rto.max(Duration::from_nanos(1)));
            }
            self.window.cwnd = self.window.cwnd.max(least);
            self.usage.validated_at = now;
            self.usage.used = 0;
        }
        if idle_since > Time::ZERO {
            self.congestion.on_restart(idle_since, now);
        }
    }
}
