//! The same delay for every packet.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Rng, Time, parameters};

use super::{Delay, DelayLaw};
use crate::spec::ModelEntry;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "delay",
    summary: "the same delay for every packet",
    parameters: parameters! { "delay": Time, required => "the one-way delay of a packet"; },
    has_queue: false,
    example: &[("delay", "10 ms")],
    read: |arguments| Ok(Arc::new(Delay::fixed(arguments.need("delay")))),
};

/// The same delay for every packet: propagation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed(pub Duration);

impl DelayLaw for Fixed {
    fn draw(&self, _now: Time, _rng: &mut Rng) -> Duration {
        self.0
    }

    fn least(&self) -> Duration {
        self.0
    }

    fn is_the_same_at_once(&self) -> bool {
        true
    }
}
