//! Several taps on one link.

use trackbed_core::{Packet, Time};
use trackbed_net::{Direction, LinkId, Point, Tap};

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
