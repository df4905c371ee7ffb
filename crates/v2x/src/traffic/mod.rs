//! What a crossing sends: messages of many vehicles, signed, in the order in which they come.
//!
//! A [`Crossing`] has the parameters and says by arithmetic what they amount to; a [`Schedule`] is the
//! iterator of whose turn it is, and [`Traffic`] that of the messages, the same for the same seed.
//! [`CamTrigger`] decides when a vehicle sends a CAM. Arrivals are not a Poisson process: each sender has its phase and jitter, blockages make
//! bursts, and changes of pseudonyms come in waves.

mod crossing;
mod generator;
mod schedule;
mod trigger;

pub use crossing::{Blockage, Crossing, Kind, Pace};
pub use generator::{Traffic, Transmission};
pub use schedule::{Origin, Schedule, Turn};
pub use trigger::{CamTrigger, Due, Dynamics};
