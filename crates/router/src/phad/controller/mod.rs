//! Which path is a backup when: the state machine of PHA-D (Proactive Handover-Aware packet
//! scheduling for the Downlink), without clock, sockets or files.
//!
//! It is told positions ([`Controller::see`]), what came over each path ([`Controller::received`])
//! and the time ([`Controller::advance`], at [`Controller::next_wake`] at the latest), and is then
//! asked for [`Order`]s until there is none. Whoever carries them out says if the kernel refused
//! ([`Controller::refused`]).
//!
//! What it promises, whatever it is told:
//! - a path becomes a backup only while another usable one is none: never both, never the last;
//! - every flag is taken back when its range is passed, when the position is lost, when the train
//!   stands, when the table goes, and by [`Controller::release_all`].

mod path;
#[cfg(test)]
mod tests;
mod tracker;

use std::collections::VecDeque;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_railway::motion::Direction;

use path::Path;
use tracker::Tracker;
pub use tracker::{Lost, Place, Sighting, Trust};

/// Where handovers of one operator are expected: from one chainage to a larger one, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower chainage.
    pub from_m: f64,
    /// The higher chainage.
    pub until_m: f64,
}

impl Range {
    /// Its beginning and end as the train meets them, on an axis along which it moves forward.
    pub(crate) fn along(self, direction: Direction) -> (f64, f64) {
        match direction {
            Direction::Forward => (self.from_m, self.until_m),
            Direction::Backward => (-self.until_m, -self.from_m),
        }
    }
}

/// The ranges of a handover table, for each path and direction.
pub trait Ranges {
    /// Those of one path (by its number), in any order.
    fn ranges(&self, path: usize, direction: Direction) -> &[Range];
}

/// How the state machine decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How long before the beginning of a range a path becomes a backup: MP_PRIO has to reach the
    /// sender, and what that has mapped to the path already has to arrive.
    pub lead: Duration,
    /// How long before the end of a range that is taken back.
    pub release_lead: Duration,
    /// What makes positions believable.
    pub trust: Trust,
    /// How long a path may be a backup at a time; longer means that the train stands.
    pub hold_max: Duration,
    /// How far a range has to be behind before it counts anew, in metres: positions jump back.
    pub hysteresis_m: f64,
    /// After how long without data a flag is taken back once more.
    pub repeat_after: Duration,
    /// And how often at most.
    pub repeats_max: u32,
    /// How many bytes on a path say that its data is back.
    pub back_bytes: u64,
}

/// Measured on Linux 6.18, data that is mapped to a subflow already takes 100 to 276 ms to drain
/// after MP_PRIO, more than a round trip takes: hence the lead.
impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lead: Duration::from_millis(300),
            release_lead: Duration::ZERO,
            trust: Trust { fix_timeout: Duration::from_secs(3), off_track_m: 200.0 },
            hold_max: Duration::from_secs(30),
            hysteresis_m: 50.0,
            repeat_after: Duration::from_millis(250),
            repeats_max: 8,
            back_bytes: 4_500,
        }
    }
}

/// What is to be said to the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Of which path, by its number.
    pub path: usize,
    /// What to say.
    pub flag: Flag,
    /// Why.
    pub reason: Reason,
}

/// What may be said of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// It is a backup from now on (MP_PRIO with B=1).
    Set,
    /// It is none any more (B=0).
    Clear,
    /// It is none, once more: the first time may have been lost.
    ClearAgain,
}

/// Why something is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// A handover is ahead.
    Ahead(Range),
    /// Its range has been passed.
    Passed,
    /// It is not known any more where the train is.
    Lost(Lost),
    /// There is no table, or none that may be used.
    NoTable,
    /// The path has been a backup for too long; the train seems to stand.
    HeldTooLong,
    /// No data has come over the path since.
    NoData,
    /// The other paths cannot be used.
    LastPath,
    /// Somebody is ending all this.
    Stopping,
}

/// The state machine.
#[derive(Debug)]
pub struct Controller {
    settings: Settings,
    tracker: Tracker,
    paths: Vec<Path>,
    orders: VecDeque<Order>,
}

impl Controller {
    /// For so many paths, none of which is usable before [`Controller::set_usable`] says so.
    pub fn new(settings: Settings, paths: usize) -> Controller {
        let tracker = Tracker::new(settings.trust);
        let paths = vec![Path::default(); paths];
        Controller { settings, tracker, paths, orders: VecDeque::new() }
    }

    /// Takes in a position. Returns whether it is believable.
    pub fn see(&mut self, now: Time, sighting: Sighting) -> bool {
        self.tracker.see(now, sighting)
    }

    /// The track has been replaced: positions of before mean nothing on the new one.
    pub fn forget_position(&mut self) {
        self.tracker.forget();
    }

    /// Where the train is.
    ///
    /// # Errors
    /// If that is not known.
    pub fn place(&self, now: Time) -> Result<Place, Lost> {
        self.tracker.place(now)
    }

    /// Whether a path could carry data at all: it has an endpoint, and its interface works.
    pub fn set_usable(&mut self, path: usize, usable: bool) {
        self.paths[path].usable = usable;
    }

    /// How many bytes have come over a path so far.
    pub fn received(&mut self, path: usize, total: u64) {
        self.paths[path].received = total;
    }

