//! The state machine of PHA-D (Proactive Handover-Aware packet scheduling for the Downlink), which decides
//! when a path is a backup. It has no clock, sockets or files: the router's daemon and simulated trains drive the
//! same one.
//!
//! The caller passes positions ([`Controller::see`]), the bytes received over each path
//! ([`Controller::received`]) and the time ([`Controller::advance`], at [`Controller::next_wake`] at the
//! latest). Then it polls [`Order`]s until there is none, carries them out, and reports those that the kernel
//! refused ([`Controller::refused`]).
//!
//! Guarantees for any input:
//! - a path becomes a backup only while another usable path is not one: never both, never the last;
//! - every flag is cleared when its range is passed, when the position is lost, when the train stands
//!   still, when the table is removed, and by [`Controller::release_all`].

mod path;
mod ranges;
#[cfg(test)]
mod tests;
mod tracker;

use std::collections::VecDeque;
use std::time::Duration;

use trackbed_core::Time;

use path::Path;
pub use ranges::{PathRanges, Range};
use tracker::Tracker;
pub use tracker::{Lost, Place, Sighting, Trust};

/// The settings of the state machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How long before the beginning of a range a path becomes a backup. In this time, MP_PRIO must reach the
    /// sender, and the data that the sender has already mapped to the path must arrive.
    pub lead: Duration,
    /// How long before the end of a range the flag is cleared.
    pub release_lead: Duration,
    /// The limits for plausible positions.
    pub trust: Trust,
    /// The maximum time for which a path may be a backup without interruption; a longer time means
    /// that the train stands still.
    pub hold_max: Duration,
    /// How far behind the train a range must be before it counts again, in metres: positions may jump back.
    pub hysteresis_m: f64,
    /// The time without data after which a flag is cleared again.
    pub repeat_after: Duration,
    /// The maximum number of such repetitions.
    pub repeats_max: u32,
    /// The number of bytes on a path that shows that the sender uses it again.
    pub back_bytes: u64,
}

/// On Linux 6.18, data already mapped to a subflow took 100 to 276 ms to drain after MP_PRIO, longer than a
/// round trip. The default lead covers this.
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

/// A change for the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// The number of the path.
    pub path: usize,
    /// The change.
    pub flag: Flag,
    /// The reason.
    pub reason: Reason,
}

/// Changes of a path's backup flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// Sets the flag (MP_PRIO with B=1).
    Set,
    /// Clears the flag (B=0).
    Clear,
    /// Clears the flag again, because the first MP_PRIO may have been lost.
    ClearAgain,
}

/// Reasons for a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// A handover is ahead.
    Ahead(Range),
    /// The train has passed the range.
    Passed,
    /// The position of the train is lost.
    Lost(Lost),
    /// There is no usable table.
    NoTable,
    /// The path has been a backup for too long; the train seems to stand still.
    HeldTooLong,
    /// No data has arrived over the path since.
    NoData,
    /// No other path is usable.
    LastPath,
    /// The daemon is stopping.
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
    /// A state machine for `paths` paths. No path is usable before [`Controller::set_usable`].
    pub fn new(settings: Settings, paths: usize) -> Controller {
        let tracker = Tracker::new(settings.trust);
        let paths = vec![Path::default(); paths];
        Controller { settings, tracker, paths, orders: VecDeque::new() }
    }

    /// Takes a position. Returns whether it is plausible.
    pub fn see(&mut self, now: Time, sighting: Sighting) -> bool {
        self.tracker.see(now, sighting)
    }

    /// Forgets the position, because a new track makes earlier chainages meaningless.
    pub fn forget_position(&mut self) {
        self.tracker.forget();
    }

    /// The position of the train.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn place(&self, now: Time) -> Result<Place, Lost> {
        self.tracker.place(now)
    }

    /// Sets whether a path can carry data: it has an endpoint, and its interface is up.
    pub fn set_usable(&mut self, path: usize, usable: bool) {
        self.paths[path].usable = usable;
    }

    /// Sets the total number of bytes received over a path.
    pub fn received(&mut self, path: usize, total: u64) {
        self.paths[path].received = total;
    }

    /// Whether a path is a backup by an order of this state machine.
    pub fn is_flagged(&self, path: usize) -> bool {
        self.paths[path].is_flagged()
    }

    /// Reports that the kernel refused an order. Setting a flag is ordered again; clearing a flag is ordered
    /// again after a while.
    pub fn refused(&mut self, now: Time, order: Order) {
        let path = &mut self.paths[order.path];
        match order.flag {
            Flag::Set => path.unset(now + self.settings.repeat_after),
            Flag::Clear | Flag::ClearAgain => path.return_later(now, &self.settings),
        }
    }

    /// The next order, if any.
    pub fn poll_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// When to call [`Controller::advance`] at the latest. A new position or change may require it earlier.
    pub fn next_wake(&self, now: Time) -> Time {
        now + LOOK_EVERY
    }

    /// Decides the flags at `now`. Without `table`, no path is a backup.
    pub fn advance(&mut self, now: Time, table: Option<&PathRanges>) {
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

    /// Clears every flag.
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

    /// Clears the flags whose time is over.
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
            // A flag cleared because no other path was usable may be needed again soon.
            if reason != Reason::LastPath {
                self.paths[path].spend(range);
            }
            self.release(now, path, reason);
        }
    }

    /// Sets the flags of paths with a handover ahead, the nearest one first.
    fn foresee(&mut self, now: Time, place: Place, table: &PathRanges) {
        let along = place.direction.sign() * place.chainage_m;
        let soon = along + place.speed_m_s * self.settings.release_lead.as_secs_f64();
        let ahead = along + place.speed_m_s * self.settings.lead.as_secs_f64();
        let start = |range: &Range| range.along(place.direction).0;
        let mut wished = Vec::new();
        for (number, path) in self.paths.iter().enumerate() {
            if !path.may_be_flagged(now) {
                continue;
            }
            let met = table.ranges(number, place.direction).iter().filter(|range| {
                let (begin, end) = range.along(place.direction);
                begin <= ahead && soon < end && !path.has_spent(**range)
            });
            let first = met.min_by(|a, b| start(a).total_cmp(&start(b)));
            wished.extend(first.map(|range| (number, *range)));
        }
        wished.sort_by(|(_, a), (_, b)| start(a).total_cmp(&start(b)));
        for (path, range) in wished {
            if self.has_other(path) {
                self.paths[path].flag(now, range);
                let reason = Reason::Ahead(range);
                self.orders.push_back(Order { path, flag: Flag::Set, reason });
            }
        }
    }

    /// Clears the flags of paths again that receive nothing while other paths do.
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

    /// Whether data can use a path other than this one.
    fn has_other(&self, path: usize) -> bool {
        let mut others = self.paths.iter().enumerate().filter(|(number, _)| *number != path);
        others.any(|(_, other)| other.usable && !other.is_flagged())
    }

    fn received_elsewhere(&self, path: usize) -> u64 {
        let others = self.paths.iter().enumerate().filter(|(number, _)| *number != path);
        others.map(|(_, other)| other.received).sum()
    }
}

/// The interval at which the study looks up the position.
const LOOK_EVERY: Duration = Duration::from_millis(10);
