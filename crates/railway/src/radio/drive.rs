//! Simulates the terminal of one operator along a ride: measurements, events, handovers.

use std::time::Duration;

use crate::motion::Ride;
use trackbed_core::{Bitrate, ByteSize, Rng, Seed, Time};

use crate::radio::effects::{Effect, EffectKind, Effects};
use crate::radio::event::{Layer3Filter, Timers};
use crate::radio::profile::Spell;
use crate::radio::railway::Railway;
use crate::radio::shadowing::{Landscape, Variation};
use crate::radio::station::{Operator, heard};
use crate::radio::timeline::{
    Handover, HandoverKind, LinkDirection, RadioTimeline, Service, SignalSample,
};

impl Railway {
    /// Drives along `ride` until `end`, and returns the timeline of each operator's link, in their order. It
    /// depends only on the seed; an operator's draws do not depend on the others'.
    pub fn drive(&self, ride: &Ride, end: Time, seed: &Seed) -> Vec<RadioTimeline> {
        let operators = 0..self.operators.len();
        operators.map(|number| drive(self, number, ride, end, seed)).collect()
    }
}

/// Drives along `ride` until `end` with a terminal of `operator`.
fn drive(railway: &Railway, number: usize, ride: &Ride, end: Time, seed: &Seed) -> RadioTimeline {
    let mut terminal = Terminal::new(railway, number, ride, seed);
    let period = railway.measurement.period;
    let mut now = Time::ZERO + terminal.draws.span((Duration::ZERO, period));
    terminal.serving = terminal.strongest(now).unwrap_or_default();
    while now <= end {
        terminal.handle_reports(now, end);
        terminal.measure(now);
        now += period;
    }
    terminal.handle_reports(end, end);
    terminal.finish()
}

/// A weaker serving cell cannot be decoded (TS 36.133 section 7.6: out of sync).
const OUT_OF_SYNC_DBM: f64 = -128.0;
/// The time to wait for the cell to recover: T310 (TS 36.331 section 7.3), its default.
const T310: Duration = Duration::from_secs(1);
/// More bytes than any queue holds.
const ALL: ByteSize = ByteSize::from_bytes(u64::MAX >> 1);

struct Terminal<'a> {
    railway: &'a Railway,
    operator: &'a Operator,
    landscape: &'a Landscape,
    ride: &'a Ride,
    draws: Draws,
    variations: Vec<Variation>,
    filters: Vec<Layer3Filter>,
    timers: Timers,
    serving: usize,
    /// Since when the serving cell has been too weak to decode.
    out_of_sync: Option<Time>,
    /// The end of the current handover.
    busy: Time,
    effects: Effects,
    handovers: Vec<Handover>,
    signal: Vec<SignalSample>,
}

/// Draws random durations, in microseconds.
struct Draws(Rng);

impl Draws {
    fn span(&mut self, (low, high): (Duration, Duration)) -> Duration {
        let span = self.0.span(low, high.max(low));
        Duration::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }
}

