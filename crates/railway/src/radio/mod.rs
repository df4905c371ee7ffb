//! The radio along a railway: base stations, received power, handovers, and their effects on a link.
//!
//! A [`Railway`] is a track with the [`Operator`]s' stations beside it, a speed and a receiver for positions. A
//! drive over it ([`Railway::drive`]) gives a [`RadioTimeline`] for each operator: the rate, delay and loss of
//! its link over time, when packets are held or lost, and each [`Handover`]. The crate has no network; the
//! caller applies the timeline to links.
//!
//! It models (3GPP numbers are for LTE) path loss and shadowing ([`PathLoss`], [`Shadowing`]), measurements
//! with layer-3 filtering ([`Layer3Filter`]), event A3 ([`EventA3`]), the X2 handover and radio link failure
//! ([`Profile`]). It does not model fast fading, beams and sectors, other passengers, uplink power control or
//! carrier aggregation.
//!
//! Shadow fading is a property of the landscape: it is the same on every drive, so handovers recur at the
//! same positions. The variation from drive to drive is drawn from the run's seed.
//!
//! ```
//! use trackbed_core::parameter::{Arguments, Kind};
//! use trackbed_core::{Seed, Time};
//! use trackbed_railway::motion::Direction;
//! use trackbed_railway::radio::{PARAMETERS, Railway, timelines_to_text, timelines_from_text};
//!
//! let profile = Kind::Choice(&["ns3", "3gpp", "hsr-measured"]).parse("3gpp")?;
//! let railway = Railway::read(&Arguments::read(PARAMETERS, &[("profile", profile)])?)?;
//! let ride = railway.ride(Direction::Forward);
//! let timelines = railway.drive(&ride, Time::from_millis(70_000), &Seed::of_run(1, 0));
//! assert_eq!(timelines.len(), 2);
//! let text = timelines_to_text(&timelines);
//! assert_eq!(timelines_from_text(&text)?[0].handovers, timelines[0].handovers);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod drive;
mod effects;
mod event;
mod file;
mod parameters;
mod profile;
mod propagation;
mod railway;
mod shadowing;
mod station;
mod timeline;

pub use event::{EventA3, Layer3Filter};
pub use file::{
    drive_from_text, drive_to_text, signal_to_text, timelines_from_text, timelines_to_text,
};
pub use parameters::PARAMETERS;
pub use profile::{PROFILES, Profile, Spell};
pub use propagation::{PATH_LOSSES, PathLoss, Propagation};
pub use railway::{Measurement, Railway};
pub use shadowing::{Shadowing, Shadows};
pub use station::{Operator, Station};
pub use timeline::{
    Handover, HandoverKind, LinkChange, LinkDirection, RadioTimeline, RecordedDrive, Service,
    SignalSample, What,
};

/// Why values or text are invalid, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {advice}")]
pub struct RadioError {
    /// The invalid parameter, or the name of the text.
    pub place: &'static str,
    /// The problem, and what to write instead.
    pub advice: String,
}

impl RadioError {
    pub(crate) fn new(place: &'static str, advice: impl Into<String>) -> RadioError {
        RadioError { place, advice: advice.into() }
    }

    /// For [`Result::map_err`].
    pub(crate) fn of(place: &'static str) -> impl Fn(crate::motion::MotionError) -> RadioError {
        move |why| RadioError::new(place, why.to_string())
    }
}
