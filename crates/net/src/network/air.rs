//! A medium within a network, and the links that share it.

use trackbed_core::{Packet, Time};

use super::channel::Channel;
use super::ids::{ChannelId, LinkId};
use super::tap::{Point, Tap};
use crate::link::DropReason;
use crate::medium::{Medium, MediumOutlet, Way};

/// A medium, and the links that begin on it.
#[derive(Debug)]
pub(super) struct Air {
    pub(super) medium: Box<dyn Medium>,
    /// The link of each station.
    pub(super) stations: Vec<LinkId>,
    /// The wake that stands in the network's heap for it and holds.
    pub(super) armed: Option<Time>,
}

/// What packets pass when they leave a medium.
pub(super) struct Landing<'a> {
    pub(super) stations: &'a [LinkId],
    pub(super) channels: &'a mut [Channel],
    pub(super) tap: Option<&'a mut dyn Tap>,
    /// Packets for the links behind it.
    pub(super) landed: Vec<(Time, ChannelId, Packet)>,
}

impl MediumOutlet for Landing<'_> {
    fn deliver(&mut self, at: Time, way: Way, packet: Packet) {
        let link = self.stations[way.station as usize];
        self.landed.push((at, ChannelId::new(link, way.direction), packet));
    }

    fn drop(&mut self, at: Time, way: Way, packet: Packet, why: DropReason) {
        let link = self.stations[way.station as usize];
        let channel = ChannelId::new(link, way.direction);
        self.channels[channel.index()].counters.add(Point::Dropped(why), &packet);
        if let Some(tap) = &mut self.tap {
            tap.see(at, link, way.direction, Point::Dropped(why), &packet);
        }
    }
}
