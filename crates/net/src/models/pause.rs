//! Pauses: periods in which nothing is sent and packets wait.

use std::collections::VecDeque;
use std::sync::Arc;

use trackbed_core::{Packet, Rng, Time, parameters};

use super::outage::Spells;
use crate::link::{Change, Link, Outlet, Waiting};
use crate::spec::{Model, ModelEntry, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "pause",
    summary: "times at which nothing is sent and packets stay in the queue",
    parameters: parameters! {
        "pause": Timetable, required => "pairs of times between which nothing is sent";
    },
    has_queue: false,
    example: &[("pause", "10 s: 12 s, 30 s: 30.5 s")],
    read: |arguments| Ok(Arc::new(Pause { down: Spells::from_rows(arguments.need("pause"))? })),
};

/// Periods in which nothing is sent: the rate inside stops, even in the middle of a packet, and its
/// queue fills. Packets sent before still arrive. In the default order it comes first.
///
/// Without a rate inside, packets wait here without limit, and all pass when the pause is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When nothing is sent.
    pub down: Spells,
}

impl Model for Pause {
    fn stage(&self) -> Stage {
        Stage::Pause
    }

    fn wrap(&self, _rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        let (down, waiting) = (self.down.clone(), VecDeque::new());
        Box::new(PauseLink { down, past: 0, state: State::Up, waiting, inner })
    }
}

#[derive(Debug)]
struct PauseLink {
    down: Spells,
    /// How many pauses are over.
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

impl PauseLink {
    fn next_turn(&self) -> Option<Time> {
        let (from, until) = self.down.get(self.past)?;
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

impl Link for PauseLink {
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
        // A pause has no visible effect at once, so it can be applied later.
        let up = self.next_turn().filter(|_| self.state != State::Up && self.held() > 0);
        [up, self.inner.next_wake()].into_iter().flatten().min()
    }

    fn held(&self) -> usize {
        self.waiting.len() + self.inner.held()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        self.inner.change(now, change)
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.inner.flush(now, which, out)
    }
}
