//! Checks of values that several workloads take.

use std::time::Duration;

use trackbed_core::Arguments;

/// Why a workload or its environment cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {advice}")]
pub struct WorkloadError {
    /// The parameter to change.
    pub parameter: &'static str,
    /// What is wrong with its value, and what to write instead.
    pub advice: String,
}

impl WorkloadError {
    pub(crate) fn new(parameter: &'static str, advice: impl Into<String>) -> WorkloadError {
        WorkloadError { parameter, advice: advice.into() }
    }
}

pub(crate) fn at_most(
    arguments: &Arguments,
    parameter: &'static str,
    max: u32,
) -> Result<u32, WorkloadError> {
    let count = u32::try_from(arguments.need::<u64>(parameter)).ok();
    count
        .filter(|count| *count <= max)
        .ok_or_else(|| WorkloadError::new(parameter, format!("write at most {max}")))
}

pub(crate) fn positive(
    arguments: &Arguments,
    parameter: &'static str,
    example: &str,
) -> Result<Duration, WorkloadError> {
    let span: Duration = arguments.need(parameter);
    let advice = || format!("must be longer than zero; write for example \"{example}\"");
    let is_positive = !span.is_zero();
    is_positive.then_some(span).ok_or_else(|| WorkloadError::new(parameter, advice()))
}

/// The value of `warm-up`, which must leave something of the duration to measure.
pub(crate) fn warm_up_before(
    arguments: &Arguments,
    duration: Duration,
) -> Result<Duration, WorkloadError> {
    let warm_up: Duration = arguments.need("warm-up");
    let advice = "nothing is left to measure; make it shorter than the duration";
    let is_shorter = warm_up < duration;
    is_shorter.then_some(warm_up).ok_or_else(|| WorkloadError::new("warm-up", advice))
}

pub(crate) fn few(parameter: &'static str, count: u64, max: u32) -> Result<u32, WorkloadError> {
    let few = u32::try_from(count).ok().filter(|count| *count <= max);
    few.ok_or_else(|| {
        WorkloadError::new(parameter, format!("{count} is too many; write at most {max}"))
    })
}
