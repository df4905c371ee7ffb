//! Handover tables: where along a track the handovers of each operator are expected.
//!
//! Track, speed and base stations of a railway are fixed, so handovers recur at the same positions
//! ("Proactive Handover-Aware Packet Scheduling for MPTCP with Multiple Cellular Networks on
//! High-Speed Trains", Journal of KICS, 2024). A [`Learner`] takes rides, from a model or from logs of real
//! ones ([`observe`]), and gives a [`Table`] of [`Range`]s. A [`Lookup`] tells whether a train is inside a
//! range, or about to be. Tables are GeoJSON files that any map tool can show. They grow with every ride, and
//! ranges without recent handovers are dropped ([`Learner::continuing`]).
//!
//! Positions are chainages (metres along the track) where the train *was*. Extrapolate a position by its age
//! before a look-up.
//!
//! ```
//! use std::sync::Arc;
//! use trackbed_railway::handover::{Learner, Lookup, RideRecord, Settings, Table};
//! use trackbed_railway::motion::{Direction, Track};
//!
//! let track = Arc::new(Track::straight(5_000.0)?);
//! let mut learner = Learner::new(track, Settings::default())?;
//! for ride in 0..50 {
//!     let mut record = RideRecord::new(Direction::Forward);
//!     let place = 1_500.0 + f64::from(ride % 7);
//!     record.handover("A", place, place + 4.0);
//!     learner.ride(&record);
//! }
//! let table = learner.table();
//! assert_eq!(Table::parse(&table.to_text())?, table);
//!
//! let lookup = Lookup::new(&table, "A", Direction::Forward)?;
//! assert!(lookup.at(1_505.0, 0.0).is_some() && lookup.at(1_600.0, 0.0).is_none());
//! // 300 ms ahead at 300 km/h are 25 m.
//! assert!(lookup.at(1_470.0, 25.0).is_some() && lookup.at(1_440.0, 25.0).is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod document;
mod learner;
mod log;
mod lookup;
mod signal;
mod table;

pub use document::SCHEMA;
pub use learner::{Learner, RideRecord, Settings};
pub use log::{LogSettings, Observed, observe};
pub use lookup::Lookup;
pub use signal::Signal;
pub use table::{OperatorRanges, Range, Sighting, Table};

/// Why a handover table is invalid or cannot be used, with the place and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum HandoverError {
    #[error("{place}: {advice}")]
    Invalid {
        /// Where: `features[3]`, `line 7 column 2`.
        place: String,
        advice: String,
    },
    #[error(
        "no operator \"{name}\"; the table has {}{}", .known.join(", "), guess(.name, .known)
    )]
    UnknownOperator { name: String, known: Vec<String> },
    #[error("{path}: {why}")]
    File { path: String, why: String },
}

impl HandoverError {
    pub(crate) fn invalid(place: impl Into<String>, advice: impl Into<String>) -> HandoverError {
        HandoverError::Invalid { place: place.into(), advice: advice.into() }
    }
}

/// Suggests a similar known name, if there is one.
fn guess(name: &str, known: &[String]) -> String {
    let likeness = |known: &&String| strsim::jaro_winkler(name, known);
    let similar = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let similar = similar.filter(|known| likeness(known) > 0.8);
    similar.map(|similar| format!(", did you mean {similar}?")).unwrap_or_default()
}
