//! Loss: some packets do not arrive. Each loss law but the independent one has its own file.

pub(crate) mod gilbert_elliott;
pub(crate) mod list;
pub(crate) mod timetable;

use std::fmt;
use std::sync::Arc;

use trackbed_core::{Packet, Ratio, Rng, Time, parameters};

use super::gate::{Gate, Gated};
use crate::link::{Change, DropReason, Link, Outlet};
use crate::spec::{Model, ModelEntry, SpecError, Stage};

pub use gilbert_elliott::{GilbertElliott, Sojourn};
pub use list::{Listed, Periodic};
pub use timetable::LossTimetable;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "loss",
    summary: "loses each packet with the same probability, independently of the others",
    parameters: parameters! {
        "loss": Share, required => "the probability that a packet is lost";
    },
    has_queue: false,
    example: &[("loss", "0.3 %")],
    read: |arguments| Ok(Arc::new(Loss::bernoulli(arguments.need("loss")))),
};

/// Loses the packets that a law chooses. In the default order it comes after queue and rate: a lost
/// packet has been sent.
#[derive(Clone, Debug)]
pub struct Loss {
    law: Arc<dyn LossLaw>,
}

impl Loss {
    /// Loss by `law`.
    pub fn new(law: impl LossLaw + 'static) -> Loss {
        Loss { law: Arc::new(law) }
    }

    /// Each packet with the same probability, independently of the others. Draws once for each
    /// packet, also at probability zero, so that runs with different probabilities use the same
    /// draws.
    pub fn bernoulli(probability: Ratio) -> Loss {
        Loss::new(LossTimetable::constant(probability))
    }
}

/// The description of a law of loss.
pub trait LossLaw: fmt::Debug + Send + Sync {
    /// A new instance of the law, for a sequence of packets.
    fn begin(&self, rng: Rng) -> Box<dyn LossProcess>;

    /// Whether its state changes only with packets: see [`Model::waits_for_packets`].
    fn waits_for_packets(&self) -> bool {
        false
    }
}

/// An instance of a loss law.
pub trait LossProcess: fmt::Debug + Send {
    /// True if the next packet, of `size` bytes at `now`, is lost. A random law makes the same
    /// number of draws for each packet.
    fn loses_next(&mut self, now: Time, size: usize) -> bool;

    /// Takes a new probability of loss, if the law has just one.
    fn set_probability(&mut self, probability: Ratio) -> bool {
        let _ = probability;
        false
    }
}

impl Model for Loss {
    fn stage(&self) -> Stage {
        Stage::Loss
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(Gated { gate: LossGate(self.law.begin(rng)), inner })
    }

    fn waits_for_packets(&self) -> bool {
        self.law.waits_for_packets()
    }
}

#[derive(Debug)]
struct LossGate(Box<dyn LossProcess>);

impl Gate for LossGate {
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet) {
        match self.0.loses_next(now, packet.len()) {
            true => out.drop(now, packet, DropReason::Loss),
            false => inner.push(now, packet, out),
        }
    }

    fn change(&mut self, change: &Change) -> bool {
        match change {
            Change::Loss(probability) => self.0.set_probability(*probability),
            Change::Rate(_) | Change::Delay(_) | Change::Paused(_) => false,
        }
    }
}

/// Packet numbers in a law or a list begin at one; zero names no packet.
fn no_packet_zero(parameter: &str) -> SpecError {
    SpecError::new(format!("{parameter}: packets are counted from 1; write 1 or more"))
}
