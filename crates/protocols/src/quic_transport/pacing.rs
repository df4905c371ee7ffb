//! Pacing as in RFC 9002 section 7.7 for controllers that leave it to the engine, limited for all
//! by the resolution of the engine's clock.
//!
//! There a sender may send a burst of ten datagrams, which are the initial window of the RFC. The
//! engine's own pacer spreads even two packets over several milliseconds on a path whose window is
//! small, and so adds up to 10 ms to a handshake's last flight. This pacer allows the burst, and
//! beyond it sends 1.25 windows per round-trip time, as the engine does.

use std::any::Any;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use noq::congestion::{Controller, ControllerMetrics};
use noq_proto::RttEstimator;

use super::probing::Leave;
use super::tuning::INITIAL_WINDOW;

#[derive(Debug)]
pub(super) struct Paced {
    inner: Box<dyn Controller>,
    /// Bytes in flight, as far as a controller is notified.
    in_flight: u64,
    smoothed_rtt: Option<Duration>,
    leave: Leave,
}

impl Paced {
    pub(super) fn new(inner: Box<dyn Controller>, leave: Leave) -> Paced {
        Paced { inner, in_flight: 0, smoothed_rtt: None, leave }
    }

    /// Bytes in a second.
    fn rate(&self) -> u64 {
        match self.smoothed_rtt {
            Some(rtt) if self.in_flight >= INITIAL_WINDOW => {
                let bytes = u128::from(self.inner.window()) * 1_250_000_000;
                let rate = bytes / rtt.as_nanos().max(1);
                u64::try_from(rate).unwrap_or(u64::MAX).clamp(1, BURST_RATE)
            }
            _ => BURST_RATE,
        }
    }
}

impl Controller for Paced {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.inner.on_sent(now, bytes, largest);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.in_flight += u64::from(bytes);
        self.leave.take();
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.smoothed_rtt = Some(rtt.get());
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.in_flight = in_flight;
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost_bytes: u64,
        largest_lost: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        self.inner.on_congestion_event(now, sent, persistent, ecn, lost_bytes, largest_lost);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn window(&self) -> u64 {
        match self.leave.is_given() {
            true => self.inner.window().max(self.in_flight + DATAGRAM_MAX),
            false => self.inner.window(),
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.inner.metrics();
        // At more than a byte in a nanosecond the engine waits for no time at all, over and over.
        let own = metrics.pacing_rate.map(|rate| rate.clamp(1, BURST_RATE));
        metrics.pacing_rate = Some(own.unwrap_or_else(|| self.rate()));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Paced {
            inner: self.inner.clone_box(),
            in_flight: self.in_flight,
            smoothed_rtt: self.smoothed_rtt,
            leave: self.leave.clone(),
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}

/// A gigabyte in a second: one byte in a nanosecond, the engine's finest step.
const BURST_RATE: u64 = 1_000_000_000;

/// No datagram is longer.
const DATAGRAM_MAX: u64 = 1 << 16;
