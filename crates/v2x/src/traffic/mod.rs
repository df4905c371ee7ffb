//! The traffic of a crossing: signed messages of many vehicles, in the order of arrival.
//!
//! A [`Crossing`] has the parameters and computes the resulting rates. A [`Schedule`] iterates over
//! turns, and [`Traffic`] over messages, the same for the same seed. [`CamTrigger`] decides when a
//! vehicle sends a CAM. A [`Recording`] has the turns of vehicles that SUMO has moved. Arrivals are not a Poisson process: each sender has its phase and jitter,
//! blockages make bursts, and changes of pseudonyms come in waves.

mod crossing;
mod generator;
mod recording;
mod schedule;
mod trigger;

pub use crossing::{Blockage, Crossing, Kind, Pace};
pub use generator::{Traffic, Transmission};
pub use recording::Recording;
pub use schedule::{Origin, Schedule, Turn};
pub use trigger::{CamTrigger, Due, Dynamics};
