//! A railway with the radio along it.

use std::sync::Arc;
use std::time::Duration;

use crate::motion::{Direction, GpsModel, Ride, SpeedProfile, Track};
use trackbed_core::{Ratio, Seed};

use crate::radio::event::EventA3;
use crate::radio::parameters::landscapes;
use crate::radio::profile::Profile;
use crate::radio::propagation::Propagation;
use crate::radio::shadowing::Landscape;
use crate::radio::station::Operator;

/// A track, a train's speed and receiver, and the radio along the track. Created from the values of
/// [`PARAMETERS`](crate::radio::PARAMETERS).
#[derive(Clone, Debug)]
pub struct Railway {
    pub(crate) track: Arc<Track>,
    /// What of the track's file was not read.
    pub(crate) skipped: String,
    pub(crate) speed: SpeedProfile,
    pub(crate) gps: GpsModel,
    pub(crate) profile: &'static Profile,
    /// How long each handover interrupts a link, instead of the profile's times.
    pub(crate) interruption: Option<Duration>,
    pub(crate) operators: Arc<[Operator]>,
    pub(crate) propagation: Propagation,
    pub(crate) measurement: Measurement,
    pub(crate) event: EventA3,
    /// Whether the source forwards packets to the target; if not, they are lost.
    pub(crate) forwarding: bool,
    /// The shadow fading of each operator's stations.
    pub(crate) landscapes: Arc<[Landscape]>,
    pub(crate) place: Seed,
}

/// The measurements of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The time between layer-1 measurements; above zero.
    pub period: Duration,
    /// The coefficient of the layer-3 filter.
    pub filter: u32,
}

impl Railway {
    /// The track.
    pub fn track(&self) -> &Arc<Track> {
        &self.track
    }

    /// What of the track's file was not read, in words that follow others; empty if all was.
    pub fn skipped(&self) -> &str {
        &self.skipped
    }

    /// The train's receiver for positions.
    pub fn gps(&self) -> GpsModel {
        self.gps
    }

    /// The operators, in their order.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// The profile of handovers.
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// The time from the command of a handover until data flows again: the ends of a uniform distribution.
    pub(crate) fn gap(&self) -> (Duration, Duration) {
        self.interruption.map_or(self.profile.gap, |interruption| (interruption, interruption))
    }

    /// The parameters of received power.
    pub fn propagation(&self) -> &Propagation {
        &self.propagation
    }

    /// This railway at an earlier time, when the share `change` of the variance of its shadow fading was
    /// different, as before houses were built or antennas moved. Stations were at the same positions.
    pub fn before(&self, change: Ratio) -> Railway {
        let (shadowing, length_m) = (&self.propagation.shadowing, self.track.length_m());
        let earlier = self.place.child("earlier");
        let others = landscapes(&self.operators, shadowing, length_m, &earlier);
        let pairs = self.landscapes.iter().zip(others.iter());
        let mixed = pairs.map(|(own, other)| own.mixed(other, change.as_f64()));
        Railway { landscapes: mixed.collect(), ..self.clone() }
    }

    /// A ride over the whole track; see [`Ride::starting_at`] for other starting points.
    pub fn ride(&self, direction: Direction) -> Ride {
        Ride::new(Arc::clone(&self.track), self.speed.clone(), direction)
    }
}
