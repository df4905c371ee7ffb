//! A delay from the uniform distribution between two bounds.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{Rng, Time};

use super::{DelayLaw, OVERTAKING, delay_with_order};
use crate::spec::{ModelEntry, SpecError};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
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
