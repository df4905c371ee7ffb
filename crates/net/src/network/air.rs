//! Media within a network: links that share one.

use std::cmp::Reverse;

use trackbed_core::{Packet, Time};

use super::Network;
use super::channel::Channel;
use super::ids::{ChannelId, LinkId, MediumId, Waker};
use super::tap::{Point, Tap};
use crate::link::{Change, DropReason};
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
struct Landing<'a> {
    stations: &'a [LinkId],
    channels: &'a mut [Channel],
    tap: Option<&'a mut dyn Tap>,
    landed: Vec<(Time, ChannelId, Packet)>,
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

impl Network {
    /// Calls a medium, and passes what leaves it to the links behind it.
    pub(super) fn with_medium<T>(
        &mut self,
        id: MediumId,
        call: impl FnOnce(&mut dyn Medium, &mut dyn MediumOutlet) -> T,
    ) -> T {
        let air = &mut self.airs[id.index()];
        let mut landing = Landing {
            stations: &air.stations,
            channels: &mut self.channels,
            tap: self.tap.as_deref_mut().map(|tap| tap as &mut dyn Tap),
            landed: Vec::new(),
        };
        let result = call(&mut *air.medium, &mut landing);
        let landed = landing.landed;
        let wake = air.medium.next_wake();
        if air.armed != wake {
            air.armed = wake;
            self.wakes.extend(wake.map(|at| Reverse((at, Waker::Medium(id)))));
        }
        self.clear_wakes();
        for (at, channel, packet) in landed {
            self.with_link(channel, |link, far| link.push(at, packet, far));
        }
        result
    }

    /// The medium that a channel begins on, and the way on it.
    pub(super) fn on_medium(&self, channel: ChannelId) -> Option<(MediumId, Way)> {
        let (medium, station) = self.channels[channel.index()].medium?;
        Some((medium, Way { station, direction: channel.direction() }))
    }

    /// The number of packets that a channel's medium holds for it.
    pub(super) fn held_on_medium(&self, channel: ChannelId) -> usize {
        let held = |(id, way): (MediumId, Way)| self.airs[id.index()].medium.held(way);
        self.on_medium(channel).map_or(0, held)
    }

    /// Replaces a parameter of the station of a channel; false if there is none.
    pub(super) fn change_medium(&mut self, channel: ChannelId, change: &Change) -> bool {
        let Some((id, way)) = self.on_medium(channel) else { return false };
        let clock = self.clock;
        self.with_medium(id, |medium, out| {
            medium.advance(clock, out);
            medium.change(clock, way, change)
        })
    }

    /// Lets the media finish with what they hold, until `end`.
    pub(super) fn drain_media(&mut self, end: Time) {
        for id in (0..self.airs.len() as u32).map(MediumId) {
            let wake = |network: &Network| network.airs[id.index()].medium.next_wake();
            while let Some(at) = wake(self).filter(|at| *at <= end) {
                self.with_medium(id, |medium, out| medium.advance(at, out));
                self.arrivals.clear();
            }
        }
    }
}
