//! The readings of one modem, and the link that they make.

use std::time::Duration;

use trackbed_core::text::plural;
use trackbed_core::{Bitrate, Time};

use super::bins::Bins;
use crate::motion::Ride;
use crate::radio::{Handover, HandoverKind, LinkChange, LinkDirection, RadioTimeline, What};

/// The readings of an operator's modem.
#[derive(Clone, Debug, Default)]
pub(super) struct Modem {
    pub rate: Bins,
    pub round_trip: Bins,
    pub rsrp: Bins,
    /// The last cell, and when it was read.
    cell: Option<(f64, String)>,
    changes: Vec<CellChange>,
    /// A trace, which begins with the drive.
    pub is_relative: bool,
    /// The operator that a column names, where the log has a name of its own.
    pub carrier: String,
}

#[derive(Clone, Debug)]
struct CellChange {
    /// The times of the last reading of the old cell and of the first one of the new cell.
    span: (f64, f64),
    from: String,
    to: String,
}

impl Modem {
    /// Takes the serving cell, or says why not.
    pub fn enter(&mut self, at: f64, cell: &str) -> Result<(), &'static str> {
        match &mut self.cell {
            Some((last, _)) if at < *last => {
                return Err("cells are not in order of time; sort the lines by time");
            }
            Some((last, known)) if known == cell => *last = at,
            Some(_) if self.changes.len() == CHANGES_MAX => {
                return Err(
                    "more than 100,000 changes of the cell; name its column: --column cell=HEADING",
                );
            }
            Some((last, known)) => {
                let from = std::mem::replace(known, cell.to_owned());
                let span = (std::mem::replace(last, at), at);
                self.changes.push(CellChange { span, from, to: cell.to_owned() });
            }
            None => self.cell = Some((at, cell.to_owned())),
        }
        Ok(())
    }

    pub fn timeline(
        &self,
        name: &str,
        window: Window,
        ride: Option<&Ride>,
        notes: &mut Vec<String>,
    ) -> RadioTimeline {
        let rate = |[bps, _]: [f64; 2]| What::Rate(Bitrate::from_bps(bps.round() as u64));
        let delay = |[seconds, _]: [f64; 2]| {
            What::Delay(Duration::from_micros((seconds * 5e5).round() as u64))
        };
        let length = window.end - window.start;
        let of_rates = if self.is_relative { Window { start: 0.0, end: length } } else { window };
        let mut changes = of_rates.changes(&self.rate, rate);
        let delays = window.changes(&self.round_trip, delay);
        if delays.is_empty() {
            notes.push(format!("{name}: no round-trip times; 20 ms each way are assumed"));
            let what = What::Delay(DELAY);
            let at = Time::ZERO;
            let delays = LinkDirection::BOTH.map(|direction| LinkChange { at, direction, what });
            changes.extend(delays);
        }
        changes.extend(delays);
        changes.sort_by_key(|change| (change.at, change.direction));
        let told =
            [(of_rates, &self.rate, "throughput"), (window, &self.round_trip, "round-trip times")];
        for (window, bins, what) in told {
            window.tell(bins, &format!("{what} of {name}"), "the last value holds", notes);
        }
        let outages = self.outages(window.start - of_rates.start);
        let handovers = self.changes.iter();
        let handovers = handovers.filter_map(|change| handover(change, &outages, window, ride));
        let handovers: Vec<Handover> = handovers.collect();
        if handovers.len() > 2 && handovers.len() as f64 > length / 3.0 {
            notes.push(format!(
                "{name}: {} handovers in {length:.0} s; has the table lines of neighbours or of several modems?",
                handovers.len()
            ));
        }
        match (self.changes.len(), self.changes.len() - handovers.len()) {
            (0, _) => notes.push(format!("{name}: no change of the cell, so no handover")),
            (_, 0) => {}
            (_, left) => notes.push(format!(
                "{name}: {} left out: not inside the drive, or between lines more than {UNSEEN_MAX_S} s \
                 apart",
                plural(left as u64, "change") + " of the cell"
            )),
        }
        RadioTimeline { operator: name.to_owned(), changes, handovers, signal: Vec::new() }
    }

    /// When nothing came through, on a clock that is ahead by so many seconds.
    fn outages(&self, ahead: f64) -> Vec<(f64, f64)> {
        let mut outages: Vec<(f64, f64)> = Vec::new();
        let mut since = None;
        for (at, [rate, _]) in self.rate.means() {
            let at = at + ahead;
            match (since, rate > 0.0) {
                (None, false) => since = Some(at),
                (Some(from), true) => {
                    outages.push((from, at));
                    since = None;
                }
                _ => {}
            }
        }
        outages
    }
}

/// The handover at a change of the cell, if it is inside the drive.
fn handover(
    change: &CellChange,
    outages: &[(f64, f64)],
    window: Window,
    ride: Option<&Ride>,
) -> Option<Handover> {
    let (before, after) = change.span;
    let first = outages.partition_point(|(_, until)| *until <= before);
    let outage = outages.get(first).filter(|(from, _)| *from <= after).copied();
    let is_seen = after - before <= UNSEEN_MAX_S;
    let (from, until) = outage.or_else(|| is_seen.then_some(change.span))?;
    let (command, end) = (window.time(from)?, window.time(until)?);
    let place = |at: Time| ride.map_or(0.0, |ride| ride.chainage_m(at));
    Some(Handover {
        kind: HandoverKind::X2,
        from: change.from.replace([';', ','], " "),
        to: change.to.replace([';', ','], " "),
        report: command,
        command,
        end,
        disturbed: (command, end),
        chainage_m: place(command),
        disturbed_m: (place(command), place(end)),
    })
}

/// The time of the drive, on the clock of the logs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub start: f64,
    pub end: f64,
}

impl Window {
    /// The time since the start, if it is inside.
    pub fn time(self, at: f64) -> Option<Time> {
        let inside = (self.start..=self.end).contains(&at);
        // Logs have milliseconds at best.
        inside.then(|| Time::from_micros(((at - self.start) * 1e6).round() as u64))
    }

    /// The changes of a value, the first at the start.
    fn changes(self, bins: &Bins, what: impl Fn([f64; 2]) -> What) -> Vec<LinkChange> {
        let mut rows: Vec<(Time, What)> = Vec::new();
        for (at, value) in bins.means().take_while(|(at, _)| *at <= self.end) {
            let at = self.time(at).filter(|_| !rows.is_empty()).unwrap_or(Time::ZERO);
            let what = what(value);
            match rows.last_mut() {
                Some((last, old)) if *last == at => *old = what,
                Some((_, old)) if *old == what => {}
                _ => rows.push((at, what)),
            }
        }
        let both =
            |(at, what)| LinkDirection::BOTH.map(|direction| LinkChange { at, direction, what });
        rows.into_iter().flat_map(both).collect()
    }

    /// Names the gaps of a value.
    pub fn tell(self, bins: &Bins, what: &str, instead: &str, notes: &mut Vec<String>) {
        let gaps = bins.gaps().into_iter();
        for (from, until) in gaps.filter(|(from, until)| *from < self.end && *until > self.start) {
            let [from, until] = [from, until].map(|at| at - self.start);
            notes.push(format!("no {what} from {from:.1} to {until:.1} s; {instead}"));
        }
    }
}

/// More make no drive of a train.
const CHANGES_MAX: usize = 100_000;
/// Between lines farther apart, the moment of a handover is unknown.
const UNSEEN_MAX_S: f64 = 10.0;
/// One way, where it was not measured.
const DELAY: Duration = Duration::from_millis(20);
