//! What can be recorded of a link in real time: a log of its packets, and captures of both ends.

mod capture;
mod log;

use trackbed_core::{Packet, Time};
use trackbed_net::{Direction, LinkId, Point, Tap};

pub use capture::Capture;
pub use log::PacketLog;

/// Shows packets to several taps, one after the other.
#[derive(Default)]
pub struct Taps(pub Vec<Box<dyn Tap>>);

impl Tap for Taps {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        for tap in &mut self.0 {
            tap.see(at, link, direction, point, packet);
        }
    }
}
