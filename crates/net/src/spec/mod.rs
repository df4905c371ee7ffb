//! The description of a link: plain data, from which each run builds links of its own.

mod error;
mod registry;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Bitrate, Rng, Seed};

use crate::link::{Link, Wire};
use crate::models::{Delay, Rate};
use crate::queue::DropTail;

pub use error::SpecError;
pub use registry::{MODELS, ModelEntry};

/// The description of one model of a link: plain data.
pub trait Model: fmt::Debug + Send + Sync {
    /// Where the model stands in the default order; also the name of its random numbers.
    fn stage(&self) -> Stage;

    /// Builds the model around `inner`. Only this model draws from `rng`.
    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn stage(&self) -> Stage {
        (**self).stage()
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        (**self).wrap(rng, inner)
    }
}

/// The places of the models in the default order, the first one met by a packet first.
///
/// Random loss and everything else that happens to a packet on the medium comes after the rate: as on a
/// real link, a packet that will be lost has occupied the sender for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// What stops and starts the sending.
    Pause,
    /// What throws the queue away.
    Flush,
    /// Queue and serialisation.
    Queue,
    /// Times at which nothing gets through.
    Outage,
    /// Random and regular loss.
    Loss,
    /// Damage.
    Corruption,
    /// Copies.
    Duplication,
    /// Propagation and jitter.
    Delay,
    /// Packets held back; behind the delay, which may restore the order.
    Reordering,
}

impl Stage {
    /// The name of the random numbers that a model of this stage draws.
    const fn stream(self) -> &'static str {
        match self {
            Stage::Pause => "pause",
            Stage::Flush => "flush",
            Stage::Queue => "queue",
            Stage::Outage => "outage",
            Stage::Loss => "loss",
            Stage::Corruption => "corruption",
            Stage::Duplication => "duplication",
            Stage::Delay => "jitter",
            Stage::Reordering => "reordering",
        }
    }
}

/// One direction of a link: its models, in the order in which a packet meets them.
#[derive(Clone, Debug, Default)]
pub struct LinkSpec {
    models: Vec<Arc<dyn Model>>,
}

impl LinkSpec {
    /// A link that delivers every packet at once: nothing in the way.
    pub fn new() -> LinkSpec {
        LinkSpec::default()
    }

    /// Serialisation at `rate` behind `queue`, then the fixed `delay`.
    pub fn simple(rate: Bitrate, queue: DropTail, delay: Duration) -> LinkSpec {
        LinkSpec::new().then(Rate::new(rate, queue)).then(Delay::fixed(delay))
    }

    /// The same link with `model` behind all others, whatever its stage.
    #[must_use]
    pub fn then(mut self, model: impl Model + 'static) -> LinkSpec {
        self.models.push(Arc::new(model));
        self
    }

    /// The same link with `model` at its place in the default order ([`Stage`]), behind the
    /// others of its own stage.
    #[must_use]
    pub fn with(mut self, model: impl Model + 'static) -> LinkSpec {
        let at = self.models.iter().rposition(|other| other.stage() <= model.stage());
        self.models.insert(at.map_or(0, |at| at + 1), Arc::new(model));
        self
    }

    /// The models, in the order in which a packet meets them.
    pub fn models(&self) -> &[Arc<dyn Model>] {
        &self.models
    }

    /// Builds the link.
    ///
    /// Each model draws from a stream under `seed` that is named after its stage (`loss`,
    /// `jitter`, ...; the second one of a stage `loss-2`). A model that is added, removed or moved
    /// therefore leaves the draws of the other stages as they were.
    pub fn build(&self, seed: &Seed) -> Box<dyn Link> {
        let mut link: Box<dyn Link> = Box::new(Wire);
        for (index, model) in self.models.iter().enumerate().rev() {
            let stage = model.stage();
            let rng = match self.models[..index].iter().filter(|m| m.stage() == stage).count() {
                0 => seed.stream(stage.stream()),
                before => seed.stream(&format!("{}-{}", stage.stream(), before + 1)),
            };
            link = model.wrap(rng, link);
        }
        link
    }
}
