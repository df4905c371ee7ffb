//! Observing a run.

use std::sync::Arc;

use trackbed_core::event::Record;
use trackbed_net::{LinkId, Tap};
use trackbed_protocols::Observer;

/// Observes a run without changing it.
pub(crate) trait Onlooker {
    /// Receives the packets of the shared link and, if there is one, of the second link.
    fn tap(&self, shared: LinkId, second: Option<LinkId>) -> Box<dyn Tap>;

    /// Receives keys and traces of protocols.
    fn observer(&self) -> Arc<dyn Observer>;

    /// Receives the events of the whole run after its end.
    fn keep(&self, _records: &[Record]) {}
}
