//! A bulk transfer of one cell, resolved and checked.

use std::time::Duration;

use trackbed_core::{Arguments, ByteSize};

use super::disturbances::Disturbances;
use crate::contract::WorkloadError;
use crate::data::Expected;

/// The data shared by the runs of a cell.
pub(super) struct Plan {
    pub(super) direction: Direction,
    pub(super) phones: u32,
    pub(super) timeout: Duration,
    pub(super) disturbances: Disturbances,
    /// The number of moves of each phone.
    pub(super) moves: u32,
    /// The number of reconnections of each phone.
    pub(super) reconnections: u32,
    /// Whether phones are notified of their moves.
    pub(super) notice: bool,
    /// The data that is transferred.
    pub(super) expected: Expected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Download,
    Upload,
}

impl Plan {
    pub(super) fn new(arguments: &Arguments) -> Result<Plan, WorkloadError> {
        let size: ByteSize = arguments.need("size");
        if size.as_bytes() == 0 {
            return Err(WorkloadError::new(
                "size",
                "no data to transfer; write at least 1 B, for example \"10 MB\"",
            ));
        }
        let phones = u32::try_from(arguments.need::<u64>("phones")).ok();
        let timeout: Duration = arguments.need("timeout");
        if timeout.is_zero() {
            let advice = "must be longer than zero; write for example \"60 s\"";
            return Err(WorkloadError::new("timeout", advice));
        }
        let (reconnections, moves) =
            (count(arguments, "reconnections")?, count(arguments, "moves")?);
        if size.as_bytes() <= u64::from(reconnections.max(moves)) {
            let (parameter, count) = match moves > reconnections {
                true => ("moves", moves),
                false => ("reconnections", reconnections),
            };
            let advice = format!("{size} cannot be divided by {count} disturbances; write fewer");
            return Err(WorkloadError::new(parameter, advice));
        }
        Ok(Plan {
            direction: match arguments.need("direction") {
                "upload" => Direction::Upload,
                _ => Direction::Download,
            },
            phones: phones.filter(|phones| *phones <= PHONES_MAX).ok_or_else(|| {
                WorkloadError::new("phones", format!("write at most {PHONES_MAX}"))
            })?,
            timeout,
            disturbances: Disturbances::new(size.as_bytes(), reconnections, moves),
            moves,
            reconnections,
            notice: arguments.need("notice"),
            expected: Expected::of(size.as_bytes()),
        })
    }
}

/// The number of disturbances of a kind.
fn count(arguments: &Arguments, parameter: &'static str) -> Result<u32, WorkloadError> {
    let count: u64 = arguments.need(parameter);
    let count = u32::try_from(count).ok().filter(|count| *count <= DISTURBANCES_MAX);
    count.ok_or_else(|| WorkloadError::new(parameter, format!("write at most {DISTURBANCES_MAX}")))
}

const PHONES_MAX: u32 = 10_000;
/// Of each kind; it leaves every phone a separate address for each move.
const DISTURBANCES_MAX: u32 = 100;
