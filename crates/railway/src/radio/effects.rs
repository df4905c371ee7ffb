//! Applies temporary effects to the base properties of a link, and computes the changes.

use std::time::Duration;

use trackbed_core::{Bitrate, ByteSize, Ratio, Time};

use crate::radio::timeline::{LinkChange, LinkDirection, Service, What};

/// A temporary effect. Of several overlapping effects of one kind, the worst applies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) directions: &'static [LinkDirection],
    pub(crate) kind: EffectKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum EffectKind {
    Rate(Ratio),
    DelayFactor(f64),
    DelayAdded(Duration),
    Loss(Ratio),
    Service(Service),
}

/// The base properties of a link, and the effects on it.
#[derive(Debug)]
pub(crate) struct Effects {
    /// The rates with their start times; the first one is at time zero.
    pub(crate) rates: Vec<(Time, Bitrate)>,
    pub(crate) delay: Duration,
    pub(crate) effects: Vec<Effect>,
    pub(crate) flushes: Vec<(Time, ByteSize)>,
}

impl Effects {
    /// The changes in order of time. At one time, up comes before down, and a flush before the rest.
    pub(crate) fn changes(&self) -> Vec<LinkChange> {
        let ends = self.effects.iter().flat_map(|effect| [effect.from, effect.until]);
        let mut times: Vec<Time> = self.rates.iter().map(|(at, _)| *at).chain(ends).collect();
        times.extend(self.flushes.iter().map(|(at, _)| *at));
        times.sort();
        times.dedup();
        let mut before = [None; 2];
        let mut changes = Vec::new();
        for at in times {
            for (direction, before) in LinkDirection::BOTH.into_iter().zip(&mut before) {
                let mut tell = |what| changes.push(LinkChange { at, direction, what });
                let flushes = self.flushes.iter().filter(|(when, _)| *when == at);
                flushes.for_each(|(_, bytes)| tell(What::Flush(*bytes)));
                let state = self.state(at, direction);
                let old = before.replace(state);
                let is_new = |what: &What| old.is_none_or(|old: [What; 4]| !old.contains(what));
                state.into_iter().filter(is_new).for_each(tell);
            }
        }
        changes
    }

    /// Rate, delay, loss and service.
    fn state(&self, at: Time, direction: LinkDirection) -> [What; 4] {
        let begun = self.rates.partition_point(|(from, _)| *from <= at).max(1);
        let rate = self.rates[begun - 1].1.as_bps();
        let (mut share_left, mut factor, mut added) = (Ratio::ONE, 1.0f64, Duration::ZERO);
        let (mut loss, mut service) = (Ratio::ZERO, Service::Up);
        let holds = |effect: &&Effect| effect.from <= at && at < effect.until;
        let here = self.effects.iter().filter(holds);
        for effect in here.filter(|effect| effect.directions.contains(&direction)) {
            match effect.kind {
                EffectKind::Rate(share) => share_left = share_left.min(share),
                EffectKind::DelayFactor(times) => factor = factor.max(times),
                EffectKind::DelayAdded(more) => added = added.max(more),
                EffectKind::Loss(share) => loss = loss.max(share),
                EffectKind::Service(is) => service = service.max(is),
            }
        }
        let rate = (rate as f64 * share_left.as_f64()).round() as u64;
        let micros = (self.delay.as_secs_f64() * 1e6 * factor).round() as u64;
        let delay = Duration::from_micros(micros) + added;
        let rate = What::Rate(Bitrate::from_bps(rate));
        [rate, What::Delay(delay), What::Loss(loss), What::Service(service)]
    }
}
