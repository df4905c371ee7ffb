//! The roadside unit: it receives signed messages, and decides whether to accept them.

mod processors;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use trackbed_core::event::{Decision, Judgement, Verification};
use trackbed_core::{Event, EventLog, Time};
use trackbed_substrate::{is_simulating, now, yield_now};
use trackbed_v2x::check::Pending;
use trackbed_v2x::job::SignatureVerifier as _;
use trackbed_v2x::{Receiver, Refusal};
use trackbed_verifier::cache::Policy;

use super::moment::time_of_day;
use super::signed::Signed;
use crate::boards::Board;
use crate::signatures::{OnThisThread, TABLE_AFTER, judgement};
use processors::Processors;

#[derive(Clone)]
pub(super) struct Equipment {
    /// The processors in virtual time; in real time it is this machine.
    pub board: Board,
    /// The board that the scenario names.
    pub chosen: Option<String>,
    /// The number of cores that verify; default: that of the board.
    pub workers: Option<usize>,
    /// The deadline of a verdict: cores take the earliest deadline first.
    pub deadline: Duration,
}

pub(super) struct Roadside {
    log: EventLog,
    /// An error if it cannot trust any authority; it has the reason.
    receiver: Result<RefCell<Receiver>, Refusal>,
    verifier: RefCell<OnThisThread>,
    processors: Option<Rc<Processors>>,
}

impl Roadside {
    pub(super) fn new(signed: &Signed, equipment: &Equipment, log: EventLog) -> Roadside {
        let tables = Policy::Lru { bytes: TABLES_BYTES_MAX, after: TABLE_AFTER };
        let mut verifier = OnThisThread::new(tables);
        let receiver = signed.receiver(time_of_day(now()), &mut verifier);
        Roadside {
            log,
            receiver: receiver.map(RefCell::new),
            verifier: RefCell::new(verifier),
            processors: is_simulating().then(|| Rc::new(Processors::new(equipment, tables))),
        }
    }

    pub(super) async fn examine(&self, message: &[u8]) -> Result<(), String> {
        let heard = now();
        let decision = self.decide(message, heard).await;
        // Phones of the lab do not lie.
        let judgement = decision.as_ref().map_or_else(judgement, |()| Judgement::Accepted);
        let decided = Decision { at: now(), heard, genuine: true, judgement };
        self.log.record(decided.at, Event::Verification(Verification::Judged(vec![decided])));
        decision.map_err(|refusal| refusal.to_string())
    }

    async fn decide(&self, message: &[u8], heard: Time) -> Result<(), Refusal> {
        let time = time_of_day(now());
        let receiver = self.receiver.as_ref().map_err(Refusal::clone)?;
        let pending = receiver.borrow().check(message, time)?;
        let mut verdicts = Vec::with_capacity(2);
        self.verifier.borrow_mut().verify(pending.jobs(), &mut verdicts);
        match &self.processors {
            Some(processors) => processors.work_on(signatures(&pending), heard).await,
            // The clock stands still while a task runs, even in real time: without another turn, the
            // work would seem to take no time.
            None => yield_now().await,
        }
        receiver.borrow_mut().settle(pending, &verdicts).map(drop)
    }
}

/// The message's sender, and whether its certificate must be verified too.
fn signatures(pending: &Pending<'_>) -> (u64, bool) {
    (u64::from_be_bytes(pending.ticket().id().0), pending.jobs().len() > 1)
}

/// Memory for tables of keys: those of a thousand phones.
const TABLES_BYTES_MAX: usize = 64_000_000;
