//! The handover table, as the daemon needs it: the track, and the ranges of each path.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;
use trackbed_motion::{Coordinates, Direction, Projection, Track};

use crate::controller::{Range, Ranges};

/// A table that has been read and found good.
#[derive(Clone, Debug)]
pub struct Route {
    track: Track,
    ranges: Vec<(String, Direction, Range)>,
}

/// What is wrong with a table.
#[derive(Debug)]
pub struct RouteError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the handover table {}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for RouteError {}

#[derive(Deserialize)]
struct Collection {
    features: Vec<Feature>,
}

#[derive(Deserialize)]
struct Feature {
    geometry: Geometry,
    properties: Properties,
}

#[derive(Deserialize)]
struct Geometry {
    coordinates: Vec<[f64; 2]>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Properties {
    Track,
    Range { operator: String, direction: String, from_m: f64, until_m: f64 },
}

impl Route {
    /// Reads a table.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged; the message names it.
    pub fn read(path: &Path) -> Result<Route, RouteError> {
        let failed = |why: String| RouteError { path: path.to_owned(), why };
        let text = fs::read_to_string(path).map_err(|why| failed(why.to_string()))?;
        Route::parse(&text).map_err(failed)
    }

    fn parse(text: &str) -> Result<Route, String> {
        let collection: Collection = serde_json::from_str(text).map_err(|why| why.to_string())?;
        let (mut track, mut ranges) = (None, Vec::new());
        for feature in collection.features {
            match feature.properties {
                Properties::Track => {
                    let points = feature.geometry.coordinates.iter();
                    let points = points.map(|[lon, lat]| Coordinates::new(*lat, *lon));
                    let points: Result<Vec<_>, _> = points.collect();
                    let points = points.map_err(|why| why.to_string())?;
                    track = Some(Track::through(points).map_err(|why| why.to_string())?);
                }
                Properties::Range { operator, direction, from_m, until_m } => {
                    let direction: Direction = direction
                        .parse()
                        .map_err(|why: trackbed_motion::MotionError| why.to_string())?;
                    if from_m.is_nan() || until_m.is_nan() || from_m >= until_m {
                        return Err(format!("a range from {from_m} m until {until_m} m is none"));
                    }
                    ranges.push((operator, direction, Range { from_m, until_m }));
                }
            }
        }
        let track = track.ok_or("there is no track in it")?;
        Ok(Route { track, ranges })
    }

    /// The line that positions are laid on.
    pub fn track(&self) -> &Track {
        &self.track
    }

    /// The operators that it has ranges of.
    pub fn operators(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.ranges.iter().map(|(name, _, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// How many ranges there are, and how long the track is in metres.
    pub fn size(&self) -> (usize, f64) {
        (self.ranges.len(), self.track.length_m())
    }

    /// The point of the track that is nearest to a place.
    pub fn project(&self, place: Coordinates) -> Projection {
        self.track.project(place)
    }

    /// The ranges of these operators, by their numbers.
    ///
    /// # Errors
    /// If it knows none of an operator; the message says which ones it knows.
    pub fn paths(&self, operators: &[&str]) -> Result<PathRanges, String> {
        let known = self.operators();
        let unknown = operators.iter().find(|name| !known.contains(name));
        if let Some(unknown) = unknown {
            return Err(format!(
                "the handover table has no operator \"{unknown}\"; it has {}",
                if known.is_empty() { "none at all".to_owned() } else { known.join(", ") }
            ));
        }
        let of = |name: &&str, direction: Direction| {
            let ranges = self
                .ranges
                .iter()
                .filter(|(operator, way, _)| operator == name && *way == direction);
            ranges.map(|(_, _, range)| *range).collect()
        };
        let both = |name| [of(name, Direction::Forward), of(name, Direction::Backward)];
        Ok(PathRanges(operators.iter().map(both).collect()))
    }
}

/// The ranges of each path, forward and backward.
#[derive(Clone, Debug, Default)]
pub struct PathRanges(Vec<[Vec<Range>; 2]>);

impl Ranges for PathRanges {
    fn ranges(&self, path: usize, direction: Direction) -> &[Range] {
        &self.0[path][usize::from(direction == Direction::Backward)]
    }
}

/// A table's file, and whether it has changed since it was read.
#[derive(Debug)]
pub struct RouteFile {
    path: PathBuf,
    /// Of the file that was read last, good or bad.
    version: Option<(SystemTime, u64)>,
}

impl RouteFile {
    /// A file that has not been read yet.
    pub fn new(path: PathBuf) -> RouteFile {
        RouteFile { path, version: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is another one than when it was read last. One that is gone has not changed.
    pub fn has_changed(&self) -> bool {
        let now = self.current();
        now.is_some() && now != self.version
    }

    /// Reads it.
    ///
    /// # Errors
    /// As [`Route::read`].
    pub fn read(&mut self) -> Result<Route, RouteError> {
        self.version = self.current();
        Route::read(&self.path)
    }

    fn current(&self) -> Option<(SystemTime, u64)> {
        let about = fs::metadata(&self.path).ok()?;
        Some((about.modified().ok()?, about.len()))
    }
}
