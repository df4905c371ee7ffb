//! The messages that a unit has received, and its decisions, as events.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::event::{Decision, Judgement, UnitAccount, Verification};
use trackbed_core::{Event, EventLog, Time};
use trackbed_v2x::traffic::Origin;

/// Records decisions; of floods only the number.
pub(super) struct Book {
    log: EventLog,
    /// Those that are not recorded yet.
    decisions: Vec<Decision>,
    repelled: BTreeMap<Judgement, u64>,
    first: Option<Time>,
    last: Time,
}

/// Decisions in one record. A chunk is full when it is recorded, so that none of its memory is idle.
const CHUNK: usize = 4_096;

pub(super) const NOTHING_HEARD: &str =
    "no message arrived in the measured window: increase `rate` or `duration`";

impl Book {
    pub fn new(log: EventLog) -> Book {
        let decisions = Vec::with_capacity(CHUNK);
        Book { log, decisions, repelled: BTreeMap::new(), first: None, last: Time::ZERO }
    }

    /// Records the decision at `at`, which never decreases, about a message that arrived at `heard`.
    pub fn judge(&mut self, at: Time, heard: Time, origin: Origin, judgement: Judgement) {
        self.first = Some(self.first.map_or(heard, |first| first.min(heard)));
        self.last = self.last.max(at);
        if origin == Origin::Flood {
            *self.repelled.entry(judgement).or_default() += 1;
            return;
        }
        let genuine = origin == Origin::Vehicle;
        self.decisions.push(Decision { at, heard, genuine, judgement });
        if self.decisions.len() == CHUNK {
            self.record();
        }
    }

    fn record(&mut self) {
        let decisions = std::mem::replace(&mut self.decisions, Vec::with_capacity(CHUNK));
        self.log.record(self.last, Event::Verification(Verification::Judged(decisions)));
    }

    /// Records the account at the end, `now`, except its span, which the book knows.
    pub fn close(mut self, now: Time, account: UnitAccount) {
        self.record();
        let span = self.first.map_or(Duration::ZERO, |first| self.last.since(first));
        for (judgement, messages) in self.repelled {
            let repelled = Verification::Repelled { messages, judgement };
            self.log.record(now, Event::Verification(repelled));
        }
        let accounted = Verification::Accounted(UnitAccount { span, ..account });
        self.log.record(now, Event::Verification(accounted));
    }
}
