//! One direction of a link within a network.

use std::collections::VecDeque;
use std::net::IpAddr;

use trackbed_core::{Packet, Time};

use super::ids::{ChannelId, MediumId};
use super::tap::{Counters, Load, Point, Tap};
use crate::link::{Alteration, DropReason, Link, Outlet};

/// One direction of a link, and the interface at which it begins.
pub(super) struct Channel {
    pub(super) link: Box<dyn Link>,
    /// The medium that packets pass before the link, and the number of the station there.
    pub(super) medium: Option<(MediumId, u32)>,
    pub(super) mtu: u32,
    pub(super) addresses: Vec<IpAddr>,
    /// The wake that stands in the network's heap for this channel and holds.
    pub(super) armed: Option<Time>,
    pub(super) counters: Counters,
    /// If it is measured.
    pub(super) load: Option<Box<Load>>,
}

pub(super) struct Arrival {
    pub(super) at: Time,
    pub(super) channel: ChannelId,
    pub(super) packet: Packet,
}

/// What packets pass when they leave a channel: counters, the tap, the node at the end.
pub(super) struct Far<'a> {
    pub(super) channel: ChannelId,
    pub(super) counters: &'a mut Counters,
    pub(super) load: Option<&'a mut Load>,
    pub(super) tap: Option<&'a mut dyn Tap>,
    pub(super) arrivals: &'a mut VecDeque<Arrival>,
}

impl Channel {
    pub(super) fn new(link: Box<dyn Link>, mtu: u32, addresses: Vec<IpAddr>) -> Channel {
        let counters = Counters::default();
        Channel { link, medium: None, mtu, addresses, armed: None, counters, load: None }
    }

    /// Lets the link finish with what it holds, until `end`. Only the counters see it.
    pub(super) fn drain(&mut self, channel: ChannelId, end: Time) {
        let mut arrivals = VecDeque::new();
        let (counters, load) = (&mut self.counters, self.load.as_deref_mut());
        let mut far = Far { channel, counters, load, tap: None, arrivals: &mut arrivals };
        while self.link.held() > 0
            && let Some(wake) = self.link.next_wake().filter(|wake| *wake <= end)
        {
            self.link.advance(wake, &mut far);
            far.arrivals.clear();
        }
        self.armed = None;
    }
}

impl Far<'_> {
    pub(super) fn note(&mut self, at: Time, point: Point, packet: &Packet) {
        self.counters.add(point, packet);
        if let Some(load) = &mut self.load {
            load.note(at, point, packet);
        }
        if let Some(tap) = &mut self.tap {
            tap.see(at, self.channel.link(), self.channel.direction(), point, packet);
        }
    }
}

impl Outlet for Far<'_> {
    fn deliver(&mut self, at: Time, packet: Packet) {
        self.note(at, Point::Delivered, &packet);
        self.arrivals.push_back(Arrival { at, channel: self.channel, packet });
    }

    fn drop(&mut self, at: Time, packet: Packet, why: DropReason) {
        self.note(at, Point::Dropped(why), &packet);
    }

    fn altered(&mut self, at: Time, packet: &Packet, what: Alteration) {
        self.note(at, Point::Altered(what), packet);
    }
}
