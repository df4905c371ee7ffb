//! A drive from the logs of a train's modems and receivers.
//!
//! A [`Recording`] takes logs in any number and order, one for each modem or one for all, and puts them on one
//! clock. Its [`Recording::drive`] lasts as long as all of them. A reading holds until the next one. A
//! handover is where the cell changes; where throughput is zero around it, it takes as long as that.

mod bins;
mod modem;

use std::collections::BTreeMap;
use std::sync::Arc;

use trackbed_core::Time;

use crate::handover::{RideRecord, Table};
use crate::motion::{Coordinates, DriveLog, Measured, MotionError, Reading, Ride, Sample, Track};
use crate::radio::RecordedDrive;
use bins::Bins;
use modem::{Modem, Window};

/// The contents of logs, thinned where they are longer than 100,000 readings.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    positions: Bins,
    modems: BTreeMap<String, Modem>,
    /// The midnight from which times since 1970 are counted, as receivers without a date do.
    midnight: Option<f64>,
    /// Positions without a time.
    untimed: u64,
}

/// A drive, and what was found about it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The drive.
    pub drive: RecordedDrive,
    /// Gaps and assumptions, a sentence each.
    pub notes: Vec<String>,
    /// The train's way along the track; `None` without positions.
    pub ride: Option<Ride>,
    /// The power of serving cells, by operator.
    powers: Vec<(String, Vec<(Time, f64)>)>,
}

impl Recording {
    /// Adds a log. `operator` is that of readings without a name.
    ///
    /// # Errors
    /// If a reading has no operator, or cells are not in order of time; the message names the line.
    pub fn take(&mut self, log: &DriveLog, operator: Option<&str>) -> Result<(), MotionError> {
        let mut kept: Option<&Sample> = None;
        for sample in &log.samples {
            let Some(at) = sample.seconds.map(|seconds| self.aligned(seconds)) else {
                self.untimed += 1;
                continue;
            };
            // A standing receiver moves by its error.
            let stands = |kept: &Sample| {
                kept.coordinates.plane_distance_m(sample.coordinates) < STANDING_M
                    && sample.speed_m_s.is_some_and(|speed| speed < STANDING_M_S)
            };
            kept = kept.filter(|kept| stands(kept)).or(Some(sample));
            let place = kept.map_or(sample.coordinates, |kept| kept.coordinates);
            self.positions.add(at, [place.latitude_deg(), place.longitude_deg()]);
        }
        for reading in &log.readings {
            self.read(reading, operator)?;
        }
        Ok(())
    }

    /// Adds a trace of throughput to the train, second by second, which begins with the drive.
    ///
    /// # Errors
    /// If the operator cannot have this name.
    pub fn take_trace(&mut self, rates_bps: &[f64], operator: &str) -> Result<(), MotionError> {
        let modem = self.modem(operator)?;
        if modem.rate.span().is_some() {
            return Err(MotionError::new(TWO_RATES));
        }
        modem.is_relative = true;
        (0..).zip(rates_bps).for_each(|(at, rate)| modem.rate.add(f64::from(at), [*rate, 0.0]));
        Ok(())
    }

    fn modem(&mut self, name: &str) -> Result<&mut Modem, MotionError> {
        if name.contains([',', ';', '=']) || ["", "-"].contains(&name) {
            let why = "an operator's name is empty or contains one of , ; = ; choose another name";
            return Err(MotionError::new(why));
        }
        if !self.modems.contains_key(name) {
            self.modems.insert(name.to_owned(), Modem::default());
        }
        Ok(self.modems.get_mut(name).expect("it is there now"))
    }

    fn aligned(&mut self, seconds: f64) -> f64 {
        if seconds < SINCE_1970_MIN_S {
            return seconds;
        }
        seconds - *self.midnight.get_or_insert((seconds / DAY_S).floor() * DAY_S)
    }

    fn read(&mut self, reading: &Reading, operator: Option<&str>) -> Result<(), MotionError> {
        let refuse = |why: &str| Err(MotionError::new(why).in_line(reading.line));
        let at = self.aligned(reading.seconds);
        let carrier = reading.carrier.as_str();
        let name = match (reading.operator.as_str(), operator) {
            ("", Some(operator)) => operator,
            ("", None) if carrier.is_empty() => {
                return refuse("a reading without an operator; write NAME=FILE");
            }
            ("", None) => carrier,
            (name, _) => name,
        };
        let modem = self.modem(name).map_err(|why| why.in_line(reading.line))?;
        if !["", carrier].contains(&modem.carrier.as_str()) && !carrier.is_empty() {
            return refuse(
                "another operator than above; leave NAME= out if the log has several modems, or give the \
                 column another name: --column roaming=HEADING",
            );
        }
        modem.carrier = carrier.to_owned();
        let (bins, value) = match &reading.measured {
            Measured::Rate(_) if modem.is_relative => return refuse(TWO_RATES),
            Measured::Rate(rate) => (&mut modem.rate, *rate),
            Measured::RoundTrip(seconds) => (&mut modem.round_trip, *seconds),
            Measured::Rsrp(dbm) => (&mut modem.rsrp, *dbm),
            Measured::Cell(cell) => return modem.enter(at, cell).or_else(refuse),
        };
        bins.add(at, [value, 0.0]);
        Ok(())
    }

