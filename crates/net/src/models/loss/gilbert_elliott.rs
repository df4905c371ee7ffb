//! Loss in bursts: the model of Gilbert (1960) and Elliott (1963), by packets and in continuous time.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Ratio, Rng, Time, parameters};

use super::{Loss, LossLaw, LossProcess};
use crate::spec::{ModelEntry, SpecError};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "gilbert-elliott",
    summary: "burst loss: a chain with a good and a bad state; with p and r it advances only with \
              packets, so it strands a sender that backs off; with good and bad, in time",
    parameters: parameters! {
        "p": Share, optional => "probability per packet of going from the good to the bad state";
        "r": Share, optional => "probability per packet of going from the bad to the good state";
        "good": Time, optional => "mean time in the good state; replaces p, goes with bad";
        "bad": Time, optional => "mean time in the bad state; replaces r, goes with good";
        "loss_bad": Share = "100 %" => "loss probability in the bad state";
        "loss_good": Share = "0 %" => "loss probability in the good state";
    },
    has_queue: false,
    example: &[("p", "0.1 %"), ("r", "20 %")],
    read: |arguments| {
        let (p, r) = (arguments.get::<Ratio>("p"), arguments.get::<Ratio>("r"));
        let (good, bad) = (arguments.get::<Duration>("good"), arguments.get::<Duration>("bad"));
        let (loss_bad, loss_good) = (arguments.need("loss_bad"), arguments.need("loss_good"));
        match (p.zip(r), good.zip(bad)) {
            (Some((p, r)), None) if good.or(bad).is_none() => {
                Ok(Arc::new(Loss::new(GilbertElliott { p, r, loss_bad, loss_good })))
            }
            (None, Some((good, bad))) if p.or(r).is_none() => {
                Ok(Arc::new(Loss::new(Sojourn::new(good, bad, loss_bad, loss_good)?)))
            }
            _ => Err(SpecError::new(
                "write p and r, which count packets, or good and bad, which are times: for example \
                 p = \"0.1 %\", r = \"20 %\" or good = \"2 s\", bad = \"40 ms\"",
            )),
        }
    },
};

/// Loses packets in bursts. The current state applies to each packet; then the state may change.
/// With the default losses (all in the bad state, none in the good one) the share `p / (p + r)` is
/// lost, in bursts of `1 / r` packets in the mean.
///
/// The first state is drawn from the share of time that each has in the long run, so that the start
/// of a run is not special. Draws twice for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertElliott {
    /// The probability, at each packet, to go from the good state to the bad one.
    pub p: Ratio,
    /// The probability, at each packet, to go from the bad state to the good one.
    pub r: Ratio,
    /// The probability of loss in the bad state.
    pub loss_bad: Ratio,
    /// The probability of loss in the good state.
    pub loss_good: Ratio,
}

impl LossLaw for GilbertElliott {
    fn begin(&self, mut rng: Rng) -> Box<dyn LossProcess> {
        let (p, r) = (self.p.as_f64(), self.r.as_f64());
        // With p = r = 0 no state is ever left; the good one is then where it begins.
        let bad = rng.unit() * (p + r) < p;
        Box::new(Process { law: *self, bad, rng })
    }

    fn waits_for_packets(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Process {
    law: GilbertElliott,
    bad: bool,
    rng: Rng,
}

impl LossProcess for Process {
    fn loses_next(&mut self, _now: Time, _size: usize) -> bool {
        let GilbertElliott { p, r, loss_bad, loss_good } = self.law;
        let lost = self.rng.chance(if self.bad { loss_bad } else { loss_good });
        self.bad ^= self.rng.chance(if self.bad { r } else { p });
        lost
    }
}

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
        let mut process = SojournProcess { law: *self, is_bad, until: Time::ZERO, states, rng };
        process.until = process.next_change(Time::ZERO);
        Box::new(process)
    }
}

#[derive(Debug)]
struct SojournProcess {
    law: Sojourn,
    is_bad: bool,
    /// When the state changes.
    until: Time,
    states: Rng,
    rng: Rng,
}

impl SojournProcess {
    fn next_change(&mut self, since: Time) -> Time {
        let mean = if self.is_bad { self.law.bad } else { self.law.good };
        let nanos = (self.states.exponential() * mean.as_nanos() as f64).clamp(1.0, 1e18);
        since + Duration::from_nanos(nanos as u64)
    }
}

impl LossProcess for SojournProcess {
    fn loses_next(&mut self, now: Time, _size: usize) -> bool {
        while self.until <= now {
            self.is_bad = !self.is_bad;
            self.until = self.next_change(self.until);
        }
        self.rng.chance(if self.is_bad { self.law.loss_bad } else { self.law.loss_good })
    }
}
