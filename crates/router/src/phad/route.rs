//! The handover table for the daemon: the track, and the ranges of each path.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use trackbed_railway::handover::{HandoverError, Table};
use trackbed_railway::motion::{Coordinates, Projection, Track};
use trackbed_railway::phad::PathRanges;

/// A valid table, and the ranges of some of its operators.
#[derive(Clone, Debug)]
pub struct Route {
    table: Table,
    ranges: PathRanges,
}

impl Route {
    /// Reads a table, and selects the ranges of these operators, by their numbers. Ranges with rare handovers
    /// are left out ([`PathRanges::of`]).
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or lacks one of the operators.
    pub fn read(path: &Path, operators: &[&str]) -> Result<Route, HandoverError> {
        Route::of(Table::load(path)?, operators)
    }

    fn of(table: Table, operators: &[&str]) -> Result<Route, HandoverError> {
        let ranges = PathRanges::of(&table, operators)?;
        Ok(Route { table, ranges })
    }

    /// The ranges of the operators.
    pub fn ranges(&self) -> &PathRanges {
        &self.ranges
    }

    /// The line onto which positions are projected.
    pub fn track(&self) -> &Track {
        self.table.track()
    }

    /// The number of ranges of the operators in both directions, and the length of the track in metres.
    pub fn size(&self) -> (usize, f64) {
        (self.ranges.count(), self.track().length_m())
    }

    /// The point of the track that is nearest to a position.
    pub fn project(&self, place: Coordinates) -> Projection {
        self.track().project(place)
    }
}

/// The file of a table; detects changes since it was last read.
#[derive(Debug)]
pub struct RouteFile {
    path: PathBuf,
    /// The version of the file read last, valid or not.
    version: Option<(SystemTime, u64)>,
}

impl RouteFile {
    /// A file that has not been read yet.
    pub fn new(path: PathBuf) -> RouteFile {
        RouteFile { path, version: None }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file differs from the one read last. A deleted file has not changed.
    pub fn has_changed(&self) -> bool {
        let now = self.current();
        now.is_some() && now != self.version
    }

    /// Reads the file.
    ///
    /// # Errors
    /// As [`Route::read`].
    pub fn read(&mut self, operators: &[&str]) -> Result<Route, HandoverError> {
        self.version = self.current();
        Route::read(&self.path, operators)
    }

    /// The age of the file read last at the time of day `now`; zero if its time is in the future.
    pub fn age(&self, now: Duration) -> Duration {
        let written = self
            .version
            .and_then(|(written, _)| written.duration_since(SystemTime::UNIX_EPOCH).ok());
        now.saturating_sub(written.unwrap_or_default())
    }

    fn current(&self) -> Option<(SystemTime, u64)> {
        let about = fs::metadata(&self.path).ok()?;
        Some((about.modified().ok()?, about.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trackbed_railway::handover::{Learner, RideRecord, Settings};
    use trackbed_railway::motion::Direction;

    use super::*;

    fn table() -> Table {
        let track = Arc::new(Track::straight(5_000.0).unwrap());
        let mut learner = Learner::new(track, Settings::default()).unwrap();
        for ride in 0..20 {
            let mut record = RideRecord::new(Direction::Forward);
            let place = 1_500.0 + f64::from(ride % 7);
            record.handover("A", place, place + 4.0);
            record.handover("B", place + 1_000.0, place + 1_004.0);
            learner.ride(&record);
        }
        learner.table()
    }

    #[test]
    fn ranges_are_those_of_the_table_by_operator_and_direction() {
        let route = Route::of(table(), &["B", "A"]).unwrap();
        let range = route.ranges().ranges(1, Direction::Forward)[0];
        assert!(range.from_m <= 1_500.0 && (1_510.0..1_700.0).contains(&range.until_m));
        assert!(route.ranges().ranges(0, Direction::Forward)[0].from_m > 2_000.0);
        assert!(route.ranges().ranges(0, Direction::Backward).is_empty());
        assert_eq!(route.size().0, 2);
        let error = Route::of(table(), &["A", "C"]).unwrap_err().to_string();
        assert!(error.contains("\"C\"") && error.contains("A, B"), "{error}");
    }

    #[test]
    fn a_rewritten_file_has_changed_and_a_deleted_one_has_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("route.json");
        table().save(&path).unwrap();
        let mut file = RouteFile::new(path.clone());
        assert!(file.has_changed());
        file.read(&["A"]).unwrap();
        assert!(!file.has_changed());
        fs::write(&path, "{").unwrap();
        assert!(file.has_changed());
        assert!(file.read(&["A"]).unwrap_err().to_string().contains("route.json"));
        assert!(!file.has_changed(), "a bad one is not read all the time");
        fs::remove_file(&path).unwrap();
        assert!(!file.has_changed());
        let written = file.version.unwrap().0.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(file.age(written + Duration::from_secs(60)), Duration::from_secs(60));
    }
}
