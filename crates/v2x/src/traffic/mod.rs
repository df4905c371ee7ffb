//! What a crossing sends: messages of many vehicles, signed, in the order in which they come.
//!
//! A [`Crossing`] has the parameters and says by arithmetic what they amount to; [`Traffic`] is the
//! iterator of its messages, the same for the same seed. [`CamTrigger`] decides when a vehicle sends a
//! CAM. Arrivals are not a Poisson process: each sender has its phase and jitter, blockages make
//! bursts, and changes of pseudonyms come in waves.

mod crossing;
mod generator;
mod trigger;

pub use crossing::{Blockage, Crossing, Kind, Pace};
pub use generator::{Origin, Traffic, Transmission};
pub use trigger::{CamTrigger, Due, Dynamics};
