//! The line along which a train runs.

use crate::motion::MotionError;
use crate::motion::coordinates::Coordinates;
use crate::motion::log::DriveLog;

/// A line on the ground through two or more points.
///
/// A position on it is a *chainage*: metres from its first point along the line. Between two points the line
/// is straight on the plane through them (equirectangular), so points should be at most a few kilometres
/// apart; on the equator, any distance works.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    points: Vec<Coordinates>,
    /// The chainage of each point, in rising order.
    chainages_m: Vec<f64>,
}

/// The point of a track that is nearest to a given place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Its chainage, in metres.
    pub chainage_m: f64,
    /// Its distance from the place, in metres.
    pub distance_m: f64,
}

impl Track {
    /// A straight track of this length in metres, eastwards from latitude 0, longitude 0. There it cannot be
    /// confused with a real line, and the plane is exact.
    ///
    /// # Errors
    /// If the length is not between 1 m and 10,000 km.
    pub fn straight(length_m: f64) -> Result<Track, MotionError> {
        let length_m = length(length_m)?;
        let origin = Coordinates::new(0.0, 0.0)?;
        let end = Coordinates::new(0.0, (length_m / crate::motion::EARTH_RADIUS_M).to_degrees())?;
        Track::through([origin, end])
    }

    /// The track through `points` in order; equal neighbours count once.
    ///
    /// # Errors
    /// If fewer than two points differ, or the track would be longer than 10,000 km.
    pub fn through(points: impl IntoIterator<Item = Coordinates>) -> Result<Track, MotionError> {
        let mut track = Track { points: Vec::new(), chainages_m: Vec::new() };
        for point in points {
            let step = track.points.last().map_or(0.0, |last| last.plane_distance_m(point));
            if track.points.is_empty() || step > 0.0 {
                track.chainages_m.push(track.length_m() + step);
                track.points.push(point);
            }
        }
        if track.points.len() < 2 {
            return Err(MotionError::new("a track needs at least two different points"));
        }
        length(track.length_m())?;
        Ok(track)
    }

    /// The track of a log. Where positions have times, those nearer to the last point than their error add
    /// nothing: the errors of a standing receiver are no way.
    ///
    /// # Errors
    /// If its positions are not a valid track.
    pub fn of_log(log: &DriveLog) -> Result<Track, MotionError> {
        let places: Vec<Coordinates> = log.samples.iter().map(|it| it.coordinates).collect();
        match log.samples.iter().any(|sample| sample.seconds.is_some()) {
            true => Track::past_errors(&places),
            false => Track::through(places),
        }
    }

