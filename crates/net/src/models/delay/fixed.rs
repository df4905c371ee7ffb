//! The same delay for every packet.

use std::time::Duration;

use trackbed_core::{Rng, Time};

use super::DelayLaw;

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
}