impl<'a> Terminal<'a> {
    fn new(railway: &'a Railway, number: usize, ride: &'a Ride, seed: &Seed) -> Terminal<'a> {
        let operator = &railway.operators[number];
        let cells = operator.stations.len();
        let seed = seed.child(&format!("radio/{}", operator.name));
        let variation = |cell| Variation::new(seed.stream(&format!("variation/{cell}")));
        Terminal {
            railway,
            operator,
            landscape: &railway.landscapes[number],
            ride,
            draws: Draws(seed.stream("handover")),
            variations: (0..cells).map(variation).collect(),
            filters: vec![Layer3Filter::new(railway.measurement.filter); cells],
            timers: Timers::new(railway.event, cells),
            serving: 0,
            out_of_sync: None,
            busy: Time::ZERO,
            effects: Effects {
                rates: vec![(Time::ZERO, operator.rate)],
                delay: operator.delay,
                effects: Vec::new(),
                flushes: Vec::new(),
            },
            handovers: Vec::new(),
            signal: Vec::new(),
        }
    }

    /// The power of a station without the variation from drive to drive, in dBm.
    fn mean_dbm(&self, station: usize, chainage_m: f64) -> f64 {
        let train = self.ride.track().coordinates_at(chainage_m);
        let distance = self.operator.stations[station].coordinates.plane_distance_m(train);
        let shadow = self.landscape.shadow(station, chainage_m);
        let propagation = &self.railway.propagation;
        propagation.rsrp_dbm(distance) + propagation.shadowing.sigma_db * shadow
    }

    /// The station with the highest mean power at `at`.
    fn strongest(&self, at: Time) -> Option<usize> {
        let chainage_m = self.ride.chainage_m(at);
        let power = |station: &usize| self.mean_dbm(*station, chainage_m);
        let heard = heard(self.operator, chainage_m);
        heard.max_by(|one, other| power(one).total_cmp(&power(other)))
    }

    /// Measures all audible cells, sets timers, and computes the rate.
    fn measure(&mut self, now: Time) {
        let chainage_m = self.ride.chainage_m(now);
        let range = heard(self.operator, chainage_m);
        let shadowing = self.railway.propagation.shadowing;
        let mut measured: Vec<(usize, f64)> = Vec::with_capacity(range.len());
        for (cell, filter) in self.filters.iter_mut().enumerate() {
            if !range.contains(&cell) {
                filter.reset();
            }
        }
        for cell in range {
            let variation = self.variations[cell].at(chainage_m, shadowing.correlation_m);
            let dbm = self.mean_dbm(cell, chainage_m) + shadowing.variation_db * variation;
            self.filters[cell].update(dbm);
            measured.push((cell, dbm));
        }
        let of = |wanted: usize| measured.iter().find(|(cell, _)| *cell == wanted);
        let serving_dbm = of(self.serving).map_or(f64::NEG_INFINITY, |(_, dbm)| *dbm);
        let others = measured.iter().filter(|(cell, _)| *cell != self.serving).map(|(_, dbm)| *dbm);
        let sinr_db = self.railway.propagation.sinr_db(serving_dbm, others.clone());
        self.signal.push(SignalSample {
            at: now,
            chainage_m,
            serving: self.serving,
            rsrp_dbm: serving_dbm,
            neighbour_dbm: others.fold(f64::NEG_INFINITY, f64::max),
            sinr_db,
        });
        let rate = self.railway.propagation.rate(sinr_db).min(self.operator.rate);
        self.set_rate(now, rate);
        if now < self.busy {
            return;
        }
        let lost = serving_dbm < OUT_OF_SYNC_DBM;
        self.out_of_sync = lost.then(|| self.out_of_sync.unwrap_or(now));
        let serving = self.filters[self.serving].value().unwrap_or(f64::NEG_INFINITY);
        for cell in 0..self.filters.len() {
            if cell != self.serving {
                self.timers.measure(now, cell, serving, self.filters[cell].value());
            }
        }
    }

    fn set_rate(&mut self, now: Time, rate: Bitrate) {
        let rates = &mut self.effects.rates;
        // The first measurement applies from the start.
        let from = if self.signal.len() == 1 { Time::ZERO } else { now };
        if from == Time::ZERO {
            rates.clear();
        }
        if rates.last().is_none_or(|(_, last)| *last != rate) {
            rates.push((from, rate));
        }
    }

    /// Handles timers that expire before the measurement at `now`.
    fn handle_reports(&mut self, now: Time, end: Time) {
        let lost = self.out_of_sync.map(|since| since + T310).filter(|at| *at <= now);
        let report = self.timers.next_expiry().filter(|at| *at <= now);
        match (lost, report) {
            (Some(lost), report) if report.is_none_or(|report| lost < report) => {
                let since = lost - T310;
                self.fail(since, since, end);
            }
            (_, Some(report)) => self.report(report, end),
            _ => {}
        }
    }

    /// The terminal reports at `report`; the command to the strongest reported cell follows.
    fn report(&mut self, report: Time, end: Time) {
        let power = |cell: &usize| self.filters[*cell].value().unwrap_or(f64::NEG_INFINITY);
        let expired = self.timers.expired(report);
        let target = expired.max_by(|one, other| power(one).total_cmp(&power(other)));
        let Some(target) = target else { return };
        let profile = self.railway.profile;
        let command = report + self.draws.span(profile.preparation);
        let gap = self.draws.span(self.railway.gap());
        let forwarding = self.draws.span(profile.forwarding);
        let fails = self.draws.0.chance(profile.failures);
        // Drawn in any case, so that the share of failures does not affect later draws.
        let spell = profile.spell.map(|spell| self.draw_spell(&spell));
        if command > end {
            return self.timers.reset();
        }
        if fails {
            self.disturb(command, gap, spell);
            return self.fail(report, command, end);
        }
        let until = command + gap;
        let hold = if self.railway.forwarding { Service::Held } else { Service::Lost };
        self.effect(command, until, &LinkDirection::BOTH, EffectKind::Service(hold));
        if self.railway.forwarding && !forwarding.is_zero() {
            // Packets through the source take an additional hop over X2, until the last of them.
            let longer = EffectKind::DelayAdded(forwarding);
            self.effect(command, until + forwarding, &[LinkDirection::Down], longer);
        }
        let flush = if self.railway.forwarding { profile.flush } else { ALL };
        if flush.as_bytes() > 0 {
            self.effects.flushes.push((command, flush));
        }
        let disturbed = self.disturb(command, gap, spell);
        self.change_cell(HandoverKind::X2, target, (report, command, until), disturbed);
    }

    /// The radio link fails at `lost`, and is re-established with the cell that is then the best.
    fn fail(&mut self, report: Time, lost: Time, end: Time) {
        let until = lost + self.draws.span(self.railway.profile.reestablishment);
        self.effect(lost, until, &LinkDirection::BOTH, EffectKind::Service(Service::Lost));
        self.effects.flushes.push((lost, ALL));
        let target = self.strongest(until.min(end)).unwrap_or(self.serving);
        self.change_cell(HandoverKind::Failure, target, (report, lost, until), (lost, until));
    }

    /// Degrades the link around a gap, and returns when it is worse than usual.
    fn disturb(&mut self, command: Time, gap: Duration, spell: Option<DrawnSpell>) -> (Time, Time) {
        let Some(spell) = spell else { return (command, command + gap) };
        let middle = command + gap / 2;
        let (from, until) = (middle - spell.duration / 2, middle + spell.duration / 2);
        for kind in spell.kinds {
            self.effect(from, until, &LinkDirection::BOTH, kind);
        }
        (from.min(command), until.max(command + gap))
    }

    fn draw_spell(&mut self, spell: &Spell) -> DrawnSpell {
        let duration = self.draws.span(spell.duration);
        let (least, most) = spell.delay_factor;
        let factor = least + (most - least) * self.draws.0.unit();
        let loss = spell.loss_max.as_f64() * self.draws.0.unit();
        let loss = trackbed_core::Ratio::from_parts((loss * 1_000.0).round() as u64, 1_000);
        let kinds =
            [EffectKind::Rate(spell.rate), EffectKind::DelayFactor(factor), EffectKind::Loss(loss)];
        DrawnSpell { duration, kinds }
    }

    fn effect(
        &mut self,
        from: Time,
        until: Time,
        directions: &'static [LinkDirection],
        kind: EffectKind,
    ) {
        self.effects.effects.push(Effect { from, until, directions, kind });
    }

    fn change_cell(
        &mut self,
        kind: HandoverKind,
        target: usize,
        (report, command, end): (Time, Time, Time),
        disturbed: (Time, Time),
    ) {
        let cell = |number: usize| self.operator.stations[number].cell.clone();
        let at = |time: Time| self.ride.chainage_m(time);
        self.handovers.push(Handover {
            kind,
            from: cell(self.serving),
            to: cell(target),
            report,
            command,
            end,
            disturbed,
            chainage_m: at(command),
            disturbed_m: (at(disturbed.0), at(disturbed.1)),
        });
        self.serving = target;
        self.busy = end;
        self.out_of_sync = None;
        self.timers.reset();
    }

    fn finish(self) -> RadioTimeline {
        RadioTimeline {
            operator: self.operator.name.clone(),
            changes: self.effects.changes(),
            handovers: self.handovers,
            signal: self.signal,
        }
    }
}

struct DrawnSpell {
    duration: Duration,
    kinds: [EffectKind; 3],
}
