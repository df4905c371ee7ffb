//! Observation of a network's packets: taps and counters.

use std::iter::Sum;
use std::time::Duration;

use hdrhistogram::Histogram;
use trackbed_core::{Bitrate, Packet, Time};

use super::ids::{Direction, LinkId, NodeId};
use crate::link::{Alteration, DropReason};

/// Where in a link a packet is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// It was offered to the link by the node at its near end.
    Entered,
    /// It arrived at the node at the far end.
    Delivered,
    /// It was lost.
    Dropped(DropReason),
    /// It was altered and stays in the link.
    Altered(Alteration),
}

/// Sees every packet of a network, for captures. Called in order of time, and with the same
/// packets in the same order in every run with the same seed.
pub trait Tap: Send {
    /// `packet` was at `point` of one direction of `link`.
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet);

    /// `node` had no route for `packet` and discarded it.
    fn unroutable(&mut self, at: Time, node: NodeId, packet: &Packet) {
        let _ = (at, node, packet);
    }
}

/// A number of packets and their bytes, IP header included; a super-packet counts as the packets
/// that a cable carries for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Count {
    pub(super) fn add(&mut self, packet: &Packet) {
        let segments = packet.segments();
        self.packets += segments;
        self.bytes += if segments == 1 { packet.len() as u64 } else { packet.bytes_on_wire() };
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), |sum, count| Count {
            packets: sum.packets + count.packets,
            bytes: sum.bytes + count.bytes,
        })
    }
}

/// Counters of the packets that were offered to one direction of a link. Offered and duplicated
/// together are those delivered, dropped and still inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that entered.
    pub offered: Count,
    /// Packets that came out at the far end.
    pub delivered: Count,
    dropped: [Count; DropReason::ALL.len()],
    altered: [Count; Alteration::ALL.len()],
}

impl Counters {
    /// Packets that were lost for this reason.
    pub fn dropped(&self, why: DropReason) -> Count {
        self.dropped[why as usize]
    }

    /// Packets that were lost for any reason.
    pub fn dropped_in_all(&self) -> Count {
        self.dropped.iter().copied().sum()
    }

    /// Packets that were altered in this way.
    pub fn altered(&self, what: Alteration) -> Count {
        self.altered[what as usize]
    }

    pub(super) fn add(&mut self, point: Point, packet: &Packet) {
        match point {
            Point::Entered => self.offered.add(packet),
            Point::Delivered => self.delivered.add(packet),
            Point::Dropped(why) => self.dropped[why as usize].add(packet),
            Point::Altered(what) => self.altered[what as usize].add(packet),
        }
    }
}

/// How busy one direction of a link with a constant rate was, and how long packets waited for it.
#[derive(Clone, Debug)]
pub struct Load {
    rate: Bitrate,
    busy: Duration,
    first: Option<Time>,
    /// When all packets so far will be sent.
    idle_from: Time,
    waits: Histogram<u64>,
}

impl Load {
    pub(super) fn of(rate: Bitrate) -> Load {
        let waits = Histogram::new_with_max(HOUR_NANOS, 2).expect("the bounds are valid");
        Load { rate, busy: Duration::ZERO, first: None, idle_from: Time::ZERO, waits }
    }

    /// For how long it sent, and the time from the first packet to the end of the last.
    pub fn busy(&self) -> Option<(Duration, Duration)> {
        self.first.map(|first| (self.busy, self.idle_from - first))
    }

    /// A quantile, to two digits, of the times that the packets before one took when it came.
    pub fn wait(&self, quantile: f64) -> Duration {
        Duration::from_nanos(self.waits.value_at_quantile(quantile))
    }

    pub(super) fn note(&mut self, at: Time, point: Point, packet: &Packet) {
        let takes = self.rate.serialization(packet.len());
        match point {
            Point::Entered => {
                let wait = (self.idle_from - at).as_nanos();
                self.waits.saturating_record(u64::try_from(wait).unwrap_or(u64::MAX));
                self.first.get_or_insert(at);
                self.idle_from = self.idle_from.max(at) + takes;
                self.busy += takes;
            }
            // What is lost otherwise was sent before.
            Point::Dropped(why) if !matches!(why, DropReason::Loss | DropReason::Outage) => {
                self.idle_from = self.idle_from - takes;
                self.busy = self.busy.saturating_sub(takes);
            }
            Point::Dropped(_) | Point::Delivered | Point::Altered(_) => {}
        }
    }
}

/// Longer waits count as an hour.
const HOUR_NANOS: u64 = 3_600_000_000_000;
