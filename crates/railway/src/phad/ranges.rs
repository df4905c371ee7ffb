//! The ranges in which handovers are expected, as the state machine looks them up.

use crate::handover::{HandoverError, Lookup, Table};
use crate::motion::Direction;

/// A range where handovers of one operator are expected: from one chainage to a larger one, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower chainage.
    pub from_m: f64,
    /// The higher chainage.
    pub until_m: f64,
}

impl Range {
    /// Its beginning and end as the train reaches them, on an axis along which it moves forward.
    pub fn along(self, direction: Direction) -> (f64, f64) {
        match direction {
            Direction::Forward => (self.from_m, self.until_m),
            Direction::Backward => (-self.until_m, -self.from_m),
        }
    }
}

/// The ranges of each path, forward and backward.
#[derive(Clone, Debug, Default)]
pub struct PathRanges(pub(crate) Vec<[Vec<Range>; 2]>);

impl PathRanges {
    /// The ranges of these operators, by their numbers. Ranges with rare handovers are left out
    /// ([`Lookup::new`]).
    ///
    /// # Errors
    /// If the table lacks one of the operators.
    pub fn of(table: &Table, operators: &[&str]) -> Result<PathRanges, HandoverError> {
        let of = |operator: &str, direction| {
            let lookup = Lookup::new(table, operator, direction)?;
            let ranges = lookup.ranges().iter();
            let plain = ranges.map(|range| Range { from_m: range.from_m, until_m: range.until_m });
            Ok(plain.collect())
        };
        let both = |operator: &&str| {
            Ok([of(operator, Direction::Forward)?, of(operator, Direction::Backward)?])
        };
        operators.iter().map(both).collect::<Result<_, _>>().map(PathRanges)
    }

    /// The ranges of one path (by its number), in any order; none of a path that the table lacks.
    pub fn ranges(&self, path: usize, direction: Direction) -> &[Range] {
        self.0.get(path).map_or(&[], |ways| &ways[direction as usize])
    }

    /// The number of ranges of all paths, in both directions.
    pub fn count(&self) -> usize {
        self.0.iter().flatten().map(Vec::len).sum()
    }
}
