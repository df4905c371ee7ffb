//! Media: what many stations share, where one state machine decides who sends next.

pub(crate) mod cell;
pub mod wifi;

use std::fmt;
use std::sync::Arc;

use trackbed_core::parameter::{Arguments, Parameter};
use trackbed_core::{Packet, Seed, Time};

use crate::link::{Change, DropReason};
use crate::network::ids::Direction;
use crate::spec::SpecError;

/// A medium between stations and one access point, such as a radio cell. It only decides when each
/// packet comes out; what a packet passes behind it (a delay, a loss) is the link of the station.
///
/// The contract with the caller is that of a [`Link`](crate::Link): times never decrease, what is
/// due is reported at its own time, and every call but `next_wake` and `held` may change the next
/// wake, which then lies in the future.
pub trait Medium: fmt::Debug + Send {
    /// Takes a packet. Reports to `out` everything that happens at once.
    fn push(&mut self, now: Time, way: Way, packet: Packet, out: &mut dyn MediumOutlet);

    /// Reports to `out` everything that is due at or before `now`, in order of time.
    fn advance(&mut self, now: Time, out: &mut dyn MediumOutlet);

    /// When [`Medium::advance`] must be called next; `None` if nothing will happen before the next
    /// packet is pushed.
    fn next_wake(&self) -> Option<Time>;

    /// The number of packets inside that go this way.
    fn held(&self, way: Way) -> usize;

    /// Replaces a parameter of a station, from `now` on; false if it has no such parameter.
    fn change(&mut self, now: Time, way: Way, change: &Change) -> bool {
        let _ = (now, way, change);
        false
    }
}

/// Whose packet, and which way it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Way {
    /// The number of the station, from 0.
    pub station: u32,
    /// [`Direction::Forward`] is from the station to the access point: the uplink.
    pub direction: Direction,
}

/// Where the packets of a medium go.
pub trait MediumOutlet {
    /// The packet leaves the medium.
    fn deliver(&mut self, at: Time, way: Way, packet: Packet);

    /// The packet is lost.
    fn drop(&mut self, at: Time, way: Way, packet: Packet, why: DropReason);
}

/// The description of a medium: plain data, from which each run builds its own.
pub trait MediumModel: fmt::Debug + Send + Sync {
    /// An idle medium with these stations. All its random numbers come from `seed`.
    fn build(&self, stations: &[Station], seed: &Seed) -> Box<dyn Medium>;
}

/// What a medium knows of a station before a run.
#[derive(Clone, Debug, Default)]
pub struct Station {
    /// Its rank: a lower number is served first where a medium has priorities.
    pub priority: u8,
    /// What it meets on its way, if it moves and the medium has a signal.
    pub course: Option<Arc<Course>>,
}

/// The radio that a moving station meets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// From when on the signal-to-noise ratio has which mean, in dB, in order of time.
    pub snr: Vec<(Time, f64)>,
    /// From when until when the medium does not reach it: from the station, to it.
    pub paused: [Vec<(Time, Time)>; 2],
}

impl Course {
    /// The mean signal-to-noise ratio in dB; the first one before the first, 0 if there is none.
    pub fn snr_at(&self, at: Time) -> f64 {
        let begun = self.snr.partition_point(|(from, _)| *from <= at);
        self.snr.get(begun.saturating_sub(1)).map_or(0.0, |(_, snr)| *snr)
    }
}

/// The registry entry of a medium.
pub struct MediumEntry {
    /// The name under which scenarios use it.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Those that the [`Course`] of its stations replaces; none if it has no signal.
    pub signal: &'static [&'static str],
    /// Example parameters of a sensible medium.
    pub example: &'static [(&'static str, &'static str)],
    /// The medium that these values describe.
    pub read: fn(&Arguments) -> Result<Arc<dyn MediumModel>, SpecError>,
}

trackbed_core::debug_by_name!(MediumEntry);
