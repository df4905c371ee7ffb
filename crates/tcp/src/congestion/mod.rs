//! Congestion control: one file for each algorithm, and one line in [`algorithms`].

mod balia;
mod coupled;
mod coupling;
pub(crate) mod cubic;
mod hystart;
mod lia;
mod olia;
mod registry;
mod reno;
mod window;

use std::fmt::Debug;
use std::time::Duration;

use trackbed_core::Time;

pub use self::coupling::Coupling;
pub use self::hystart::{DelayRise, HyStart, LOW_WINDOW, PlusPlus};
pub use self::registry::algorithms;
pub use self::window::Window;
use crate::sequence::Seq;

/// An acknowledgment, for the congestion controller.
#[derive(Clone, Copy, Debug, Default)]
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
    /// A round-trip time was measured on data that was not retransmitted.
    fn on_rtt(&mut self, window: &mut Window, rtt: Duration, acked: &Acked);

    /// Segments were delivered while the window was in use: make it grow.
    fn on_ack(&mut self, window: &mut Window, acked: &Acked);

    /// The threshold after a loss or a congestion mark, from the window before it.
    fn on_congestion(&mut self, window: &Window, now: Time) -> u32;

    /// A retransmission timeout fired, when `next` was the next byte to send.
    fn on_timeout(&mut self, _now: Time, _next: Seq) {}

    /// Sending resumes after a pause with nothing in flight since `idle_since`.
    fn on_restart(&mut self, _idle_since: Time, _now: Time) {}
}

/// An entry of the registry: makes a [`CongestionControl`] for a subflow.
pub struct CongestionAlgorithm {
    /// The name in scenarios, lower case.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Whether it couples the paths of a connection, and so works only with Multipath TCP.
    pub is_coupled: bool,
    /// A controller for a new subflow of a connection whose subflows share the coupling.
    pub build: fn(HyStart, &Coupling) -> Box<dyn CongestionControl>,
}

trackbed_core::debug_by_name!(CongestionAlgorithm);
