//! A delay from the normal distribution.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{Rng, Time};

use super::{DelayLaw, OVERTAKING, delay_with_order, scaled};
use crate::spec::ModelEntry;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "delay-normal",
    summary: "a random delay from the normal distribution; negative values become zero",
    parameters: &[
        Parameter::required("mean", Kind::Time, "the mean, before negative delays become zero"),
        Parameter::required(
            "deviation",
            Kind::Time,
            "the standard deviation, before negative delays become zero",
        ),
        OVERTAKING,
    ],
    has_queue: false,
    example: &[("mean", "10 ms"), ("deviation", "2 ms")],
    read: |arguments| {
        let law = Normal { mean: arguments.need("mean"), deviation: arguments.need("deviation") };
        Ok(Arc::new(delay_with_order(law, arguments)))
    },
};

/// A delay from the normal distribution; negative values become zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Normal {
    /// The mean, before negative delays become zero.
    pub mean: Duration,
    /// The standard deviation, before negative delays become zero.
    pub deviation: Duration,
}

impl DelayLaw for Normal {
    fn draw(&self, _now: Time, rng: &mut Rng) -> Duration {
        let offset = rng.normal();
        let span = scaled(self.deviation, offset.abs());
        if offset < 0.0 { self.mean.saturating_sub(span) } else { self.mean.saturating_add(span) }
    }
}