    /// The drive, on the track of `table`, or else on the one of its own positions.
    ///
    /// # Errors
    /// If an operator has no throughput, the logs do not overlap, or the positions are not on the track.
    pub fn drive(&self, table: Option<&Table>) -> Result<Imported, MotionError> {
        let mut notes = Vec::new();
        let (start, end) = self.span(&mut notes)?;
        let mut positions = self.places(start, end, &mut notes)?;
        let own = || {
            let places: Vec<Coordinates> = positions.iter().map(|(_, place)| *place).collect();
            let track = Track::past_errors(&places)?;
            Ride::through(Arc::new(track), &positions)
        };
        let mut leave_out = |why| notes.push(format!("the positions are left out: {why}"));
        let ride = match table {
            _ if positions.is_empty() => None,
            Some(table) => Some(Ride::through(Arc::clone(table.track()), &positions)?),
            None => own().map_err(&mut leave_out).ok(),
        };
        if ride.is_none() {
            positions.clear();
        }
        if self.untimed > 0 {
            notes.push(format!("{} positions have no time and are ignored", self.untimed));
        }
        let (mut timelines, mut powers) = (Vec::new(), Vec::new());
        let window = Window { start, end };
        for (name, modem) in &self.modems {
            timelines.push(modem.timeline(name, window, ride.as_ref(), &mut notes));
            let rsrp =
                modem.rsrp.means().filter_map(|(at, [dbm, _])| Some((window.time(at)?, dbm)));
            powers.push((name.clone(), rsrp.collect()));
        }
        let drive = RecordedDrive { timelines, positions };
        Ok(Imported { drive, notes, ride, powers })
    }

    /// The time that all logs have in common; tells which of them have more.
    fn span(&self, notes: &mut Vec<String>) -> Result<(f64, f64), MotionError> {
        let mut spans = Vec::new();
        let (mut shortest, mut has_relative) = (f64::INFINITY, false);
        for (name, modem) in &self.modems {
            let Some((from, until)) = modem.rate.span() else {
                return Err(MotionError::new(format!(
                    "no throughput of {name}; add a column rate_mbps, rate_kbps or rate_bps, or name one with \
                     --column"
                )));
            };
            match modem.is_relative {
                true => {
                    (shortest, has_relative) = (shortest.min(until - from), true);
                    let clock = modem.round_trip.span();
                    let named =
                        |(from, until)| (format!("round-trip times of {name}"), from, until);
                    spans.extend(clock.map(named));
                }
                false => spans.push((format!("throughput of {name}"), from, until)),
            }
        }
        if self.modems.is_empty() {
            let why = "no log has readings of a modem; give a table with time and rate_mbps";
            return Err(MotionError::new(why));
        }
        let positions = self.positions.span();
        spans.extend(positions.map(|(from, until)| ("positions".to_owned(), from, until)));
        if spans.is_empty() && has_relative {
            return Ok((0.0, shortest));
        }
        let start = spans.iter().map(|(_, from, _)| *from).fold(f64::NEG_INFINITY, f64::max);
        let end = spans.iter().map(|(.., until)| *until).fold(f64::INFINITY, f64::min);
        let span =
            |(what, from, until): &(String, f64, f64)| format!("{what} {from:.0} to {until:.0} s");
        let all = spans.iter().map(span).collect::<Vec<_>>().join(", ");
        if spans.iter().any(|(_, from, until)| start - from > CUT_S || until - end > CUT_S) {
            notes
                .push(format!("the drive has what all logs have, {start:.0} to {end:.0} s: {all}"));
        }
        if end <= start {
            let why =
                format!("the logs do not overlap: {all}; give logs of one drive on one clock");
            return Err(MotionError::new(why));
        }
        if end - start > DAY_S {
            return Err(MotionError::new(
                "the logs cover more than a day; give those of one drive",
            ));
        }
        Ok((start, end.min(start + shortest)))
    }

    fn places(
        &self,
        start: f64,
        end: f64,
        notes: &mut Vec<String>,
    ) -> Result<Vec<(Time, Coordinates)>, MotionError> {
        let window = Window { start, end };
        let inside =
            self.positions.means().filter_map(|(at, place)| Some((window.time(at)?, place)));
        let place = |(at, [latitude, longitude]): (Time, [f64; 2])| {
            Ok((at, Coordinates::new(latitude, longitude)?))
        };
        let places = inside.map(place).collect();
        window.tell(&self.positions, "positions", "the train moves evenly there", notes);
        places
    }
}

impl Imported {
    /// What a handover table learns from the drive; `None` without positions.
    pub fn record(&self) -> Option<RideRecord> {
        let ride = self.ride.as_ref()?;
        let mut record = RideRecord::new(ride.direction());
        for timeline in &self.drive.timelines {
            record.operator(&timeline.operator);
            for handover in &timeline.handovers {
                record.handover(&timeline.operator, handover.disturbed_m.0, handover.disturbed_m.1);
            }
        }
        for (operator, powers) in &self.powers {
            powers
                .iter()
                .for_each(|(at, dbm)| record.received(operator, ride.chainage_m(*at), *dbm));
        }
        Some(record)
    }
}

const TWO_RATES: &str = "a trace and a log have throughput of one operator; give one of them";
/// Seconds since 1970, and no time of day; old receivers may believe that it is before 2001.
const SINCE_1970_MIN_S: f64 = 1e8;
const DAY_S: f64 = 86_400.0;
/// Loggers are not started and stopped at once.
const CUT_S: f64 = 10.0;
/// The error of a standing receiver, and the speed that it reports.
const STANDING_M: f64 = 20.0;
const STANDING_M_S: f64 = 0.5;
