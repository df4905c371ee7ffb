//! Finds whether a train is in a range where a handover is expected.

use crate::motion::Direction;

use crate::handover::HandoverError;
use crate::handover::table::{Range, Table};

/// The ranges of one operator in one direction, for look-ups every few milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    direction: Direction,
    ranges: Vec<Range>,
}

impl Lookup {
    /// All ranges with a handover in at least a tenth of the latest rides. Rarer ranges cost more than they
    /// help, because the path is usually avoided for nothing.
    ///
    /// # Errors
    /// If the table has no such operator.
    pub fn new(
        table: &Table,
        operator: &str,
        direction: Direction,
    ) -> Result<Lookup, HandoverError> {
        Lookup::with_share(table, operator, direction, SHARE_MIN)
    }

    /// The ranges with at least this share ([`Table::share`]).
    ///
    /// # Errors
    /// If the table has no such operator.
    pub fn with_share(
        table: &Table,
        operator: &str,
        direction: Direction,
        share_min: f64,
    ) -> Result<Lookup, HandoverError> {
        let ranges = table.ranges(operator, direction)?.iter();
        let frequent = ranges.filter(|range| table.share(operator, range, direction) >= share_min);
        Ok(Lookup { direction, ranges: frequent.cloned().collect() })
    }

    /// The ranges, by chainage.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The first range that contains this chainage or is reached within `lead_m` metres. A lead lets a range
    /// begin earlier; its end is unchanged.
    pub fn at(&self, chainage_m: f64, lead_m: f64) -> Option<&Range> {
        let next = self.next(chainage_m)?;
        let ahead = match self.direction {
            Direction::Forward => next.from_m - chainage_m,
            Direction::Backward => chainage_m - next.until_m,
        };
        (ahead <= lead_m.max(0.0)).then_some(next)
    }

    /// The range that contains this chainage, or else the next one ahead.
    pub fn next(&self, chainage_m: f64) -> Option<&Range> {
        match self.direction {
            Direction::Forward => {
                self.ranges.get(self.ranges.partition_point(|range| range.until_m < chainage_m))
            }
            Direction::Backward => {
                let begun = self.ranges.partition_point(|range| range.from_m <= chainage_m);
                begun.checked_sub(1).map(|last| &self.ranges[last])
            }
        }
    }
}

const SHARE_MIN: f64 = 0.1;
