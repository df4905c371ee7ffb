//! The same delay for every packet.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{Rng, Time};

use super::{Delay, DelayLaw};
use crate::spec::ModelEntry;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "delay",
    summary: "the same delay for every packet",
    parameters: &[Parameter::required("delay", Kind::Time, "the one-way delay of a packet")],
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
