//! The link models and queues by name, for scenarios, listings and the reference page. Only higher
//! layers import this file.

use std::sync::Arc;

use trackbed_core::parameter::{ArgumentError, Arguments, Kind, Parameter, Value};

use crate::medium::{MediumEntry, MediumModel};
use crate::queue::{QueueEntry, QueueModel};
use crate::spec::{Model, ModelEntry, SpecError, Stage};
use crate::{medium, models, queue};

/// Every link model, in the order in which they are listed. A new model is a file and a line here.
pub static MODELS: &[&ModelEntry] = &[
    &models::rate::ENTRY,
    &models::rate_timetable::ENTRY,
    &models::rate_trace::ENTRY,
    &models::delay::ENTRY,
    &models::delay::random::UNIFORM,
    &models::delay::random::NORMAL,
    &models::delay::random::PARETO,
    &models::delay::timetable::ENTRY,
    &models::delay::timetable::TRACE_ENTRY,
    &models::loss::ENTRY,
    &models::loss::gilbert_elliott::ENTRY,
    &models::loss::list::PERIODIC,
    &models::loss::list::LISTED,
    &models::loss::timetable::ENTRY,
    &models::outage::ENTRY,
    &models::pause::ENTRY,
    &models::flush::ENTRY,
    &models::alteration::CORRUPTION,
    &models::alteration::DUPLICATION,
    &models::reordering::ENTRY,
    &models::background::patterns::STREAM,
    &models::background::patterns::CAPTURE,
];

/// Every medium, in the order in which they are listed. A new medium is a file and a line here.
pub static MEDIA: &[&MediumEntry] = &[&medium::cell::ENTRY, &medium::wifi::ENTRY];

/// Every queue, in the order in which they are listed. A new queue is a file and a line here.
pub static QUEUES: &[&QueueEntry] =
    &[&queue::drop_tail::ENTRY, &queue::codel::ENTRY, &queue::fq_codel::ENTRY];

/// The parameter that selects the queue of a model.
pub static SELECTOR: Parameter = Parameter::with_default(
    "queue",
    Kind::Choice(&QUEUE_NAMES),
    "drop-tail",
    "the queue for waiting packets",
);

const QUEUE_NAMES: [&str; QUEUES.len()] = {
    let mut names = [""; QUEUES.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = QUEUES[index].name;
        index += 1;
    }
    names
};

impl ModelEntry {
    /// The entry of this name.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    pub fn find(name: &str) -> Result<&'static ModelEntry, SpecError> {
        MODELS.iter().find(|entry| entry.name == name).copied().ok_or_else(|| {
            let known: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
            let known = known.join(", ");
            SpecError::new(format!("unknown link model \"{name}\"; choose one of {known}"))
        })
    }

    /// The parameter of this name: one of the model's own, or of a queue that can be chosen.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        let queues = QUEUES.iter().flat_map(|queue| queue.parameters).chain([&SELECTOR]);
        let mut parameters = self.parameters.iter().chain(queues.filter(|_| self.has_queue));
        parameters.find(|parameter| parameter.name == name)
    }

    /// The model with the parameters `given` and the defaults for the rest. Models read no files:
    /// in the place of a path they want the contents ([`Value::Contents`]).
    ///
    /// # Errors
    /// If a parameter is unknown, missing or invalid; the message begins with the model's name and
    /// the remedy follows.
    pub fn model(&self, given: &[(&str, Value)]) -> Result<Arc<dyn Model>, SpecError> {
        let mut parameters: Vec<&Parameter> = self.parameters.iter().collect();
        if self.has_queue {
            let queue = QueueEntry::chosen(given).map_err(|e| SpecError::of(self.name, e))?;
            parameters.push(&SELECTOR);
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
            let kind = self.parameter(name).expect("an example sets existing parameters").kind;
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

impl MediumEntry {
    /// The medium with the parameters `given` and the defaults for the rest.
    ///
    /// # Errors
    /// If a parameter is unknown, missing or invalid; the message begins with the medium's name and
    /// the remedy follows.
    pub fn model(&self, given: &[(&str, Value)]) -> Result<Arc<dyn MediumModel>, SpecError> {
        let arguments = Arguments::read(self.parameters, given);
        let arguments = arguments.map_err(|e| SpecError::of(self.name, e))?;
        (self.read)(&arguments).map_err(|e| SpecError::of(self.name, e))
    }
}

impl QueueEntry {
    pub(crate) fn chosen(given: &[(&str, Value)]) -> Result<&'static QueueEntry, ArgumentError> {
        let selector: Vec<_> =
            given.iter().filter(|(name, _)| *name == SELECTOR.name).cloned().collect();
        Ok(QueueEntry::selected(&Arguments::read([&SELECTOR], &selector)?))
    }

    pub(crate) fn model(arguments: &Arguments) -> Result<Arc<dyn QueueModel>, SpecError> {
        (QueueEntry::selected(arguments).read)(arguments)
    }

    fn selected(arguments: &Arguments) -> &'static QueueEntry {
        let name: &str = arguments.need(SELECTOR.name);
        QUEUES.iter().find(|entry| entry.name == name).expect("the selector offers existing queues")
    }
}