    /// The track through places with errors, to where the train turns round and comes back.
    pub(crate) fn past_errors(places: &[Coordinates]) -> Result<Track, MotionError> {
        let mut points: Vec<Coordinates> = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let mut ahead = places[index..places.len().min(index + AHEAD)].iter();
            if points
                .last()
                .is_none_or(|last| ahead.all(|next| last.plane_distance_m(*next) > ERROR_M))
            {
                points.push(*place);
            }
        }
        let mut track = Track::through(points)?;
        if let Some(turn) = track.turn() {
            track.points.truncate(turn + 1);
            track.chainages_m.truncate(turn + 1);
        }
        Ok(track)
    }

    /// The point from which everything that follows lies on what came before.
    fn turn(&self) -> Option<usize> {
        let turns = |at: &usize| {
            let [before, after] = [-TURN_M, TURN_M].map(|way| self.chainages_m[*at] + way);
            let is_inside = before >= 0.0 && after <= self.length_m();
            let [before, after] = [before, after].map(|at| self.coordinates_at(at));
            is_inside && before.plane_distance_m(after) < BESIDE_M
        };
        let comes_back = |at: &usize| {
            let mut along_m = self.chainages_m[*at];
            self.points[*at..].iter().all(|place| {
                let [from, until] = [-TURN_M, TURN_M].map(|way| self.locate(along_m + way).0);
                let found = self.nearest(*place, from, *at.min(&(until + 1)));
                along_m = found.chainage_m;
                found.distance_m < BESIDE_M
            })
        };
        (0..self.points.len()).filter(turns).find(comes_back)
    }

    /// Its length in metres.
    pub fn length_m(&self) -> f64 {
        self.chainages_m.last().copied().unwrap_or(0.0)
    }

    /// The points of the track.
    pub fn points(&self) -> &[Coordinates] {
        &self.points
    }

    /// The place at this chainage; beyond the track, the nearer end.
    pub fn coordinates_at(&self, chainage_m: f64) -> Coordinates {
        let (segment, share) = self.locate(chainage_m);
        self.points[segment].between(self.points[segment + 1], share)
    }

    /// The place beside the track at this chainage, `offset_m` metres to its left (negative: to its
    /// right), seen in the direction of rising chainage.
    pub fn beside(&self, chainage_m: f64, offset_m: f64) -> Coordinates {
        let (segment, _) = self.locate(chainage_m);
        let (east, north) = self.points[segment].offset_m(self.points[segment + 1]);
        let length = (east * east + north * north).sqrt();
        let along = self.extended(chainage_m);
        along.shifted_m(-north / length * offset_m, east / length * offset_m)
    }

    /// The points from one chainage to another: both ends, and those of the track between.
    pub fn piece(&self, from_m: f64, until_m: f64) -> Vec<Coordinates> {
        let inner = self.points.iter().zip(&self.chainages_m);
        let inner =
            inner.filter(|(_, at)| from_m < **at && **at < until_m).map(|(point, _)| *point);
        let mut points = vec![self.coordinates_at(from_m)];
        points.extend(inner);
        points.push(self.coordinates_at(until_m));
        points
    }

    /// The point of the track that is nearest to `place`; the first one of several.
    pub fn project(&self, place: Coordinates) -> Projection {
        self.nearest(place, 0, self.points.len() - 1)
    }

    /// As [`Track::project`], but within `reach_m` metres of the chainage `around_m`. This is faster, and
    /// correct for a track that comes close to itself.
    pub fn project_near(&self, place: Coordinates, around_m: f64, reach_m: f64) -> Projection {
        let (first, _) = self.locate(around_m - reach_m);
        let (last, _) = self.locate(around_m + reach_m);
        self.nearest(place, first, last + 1)
    }

    /// The nearest point between two of the track's points.
    fn nearest(&self, place: Coordinates, first: usize, last: usize) -> Projection {
        let mut best = Projection { chainage_m: 0.0, distance_m: f64::INFINITY };
        for segment in first..last {
            let (start, end) = (self.points[segment], self.points[segment + 1]);
            let ((x, y), (px, py)) = (start.offset_m(end), start.offset_m(place));
            let share = ((px * x + py * y) / (x * x + y * y)).clamp(0.0, 1.0);
            let (dx, dy) = (px - share * x, py - share * y);
            let distance_m = (dx * dx + dy * dy).sqrt();
            if distance_m < best.distance_m {
                let length = self.chainages_m[segment + 1] - self.chainages_m[segment];
                let chainage_m = self.chainages_m[segment] + share * length;
                best = Projection { chainage_m, distance_m };
            }
        }
        best
    }

    /// The segment of a chainage, and the share of the segment before it.
    fn locate(&self, chainage_m: f64) -> (usize, f64) {
        let inside = chainage_m.clamp(0.0, self.length_m());
        let before = self.chainages_m.partition_point(|at| *at <= inside);
        let segment = before.clamp(1, self.points.len() - 1) - 1;
        let (from, until) = (self.chainages_m[segment], self.chainages_m[segment + 1]);
        (segment, (inside - from) / (until - from))
    }

    /// The place at a chainage on the track, or on its straight extensions beyond the ends.
    fn extended(&self, chainage_m: f64) -> Coordinates {
        let beyond = chainage_m - chainage_m.clamp(0.0, self.length_m());
        let (segment, share) = self.locate(chainage_m);
        let length = self.chainages_m[segment + 1] - self.chainages_m[segment];
        self.points[segment].between(self.points[segment + 1], share + beyond / length)
    }
}

fn length(length_m: f64) -> Result<f64, MotionError> {
    match (1.0..=LENGTH_MAX_M).contains(&length_m) {
        true => Ok(length_m),
        false => Err(MotionError::new(format!(
            "{length_m} m is not a valid length of a track; write a length from 1 m to 10,000 km"
        ))),
    }
}

const LENGTH_MAX_M: f64 = 1e7;
/// The error of a receiver's position on a train.
const ERROR_M: f64 = 20.0;
/// Where a train turns round, it was here this far before, and is here again this far behind.
const TURN_M: f64 = 500.0;
/// The other track of a line, and the errors of positions on both.
const BESIDE_M: f64 = 100.0;
/// The number of positions that must be away from the last point: one may be by its error.
const AHEAD: usize = 5;
