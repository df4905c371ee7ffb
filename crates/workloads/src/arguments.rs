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

/// Refuses the value of a parameter unless it is right.
pub(crate) fn ensure(
    is_right: bool,
    parameter: &'static str,
    advice: impl Into<String>,
) -> Result<(), WorkloadError> {
    if is_right { Ok(()) } else { Err(WorkloadError::new(parameter, advice)) }
}

/// Refuses parameters that would have no effect.
pub(crate) fn absent(
    arguments: &Arguments,
    parameters: &[&'static str],
    advice: &str,
) -> Result<(), WorkloadError> {
    let given = parameters.iter().find(|name| arguments.value(name).is_some());
    given.map_or(Ok(()), |parameter| Err(WorkloadError::new(parameter, advice)))
}

pub(crate) fn at_most(
    arguments: &Arguments,
    parameter: &'static str,
    max: u32,
) -> Result<u32, WorkloadError> {
    limited(arguments.need(parameter), max)
        .ok_or_else(|| WorkloadError::new(parameter, format!("write at most {max}")))
}

/// Refuses more messages or intervals of all `phones` than a run can record.
pub(crate) fn recordable(
    duration: Duration,
    (parameter, period): (&'static str, Duration),
    phones: u32,
    what: &str,
) -> Result<(), WorkloadError> {
    let count = duration.as_nanos() / period.as_nanos().max(1) * u128::from(phones);
    let advice = format!(
        "{count} {what} exceed the limit of a run, {RECORDS_MAX}; change {parameter}, duration or phones"
    );
    ensure(count <= RECORDS_MAX, parameter, advice)
}

pub(crate) fn positive(
    arguments: &Arguments,
    parameter: &'static str,
    example: &str,
) -> Result<Duration, WorkloadError> {
    let span: Duration = arguments.need(parameter);
    let advice = format!("must be longer than zero; write for example \"{example}\"");
    ensure(!span.is_zero(), parameter, advice).map(|()| span)
}

/// The value of `warm-up`, which must leave something of the duration to measure.
pub(crate) fn warm_up_before(
    arguments: &Arguments,
    duration: Duration,
) -> Result<Duration, WorkloadError> {
    let warm_up: Duration = arguments.need("warm-up");
    let advice = "nothing is left to measure; make it shorter than the duration";
    ensure(warm_up < duration, "warm-up", advice).map(|()| warm_up)
}

pub(crate) fn few(parameter: &'static str, count: u64, max: u32) -> Result<u32, WorkloadError> {
    limited(count, max).ok_or_else(|| {
        WorkloadError::new(parameter, format!("{count} is too many; write at most {max}"))
    })
}

pub(crate) fn limited(count: u64, max: u32) -> Option<u32> {
    u32::try_from(count).ok().filter(|count| *count <= max)
}

/// Each has up to two events of about 100 bytes.
const RECORDS_MAX: u128 = 20_000_000;
