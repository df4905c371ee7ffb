//! The short form of a link: one flat table of parameters, models in the default order.

use super::LinkSpec;
use super::parameter::{Parameter, SpecError, Value};
use super::registry::{MODELS, ModelEntry};
use crate::queue::{self, QUEUES};

impl LinkSpec {
    /// Reads the short form of a link, a flat table such as `rate = "50 Mbit/s"`,
    /// `queue_packets = 100`, `delay = "10 ms"`, `loss = "0.3 %"`.
    ///
    /// A model takes part if the table has a parameter of the model's own name; that is possible for
    /// `pause`, `rate`, `outage`, `loss`, `corruption`, `duplication`, `delay` and `reordering`. The models
    /// stand in the default order ([`super::Stage`]).
    ///
    /// # Errors
    /// If a parameter belongs to no model that takes part, or does not make sense.
    pub fn from_table(table: &[(String, Value)]) -> Result<LinkSpec, SpecError> {
        let has = |name: &str| table.iter().any(|(key, _)| key == name);
        let chosen: Vec<&ModelEntry> =
            MODELS.iter().filter(|entry| entry.is_short() && has(entry.name)).copied().collect();
        let known = |key: &str| chosen.iter().any(|entry| entry.may_have(key));
        if let Some((key, _)) = table.iter().find(|(key, _)| !known(key)) {
            return Err(SpecError::new(unknown(key)));
        }
        let mut link = LinkSpec::new();
        for entry in chosen {
            let own = table.iter().filter(|(key, _)| entry.may_have(key));
            link = link.with(entry.model(&own.cloned().collect::<Vec<_>>())?);
        }
        Ok(link)
    }
}

impl ModelEntry {
    /// True if the short form can name the model.
    fn is_short(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == self.name)
    }

    /// True if the model has this parameter, for some choice of its queue.
    fn may_have(&self, name: &str) -> bool {
        let mut own = self.parameters.iter();
        let mut of_queue =
            QUEUES.iter().flat_map(|queue| queue.parameters).chain([&queue::SELECTOR]);
        let is_it = |parameter: &Parameter| parameter.name == name;
        own.any(is_it) || self.has_queue && of_queue.any(is_it)
    }
}

fn unknown(key: &str) -> String {
    let mut short = MODELS.iter().filter(|entry| entry.is_short());
    if let Some(owner) = short.clone().find(|entry| entry.may_have(key)) {
        return format!("\"{key}\" is a parameter of {0}; give {0} as well", owner.name);
    }
    let first = short.next().map_or("", |entry| entry.name);
    let names = short.fold(first.to_string(), |names, entry| format!("{names}, {}", entry.name));
    format!(
        "\"{key}\" is not a parameter of a link in the short form; there are {names} and theirs"
    )
}
