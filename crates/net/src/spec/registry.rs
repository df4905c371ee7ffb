//! The link models by name, for scenarios, listings and the reference page.

use std::fmt;
use std::sync::Arc;

use trackbed_core::parameter::{Arguments, Kind, Parameter, Value};

use super::{Model, SpecError, Stage};
use crate::models;
use crate::queue::{self, QUEUES, QueueEntry};

/// Every link model, in the order in which they are listed. A new model is a file and a line here.
pub static MODELS: &[&ModelEntry] = &[
    &models::rate::ENTRY,
    &models::rate_timetable::ENTRY,
    &models::rate_trace::ENTRY,
    &models::delay::fixed::ENTRY,
    &models::delay::uniform::ENTRY,
    &models::delay::normal::ENTRY,
    &models::delay::pareto::ENTRY,
    &models::delay::timetable::ENTRY,
    &models::delay::trace::ENTRY,
    &models::loss::bernoulli::ENTRY,
    &models::loss::gilbert_elliott::ENTRY,
    &models::loss::periodic::ENTRY,
    &models::loss::list::ENTRY,
    &models::loss::timetable::ENTRY,
    &models::outage::ENTRY,
    &models::pause::ENTRY,
    &models::flush::ENTRY,
    &models::corruption::ENTRY,
    &models::duplication::ENTRY,
    &models::reordering::ENTRY,
];

/// What is known of a link model before its parameters are.
pub struct ModelEntry {
    /// The name under which scenarios use the model.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its own parameters.
    pub parameters: &'static [Parameter],
    /// True if it has a queue: then `queue` ([`queue::SELECTOR`]) and the parameters of the
    /// chosen queue are parameters too.
    pub has_queue: bool,
    /// Parameters as they could be written, which make a sensible model; for a file its contents.
    pub example: &'static [(&'static str, &'static str)],
    pub(crate) read: fn(&Arguments) -> Result<Arc<dyn Model>, SpecError>,
}

impl ModelEntry {
    /// The entry of this name.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    pub fn find(name: &str) -> Result<&'static ModelEntry, SpecError> {
        MODELS.iter().find(|entry| entry.name == name).copied().ok_or_else(|| {
            let known: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
            let known = known.join(", ");
            SpecError::new(format!("\"{name}\" is not a link model; there are {known}"))
        })
    }

    /// The parameter of this name: one of the model's own, or of a queue that can be chosen.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        let queues = QUEUES.iter().flat_map(|queue| queue.parameters).chain([&queue::SELECTOR]);
        let mut parameters = self.parameters.iter().chain(queues.filter(|_| self.has_queue));
        parameters.find(|parameter| parameter.name == name)
    }

    /// The model with the parameters `given` and the defaults for the rest. Models read no files:
    /// in the place of a path they want the contents ([`Value::Contents`]).
    ///
    /// # Errors
    /// If a parameter is unknown, missing, or does not make sense; the message begins with the
    /// model's name and says what to write.
    pub fn model(&self, given: &[(&str, Value)]) -> Result<Arc<dyn Model>, SpecError> {
        let mut parameters: Vec<&Parameter> = self.parameters.iter().collect();
        if self.has_queue {
            let queue = QueueEntry::chosen(given).map_err(|e| SpecError::of(self.name, e))?;
            parameters.push(&queue::SELECTOR);
            parameters.extend(queue.parameters);
        }
        let arguments = Arguments::read(parameters, given);
        let arguments = arguments.map_err(|e| SpecError::of(self.name, e))?;
        if let Some((name, path)) = given.iter().find(|(_, v)| matches!(v, Value::File(_))) {
            let why = format!("{name}: {path} has not been read; give its contents");
            return Err(SpecError::of(self.name, why));
        }
        (self.read)(&arguments).map_err(|e| SpecError::of(self.name, e))
    }

    /// Where models of this entry stand in the default order.
    pub fn stage(&self) -> Stage {
        self.example_model().stage()
    }

    /// The model that the example describes.
    pub fn example_model(&self) -> Arc<dyn Model> {
        let value = |&(name, text): &(&'static str, &str)| {
            let kind =
                self.parameter(name).expect("an example sets parameters that there are").kind;
            let value = match kind {
                Kind::File => Value::Contents(text.into()),
                kind => kind.parse(text).expect("an example fits its parameters"),
            };
            (name, value)
        };
        let given: Vec<(&str, Value)> = self.example.iter().map(value).collect();
        self.model(&given).expect("an example is right")
    }
}

impl fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelEntry").field("name", &self.name).finish_non_exhaustive()
    }
}
