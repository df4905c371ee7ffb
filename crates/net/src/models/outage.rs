//! Outages: times at which nothing gets through.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Packet, Rng, Time};

use super::gate::{Gate, Gated};
use crate::link::{Change, DropReason, Link, Outlet};
use crate::spec::{Arguments, Kind, Model, ModelEntry, Parameter, SpecError, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "outage",
    summary: "times at which nothing gets through",
    parameters: &[
        Parameter::required(
            "outage",
            Kind::Timetable,
            "from when to when the link is down, each time",
        ),
        Parameter::with_default(
            "outage_packets",
            Kind::Choice(&["dropped", "held"]),
            "dropped",
            "what becomes of packets meanwhile: dropped once they are sent, or held in the queue",
        ),
    ],
    has_queue: false,
    example: &[("outage", "10 s: 12 s, 30 s: 30.5 s")],
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn Model>, SpecError> {
    let down: Vec<(Duration, Duration)> = arguments.need("outage");
    let mode = match arguments.need("outage_packets") {
        "held" => DownMode::Hold,
        _ => DownMode::Drop,
    };
    let times = down.into_iter().map(|(from, until)| (Time::ZERO + from, Time::ZERO + until));
    Ok(Arc::new(Outage::new(times, mode)?))
}

/// Times at which nothing gets through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    down: Arc<[(Time, Time)]>,
    mode: DownMode,
}

/// What becomes of packets while a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownMode {
    /// They are sent and lost; those that had been sent before arrive. In the default order this
    /// comes behind queue and rate.
    Drop,
    /// Sending pauses: the rate inside stops, in the midst of a packet if need be, and its queue
    /// fills; those that had been sent before arrive. Without a rate inside, packets are held
    /// without limit and all pass when the link comes up. In the default order this comes first.
    Hold,
}

impl Outage {
    /// Down from each first time until just before the second one.
    ///
    /// # Errors
    /// If a span is empty, or begins before the last one has ended.
    pub fn new(
        down: impl IntoIterator<Item = (Time, Time)>,
        mode: DownMode,
    ) -> Result<Outage, SpecError> {
        let down: Arc<[(Time, Time)]> = down.into_iter().collect();
        let mut end = Time::ZERO;
        for &(from, until) in down.iter() {
            if from >= until {
                return Err(SpecError::new(format!(
                    "an outage from {from} until {until} has no length; let it end after it begins"
                )));
            }
            if from < end {
                return Err(SpecError::new(format!(
                    "the outage at {from} begins before the last one has ended at {end}; give \
                     outages in order of time, without overlap"
                )));
            }
            end = until;
        }
        Ok(Outage { down, mode })
    }
}

impl Model for Outage {
    fn stage(&self) -> Stage {
        match self.mode {
            DownMode::Drop => Stage::Outage,
            DownMode::Hold => Stage::Pause,
        }
    }

    fn wrap(&self, _rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        let down = Arc::clone(&self.down);
        match self.mode {
            DownMode::Drop => Box::new(Gated { gate: DropGate { down, past: 0 }, inner }),
            DownMode::Hold => Box::new(HoldLink {
                down,
                past: 0,
                state: State::Up,
                waiting: VecDeque::new(),
                inner,
            }),
        }
    }
}

#[derive(Debug)]
struct DropGate {
    down: Arc<[(Time, Time)]>,
    /// How many outages are over.
    past: usize,
}

impl Gate for DropGate {
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet) {
        while self.down.get(self.past).is_some_and(|(_, until)| *until <= now) {
            self.past += 1;
        }
        match self.down.get(self.past) {
            Some((from, _)) if *from <= now => out.drop(now, packet, DropReason::Outage),
            _ => inner.push(now, packet, out),
        }
    }
}

#[derive(Debug)]
struct HoldLink {
    down: Arc<[(Time, Time)]>,
    /// How many outages are over.
    past: usize,
    state: State,
    /// Packets that wait here because no rate inside can be paused.
    waiting: VecDeque<Packet>,
    inner: Box<dyn Link>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    /// Down, and the rate inside is paused.
    Paused,
    /// Down, and packets wait here.
    Waiting,
}

impl HoldLink {
    /// When the state changes next.
    fn next_turn(&self) -> Option<Time> {
        let (from, until) = *self.down.get(self.past)?;
        Some(if self.state == State::Up { from } else { until })
    }

    /// Makes every change of state that is due by `now`, each after what is due inside before it.
    fn turn(&mut self, now: Time, out: &mut dyn Outlet) {
        while let Some(at) = self.next_turn().filter(|at| *at <= now) {
            self.inner.advance(at, out);
            if self.state == State::Up {
                let paused = self.inner.change(at, &Change::Paused(true));
                self.state = if paused { State::Paused } else { State::Waiting };
                continue;
            }
            if self.state == State::Paused {
                self.inner.change(at, &Change::Paused(false));
            }
            self.state = State::Up;
            self.past += 1;
            for packet in self.waiting.drain(..) {
                self.inner.push(at, packet, out);
            }
        }
    }
}

impl Link for HoldLink {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.turn(now, out);
        match self.state {
            State::Up | State::Paused => self.inner.push(now, packet, out),
            State::Waiting => self.waiting.push_back(packet),
        }
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.turn(now, out);
        self.inner.advance(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        // Going down shows nothing outside, so it can be made up for later.
        let up = self.next_turn().filter(|_| self.state != State::Up && self.held() > 0);
        [up, self.inner.next_wake()].into_iter().flatten().min()
    }

    fn held(&self) -> usize {
        self.waiting.len() + self.inner.held()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        self.inner.change(now, change)
    }
}
