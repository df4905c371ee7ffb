//! The current position of the train, extrapolated from past positions of a receiver.

use std::time::Duration;

use trackbed_core::Time;

use crate::motion::Direction;

/// A position of a receiver, projected onto the track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// Metres from the beginning of the track.
    pub chainage_m: f64,
    /// The distance from the track, in metres.
    pub distance_m: f64,
    /// The speed in metres per second, if the receiver reports it.
    pub speed_m_s: Option<f64>,
    /// The age of the position.
    pub age: Duration,
}

/// The position of the train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Metres from the beginning of the track.
    pub chainage_m: f64,
    /// Metres per second, never negative.
    pub speed_m_s: f64,
    /// The direction of travel.
    pub direction: Direction,
}

/// Why the position of the train is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// No position has arrived for too long, or none yet.
    NoFix,
    /// The positions are not on the track.
    OffTrack,
    /// The train has not moved far enough to know its direction.
    NoDirection,
}

/// The limits for plausible positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// How long a position is extrapolated by its speed.
    pub fix_timeout: Duration,
    /// The maximum distance of a position from the track, in metres.
    pub off_track_m: f64,
}

/// Extrapolates positions by their speed, and ignores impossible ones.
#[derive(Debug)]
pub(super) struct Tracker {
    trust: Trust,
    last: Option<Seen>,
    direction: Option<Direction>,
    /// The chainage from which the direction is measured.
    anchor_m: Option<f64>,
    /// The number of consecutive ignored positions.
    outliers: u32,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Time,
    chainage_m: f64,
    distance_m: f64,
    speed_m_s: f64,
}

impl Tracker {
    pub(super) fn new(trust: Trust) -> Tracker {
        Tracker { trust, last: None, direction: None, anchor_m: None, outliers: 0 }
    }

    /// Takes a position that arrived at `now`. Returns whether it was accepted.
    pub(super) fn see(&mut self, now: Time, sighting: Sighting) -> bool {
        let finite = sighting.chainage_m.is_finite() && sighting.distance_m.is_finite();
        let speed = sighting.speed_m_s.filter(|speed| (0.0..SPEED_MAX_M_S).contains(speed));
        if !finite || sighting.distance_m < 0.0 {
            return false;
        }
        let at = Time::from_nanos(now.as_nanos().saturating_sub(sighting.age.as_nanos() as u64));
        if self.is_outlier(at, sighting) && self.outliers < OUTLIERS_MAX {
            self.outliers += 1;
            return false;
        }
        if self.outliers >= OUTLIERS_MAX {
            // The earlier positions were wrong: start again.
            (self.last, self.direction, self.anchor_m) = (None, None, None);
        }
        self.outliers = 0;
        let measured = self.last.and_then(|last| {
            let span = at.since(last.at).as_secs_f64();
            (span > 0.0).then(|| (sighting.chainage_m - last.chainage_m).abs() / span)
        });
        let speed_m_s = speed.or(measured).unwrap_or(0.0).min(SPEED_MAX_M_S);
        self.measure_direction(sighting.chainage_m);
        let Sighting { chainage_m, distance_m, .. } = sighting;
        self.last = Some(Seen { at, chainage_m, distance_m, speed_m_s });
        true
    }

    /// Forgets all positions, because a new route makes earlier chainages meaningless.
    pub(super) fn forget(&mut self) {
        *self = Tracker::new(self.trust);
    }

    /// The position of the train at `now`.
    pub(super) fn place(&self, now: Time) -> Result<Place, Lost> {
        let last = self.last.ok_or(Lost::NoFix)?;
        let age = now.since(last.at);
        if age > self.trust.fix_timeout {
            return Err(Lost::NoFix);
        }
        if last.distance_m > self.trust.off_track_m {
            return Err(Lost::OffTrack);
        }
        let direction = self.direction.ok_or(Lost::NoDirection)?;
        let moved = direction.sign() * last.speed_m_s * age.as_secs_f64();
        let chainage_m = last.chainage_m + moved;
        Ok(Place { chainage_m, speed_m_s: last.speed_m_s, direction })
    }

    /// Whether no train could have reached this position since the last one.
    fn is_outlier(&self, at: Time, sighting: Sighting) -> bool {
        let Some(last) = self.last else { return false };
        let span = at.since(last.at);
        let reach = SPEED_MAX_M_S * span.as_secs_f64() + JUMP_M;
        let jumps = (sighting.chainage_m - last.chainage_m).abs() > reach;
        let off_track_m = self.trust.off_track_m;
        let leaves = sighting.distance_m > off_track_m && last.distance_m <= off_track_m;
        span <= self.trust.fix_timeout && (jumps || leaves)
    }

    /// The direction is known when the train has moved farther than the receiver's error between positions.
    fn measure_direction(&mut self, chainage_m: f64) {
        let anchor = *self.anchor_m.get_or_insert(chainage_m);
        let moved = chainage_m - anchor;
        if moved.abs() >= DIRECTION_M {
            self.direction =
                Some(if moved > 0.0 { Direction::Forward } else { Direction::Backward });
            self.anchor_m = Some(chainage_m);
        } else if self.direction.is_some_and(|direction| direction.sign() * moved > 0.0) {
            // Still the same direction: a reversal is measured from the farthest point.
            self.anchor_m = Some(chainage_m);
        }
    }
}

