//! Congestion control: one file for each algorithm, and one line in [`algorithms`].

pub mod balia;
mod coupling;
pub mod cubic;
mod hystart;
pub mod lia;
pub mod olia;
pub mod reno;

use std::fmt::Debug;
use std::time::Duration;

use trackbed_core::Time;

pub use self::coupling::Coupling;
use crate::config::Config;
use crate::sequence::Seq;

/// The congestion window and its threshold, in segments as Linux counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many segments may be in flight.
    pub cwnd: u32,
    /// Below this, slow start; [`Window::INFINITE`] before the first loss.
    pub ssthresh: u32,
    /// Acknowledged segments that have not yet made the window grow.
    credit: u32,
}

impl Window {
    /// The threshold before the first loss (RFC 5681 section 3.1: arbitrarily high).
    pub const INFINITE: u32 = u32::MAX;

    /// A window of `cwnd` segments in its first slow start.
    pub const fn new(cwnd: u32) -> Window {
        Window { cwnd, ssthresh: Window::INFINITE, credit: 0 }
    }

    /// True below the threshold.
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by the acknowledged segments, up to the threshold, and returns what is left over
    /// (RFC 5681 section 3.1 with the byte counting of RFC 3465).
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let rest = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        rest
    }

    /// Grows by one segment for every `per` acknowledged ones (RFC 5681 section 3.1 with `per` the
    /// window itself).
    pub fn grow(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        // Credit gathered while growth was slower is not paid out at the new, higher price.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= per {
            let whole = self.credit / per;
            self.credit -= whole * per;
            self.cwnd += whole;
        }
    }

    /// Forgets acknowledged segments that have not yet made the window grow: at a loss.
    pub fn clear_credit(&mut self) {
        self.credit = 0;
    }
}

/// What an acknowledgment told, for the congestion controller.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it arrived.
    pub now: Time,
    /// Segments newly delivered, for the growth of the window.
    pub segments: u32,
    /// The oldest byte that is not yet acknowledged.
    pub una: Seq,
    /// The next byte to send.
    pub next: Seq,
    /// Smoothed round-trip time.
    pub srtt: Duration,
}

/// A congestion controller, one for each subflow. All windows are counted in segments.
pub trait CongestionControl: Debug + Send {
    /// A round-trip time was measured on data that was not sent twice.
    fn on_rtt(&mut self, window: &mut Window, rtt: Duration, acked: &Acked);

    /// Segments were delivered while the window was in use: make it grow.
    fn on_ack(&mut self, window: &mut Window, acked: &Acked);

    /// The threshold after a loss or a congestion mark, from the window before it.
    fn on_congestion(&mut self, window: &Window, now: Time) -> u32;

    /// A retransmission timeout fired.
    fn on_timeout(&mut self);

    /// Data is sent again after a pause in which nothing was in flight since `idle_since`.
    fn on_restart(&mut self, _idle_since: Time, _now: Time) {}
}

/// An entry of the registry: makes a [`CongestionControl`] for a connection.
pub trait CongestionAlgorithm: Debug + Sync {
    /// The name in scenarios, lower case.
    fn name(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// A controller for a new connection.
    fn build(&self, config: &Config) -> Box<dyn CongestionControl>;

    /// A controller for a new subflow of a multipath connection, whose subflows share `coupling`.
    /// The default knows nothing of the others: uncoupled.
    fn join(&self, config: &Config, _coupling: &Coupling) -> Box<dyn CongestionControl> {
        self.build(config)
    }
}

/// Every congestion controller.
pub fn algorithms() -> &'static [&'static dyn CongestionAlgorithm] {
    &[&cubic::Cubic, &reno::Reno, &lia::Lia, &olia::Olia, &balia::Balia]
}
