//! A delay from a uniform, a normal or a Pareto distribution.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Rng, Time, parameters};

use super::{DelayLaw, OVERTAKING, delay_with_order, scaled};
use crate::spec::{ModelEntry, SpecError};

pub(crate) static UNIFORM: ModelEntry = ModelEntry {
    name: "delay-uniform",
    summary: "a random delay from the uniform distribution between two bounds",
    parameters: parameters! {
        "least": Time, required => "the lower bound";
        "most": Time, required => "the upper bound";
        "overtaking": Flag = "false" => OVERTAKING;
    },
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
    parameters: parameters! {
        "mean": Time, required => "the mean, before negative delays become zero";
        "deviation": Time, required =>
            "the standard deviation, before negative delays become zero";
        "overtaking": Flag = "false" => OVERTAKING;
    },
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

pub(crate) static PARETO: ModelEntry = ModelEntry {
    name: "delay-pareto",
    summary: "a random delay with a heavy tail, from the Pareto distribution",
    parameters: parameters! {
        "least": Time, required => "the minimum delay, where the tail begins";
        "shape": Number, required =>
            "how fast the tail falls: P(delay > d) = (least / d)^shape; the mean is least * shape \
             / (shape - 1) for a shape above 1";
        "most": Time = "60 s" => "the maximum delay; longer delays become this value";
        "overtaking": Flag = "false" => OVERTAKING;
    },
    has_queue: false,
    example: &[("least", "10 ms"), ("shape", "3")],
    read: |arguments| {
        let (least, most) = (arguments.need("least"), arguments.need("most"));
        let law = Pareto::new(least, arguments.need("shape"), most)?;
        Ok(Arc::new(delay_with_order(law, arguments)))
    },
};

/// A delay by the Pareto distribution: longer than `d` with probability `(least / d)^shape`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    least: Duration,
    shape: f64,
    most: Duration,
}

impl Pareto {
    /// At least `least`; a delay above `most` counts as `most`.
    ///
    /// # Errors
    /// If `shape` is not a positive number, or `least` exceeds `most`.
    pub fn new(least: Duration, shape: f64, most: Duration) -> Result<Pareto, SpecError> {
        if !(shape.is_finite() && shape > 0.0) {
            return Err(SpecError::new("shape must be a positive number, for example 3"));
        }
        if least > most {
            return Err(SpecError::new("least exceeds most; write a larger most"));
        }
        Ok(Pareto { least, shape, most })
    }
}

impl DelayLaw for Pareto {
    /// The logarithm of a Pareto number is exponential with mean 1 / shape.
    fn draw(&self, _now: Time, rng: &mut Rng) -> Duration {
        // `libm` gives the same last bit on every machine; the system's library need not.
        scaled(self.least, libm::exp(rng.exponential() / self.shape)).min(self.most)
    }

    fn least(&self) -> Duration {
        self.least
    }
}