/// Faster than any train: 540 km/h.
const SPEED_MAX_M_S: f64 = 150.0;

/// The maximum error of a receiver from one position to the next, in metres.
const JUMP_M: f64 = 100.0;

/// After this number of consecutive implausible positions, they are accepted.
const OUTLIERS_MAX: u32 = 3;

/// Errors of positions change slowly: by less than this between two positions, in metres.
const DIRECTION_M: f64 = 15.0;

#[cfg(test)]
mod tests {
    use super::*;

    const TRUST: Trust = Trust { fix_timeout: Duration::from_secs(3), off_track_m: 200.0 };

    fn sighting(chainage_m: f64) -> Sighting {
        Sighting { chainage_m, distance_m: 3.0, speed_m_s: Some(80.0), age: Duration::ZERO }
    }

    fn at(seconds: f64) -> Time {
        Time::from_nanos((seconds * 1e9) as u64)
    }

    fn moving() -> Tracker {
        let mut tracker = Tracker::new(TRUST);
        (0..=10).for_each(|second| {
            assert!(tracker.see(at(second.into()), sighting(80.0 * f64::from(second))));
        });
        tracker
    }

    #[test]
    fn a_position_is_carried_on_by_its_speed_until_it_is_too_old() {
        let tracker = moving();
        let place = tracker.place(at(12.5)).unwrap();
        assert_eq!(place.direction, Direction::Forward);
        assert!((place.chainage_m - 1_000.0).abs() < 1e-6);
        assert!(tracker.place(at(13.0)).is_ok());
        assert_eq!(tracker.place(at(13.01)), Err(Lost::NoFix));
        assert_eq!(Tracker::new(TRUST).place(at(1.0)), Err(Lost::NoFix));
    }

    #[test]
    fn an_old_position_counts_from_when_it_was() {
        let mut tracker = moving();
        let late = Sighting { age: Duration::from_millis(500), ..sighting(860.0) };
        assert!(tracker.see(at(11.25), late));
        assert!((tracker.place(at(11.25)).unwrap().chainage_m - 900.0).abs() < 1e-6);
    }

    #[test]
    fn a_jump_is_passed_over_unless_it_lasts() {
        let mut tracker = moving();
        assert!(!tracker.see(at(10.5), sighting(50_000.0)));
        assert!((tracker.place(at(10.5)).unwrap().chainage_m - 840.0).abs() < 1e-6);
        assert!(tracker.see(at(11.0), sighting(880.0)));
        for tenth in 1..=3 {
            assert!(!tracker.see(at(11.0 + f64::from(tenth) / 10.0), sighting(50_000.0)));
        }
        assert!(tracker.see(at(11.4), sighting(50_000.0)));
        assert_eq!(tracker.place(at(11.4)), Err(Lost::NoDirection), "it may run the other way");
    }

    #[test]
    fn the_direction_is_known_after_some_metres_and_turns_with_the_train() {
        let mut tracker = Tracker::new(TRUST);
        for (tenth, jitter) in [0.0, 6.0, -6.0, 5.0].into_iter().enumerate() {
            tracker.see(at(tenth as f64 / 10.0), sighting(500.0 + jitter));
            assert_eq!(tracker.place(at(tenth as f64 / 10.0)), Err(Lost::NoDirection));
        }
        tracker.see(at(1.0), sighting(520.0));
        assert_eq!(tracker.place(at(1.0)).unwrap().direction, Direction::Forward);
        // Far ahead, then a little back: an error. Further back: a reversal.
        tracker.see(at(2.0), sighting(600.0));
        tracker.see(at(3.0), sighting(590.0));
        assert_eq!(tracker.place(at(3.0)).unwrap().direction, Direction::Forward);
        tracker.see(at(4.0), sighting(580.0));
        assert_eq!(tracker.place(at(4.0)).unwrap().direction, Direction::Backward);
    }

    #[test]
    fn what_is_beside_the_track_or_no_number_leads_nowhere() {
        let mut tracker = moving();
        assert!(!tracker.see(at(10.1), sighting(f64::NAN)));
        let beside = Sighting { distance_m: 201.0, ..sighting(808.0) };
        assert!((0..3).all(|_| !tracker.see(at(10.15), beside)), "one alone is an error");
        assert!(tracker.place(at(10.15)).is_ok());
        assert!(tracker.see(at(10.15), beside));
        assert_eq!(tracker.place(at(10.15)), Err(Lost::OffTrack));
        // An invalid speed is replaced by a measured one.
        let mut tracker = moving();
        assert!(tracker.see(at(10.2), sighting(820.0)));
        assert!(tracker.see(at(11.2), Sighting { speed_m_s: Some(f64::NAN), ..sighting(890.0) }));
        assert!((tracker.place(at(11.2)).unwrap().speed_m_s - 70.0).abs() < 1e-6);
    }
}
