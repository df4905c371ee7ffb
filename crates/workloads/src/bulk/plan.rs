//! A bulk transfer of one cell, resolved and checked.

use std::time::Duration;

use trackbed_core::{Arguments, ByteSize};

use super::disturbances::Disturbances;
use crate::arguments::{at_most, ensure, positive};
use crate::contract::WorkloadError;

pub(super) struct Plan {
    pub(super) direction: Direction,
    pub(super) phones: u32,
    pub(super) timeout: Duration,
    pub(super) disturbances: Disturbances,
    pub(super) moves: u32,
    pub(super) reconnections: u32,
    pub(super) notice: bool,
    pub(super) bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Download,
    Upload,
}

impl Plan {
    pub(super) fn new(arguments: &Arguments) -> Result<Plan, WorkloadError> {
        let size: ByteSize = arguments.need("size");
        let advice = "no data to transfer; write at least 1 B, for example \"10 MB\"";
        ensure(size.as_bytes() > 0, "size", advice)?;
        let timeout = positive(arguments, "timeout", "60 s")?;
        let reconnections = at_most(arguments, "reconnections", DISTURBANCES_MAX)?;
        let moves = at_most(arguments, "moves", DISTURBANCES_MAX)?;
        let (parameter, count) = match moves > reconnections {
            true => ("moves", moves),
            false => ("reconnections", reconnections),
        };
        let advice = format!("{size} cannot be divided by {count} disturbances; write fewer");
        ensure(size.as_bytes() > count.into(), parameter, advice)?;
        Ok(Plan {
            direction: match arguments.need("direction") {
                "upload" => Direction::Upload,
                _ => Direction::Download,
            },
            phones: at_most(arguments, "phones", PHONES_MAX)?,
            timeout,
            disturbances: Disturbances::new(size.as_bytes(), reconnections, moves),
            moves,
            reconnections,
            notice: arguments.need("notice"),
            bytes: size.as_bytes(),
        })
    }
}

const PHONES_MAX: u32 = 10_000;
/// The maximum number of each kind; it leaves every phone a separate address for each move.
const DISTURBANCES_MAX: u32 = 100;
