//! Loss in bursts whose states last for times, not for packets: Gilbert and Elliott in continuous time.

use std::time::Duration;

use trackbed_core::{Ratio, Rng, Time};

use super::{LossLaw, LossProcess};
use crate::spec::SpecError;

/// Loses packets in bursts. The good and the bad state alternate after exponential times, whatever is
/// sent meanwhile, so a sender that backs off does not stay in the bad one. In the long run the share
/// `bad / (good + bad)` of the time is bad.
///
/// The states come from a stream of their own: two protocols with the same seed have the same bad times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sojourn {
    good: Duration,
    bad: Duration,
    loss_bad: Ratio,
    loss_good: Ratio,
}

impl Sojourn {
    /// States with these mean times.
    ///
    /// # Errors
    /// If a mean time is below a millisecond: then give probabilities for each packet.
    pub fn new(
        good: Duration,
        bad: Duration,
        loss_bad: Ratio,
        loss_good: Ratio,
    ) -> Result<Sojourn, SpecError> {
        match good.min(bad) < LEAST {
            true => Err(SpecError::new("good and bad are too short; write 1 ms or more")),
            false => Ok(Sojourn { good, bad, loss_bad, loss_good }),
        }
    }
}

const LEAST: Duration = Duration::from_millis(1);

impl LossLaw for Sojourn {
    fn begin(&self, mut rng: Rng) -> Box<dyn LossProcess> {
        let mut states = rng.split();
        let (good, bad) = (self.good.as_secs_f64(), self.bad.as_secs_f64());
        // Exponential times have no memory: the first state has as long to go as any other.
        let is_bad = states.unit() * (good + bad) < bad;
        let mut process = Process { law: *self, is_bad, until: Time::ZERO, states, rng };
        process.until = process.next_change(Time::ZERO);
        Box::new(process)
    }
}

#[derive(Debug)]
struct Process {
    law: Sojourn,
    is_bad: bool,
    /// When the state changes.
    until: Time,
    states: Rng,
    rng: Rng,
}

impl Process {
    fn next_change(&mut self, since: Time) -> Time {
        let mean = if self.is_bad { self.law.bad } else { self.law.good };
        let nanos = (self.states.exponential() * mean.as_nanos() as f64).clamp(1.0, 1e18);
        since + Duration::from_nanos(nanos as u64)
    }
}

impl LossProcess for Process {
    fn loses_next(&mut self, now: Time, _size: usize) -> bool {
        while self.until <= now {
            self.is_bad = !self.is_bad;
            self.until = self.next_change(self.until);
        }
        self.rng.chance(if self.is_bad { self.law.loss_bad } else { self.law.loss_good })
    }
}
