//! A delay from a uniform or a normal distribution.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{Rng, Time};

use super::{DelayLaw, OVERTAKING, delay_with_order, scaled};
use crate::spec::{ModelEntry, SpecError};

pub(crate) static UNIFORM: ModelEntry = ModelEntry {
    name: "delay-uniform",
    summary: "a random delay from the uniform distribution between two bounds",
    parameters: &[
        Parameter::required("least", Kind::Time, "the lower bound"),
        Parameter::required("most", Kind::Time, "the upper bound"),
        OVERTAKING,
    ],
    has_queue: false,
    example: &[("least", "10 ms"), ("most", "14 ms")],
    read: |arguments| {
        let law = Uniform::new(arguments.need("least"), arguments.need("most"))?;
        Ok(Arc::new(delay_with_order(law, arguments)))
    },
};

/// A delay from the uniform distribution between two bounds, both included, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    least: Duration,
    most: Duration,
}

impl Uniform {
    /// Between `least` and `most`.
    ///
    /// # Errors
    /// If `least` exceeds `most`.
    pub fn new(least: Duration, most: Duration) -> Result<Uniform, SpecError> {
        if least > most {
            return Err(SpecError::new("least exceeds most; swap the two"));
        }
        Ok(Uniform { least, most })
    }
}

impl DelayLaw for Uniform {
    fn draw(&self, _now: Time, rng: &mut Rng) -> Duration {
        rng.span(self.least, self.most)
    }

    fn least(&self) -> Duration {
        self.least
    }
}

pub(crate) static NORMAL: ModelEntry = ModelEntry {
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
