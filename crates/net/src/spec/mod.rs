//! What a link model is: its description, its place in a link, and its entry in the registry.

use std::fmt;
use std::sync::Arc;

use trackbed_core::parameter::{Arguments, Parameter};
use trackbed_core::{Rng, named};

use crate::link::Link;

/// The description of one model of a link: plain data.
pub trait Model: fmt::Debug + Send + Sync {
    /// Where the model stands in the default order; also the name of its random numbers.
    fn stage(&self) -> Stage;

    /// Builds the model around `inner`. Only this model draws from `rng`.
    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link>;

    /// Whether its state changes only with packets, so that a sender that backs off may find a bad state
    /// for minutes.
    fn waits_for_packets(&self) -> bool {
        false
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn stage(&self) -> Stage {
        (**self).stage()
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        (**self).wrap(rng, inner)
    }

    fn waits_for_packets(&self) -> bool {
        (**self).waits_for_packets()
    }
}

named! {
    /// The places of the models in the default order, the first one met by a packet first. The names are those of
    /// the random numbers that a model draws.
    ///
    /// Random loss and everything else that happens to a packet on the medium comes after the rate: as on a
    /// real link, a packet that will be lost has occupied the sender for its time.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Stage {
        /// Packets of others that take part of the queue and the rate, and go no further.
        Background = "background",
        /// Stops and starts sending.
        Pause = "pause",
        /// Flushes the queue.
        Flush = "flush",
        /// Queue and serialisation.
        Queue = "queue",
        /// Times at which nothing gets through.
        Outage = "outage",
        /// Random and regular loss.
        Loss = "loss",
        /// Damage.
        Corruption = "corruption",
        /// Copies.
        Duplication = "duplication",
        /// Propagation and jitter.
        Delay = "jitter",
        /// Reordering; after the delay, which may restore the order.
        Reordering = "reordering",
    }
}

/// The registry entry of a link model.
pub struct ModelEntry {
    /// The name under which scenarios use the model.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its own parameters.
    pub parameters: &'static [Parameter],
    /// True if it has a queue: then `queue` ([`SELECTOR`](crate::SELECTOR)) and the parameters of the
    /// chosen queue are parameters too.
    pub has_queue: bool,
    /// Example parameters of a sensible model; for a file its contents.
    pub example: &'static [(&'static str, &'static str)],
    /// The model that these values describe.
    pub read: fn(&Arguments) -> Result<Arc<dyn Model>, SpecError>,
}

trackbed_core::debug_by_name!(ModelEntry);

/// Why a description of a link cannot be used, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

impl SpecError {
    /// An error with this message, which names the problem and the remedy.
    pub fn new(message: impl Into<String>) -> SpecError {
        SpecError(message.into())
    }

    pub(crate) fn of(owner: &str, message: impl fmt::Display) -> SpecError {
        SpecError(format!("{owner}: {message}"))
    }
}
