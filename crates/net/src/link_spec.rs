//! The description of a link: plain data, from which each run builds its own links.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Bitrate, Seed};

use crate::link::{Link, Wire};
use crate::models::{Background, Delay, Rate};
use crate::queue::DropTail;
use crate::spec::{Model, Stage};

/// One direction of a link: its models, in the order in which a packet passes them.
#[derive(Clone, Debug, Default)]
pub struct LinkSpec {
    models: Vec<Arc<dyn Model>>,
}

impl LinkSpec {
    /// A link without models, which delivers every packet at once.
    pub fn new() -> LinkSpec {
        LinkSpec::default()
    }

    /// Serialisation at `rate` behind `queue`, then the fixed `delay`.
    pub fn simple(rate: Bitrate, queue: DropTail, delay: Duration) -> LinkSpec {
        LinkSpec::new().then(Rate::new(rate, queue)).then(Delay::fixed(delay))
    }

    /// The same link with `model` after all others, whatever its stage.
    #[must_use]
    pub fn then(mut self, model: impl Model + 'static) -> LinkSpec {
        self.models.push(Arc::new(model));
        self
    }

    /// The same link with `model` at its place in the default order ([`Stage`]), after the others
    /// of its stage.
    #[must_use]
    pub fn with(mut self, model: impl Model + 'static) -> LinkSpec {
        let at = self.models.iter().rposition(|other| other.stage() <= model.stage());
        self.models.insert(at.map_or(0, |at| at + 1), Arc::new(model));
        self
    }

    /// The models, in the order in which a packet passes them.
    pub fn models(&self) -> &[Arc<dyn Model>] {
        &self.models
    }

    /// Builds the link.
    ///
    /// Each model draws from a stream under `seed` that is named after its stage (`loss`, `jitter`,
    /// ...; the second one of a stage `loss-2`). Adding, removing or moving a model therefore does
    /// not change the draws of other stages.
    pub fn build(&self, seed: &Seed) -> Box<dyn Link> {
        let mut link: Box<dyn Link> = Box::new(Wire);
        let mut is_background_inside = self.models.iter().any(|it| it.stage() == Stage::Background);
        for (index, model) in self.models.iter().enumerate().rev() {
            let stage = model.stage();
            let rng = match self.models[..index].iter().filter(|m| m.stage() == stage).count() {
                0 => seed.stream(stage.name()),
                before => seed.stream(&format!("{}-{}", stage.name(), before + 1)),
            };
            if stage <= Stage::Queue && std::mem::take(&mut is_background_inside) {
                link = Background::end().wrap(rng.clone(), link);
            }
            link = model.wrap(rng, link);
        }
        link
    }
}