    /// Whether a path is a backup by our order.
    pub fn is_flagged(&self, path: usize) -> bool {
        self.paths[path].is_flagged()
    }

    /// The kernel did not do what the order said. A flag that was to be set is not, and is asked
    /// for again; one that was to be taken back is asked for again after a while.
    pub fn refused(&mut self, now: Time, order: Order) {
        let path = &mut self.paths[order.path];
        match order.flag {
            Flag::Set => path.unset(now + self.settings.repeat_after),
            Flag::Clear | Flag::ClearAgain => path.return_later(now, &self.settings),
        }
    }

    /// What is to be said to the kernel next.
    pub fn poll_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// When to call [`Controller::advance`] at the latest; a position or a change may be told
    /// before that.
    pub fn next_wake(&self, now: Time) -> Time {
        now + LOOK_EVERY
    }

    /// Decides what is to be at `now`. Without `table` nothing is a backup.
    pub fn advance(&mut self, now: Time, table: Option<&dyn Ranges>) {
        let known = self.tracker.place(now).map_err(Reason::Lost);
        match table.ok_or(Reason::NoTable).and_then(|table| Ok((known?, table))) {
            Ok((place, table)) => {
                self.take_back(now, place);
                self.foresee(now, place, table);
            }
            Err(reason) => self.release_all(now, reason),
        }
        self.look_for_data(now);
    }

    /// Takes back every flag.
    pub fn release_all(&mut self, now: Time, reason: Reason) {
        (0..self.paths.len()).for_each(|path| self.release(now, path, reason));
    }

    fn release(&mut self, now: Time, path: usize, reason: Reason) {
        if !self.paths[path].is_flagged() {
            return;
        }
        let elsewhere = self.received_elsewhere(path);
        self.paths[path].release(now, elsewhere, &self.settings);
        self.orders.push_back(Order { path, flag: Flag::Clear, reason });
    }

    /// Takes back the flags whose time is over.
    fn take_back(&mut self, now: Time, place: Place) {
        let along = place.direction.sign() * place.chainage_m;
        let soon = along + place.speed_m_s * self.settings.release_lead.as_secs_f64();
        let ahead = along + place.speed_m_s * self.settings.lead.as_secs_f64();
        for path in 0..self.paths.len() {
            self.paths[path].forget_spent(place.direction, along, ahead, &self.settings);
            let Some((since, range)) = self.paths[path].flagged() else { continue };
            let (begin, end) = range.along(place.direction);
            let reason = if soon >= end || ahead < begin - self.settings.hysteresis_m {
                Reason::Passed
            } else if now.since(since) >= self.settings.hold_max {
                Reason::HeldTooLong
            } else if !self.has_other(path) {
                Reason::LastPath
            } else {
                continue;
            };
            // What failed for want of another path may be right again in a moment.
            if reason != Reason::LastPath {
                self.paths[path].spend(range);
            }
            self.release(now, path, reason);
        }
    }

    /// Sets the flags of paths that a handover is ahead of, the nearest one first.
    fn foresee(&mut self, now: Time, place: Place, table: &dyn Ranges) {
        let along = place.direction.sign() * place.chainage_m;
        let soon = along + place.speed_m_s * self.settings.release_lead.as_secs_f64();
        let ahead = along + place.speed_m_s * self.settings.lead.as_secs_f64();
        let mut wished = Vec::new();
        for (number, path) in self.paths.iter().enumerate() {
            if !path.may_be_flagged(now) {
                continue;
            }
            let met = table.ranges(number, place.direction).iter().filter(|range| {
                let (begin, end) = range.along(place.direction);
                begin <= ahead && soon < end && !path.has_spent(**range)
            });
            let first = met
                .min_by(|a, b| a.along(place.direction).0.total_cmp(&b.along(place.direction).0));
            wished.extend(first.map(|range| (number, *range)));
        }
        wished.sort_by(|(_, a), (_, b)| {
            a.along(place.direction).0.total_cmp(&b.along(place.direction).0)
        });
        for (path, range) in wished {
            if self.has_other(path) {
                self.paths[path].flag(now, range);
                self.orders.push_back(Order {
                    path,
                    flag: Flag::Set,
                    reason: Reason::Ahead(range),
                });
            }
        }
    }

    /// Says once more that paths are none any more over which nothing comes although something
    /// comes elsewhere.
    fn look_for_data(&mut self, now: Time) {
        for path in 0..self.paths.len() {
            let elsewhere = self.received_elsewhere(path);
            let may_repeat = self.has_other(path);
            if self.paths[path].misses_data(now, elsewhere, may_repeat, &self.settings) {
                let order = Order { path, flag: Flag::ClearAgain, reason: Reason::NoData };
                self.orders.push_back(order);
            }
        }
    }

    /// Whether data can go another way than by this path.
    fn has_other(&self, path: usize) -> bool {
        let others = self.paths.iter().enumerate().filter(|(number, _)| *number != path);
        others.into_iter().any(|(_, other)| other.usable && !other.is_flagged())
    }

    fn received_elsewhere(&self, path: usize) -> u64 {
        let others = self.paths.iter().enumerate().filter(|(number, _)| *number != path);
        others.map(|(_, other)| other.received).sum()
    }
}

/// The interval at which the study looks a position up.
const LOOK_EVERY: Duration = Duration::from_millis(10);
